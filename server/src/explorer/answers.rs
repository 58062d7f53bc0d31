//! Answers: JSON, errors, and the headers that all of them have.

use bytes::Bytes;
use http::header::{self, HeaderName};
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::http::{Answer, Refusal, plain};
use crate::serving::Unavailable;
use crate::tools::{Problem, ProblemKind};

const JSON: &str = "application/json";

/// A page may load and reach its own listener alone, run only the scripts that it serves, and put no text into a page as
/// HTML. No other page may frame it, and no answer is kept on disk.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

/// The answer with those headers.
pub fn secured(mut answer: Answer) -> Answer {
    for (name, value) in &HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

pub fn result(value: &impl Serialize) -> Answer {
    json_of(StatusCode::OK, value)
}

/// A result in bytes; `None`: the page has them.
pub fn bytes(bytes: Option<Vec<u8>>) -> Answer {
    let status = if bytes.is_some() { StatusCode::OK } else { StatusCode::NO_CONTENT };
    plain(status, bytes.unwrap_or_default().into(), "application/octet-stream")
}

/// A call that was refused or failed. `entry` is the memory as it is now, if it is another than was expected.
pub fn problem(problem: &Problem, entry: Option<Value>) -> Answer {
    let status = match problem.kind {
        ProblemKind::InvalidInput => StatusCode::BAD_REQUEST,
        ProblemKind::NotFound => StatusCode::NOT_FOUND,
        ProblemKind::Conflict => StatusCode::CONFLICT,
        ProblemKind::Locked | ProblemKind::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
        ProblemKind::Corrupt
        | ProblemKind::Full
        | ProblemKind::ModelMismatch
        | ProblemKind::Model
        | ProblemKind::Store => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let mut error = document(kind(status), &problem.message);
    if let Some(entry) = entry {
        error["error"]["entry"] = entry;
    }
    json_of(status, &error)
}

/// A write where there must be none.
pub fn read_only(why: &str) -> Answer {
    json_of(StatusCode::FORBIDDEN, &document("readOnly", why))
}

/// More than this explorer shows.
pub fn forbidden(why: &str) -> Answer {
    json_of(StatusCode::FORBIDDEN, &document("forbidden", why))
}

/// An internal error.
pub fn failed(why: &str) -> Answer {
    json_of(StatusCode::INTERNAL_SERVER_ERROR, &document("internal", why))
}

/// A call that was not run.
pub fn unavailable(unavailable: Unavailable) -> Answer {
    let status = match unavailable {
        Unavailable::Closing | Unavailable::Busy => StatusCode::SERVICE_UNAVAILABLE,
        Unavailable::Panicked => StatusCode::INTERNAL_SERVER_ERROR,
    };
    json_of(status, &document(kind(status), unavailable.message()))
}

/// A request that is refused by its head or body; its connection closes.
pub fn refused(refusal: &Refusal) -> Answer {
    let body = document(kind(refusal.status), refusal.why).to_string();
    refusal.answer(body.into(), JSON)
}

fn document(kind: &str, message: &str) -> Value {
    json!({ "error": { "kind": kind, "message": message } })
}

/// The kind of an error, for the page.
fn kind(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "unauthorized",
        StatusCode::FORBIDDEN => "forbidden",
        StatusCode::NOT_FOUND => "notFound",
        StatusCode::CONFLICT => "conflict",
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => "busy",
        status if status.is_client_error() => "invalid",
        _ => "internal",
    }
}

fn json_of(status: StatusCode, value: &impl Serialize) -> Answer {
    match serde_json::to_vec(value) {
        Ok(body) => plain(status, body.into(), JSON),
        Err(error) => {
            let body = document("internal", &format!("internal error: {error}")).to_string();
            plain(StatusCode::INTERNAL_SERVER_ERROR, Bytes::from(body), JSON)
        }
    }
}
