//! Two prompts that a person can pick in a client: look things up, and keep what was learned.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

const RECALL: &str = "recall";
const REMEMBER: &str = "remember";

/// All prompts.
pub fn all() -> Vec<Prompt> {
    let topic = PromptArgument::new("topic").with_description("What to look up").with_required(true);
    vec![
        Prompt::new(RECALL, Some("Look up what is remembered about a topic"), Some(vec![topic])).with_title("Recall"),
        Prompt::new(REMEMBER, Some("Save what this conversation taught"), None).with_title("Remember"),
    ]
}

/// The prompt of this name, filled in.
pub fn get(name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    let text = match name {
        RECALL => {
            let topic = arguments.and_then(|arguments| arguments.get("topic")).and_then(Value::as_str);
            let topic = topic.map(str::trim).filter(|topic| !topic.is_empty());
            let topic = topic.ok_or_else(|| ErrorData::invalid_params("topic: say what to look up", None))?;
            format!(
                "Use memory_search to find what is remembered about: {topic}\n\nTry a question and its main words, then \
                 sum up what you found with the memory ids. Say so if nothing fits."
            )
        }
        REMEMBER => "Go through this conversation and save what will matter later with memory_add: preferences, \
                     decisions and their reasons, facts about people and projects, fixes that worked. One self-contained \
                     statement per memory, with entryType, tags and importance. Search first; update a memory that \
                     changed instead of adding another. Save no passwords or keys."
            .to_owned(),
        _ => return Err(ErrorData::invalid_params(format!("unknown prompt {name:?}"), None)),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_listed_prompt_can_be_had() {
        let arguments = json!({ "topic": "login" });
        for prompt in all() {
            let text = serde_json::to_string(&get(&prompt.name, arguments.as_object()).unwrap()).unwrap();
            assert!(text.contains("memory_"), "{text}");
            assert_eq!(text.contains("login"), prompt.name == RECALL);
        }
    }

    #[test]
    fn a_prompt_without_its_topic_is_refused() {
        assert!(get(RECALL, None).is_err());
        assert!(get(RECALL, json!({ "topic": " " }).as_object()).is_err());
        assert!(get("sing", None).is_err());
    }
}
