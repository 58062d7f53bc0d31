//! Forms of an answer that a client accepts over HTTP. The protocol wants both JSON and a stream of events; clients and
//! gateways send less, or nothing.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use http_body_util::{BodyExt, Full};

use crate::http::Answer;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// The forms of an answer that a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepts {
    Both,
    /// One JSON document.
    Json,
    /// A stream of events.
    Events,
    Nothing,
}

impl Accepts {
    /// The forms that these headers name. Without an `Accept` header, either form is accepted.
    pub fn of(headers: &HeaderMap) -> Self {
        let ranges: Vec<String> = headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|range| range.split(';').next().unwrap_or_default().trim().to_lowercase())
            .filter(|range| !range.is_empty())
            .collect();
        let takes = |form: &str| {
            let group = form.split('/').next().unwrap_or_default();
            ranges.is_empty()
                || ranges.iter().any(|range| range == "*/*" || range == form || *range == format!("{group}/*"))
        };
        match (takes(JSON), takes(EVENTS)) {
            (true, true) => Accepts::Both,
            (true, false) => Accepts::Json,
            (false, true) => Accepts::Events,
            (false, false) => Accepts::Nothing,
        }
    }

    /// Makes the headers say what the protocol wants, if the client takes anything of that.
    pub fn complete(self, headers: &mut HeaderMap) {
        if self != Accepts::Nothing {
            headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        }
    }

    /// The answer in a form that the client takes: a JSON document is one event.
    pub async fn fit(self, answer: Answer) -> Answer {
        let is_json =
            answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(JSON.as_bytes()));
        if self != Accepts::Events || !is_json {
            return answer;
        }
        let (mut head, body) = answer.into_parts();
        let Ok(body) = body.collect().await;
        let mut event = b"event: message\n".to_vec();
        for line in body.to_bytes().split(|byte| *byte == b'\n') {
            event.extend_from_slice(b"data: ");
            event.extend_from_slice(line);
            event.push(b'\n');
        }
        event.push(b'\n');
        head.headers.remove(CONTENT_LENGTH);
        head.headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
        Answer::from_parts(head, Full::new(Bytes::from(event)).boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_types_are_read_from_all_accept_headers() {
        for (values, accepts) in [
            (&[][..], Accepts::Both),
            (&[""], Accepts::Both),
            (&["*/*"], Accepts::Both),
            (&["application/json, text/event-stream"], Accepts::Both),
            (&["application/json", "Text/Event-Stream;q=0.5"], Accepts::Both),
            (&["application/*;q=0.9"], Accepts::Json),
            (&["application/json"], Accepts::Json),
            (&["text/*"], Accepts::Events),
            (&["text/html, image/png"], Accepts::Nothing),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(ACCEPT, HeaderValue::from_static(value));
            }
            assert_eq!(Accepts::of(&headers), accepts, "{values:?}");
        }
    }
}
