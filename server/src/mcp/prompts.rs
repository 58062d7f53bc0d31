//! Two prompts that a person can pick in a client: look things up, and keep what was learned.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::profiles::{Profile, TOPIC};

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
pub fn get(profile: &Profile, name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    let text = match name {
        RECALL => {
            let topic = arguments.and_then(|arguments| arguments.get("topic")).and_then(Value::as_str);
            let topic = topic.map(str::trim).filter(|topic| !topic.is_empty());
            let topic = topic.ok_or_else(|| ErrorData::invalid_params("topic: say what to look up", None))?;
            profile.recall.replace(TOPIC, topic)
        }
        REMEMBER => profile.remember.to_owned(),
        _ => return Err(ErrorData::invalid_params(format!("unknown prompt {name:?}"), None)),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ProfileName;
    use clap::ValueEnum;
    use serde_json::json;

    #[test]
    fn every_listed_prompt_names_tools_of_its_profile_alone() {
        let arguments = json!({ "topic": "login" });
        for profile in ProfileName::value_variants().iter().map(|name| Profile::of(*name)) {
            for prompt in all() {
                let result = get(profile, &prompt.name, arguments.as_object()).unwrap();
                let text = serde_json::to_string(&result).unwrap();
                let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                let (known, named): (Vec<_>, Vec<_>) =
                    words.filter(|word| word.contains('_')).partition(|word| profile.tool(word).is_some());
                assert!(!known.is_empty() && named.is_empty(), "{text}: {named:?}");
                assert_eq!(text.contains("login"), prompt.name == RECALL, "{text}");
            }
        }
    }

    #[test]
    fn a_prompt_without_its_topic_is_refused() {
        let profile = Profile::of(ProfileName::Core);
        assert!(get(profile, RECALL, None).is_err());
        assert!(get(profile, RECALL, json!({ "topic": " " }).as_object()).is_err());
        assert!(get(profile, "sing", None).is_err());
    }
}
