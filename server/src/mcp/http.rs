//! The server over streamable HTTP, at `/mcp`: many clients, one store; its figures, at `/metrics`; and, without a token, whether
//! it runs and can answer, at `/healthz` and `/readyz`. A client of the older era that initializes gets a session, by which it
//! can be sent notices; every other request needs none, and its response is one JSON document.

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

use super::clients::Clients;
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
/// Where an operator reads figures.
const METRICS: &str = "/metrics";
/// Whether the server runs.
const HEALTH: &str = "/healthz";
/// Whether it can answer from its store.
const READY: &str = "/readyz";
/// The time within which a server that is ready says so.
const READY_TIMEOUT: Duration = Duration::from_secs(2);
/// The type of a plain text.
const TEXT: &str = "text/plain; charset=utf-8";
/// How long shutdown waits for clients that do not hang up.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// A bound address, not yet served.
pub struct HttpServer {
    listener: TcpListener,
    policy: Policy,
}

/// The token of a server, and how the printed client settings show it.
pub struct HttpAccess {
    /// The token, if one is required.
    pub token: Option<Token>,
    /// The note about it beside the settings.
    pub note: String,
    /// Whether the settings show it: not if the user provided it.
    pub show: bool,
}

impl HttpServer {
    /// Binds the address.
    pub async fn bind(policy: Policy) -> Result<Self, Failure> {
        let io = |error: std::io::Error| Failure::new(Kind::Io, format!("cannot serve at {}: {error}", policy.address));
        let listener = TcpListener::bind(policy.address).await.map_err(io)?;
        Ok(HttpServer { listener, policy })
    }

    /// Serves until `stop` ends. `has_tokens` says whether clients may send tokens of their team store.
    pub async fn serve(
        self,
        clients: Clients,
        has_tokens: bool,
        access: HttpAccess,
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
            // `guard.rs` checks both before the body is read.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(MESSAGE_BYTES);
        let streams = config.cancellation_token.clone();
        let changes = clients.changes.clone();
        let services = Services::new(access.token, has_tokens, clients, config)?;
        let bodies = Bodies::new(MESSAGE_BYTES, "a message has at most 4 MiB");
        let gate = Arc::new(RequestGate { policy: self.policy, bodies, services });
        let answer = move |request, slot| {
            let gate = gate.clone();
            async move { gate.answer(request, slot).await }
        };
        let stop = async move {
            stop.await;
            // Nobody waits any longer for what may never come.
            changes.end();
        };
        serve(self.listener, answer, stop, DRAIN_TIMEOUT).await;
        // Last: this also cancels calls in flight, whose clients wait for a response.
        streams.cancel();
        Ok(())
    }
}

/// Client settings to copy.
fn client_settings(url: &str, access: &HttpAccess) -> String {
    let mut server = json!({ "type": "http", "url": url });
    if let Some(token) = &access.token {
        let shown = if access.show { token.reveal() } else { "YOUR_TOKEN" };
        server["headers"] = json!({ "Authorization": format!("Bearer {shown}") });
    }
    let settings = json!({ "mcpServers": { "memorist": server } });
    format!("settings of a client, {}:\n{settings:#}", access.note)
}

/// Checks every request before it uses resources.
struct RequestGate {
    policy: Policy,
    bodies: Bodies,
    services: Services,
}

impl RequestGate {
    async fn answer(&self, request: Request<Incoming>, slot: Arc<Slot>) -> Answer {
        let (head, body) = request.into_parts();
        match self.take(&head, body, &slot).await {
            Err(refusal) => self.refuse(&refusal),
            Ok(Taken { wanted: Endpoint::Figures, .. }) => match self.services.clients().figures().await {
                Ok(text) => plain(StatusCode::OK, text.into(), metrics::CONTENT_TYPE),
                Err(why) => {
                    tracing::warn!("there are no figures: {why}");
                    refused(&Refusal::busy())
                }
            },
            Ok(Taken { wanted: Endpoint::Health, .. }) => plain(StatusCode::OK, "running\n".into(), TEXT),
            Ok(Taken { wanted: Endpoint::Readiness, .. }) => self.readiness().await,
            Ok(Taken { body, wanted: Endpoint::Service(service), room }) => {
                let repaired = match message::repair(&body) {
                    Cow::Owned(repaired) => Some(Bytes::from(repaired)),
                    Cow::Borrowed(_) => None,
                };
                let body = repaired.unwrap_or(body);
                let body = body.slice_ref(message::trim(&body));
                let message = match (head.method == Method::POST).then(|| message::read(&body)).transpose() {
                    Ok(message) => message,
                    Err(unreadable) => return not_understood(unreadable),
                };
                let is_get = head.method == Method::GET;
                let stream = if is_get || message.as_ref().is_some_and(streams::listens) {
                    let Some(stream) = service.streams.open() else {
                        return self.refuse(&if is_get { Refusal::no_stream() } else { Refusal::busy() });
                    };
                    Some(stream)
                } else {
                    None
                };
                let mut answer = service.answer(Request::from_parts(head, Full::new(body)), message.as_ref()).await;
                if let Some(stream) = stream.filter(|_| is_stream(&answer)) {
                    answer = holding(answer, (stream, slot.stream()));
                }
                match room {
                    None => answer,
                    // In a session the answer begins before the call ends.
                    Some(room) => holding(answer, room),
                }
            }
        }
    }

