//! The MCP server over HTTP: many clients, one store.
//!
//! | path | methods | answer | token |
//! |---|---|---|---|
//! | `/mcp` | GET, POST, DELETE | MCP over streamable HTTP | required unless `--no-token` |
//! | `/metrics` | GET | metrics of the server and its store | likewise; a token that is bound to a project or an agent is refused |
//! | `/healthz` | GET, HEAD | whether the server runs | none |
//! | `/readyz` | GET, HEAD | whether the store can be read; for a team store, also whether its PostgreSQL server can be reached (if not, saves fail) | none |
//!
//! `/healthz` and `/readyz` with another method are unknown paths: the token is checked, and the status is 404.
//!
//! Notices are MCP notifications: they say that a memory or a digest (a summary of memories) has changed. A client of
//! protocol version 2025-11-25 or older gets a session when it sends `initialize`, unless it accepts only JSON. With GET,
//! it opens the stream of notices of the session. A client of version 2026-07-28 opens a stream of notices with
//! `subscriptions/listen`.
//!
//! The HTTP response to an `initialize` that opens a session is an event stream, which ends after the JSON-RPC response.
//! So are, within the session, the responses to `resources/subscribe` and `resources/unsubscribe`. Every other call,
//! except `subscriptions/listen`, is answered by one JSON document and needs no session. A client that accepts only event
//! streams gets the document as one event.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::clients::ServerState;
use super::guard::Policy;
use super::message::{self, MESSAGE_BYTES, Unreadable};
use super::metrics;
use super::services::{Service, Services, is_stream};
use super::streams;
use super::token::Token;
use crate::exit::{Failure, Kind};
use crate::http::{Answer, Bodies, Body, Refusal, Slot, holding, plain, serve};
use crate::output::Output;

const PATH: &str = "/mcp";
const METRICS: &str = "/metrics";
const HEALTH: &str = "/healthz";
const READY: &str = "/readyz";
/// Timeout of the readiness check.
const READY_TIMEOUT: Duration = Duration::from_secs(2);
const TEXT_CONTENT_TYPE: &str = "text/plain; charset=utf-8";
/// The reason for refusing a message of more than [`MESSAGE_BYTES`].
const TOO_LONG: &str = "a message has at most 4 MiB";
const _: () = assert!(MESSAGE_BYTES == 4 << 20);
/// How long shutdown waits for clients that do not hang up.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// A bound address, not yet served.
pub struct HttpServer {
    listener: TcpListener,
    policy: Policy,
}

/// The token that clients must send, and how it is shown in the client settings, which are printed at the start.
pub struct HttpAccess {
    /// The token; `None` if clients need none.
    pub token: Option<Token>,
    /// Printed above the settings: where the token comes from ("with the token in FILE"), or that none is needed.
    pub note: String,
    /// Whether the settings contain the token: false if the user provided it.
    pub show: bool,
}

impl HttpServer {
    pub async fn bind(policy: Policy) -> Result<Self, Failure> {
        let io = |error: std::io::Error| Failure::new(Kind::Io, format!("cannot serve at {}: {error}", policy.address));
        let listener = TcpListener::bind(policy.address).await.map_err(io)?;
        Ok(HttpServer { listener, policy })
    }

    /// Serves until `stop` ends. `accepts_team_tokens` tells whether clients may send tokens of the team store.
    pub async fn serve(
        self,
        state: ServerState,
        accepts_team_tokens: bool,
        access: HttpAccess,
        output: Output,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Failure> {
        let address = self.listener.local_addr().unwrap_or(self.policy.address);
        let url = format!("http://{address}{PATH}");
        output.note(format!("serving MCP at {url}"));
        output.note(client_settings(&url, &access));
        if address.ip().is_unspecified() && !self.policy.has_allowed_hosts {
            output.note("only requests to localhost are accepted; name this machine with --allow-host");
        }
        let config = StreamableHttpServerConfig::default()
            // For requests that need a session, `Service` has a second configuration with sessions.
            .with_legacy_session_mode(false)
            .with_json_response(true)
            // `guard.rs` checks the headers Host and Origin before the body is read.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(MESSAGE_BYTES);
        let cancellation = config.cancellation_token.clone();
        let changes = state.changes.clone();
        let services = Services::new(access.token, accepts_team_tokens, state, config)?;
        let bodies = Bodies::new(MESSAGE_BYTES, TOO_LONG);
        let handler = Arc::new(RequestHandler { policy: self.policy, bodies, services });
        let answer = move |request, slot| {
            let handler = handler.clone();
            async move { handler.answer(request, slot).await }
        };
        let stop = async move {
            stop.await;
            // Ends the streams of notices. Otherwise the shutdown would wait for them until DRAIN_TIMEOUT.
            changes.end();
        };
        serve(self.listener, answer, stop, DRAIN_TIMEOUT).await;
        // Only now, because this cancels the calls in flight: `serve` gives them up to DRAIN_TIMEOUT to finish.
        cancellation.cancel();
        Ok(())
    }
}

/// The settings for clients, for the user to copy.
fn client_settings(url: &str, access: &HttpAccess) -> String {
    let mut server = json!({ "type": "http", "url": url });
    if let Some(token) = &access.token {
        let shown = if access.show { token.reveal() } else { "YOUR_TOKEN" };
        server["headers"] = json!({ "Authorization": format!("Bearer {shown}") });
    }
    let settings = json!({ "mcpServers": { "memorist": server } });
    format!("settings of a client, {}:\n{settings:#}", access.note)
}

/// Checks the head of each request before its body is read, and answers the request.
struct RequestHandler {
    policy: Policy,
    bodies: Bodies,
    services: Services,
}

impl RequestHandler {
    /// `slot` counts the connection toward the limit of connections.
    async fn answer(&self, request: Request<Incoming>, slot: Arc<Slot>) -> Answer {
        let (head, body) = request.into_parts();
        let ReadRequest { endpoint, body, body_permit } = match self.receive(&head, body, &slot).await {
            Ok(received) => received,
            Err(refusal) => return self.refuse(&refusal),
        };
        match endpoint {
            Endpoint::Service(service) => self.answer_mcp(&service, head, body, body_permit, slot).await,
            Endpoint::Metrics => self.metrics().await,
            Endpoint::Health => plain(StatusCode::OK, "running\n".into(), TEXT_CONTENT_TYPE),
            Endpoint::Readiness => self.readiness().await,
        }
    }

