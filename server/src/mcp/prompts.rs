//! Two prompts that a person can pick in a client: look things up, and keep what was learned.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value};

use super::profiles::{Profile, TOPIC, ToolDef};

const RECALL: &str = "recall";
const REMEMBER: &str = "remember";

pub struct Argument {
    pub name: &'static str,
    description: &'static str,
    /// The parameter that it becomes, of the tool that the prompt names first; a prompt whose tool lacks it has no such
    /// argument. `None`: it is a part of the text.
    parameter: Option<&'static str>,
}

const TOPIC_ARGUMENT: Argument = Argument { name: "topic", description: "What to look up", parameter: None };
const ABOUT: Argument = Argument { name: "about", description: "Only what concerns this", parameter: None };
const KIND: Argument =
    Argument { name: "kind", description: "Only memories of this type", parameter: Some("entryTypes") };
const TAG: Argument = Argument { name: "tag", description: "Only memories with this tag", parameter: Some("tags") };
const PROJECT: Argument = Argument { name: "project", description: "The project", parameter: Some("project") };

/// A prompt of a profile.
pub struct PromptDef {
    title: &'static str,
    description: &'static str,
    /// Its arguments, the required ones first.
    pub arguments: Vec<Argument>,
    text: &'static str,
    /// The tool that it names first.
    tool: Option<&'static ToolDef>,
}

impl PromptDef {
    pub fn of(profile: &'static Profile, name: &str) -> Option<Self> {
        let (title, description, text, arguments) = match name {
            RECALL => {
                let arguments = vec![TOPIC_ARGUMENT, KIND, TAG, PROJECT];
                ("Recall", "Look up what is remembered about a topic", profile.recall, arguments)
            }
            REMEMBER => ("Remember", "Save what this conversation taught", profile.remember, vec![ABOUT, PROJECT]),
            _ => return None,
        };
        let named = |tool: &&ToolDef| text.find(&*tool.definition.name);
        let tool = profile.tools.iter().filter(|tool| named(tool).is_some()).min_by_key(named);
        let mut prompt = PromptDef { title, description, text, arguments: Vec::new(), tool };
        prompt.arguments = arguments.into_iter().filter(|argument| prompt.takes(argument)).collect();
        Some(prompt)
    }

    fn takes(&self, argument: &Argument) -> bool {
        argument.parameter.is_none_or(|parameter| self.schema(parameter).is_some())
    }

    fn schema(&self, parameter: &str) -> Option<&Value> {
        self.tool?.definition.input_schema.get("properties")?.get(parameter)
    }

    /// The valid values of an argument, if its tool lists them.
    pub fn choices(&self, argument: &Argument) -> Option<Vec<&str>> {
        let choices = self.schema(argument.parameter?)?.get("items")?.get("enum")?;
        Some(choices.as_array()?.iter().filter_map(Value::as_str).collect())
    }

    /// The text with the arguments.
    fn filled(&self, arguments: Option<&JsonObject>) -> Result<String, ErrorData> {
        let given = |argument: &Argument| {
            let text = arguments.and_then(|arguments| arguments.get(argument.name)).and_then(Value::as_str);
            text.map(str::trim).filter(|text| !text.is_empty())
        };
        let unknown = arguments.into_iter().flat_map(JsonObject::keys);
        let mut unknown = unknown.filter(|name| self.arguments.iter().all(|argument| argument.name != *name));
        if let Some(name) = unknown.next() {
            let known = self.arguments.iter().map(|argument| argument.name).collect::<Vec<_>>().join(", ");
            return Err(invalid(format!("{name}: unknown argument; use {known}")));
        }
        let (mut text, mut pass) = (self.text.to_owned(), Map::new());
        for argument in &self.arguments {
            let value = given(argument);
            if argument.name == TOPIC_ARGUMENT.name {
                text = text.replace(TOPIC, value.ok_or_else(|| invalid("topic: say what to look up"))?);
                continue;
            }
            let Some(value) = value else { continue };
            match argument.parameter {
                None => text += &format!("\n\nSave only what concerns: {value}"),
                Some(parameter) => {
                    if let Some(choices) = self.choices(argument).filter(|choices| !choices.contains(&value)) {
                        let (name, choices) = (argument.name, choices.join(", "));
                        return Err(invalid(format!("{name}: unknown value {value:?}; use one of {choices}")));
                    }
                    let is_list = self.schema(parameter).is_some_and(|schema| schema.get("items").is_some());
                    pass.insert(parameter.into(), if is_list { vec![value].into() } else { value.into() });
                }
            }
        }
        if let Some(tool) = self.tool.filter(|_| !pass.is_empty()) {
            text += &format!("\n\nPass to {}, too: {}", tool.definition.name, Value::Object(pass));
        }
        Ok(text)
    }
}

