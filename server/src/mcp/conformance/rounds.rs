//! Tools and a prompt of the newer era that ask the client by an incomplete result. The client calls again with its
//! answers, and with the state of the call, which it must not change: so the state is sealed.

use std::sync::LazyLock;

use memorist_engine::text::content_hash;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, InputRequiredResult,
    InputResponses,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::answers::{complete, text, typed};
use super::schemas;

/// The secret of this process's seals.
static SECRET: LazyLock<String> = LazyLock::new(|| crate::random::token().unwrap_or_default());

/// A question by its key, and the request for it.
type InputRequest = (&'static str, Value);

/// The answer of such a tool; `None` if the request is for another.
pub fn tool(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    let name = schemas::elicitation("What is your name?", "name", "string");
    let (questions, has_state) = match &*request.name {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => (vec![("user_name", name)], false),
        "test_input_required_result_sampling" => (vec![("capital_question", capital())], false),
        "test_input_required_result_list_roots" => (vec![("client_roots", roots())], false),
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            (vec![("confirm", schemas::elicitation("Please confirm", "ok", "boolean"))], true)
        }
        "test_input_required_result_multiple_inputs" => {
            let greeting = json!({
                "method": "sampling/createMessage", "params": schemas::sampling("Generate a greeting"),
            });
            (vec![("user_name", name), ("greeting", greeting), ("client_roots", roots())], true)
        }
        "test_input_required_result_multi_round" => return steps(request).map(Some),
        "test_input_required_result_capabilities" => {
            let client = context.client_capabilities().unwrap_or_default();
            let offered = [
                (client.elicitation.is_some(), ("user_name", name)),
                (client.sampling.is_some(), ("capital_question", capital())),
            ];
            (offered.into_iter().filter_map(|(has, question)| has.then_some(question)).collect(), false)
        }
        _ => return Ok(None),
    };
    if let Some(state) = &request.request_state
        && has_state
    {
        opened(&request.name, state)?;
    }
    if answered(&questions, request.input_responses.as_ref()) && (request.request_state.is_some() || !has_state) {
        return done("state-ok: all was answered").map(Some);
    }
    let state = has_state.then(|| sealed(&request.name, 1));
    asked(&questions, state).map(|asked| Some(asked.into()))
}

/// Two questions, one after the other. The state says which is next.
fn steps(request: &CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
    let step = request.request_state.as_deref().map_or(Ok(0), |state| opened(&request.name, state))?;
    let first = [("step1", schemas::elicitation("Step 1: What is your name?", "name", "string"))];
    let second = [("step2", schemas::elicitation("Step 2: What is your favorite color?", "color", "string"))];
    let responses = request.input_responses.as_ref();
    match step {
        2 if answered(&second, responses) => done("both steps were answered"),
        1 if !answered(&first, responses) => asked(&first, Some(sealed(&request.name, 1))).map(Into::into),
        0 => asked(&first, Some(sealed(&request.name, 1))).map(Into::into),
        _ => asked(&second, Some(sealed(&request.name, 2))).map(Into::into),
    }
}

/// The answer of such a prompt; `None` if the request is for another.
pub fn prompt(request: &GetPromptRequestParams) -> Result<Option<GetPromptResponse>, ErrorData> {
    if request.name != super::prompts::ASKING {
        return Ok(None);
    }
    let questions =
        [("user_context", schemas::elicitation("What context should the prompt use?", "context", "string"))];
    if answered(&questions, request.input_responses.as_ref()) {
        let message = json!({ "role": "user", "content": text("Use the context that was given.") });
        return complete(json!({ "messages": [message] })).map(|prompt| Some(GetPromptResponse::Complete(prompt)));
    }
    asked(&questions, None).map(|asked| Some(asked.into()))
}

fn capital() -> Value {
    json!({ "method": "sampling/createMessage", "params": schemas::sampling("What is the capital of France?") })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

fn answered(questions: &[InputRequest], responses: Option<&InputResponses>) -> bool {
    questions.iter().all(|(key, _)| responses.and_then(|responses| responses.get(*key)).is_some_and(Value::is_object))
}

fn asked(questions: &[InputRequest], state: Option<String>) -> Result<InputRequiredResult, ErrorData> {
    let requests: Map<String, Value> = questions.iter().map(|(key, asked)| ((*key).into(), asked.clone())).collect();
    Ok(InputRequiredResult::new(Some(typed(requests.into())?), state))
}

fn done(said: &str) -> Result<CallToolResponse, ErrorData> {
    complete(json!({ "content": [text(said)] })).map(CallToolResponse::Complete)
}

fn sealed(tool: &str, step: u8) -> String {
    format!("{step}.{}", content_hash(&format!("{} {tool} {step}", *SECRET)))
}

fn opened(tool: &str, state: &str) -> Result<u8, ErrorData> {
    let step = state.split_once('.').and_then(|(step, _)| step.parse().ok());
    let step = step.filter(|step| sealed(tool, *step) == state);
    step.ok_or_else(|| ErrorData::invalid_params("the state of the call was changed", None))
}
