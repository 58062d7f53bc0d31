//! The tools of the suite, and those that answer at once.

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, JsonObject, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::answers::{PNG, WAV, complete, text, typed};
use super::lists::{CapabilityList, changed};
use super::{rounds, schemas, talking};

/// Tools without parameters.
const PLAIN: [&str; 24] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_logging_tool",
    "test_reconnection",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

pub fn all() -> Vec<Tool> {
    let text =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let none = json!({ "type": "object", "properties": {} });
    let plain = PLAIN.iter().map(|name| (*name, none.clone()));
    let others = [
        ("test_sampling", text("prompt")),
        ("test_elicitation", text("message")),
        ("test_custom_header", schemas::custom_header()),
        ("json_schema_2020_12_tool", schemas::dialect()),
    ];
    let tool = |(name, schema): (&'static str, Value)| {
        let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
        Tool::new(name, "A fixture of the conformance suite", schema)
    };
    plain.chain(others).map(tool).collect()
}

/// The answer of a fixture; `None` if no fixture has this name.
pub async fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    if let Some(answer) = at_once(&request.name, context)? {
        return Ok(Some(answer.into()));
    }
    if let Some(answer) = rounds::tool(request, context)? {
        return Ok(Some(answer));
    }
    Ok(talking::call(request, context).await?.map(Into::into))
}

fn at_once(name: &str, context: &RequestContext<RoleServer>) -> Result<Option<CallToolResult>, ErrorData> {
    let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
    let resource = |uri: &str, kind: &str, text: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": kind, "text": text } });
    let content = match name {
        "test_simple_text" => json!([text("This is a simple text response for testing.")]),
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }]),
        "test_embedded_resource" => {
            json!([resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")])
        }
        "test_multiple_content_types" => json!([
            text("Multiple content types test:"),
            image,
            resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ]),
        "test_error_handling" => {
            let content = [text("This tool intentionally returns an error for testing")];
            return complete(json!({ "content": content, "isError": true })).map(Some);
        }
        "test_missing_capability" => {
            if context.client_capabilities().is_none_or(|client| client.sampling.is_none()) {
                let sampling: ClientCapabilities = typed(json!({ "sampling": {} }))?;
                return Err(ErrorData::missing_required_client_capability(sampling));
            }
            json!([text("the client has it")])
        }
        "test_trigger_tool_change" => {
            changed(CapabilityList::Tools);
            json!([text("the list of tools was changed")])
        }
        "test_trigger_prompt_change" => {
            changed(CapabilityList::Prompts);
            json!([text("the list of prompts was changed")])
        }
        "test_custom_header" | "json_schema_2020_12_tool" => json!([text("the arguments were accepted")]),
        _ => return Ok(None),
    };
    complete(json!({ "content": content })).map(Some)
}
