//! Tools that report their progress, write to the client's log, or ask the client something, during a call.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientRequest, ClientResult, ElicitRequest, LoggingMessageNotification,
    ProgressNotificationParam, ServerNotification, ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::answers::{complete, text, typed};
use super::schemas;

/// The pause between two messages.
const PAUSE: Duration = Duration::from_millis(50);
/// The key with which a client asks for log messages, in the newer era.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Their names.
const ALL: [&str; 8] = [
    "test_tool_with_logging", "test_logging_tool", "test_tool_with_progress", "test_reconnection", "test_sampling",
    "test_elicitation", "test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums",
];

/// Whether a request calls one, which needs the stream of its session.
pub fn talks(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::CallToolRequest(call) if ALL.contains(&&*call.params.name))
}

/// The answer of such a tool; `None` if the request is for another.
pub async fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResult>, ErrorData> {
    let argument = |name: &str| {
        let given = request.arguments.as_ref().and_then(|arguments| arguments.get(name)).and_then(Value::as_str);
        given.ok_or_else(|| ErrorData::invalid_params(format!("{name}: give a text"), None))
    };
    let said = match &*request.name {
        "test_tool_with_logging" => {
            for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                log(context, message).await?;
                sleep(PAUSE).await;
            }
            "logged".to_owned()
        }
        "test_logging_tool" => {
            if context.meta.get(LOG_LEVEL).is_some() {
                log(context, "as the request wants it").await?;
            }
            "logged what was wanted".to_owned()
        }
        "test_tool_with_progress" => {
            for done in [0, 50, 100] {
                if let Some(token) = context.meta.get_progress_token() {
                    let progress = ProgressNotificationParam::new(token, f64::from(done)).with_total(100.0);
                    context.peer.notify_progress(progress).await.map_err(failed)?;
                }
                sleep(PAUSE).await;
            }
            "done".to_owned()
        }
        "test_reconnection" => {
            sleep(PAUSE).await;
            "still here".to_owned()
        }
        "test_sampling" => {
            let params = schemas::sampling(argument("prompt")?);
            let asked = typed(json!({ "method": "sampling/createMessage", "params": params }))?;
            match context.peer.send_request(ServerRequest::CreateMessageRequest(asked)).await {
                Ok(ClientResult::CreateMessageResult(answer)) => format!("LLM response: {}", shown(&answer)),
                other => return unanswered(&other).map(Some),
            }
        }
        "test_elicitation" => match elicit(context, argument("message")?, schemas::user()).await? {
            Ok(ClientResult::ElicitResult(answer)) => format!("User response: {}", shown(&answer)),
            other => return unanswered(&other).map(Some),
        },
        name @ ("test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums") => {
            let form = if name.ends_with("defaults") { schemas::defaults() } else { schemas::enums() };
            match elicit(context, "Please fill in the form", form).await? {
                Ok(ClientResult::ElicitResult(answer)) => format!("Elicitation completed: {}", shown(&answer)),
                other => return unanswered(&other).map(Some),
            }
        }
        _ => return Ok(None),
    };
    complete(json!({ "content": [text(&said)] })).map(Some)
}

async fn log(context: &RequestContext<RoleServer>, message: &str) -> Result<(), ErrorData> {
    let params = json!({ "level": "info", "data": message });
    let logged: LoggingMessageNotification = typed(json!({ "method": "notifications/message", "params": params }))?;
    let logged = ServerNotification::LoggingMessageNotification(logged);
    context.peer.send_notification(logged).await.map_err(failed)
}

type ClientReply = Result<ClientResult, rmcp::ServiceError>;

async fn elicit(context: &RequestContext<RoleServer>, message: &str, form: Value) -> Result<ClientReply, ErrorData> {
    let params = json!({ "message": message, "requestedSchema": form });
    let asked: ElicitRequest = typed(json!({ "method": "elicitation/create", "params": params }))?;
    Ok(context.peer.send_request(ServerRequest::ElicitRequest(asked)).await)
}

fn shown(answer: &impl serde::Serialize) -> String {
    let answer = serde_json::to_value(answer).unwrap_or_default();
    match (&answer["action"], &answer["content"]) {
        (Value::String(action), content) => format!("action={action}, content={content}"),
        (_, content) => content["text"].as_str().unwrap_or_default().to_owned(),
    }
}

fn unanswered(other: &ClientReply) -> Result<CallToolResult, ErrorData> {
    complete(json!({ "content": [text(&format!("the client did not answer: {other:?}"))], "isError": true }))
}

fn failed(error: rmcp::ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
