//! The server over streamable HTTP, at `/mcp`: many clients, one store. It sends nothing that was not asked for, so that
//! there are no sessions to keep, in either era of the protocol, and an answer is one JSON document.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, EXPECT, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::connections::{self, Answer, Pass};
use super::guard::{Policy, Refusal};
use super::handler::Handler;
use super::message::{self, MESSAGE_BYTES, Unreadable};
use super::token::Token;
use crate::exit::{Failure, Kind};
use crate::output::Output;

const PATH: &str = "/mcp";
/// How long a client may take to send its request.
const BODY_PATIENCE: Duration = Duration::from_secs(10);
/// Bodies up to this length are held to bounds by the number of connections.
const SMALL_BODY: usize = 64 << 10;
/// Longer ones share so many bytes, from their first byte until they are answered.
const LARGE_BODIES: usize = 8 * MESSAGE_BYTES;
/// So much of the body of a refused request is read and dropped: to close at once could cost the client the answer.
const DROPPED_BYTES: usize = 2 * MESSAGE_BYTES;
/// How long ending waits for clients that do not hang up.
const PATIENCE: Duration = Duration::from_secs(3);

/// A bound address, not yet served.
pub struct Server {
    listener: TcpListener,
    policy: Policy,
}

/// The token of a server, and what its client's settings say of it.
pub struct Access {
    /// The token, where one is wanted.
    pub token: Option<Token>,
    /// What is said of it under the client's settings.
    pub note: String,
    /// Whether the settings show it: not one that somebody else keeps.
    pub show: bool,
}

impl Server {
    /// Takes the address.
    pub async fn bind(policy: Policy) -> Result<Self, Failure> {
        let io = |error: std::io::Error| Failure::new(Kind::Io, format!("cannot serve at {}: {error}", policy.address));
        let listener = TcpListener::bind(policy.address).await.map_err(io)?;
        Ok(Server { listener, policy })
    }

    /// Serves until `stop` ends.
    pub async fn serve(
        self,
        handler: Handler,
        access: Access,
        output: Output,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Failure> {
        let address = self.listener.local_addr().unwrap_or(self.policy.address);
        let url = format!("http://{address}{PATH}");
        output.note(format!("serving MCP at {url}"));
        output.note(client_settings(&url, &access));
        if address.ip().is_unspecified() && !self.policy.names_others {
            output.note("only requests to localhost are answered; name this machine with --allow-host");
        }
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            // The guard has seen to both before the body was read.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(MESSAGE_BYTES);
        let streams = config.cancellation_token.clone();
        let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config);
        let reception = Arc::new(Reception {
            policy: self.policy,
            token: access.token,
            large_bodies: Semaphore::new(LARGE_BODIES),
            service,
        });
        let answer = move |request, pass| {
            let reception = reception.clone();
            async move { reception.answer(request, pass).await }
        };
        connections::serve(self.listener, answer, stop, PATIENCE).await;
        // Only now: it also ends the calls in hand, whose answers their clients wait for.
        streams.cancel();
        Ok(())
    }
}

/// What a client is configured with, to be copied.
fn client_settings(url: &str, access: &Access) -> String {
    let mut server = json!({ "type": "http", "url": url });
    if let Some(token) = &access.token {
        let shown = if access.show { token.reveal() } else { "YOUR_TOKEN" };
        server["headers"] = json!({ "Authorization": format!("Bearer {shown}") });
    }
    let settings = json!({ "mcpServers": { "memorist": server } });
    format!("settings of a client, {}:\n{settings:#}", access.note)
}

/// Looks at every request before it costs anything.
struct Reception {
    policy: Policy,
    token: Option<Token>,
    large_bodies: Semaphore,
    service: StreamableHttpService<Handler, NeverSessionManager>,
}

impl Reception {
    async fn answer(&self, request: Request<Incoming>, pass: Arc<Pass>) -> Answer {
        let (head, body) = request.into_parts();
        match self.take(&head, body, &pass).await {
            Err(refusal) => refused(&refusal),
            Ok(Taken { body, room: _room }) => {
                let repaired = match message::repair(&body) {
                    Cow::Owned(repaired) => Some(Bytes::from(repaired)),
                    Cow::Borrowed(_) => None,
                };
                let body = repaired.unwrap_or(body);
                let body = body.slice_ref(message::trim(&body));
                if head.method == Method::POST
                    && let Err(unreadable) = message::read(&body)
                {
                    return not_understood(unreadable);
                }
                self.service.handle(Request::from_parts(head, Full::<Bytes>::new(body))).await
            }
        }
    }

