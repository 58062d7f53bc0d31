//! Errors of JSON-RPC, for requests other than tool calls.

use memorist_engine::{Error, ErrorKind};
use rmcp::ErrorData;

use crate::wording::Worded as _;

/// An error of the engine, outside of a tool call.
pub fn protocol_error(error: &Error) -> ErrorData {
    match error.kind() {
        ErrorKind::Input => ErrorData::invalid_params(error.worded(), None),
        _ => internal(error.worded()),
    }
}

/// An error of the server itself.
pub fn internal(message: impl Into<String>) -> ErrorData {
    ErrorData::internal_error(message.into(), None)
}