    async fn answer_mcp(
        &self,
        service: &Service,
        head: Parts,
        body: Bytes,
        body_permit: Option<OwnedSemaphorePermit>,
        slot: Arc<Slot>,
    ) -> Answer {
        // Some clients send half a surrogate pair, which is replaced. The body is copied only then.
        let repaired = match message::repair(&body) {
            Cow::Owned(repaired) => Some(repaired),
            Cow::Borrowed(_) => None,
        };
        let body = repaired.map_or(body, Bytes::from);
        let body = body.slice_ref(message::trim(&body));
        let parsed = if head.method == Method::POST {
            match message::read(&body) {
                Ok(message) => Some(message),
                Err(unreadable) => return self.refuse_unreadable(unreadable),
            }
        } else {
            None
        };
        let is_get = head.method == Method::GET;
        let wants_stream = is_get || parsed.as_ref().is_some_and(streams::is_listen_request);
        // `open` opens no stream: it returns a permit for one more stream of notices, or `None` at the limit.
        let stream_permit = if wants_stream { service.streams.open() } else { None };
        if wants_stream && stream_permit.is_none() {
            // 405 tells the client of a session to go on without a stream; 503 tells that of `subscriptions/listen` to
            // try again.
            return self.refuse(&if is_get { Refusal::no_stream() } else { Refusal::busy() });
        }
        let mut answer = service.answer(Request::from_parts(head, Full::new(body)), parsed.as_ref()).await;
        // If the answer is no stream, the permit is given back here.
        if let Some(stream_permit) = stream_permit.filter(|_| is_stream(&answer)) {
            // While the stream is open, the connection does not count toward the limit of connections.
            answer = holding(answer, (stream_permit, slot.stream()));
        }
        match body_permit {
            None => answer,
            // Held until the response is sent. A stream begins before its message is handled, so the body is still in
            // memory then.
            Some(body_permit) => holding(answer, body_permit),
        }
    }