pub fn all(profile: &'static Profile) -> Vec<Prompt> {
    let listed = |name| {
        let prompt = PromptDef::of(profile, name)?;
        let argument = |argument: &Argument| {
            let listed = PromptArgument::new(argument.name).with_description(argument.description);
            listed.with_required(argument.name == TOPIC_ARGUMENT.name)
        };
        let arguments = prompt.arguments.iter().map(argument).collect();
        Some(Prompt::new(name, Some(prompt.description), Some(arguments)).with_title(prompt.title))
    };
    [RECALL, REMEMBER].into_iter().filter_map(listed).collect()
}

/// The prompt of this name with its arguments.
pub fn get(
    profile: &'static Profile,
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let prompt = PromptDef::of(profile, name).ok_or_else(|| unknown(name))?;
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, prompt.filled(arguments)?)]))
}

pub fn unknown(name: &str) -> ErrorData {
    invalid(format!("unknown prompt {name:?}"))
}

fn invalid(why: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(why.into(), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ProfileName;
    use clap::ValueEnum;
    use serde_json::json;

    fn profiles() -> impl Iterator<Item = (ProfileName, &'static Profile)> {
        ProfileName::value_variants().iter().map(|name| (*name, Profile::of(*name)))
    }

    fn text(profile: &'static Profile, name: &str, arguments: &Value) -> Result<String, String> {
        let result = get(profile, name, arguments.as_object()).map_err(|error| error.message.into_owned())?;
        let result = serde_json::to_value(result).unwrap();
        Ok(result["messages"][0]["content"]["text"].as_str().unwrap().to_owned())
    }

    #[test]
    fn every_listed_prompt_names_tools_of_its_profile_alone() {
        for (_, profile) in profiles() {
            for prompt in all(profile) {
                let arguments = if prompt.name == RECALL { json!({ "topic": "login" }) } else { json!({}) };
                let text = text(profile, &prompt.name, &arguments).unwrap();
                let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                let is_tool = |word: &&str| profile.tool(word).is_some();
                let (known, named): (Vec<_>, Vec<_>) =
                    words.filter(|word| word.contains('_') || is_tool(word)).partition(is_tool);
                assert!(!known.is_empty() && named.is_empty(), "{text}: {named:?}");
                assert_eq!(text.contains("login"), prompt.name == RECALL, "{text}");
            }
        }
    }

    #[test]
    fn a_prompt_has_the_arguments_that_its_tool_takes() {
        let wanted = |name| match name {
            ProfileName::Core | ProfileName::Full => {
                (&["topic", "kind", "tag", "project"][..], &["about", "project"][..])
            }
            ProfileName::Mudpuppy => (&["topic", "kind", "tag"][..], &["about"][..]),
            ProfileName::Files | ProfileName::Memorizer | ProfileName::Gimli => (&["topic"][..], &["about"][..]),
            ProfileName::Krolik => (&["topic", "project"][..], &["about", "project"][..]),
        };
        for (name, profile) in profiles() {
            let prompt: Vec<Vec<String>> = all(profile)
                .into_iter()
                .map(|prompt| prompt.arguments.unwrap().into_iter().map(|argument| argument.name).collect())
                .collect();
            let (recall, remember) = wanted(name);
            assert_eq!(prompt, [recall, remember], "{name:?}");
        }
    }

    #[test]
    fn arguments_are_passed_on_by_the_names_of_the_parameters() {
        let core = Profile::of(ProfileName::Core);
        let arguments = json!({ "topic": "login", "kind": "decision", "tag": "a \"b\"", "project": "atlas" });
        let recall = text(core, RECALL, &arguments).unwrap();
        let (_, passed) = recall.rsplit_once("Pass to memory_search, too: ").unwrap();
        let wanted = json!({ "entryTypes": ["decision"], "tags": ["a \"b\""], "project": "atlas" });
        assert_eq!(serde_json::from_str::<Value>(passed).unwrap(), wanted);
        let remember = text(core, REMEMBER, &json!({ "about": "the login", "project": "atlas" })).unwrap();
        assert!(remember.contains("concerns: the login"), "{remember}");
        assert!(remember.ends_with("Pass to memory_add, too: {\"project\":\"atlas\"}"), "{remember}");
        assert!(!text(core, REMEMBER, &json!({ "about": " " })).unwrap().contains("concerns"));
    }

    #[test]
    fn invalid_arguments_are_refused_by_name() {
        let core = Profile::of(ProfileName::Core);
        let refusal = |name, arguments| text(core, name, &arguments).unwrap_err();
        assert!(refusal(RECALL, json!({})).starts_with("topic:"));
        assert!(refusal(RECALL, json!({ "topic": " " })).starts_with("topic:"));
        let kind = refusal(RECALL, json!({ "topic": "login", "kind": "rumour" }));
        assert!(kind.starts_with("kind: unknown value \"rumour\"") && kind.contains("decision"), "{kind}");
        assert!(
            refusal(REMEMBER, json!({ "topic": "login" })).starts_with("topic: unknown argument; use about, project")
        );
        assert!(refusal("sing", json!({})).contains("sing"));
    }
}