    /// Reads the body of a request that may be answered.
    async fn take(&self, head: &Parts, body: Incoming, pass: &Pass) -> Result<Taken<'_>, Refusal> {
        let length = match self.length(head, &body, pass) {
            Ok(length) => length,
            Err(refusal) => {
                // Who waits to be asked for the body is not.
                if !head.headers.contains_key(EXPECT) {
                    drop_body(body);
                }
                return Err(refusal);
            }
        };
        let mut room = if length > SMALL_BODY {
            // At most MESSAGE_BYTES. All of it at once: who has some and waits for more could wait for another who does.
            let room = self.large_bodies.acquire_many(length as u32);
            Some(timeout(BODY_PATIENCE, room).await.ok().and_then(Result::ok).ok_or_else(busy)?)
        } else {
            None
        };
        match timeout(BODY_PATIENCE, Limited::new(body, length).collect()).await {
            Ok(Ok(body)) => {
                let body = body.to_bytes();
                // One that did not say its length has room for the greatest.
                let surplus = if body.len() > SMALL_BODY { length - body.len() } else { length };
                drop(room.as_mut().and_then(|room| room.split(surplus)));
                Ok(Taken { body, room })
            }
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(too_long()),
            Ok(Err(_)) => Err(refusal(StatusCode::BAD_REQUEST, "the body ended early")),
            Err(_) => Err(refusal(StatusCode::REQUEST_TIMEOUT, "the body did not come in time")),
        }
    }

    /// The greatest length that the body can have, when the request may be answered at all.
    fn length(&self, head: &Parts, body: &Incoming, pass: &Pass) -> Result<usize, Refusal> {
        if let Some(refusal) = self.policy.refuses(head, self.token.as_ref()) {
            tracing::debug!("a request is refused: {}", refusal.why);
            return Err(refusal);
        }
        if !pass.admit() {
            return Err(busy());
        }
        if head.uri.path().trim_end_matches('/') != PATH {
            return Err(refusal(StatusCode::NOT_FOUND, "MCP is served at /mcp"));
        }
        match body.size_hint().upper() {
            None => Ok(MESSAGE_BYTES),
            Some(length) => usize::try_from(length).ok().filter(|length| *length <= MESSAGE_BYTES).ok_or_else(too_long),
        }
    }
}

/// The body of a request, and the room that it takes up.
struct Taken<'a> {
    body: Bytes,
    room: Option<SemaphorePermit<'a>>,
}

fn refusal(status: StatusCode, why: &'static str) -> Refusal {
    Refusal { status, header: None, why }
}

fn too_long() -> Refusal {
    refusal(StatusCode::PAYLOAD_TOO_LARGE, "a message has at most 4 MiB")
}

fn busy() -> Refusal {
    let header = Some((RETRY_AFTER, "1"));
    Refusal { status: StatusCode::SERVICE_UNAVAILABLE, header, why: "too many clients at once; try again" }
}

/// Says why a request is not answered, and hangs up.
fn refused(refusal: &Refusal) -> Answer {
    let mut answer = plain(refusal.status, Bytes::from(format!("{}\n", refusal.why)), "text/plain; charset=utf-8");
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    if let Some((name, value)) = &refusal.header {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn not_understood(unreadable: Unreadable) -> Answer {
    match unreadable {
        Unreadable::Refused(error) => plain(StatusCode::BAD_REQUEST, error.into(), "application/json"),
        Unreadable::Silent => refused(&refusal(StatusCode::BAD_REQUEST, "there is no request in the body")),
    }
}

fn plain(status: StatusCode, body: Bytes, kind: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(body).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Reads a body for a while without keeping it, beside the answer.
fn drop_body(mut body: Incoming) {
    tokio::spawn(timeout(BODY_PATIENCE, async move {
        let mut left = DROPPED_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(length) {
                Some(rest) => left = rest,
                None => break,
            }
        }
    }));
}