    async fn metrics(&self) -> Answer {
        match self.services.state().metrics_text().await {
            Ok(text) => plain(StatusCode::OK, text.into(), metrics::CONTENT_TYPE),
            Err(why) => {
                tracing::warn!("cannot collect metrics: {why}");
                self.refuse(&Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the store cannot be read"))
            }
        }
    }

    /// Answers within [`READY_TIMEOUT`] whether the store can be read.
    /// "not ready" is an answer to the probe, so the metrics do not count it as an error.
    async fn readiness(&self) -> Answer {
        let ready = timeout(READY_TIMEOUT, self.services.state().readiness()).await;
        match ready.unwrap_or_else(|_| Err("the store does not answer".to_owned())) {
            Ok(state) => plain(StatusCode::OK, format!("{state}\n").into(), TEXT_CONTENT_TYPE),
            Err(why) => {
                tracing::debug!("not ready: {why}");
                plain(StatusCode::SERVICE_UNAVAILABLE, "not ready\n".into(), TEXT_CONTENT_TYPE)
            }
        }
    }

    /// Counts a refused request in the metrics, and says why it is refused. The connection closes after the response
    /// ([`Refusal::answer`]).
    fn refuse(&self, refusal: &Refusal) -> Answer {
        self.count_error(refusal.status);
        refusal.answer(Bytes::from(format!("{}\n", refusal.why)), TEXT_CONTENT_TYPE)
    }

    /// Refuses a body that is no valid message.
    fn refuse_unreadable(&self, unreadable: Unreadable) -> Answer {
        match unreadable {
            // The client expects a JSON-RPC error. Unlike `refuse`, this does not close the connection.
            Unreadable::Refused(error) => {
                self.count_error(StatusCode::BAD_REQUEST);
                plain(StatusCode::BAD_REQUEST, error.into(), "application/json")
            }
            // The client expects no JSON-RPC error: the body is empty, or a broken response of the client.
            Unreadable::Silent => self.refuse(&Refusal::new(StatusCode::BAD_REQUEST, "the body has no request")),
        }
    }

    fn count_error(&self, status: StatusCode) {
        self.services.state().metrics.failed(error_kind(status));
    }

    /// Authorizes a request by its head, and reads its body.
    async fn receive(&self, head: &Parts, body: Incoming, slot: &Slot) -> Result<ReadRequest, Refusal> {
        let (endpoint, max_bytes) = match self.authorize(head, &body, slot).await {
            Ok(authorized) => authorized,
            Err(refusal) => {
                self.bodies.discard(head, body);
                return Err(refusal);
            }
        };
        let Body { bytes, permit } = self.bodies.read(body, max_bytes).await?;
        Ok(ReadRequest { endpoint, body: bytes, body_permit: permit })
    }

    /// Checks the headers, the token and the path of a request. Returns its endpoint, and the maximum length of its
    /// body in bytes.
    async fn authorize(&self, head: &Parts, body: &Incoming, slot: &Slot) -> Result<(Endpoint, usize), Refusal> {
        let path = head.uri.path().trim_end_matches('/');
        // Probes send no token, and their Host header may be any name, so neither is checked. They learn only whether the
        // server runs, whether the store can be read, and whether the PostgreSQL server of a team store can be reached.
        let probe = match path {
            HEALTH => Some(Endpoint::Health),
            READY => Some(Endpoint::Readiness),
            _ => None,
        };
        if let Some(probe) = probe.filter(|_| matches!(head.method, Method::GET | Method::HEAD)) {
            return if slot.admit() { Ok((probe, 0)) } else { Err(Refusal::busy()) };
        }
        let authenticated = match self.policy.refuses(head) {
            Some(refusal) => Err(refusal),
            // Checks the token, and finds the service for its rights.
            None => self.services.of(&head.headers).await,
        };
        let (service, is_unbound) =
            authenticated.inspect_err(|refusal| tracing::debug!("a request was rejected: {}", refusal.why))?;
        // `admit` counts the connection once, at its first valid request. It returns false if too many connections are
        // counted.
        if !slot.admit() {
            return Err(Refusal::busy());
        }
        match path {
            // `length` refuses a request whose Content-Length is over the limit.
            PATH => Ok((Endpoint::Service(Box::new(service)), self.bodies.length(body)?)),
            METRICS if head.method != Method::GET => {
                Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "GET the metrics"))
            }
            METRICS if is_unbound => Ok((Endpoint::Metrics, 0)),
            METRICS => Err(Refusal::new(
                StatusCode::FORBIDDEN,
                "your token is bound to a project or an agent; metrics cover all of them",
            )),
            _ => Err(Refusal::new(StatusCode::NOT_FOUND, "MCP is served at /mcp")),
        }
    }
}

/// A request that was authorized and read.
struct ReadRequest {
    endpoint: Endpoint,
    body: Bytes,
    /// The permit for the memory of a long body; `None` for a short one.
    body_permit: Option<OwnedSemaphorePermit>,
}

/// The endpoint that a request is for.
enum Endpoint {
    /// `/mcp`, answered by the service for the client's rights.
    Service(Box<Service>),
    /// `/metrics`.
    Metrics,
    /// `/healthz`.
    Health,
    /// `/readyz`.
    Readiness,
}

/// The label `kind` of a refusal in the metric `memorist_errors_total`. A store that cannot be read counts as `busy`, and
/// every other status as `bad_request`.
fn error_kind(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "unauthorized",
        StatusCode::FORBIDDEN => "forbidden",
        StatusCode::SERVICE_UNAVAILABLE => "busy",
        _ => "bad_request",
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tempfile::TempDir;

    use super::super::guard::PolicyOptions;
    use super::*;

    /// A handler over a new store. The folder is deleted when it is dropped.
    fn handler() -> (RequestHandler, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let state = ServerState::of_store(folder.path());
        let options = PolicyOptions { address: "8765".into(), without_token: true, allow_hosts: Vec::new() };
        let handler = RequestHandler {
            policy: Policy::new(options).unwrap(),
            bodies: Bodies::new(MESSAGE_BYTES, TOO_LONG),
            services: Services::new(None, false, state, StreamableHttpServerConfig::default()).unwrap(),
        };
        (handler, folder)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_unreadable_message_is_counted_as_a_bad_request() {
        let (handler, _folder) = handler();
        for unreadable in [Unreadable::Silent, Unreadable::Refused("{}".into())] {
            assert_eq!(handler.refuse_unreadable(unreadable).status(), StatusCode::BAD_REQUEST);
        }
        let metrics = handler.services.state().metrics_text().await.unwrap();
        assert!(metrics.contains("\nmemorist_errors_total{kind=\"bad_request\"} 2\n"), "{metrics}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn metrics_without_a_readable_store_are_refused() {
        let (handler, _folder) = handler();
        assert_eq!(handler.metrics().await.status(), StatusCode::OK);
        handler.services.state().dispatcher.close().await;
        let refused = handler.metrics().await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        let body = refused.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "the store cannot be read\n");
    }
}
