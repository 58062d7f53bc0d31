//! The prompts of the suite.

use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument};
use serde_json::{Value, json};

use super::answers::{PNG, complete, text};

/// The one that asks the client, in `rounds.rs`.
pub const ASKING: &str = "test_input_required_result_prompt";

/// Names, and the required arguments of each.
const ALL: [(&str, &[&str]); 5] = [
    ("test_simple_prompt", &[]),
    ("test_prompt_with_arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", &["resourceUri"]),
    ("test_prompt_with_image", &[]),
    (ASKING, &[]),
];

pub fn all() -> impl Iterator<Item = Prompt> {
    ALL.iter().map(|(name, arguments)| {
        let argument = |name: &&str| PromptArgument::new(*name).with_description("A test argument").with_required(true);
        let arguments = arguments.iter().map(argument).collect();
        Prompt::new(*name, Some("A fixture of the conformance suite"), Some(arguments))
    })
}

pub fn is_one(name: &str) -> bool {
    ALL.iter().any(|(known, _)| *known == name)
}

/// The filled prompt; `None` if no fixture has this name.
pub fn get(request: &GetPromptRequestParams) -> Result<Option<GetPromptResult>, ErrorData> {
    let argument = |name: &str| {
        let given = request.arguments.as_ref().and_then(|arguments| arguments.get(name)).and_then(Value::as_str);
        given.ok_or_else(|| ErrorData::invalid_params(format!("{name}: missing"), None))
    };
    let content = match &*request.name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1")?, argument("arg2")?);
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let uri = argument("resourceUri")?;
            let embedded =
                json!({ "uri": uri, "mimeType": "text/plain", "text": "Embedded resource content for testing." });
            let resource = json!({ "type": "resource", "resource": embedded });
            vec![resource, text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
            vec![image, text("Please analyze the image above.")]
        }
        _ => return Ok(None),
    };
    let messages: Vec<_> = content.iter().map(|content| json!({ "role": "user", "content": content })).collect();
    complete(json!({ "messages": messages })).map(Some)
}