    /// Says whether the store can be read. It waits no longer than a probe does.
    async fn readiness(&self) -> Answer {
        let ready = timeout(READY_TIMEOUT, self.services.clients().readiness()).await;
        match ready.unwrap_or_else(|_| Err("the store does not answer".to_owned())) {
            Ok(state) => plain(StatusCode::OK, format!("{state}\n").into(), TEXT),
            Err(why) => {
                tracing::debug!("not ready: {why}");
                plain(StatusCode::SERVICE_UNAVAILABLE, "not ready\n".into(), TEXT)
            }
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Answer {
        self.services.clients().metrics.failed(reason(refusal.status));
        refused(refusal)
    }

    /// Reads the body of an acceptable request.
    async fn take(&self, head: &Parts, body: Incoming, slot: &Slot) -> Result<Taken, Refusal> {
        let (wanted, length) = match self.admit(head, &body, slot).await {
            Ok(admitted) => admitted,
            Err(refusal) => {
                self.bodies.drop_unread(head, body);
                return Err(refusal);
            }
        };
        let Body { bytes, room } = self.bodies.read(body, length).await?;
        Ok(Taken { body: bytes, wanted, room })
    }

    /// Checks a request. Returns its target, and the upper bound of the body's length.
    async fn admit(&self, head: &Parts, body: &Incoming, slot: &Slot) -> Result<(Endpoint, usize), Refusal> {
        let path = head.uri.path().trim_end_matches('/');
        // Probes send neither a token nor the name of the server, and learn nothing of its store.
        let probe = match path {
            HEALTH => Some(Endpoint::Health),
            READY => Some(Endpoint::Readiness),
            _ => None,
        };
        if let Some(probe) = probe.filter(|_| matches!(head.method, Method::GET | Method::HEAD)) {
            return if slot.admit() { Ok((probe, 0)) } else { Err(Refusal::busy()) };
        }
        let allowed = self.policy.refuses(head).map_or(Ok(()), Err);
        let service = match allowed {
            Ok(()) => self.services.of(&head.headers).await,
            Err(refusal) => Err(refusal),
        };
        let (service, sees_all) =
            service.inspect_err(|refusal| tracing::debug!("a request is refused: {}", refusal.why))?;
        if !slot.admit() {
            return Err(Refusal::busy());
        }
        match path {
            PATH => {}
            METRICS if head.method != Method::GET => {
                return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "GET the figures"));
            }
            METRICS if sees_all => return Ok((Endpoint::Figures, 0)),
            METRICS => {
                return Err(Refusal::new(
                    StatusCode::FORBIDDEN,
                    "your token is bound to a project or an agent; the figures are about all",
                ));
            }
            _ => return Err(Refusal::new(StatusCode::NOT_FOUND, "MCP is served at /mcp")),
        }
        Ok((Endpoint::Service(Box::new(service)), self.bodies.length(body)?))
    }
}

/// The body of a request, what it wants, and its share of the budget.
struct Taken {
    body: Bytes,
    wanted: Endpoint,
    room: Option<OwnedSemaphorePermit>,
}

/// The target of a request.
enum Endpoint {
    /// MCP, of this service.
    Service(Box<Service>),
    /// The figures.
    Figures,
    /// Whether the server runs.
    Health,
    /// Whether it can answer.
    Readiness,
}

/// Its name where failures are counted.
fn reason(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "unauthorized",
        StatusCode::FORBIDDEN => "forbidden",
        StatusCode::SERVICE_UNAVAILABLE => "busy",
        _ => "bad_request",
    }
}

/// Says why a request is refused, and closes the connection.
fn refused(refusal: &Refusal) -> Answer {
    refusal.answer(Bytes::from(format!("{}\n", refusal.why)), TEXT)
}

fn not_understood(unreadable: Unreadable) -> Answer {
    match unreadable {
        Unreadable::Refused(error) => plain(StatusCode::BAD_REQUEST, error.into(), "application/json"),
        Unreadable::Silent => refused(&Refusal::new(StatusCode::BAD_REQUEST, "there is no request in the body")),
    }
}
