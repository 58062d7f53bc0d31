//! Answers, and refused requests.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderName, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};

pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A refused request: a status and the reason.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: StatusCode,
    /// An additional header.
    pub header: Option<(HeaderName, &'static str)>,
    /// The reason, for the caller.
    pub why: &'static str,
}

impl Refusal {
    /// A refusal with this reason.
    pub fn new(status: StatusCode, why: &'static str) -> Self {
        Refusal { status, header: None, why }
    }

    /// A refusal for now: the client may try again soon.
    pub fn busy() -> Self {
        let header = Some((RETRY_AFTER, "1"));
        Refusal { status: StatusCode::SERVICE_UNAVAILABLE, header, why: "too many clients at once; try again" }
    }

    /// A stream of a session that there is no room for. Clients go on without one, as with a server that has none.
    pub fn no_stream() -> Self {
        let why = "too many clients wait for notices; everything else works without";
        Refusal { status: StatusCode::METHOD_NOT_ALLOWED, header: Some((ALLOW, "POST, DELETE")), why }
    }

    /// The answer with `body` as the reason. The client has to connect again.
    pub fn answer(&self, body: Bytes, kind: &'static str) -> Answer {
        let mut answer = plain(self.status, body, kind);
        // The rest of the request may be unread.
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        if let Some((name, value)) = &self.header {
            answer.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        answer
    }
}

/// A whole answer of this content type.
pub fn plain(status: StatusCode, body: Bytes, kind: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(body).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// The answer, which holds something until it was sent.
pub fn holding(answer: Answer, held: impl Send + Sync + 'static) -> Answer {
    answer.map(|body| {
        let hold = move |frame| {
            let _ = &held;
            frame
        };
        body.map_frame(hold).boxed()
    })
}
