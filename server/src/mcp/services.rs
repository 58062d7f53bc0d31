//! Services for clients over HTTP: by the token of a client, and by its session if it has one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use memorist_engine::types::TokenRights;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::accepts::Accepts;
use super::clients::ServerState;
#[cfg(feature = "conformance")]
use super::conformance::{WithFixtures as Served, talks};
use super::handler::Handler;
#[cfg(not(feature = "conformance"))]
use super::handler::Handler as Served;
use super::sessions::Sessions;
use super::streams::Streams;
use super::token::Token;
use crate::exit::Failure;
use crate::http::{Answer, Refusal, sent, unauthorized};
use crate::serving::Changes;

const SESSION: &str = "mcp-session-id";
/// How long a token of a team store is looked up.
const LOOKUP: Duration = Duration::from_secs(10);
/// How often the token of an open stream is looked up again.
const RECHECK: Duration = Duration::from_secs(30);
/// Services for different bindings of tokens that are kept.
const MOST_BOUND: usize = 1_000;

/// A request without a token that is known.
fn no_token() -> Refusal {
    unauthorized("send the server's token: Authorization: Bearer TOKEN")
}

/// The service for clients with the same rights.
#[derive(Clone)]
pub struct Service {
    /// Requests that need no session.
    alone: StreamableHttpService<Served, NeverSessionManager>,
    in_session: StreamableHttpService<Served, Sessions>,
    sessions: Arc<Sessions>,
    /// The room for their streams.
    pub streams: Streams,
    config: StreamableHttpServerConfig,
    /// The rights of the client that asks, if it has a token of the team store.
    lease: Option<Lease>,
}

#[cfg(not(feature = "conformance"))]
fn served(product: Handler) -> Served {
    product
}

/// The fixtures of the conformance suite stand before the product.
#[cfg(feature = "conformance")]
fn served(product: Handler) -> Served {
    Served::from(product)
}

impl Service {
    fn new(handler: &Handler, config: &StreamableHttpServerConfig, changes: &Changes, streams: Streams) -> Self {
        let (alone, of_session) = (served(handler.clone()), handler.clone());
        let sessions = Arc::new(Sessions::new(changes.clone()));
        let config = config.clone().with_cancellation_token(config.cancellation_token.child_token());
        Service {
            alone: StreamableHttpService::new(move || Ok(alone.clone()), Arc::default(), config.clone()),
            in_session: StreamableHttpService::new(
                move || Ok(served(of_session.of_session())),
                sessions.clone(),
                config.clone().with_legacy_session_mode(true),
            ),
            sessions,
            streams,
            config,
            lease: None,
        }
    }

    /// `message` is what is in the body, if it is of a POST.
    pub async fn answer(&self, request: Request<Full<Bytes>>, message: Option<&ClientJsonRpcMessage>) -> Answer {
        let answer = self.handle(request, message).await;
        match &self.lease {
            Some(lease) if is_stream(&answer) => lease.limit(answer),
            _ => answer,
        }
    }

    async fn handle(&self, mut request: Request<Full<Bytes>>, message: Option<&ClientJsonRpcMessage>) -> Answer {
        let begins = matches!(message, Some(JsonRpcMessage::Request(request))
            if matches!(request.request, ClientRequest::InitializeRequest(_)));
        let accepts = Accepts::of(request.headers());
        // A GET wants a stream.
        if request.method() == Method::POST || accepts != Accepts::Json {
            accepts.complete(request.headers_mut());
        }
        if begins {
            // One that is over, or of another server: a new one begins.
            request.headers_mut().remove(SESSION);
        }
        // The answers of a session are streams.
        let begins = begins && accepts != Accepts::Json;
        let id = request.headers().get(SESSION).and_then(|id| id.to_str().ok());
        let is_for = |id| self.sessions.has_ended(id) || self.sessions.use_now(id) && is_for_session(message);
        if !begins && !id.is_some_and(is_for) {
            return accepts.fit(self.alone.handle(request).await).await;
        }
        let ends = request.method() == Method::DELETE;
        let mut answer = self.in_session.handle(request).await;
        if ends && answer.status() == StatusCode::ACCEPTED {
            // Clients take 202 for a failure: the session is over, not about to be.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        answer
    }
}

/// Whether a message of a session has to do with it, and is no call that is answered as without one: sooner, and in one JSON
/// document.
fn is_for_session(message: Option<&ClientJsonRpcMessage>) -> bool {
    let Some(JsonRpcMessage::Request(call)) = message else { return true };
    let subscribes = matches!(call.request, ClientRequest::SubscribeRequest(_) | ClientRequest::UnsubscribeRequest(_));
    subscribes || talks(&call.request)
}

/// The product sends nothing while a call is in hand; fixtures of the conformance suite do.
#[cfg(not(feature = "conformance"))]
fn talks(_: &ClientRequest) -> bool {
    false
}

/// Whether it is a stream of events.
pub fn is_stream(answer: &Answer) -> bool {
    answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// The services for clients, by their tokens.
pub struct Services {
    /// The server's own token, if one is required.
    token: Option<Token>,
    trusted: Service,
    /// Whether clients may send tokens of the team store.
    accepts_team_tokens: bool,
    state: Arc<ServerState>,
    /// The services that were needed, by the rights of a token.
    bound: Mutex<HashMap<TokenRights, Service>>,
    config: StreamableHttpServerConfig,
}

impl Services {
    /// Services over this state.
    pub fn new(
        token: Option<Token>,
        accepts_team_tokens: bool,
        state: ServerState,
        config: StreamableHttpServerConfig,
    ) -> Result<Self, Failure> {
        let trusted = Service::new(&state.trusted()?, &config, &state.changes, Streams::new());
        Ok(Services { token, trusted, accepts_team_tokens, state: Arc::new(state), bound: Mutex::default(), config })
    }

    /// The state that the services share.
    pub fn state(&self) -> &ServerState {
        &self.state
    }

    /// The service for a client with these headers, and whether the client is unbound: it needs no token, or sends the
    /// server's own or one that is bound to no project or agent.
    pub async fn of(&self, headers: &HeaderMap) -> Result<(Service, bool), Refusal> {
        let sent = sent(headers);
        let is_own = match (&self.token, sent) {
            (Some(own), sent) => own.is(sent.ok_or_else(no_token)?),
            // Nobody needs a token here; who sends one of the team is bound by it.
            (None, sent) => sent.is_none() || !self.accepts_team_tokens,
        };
        let sent = match sent {
            Some(sent) if !is_own => sent,
            _ => return Ok((self.trusted.clone(), true)),
        };
        let sent = std::str::from_utf8(sent).ok().filter(|_| self.accepts_team_tokens).ok_or_else(no_token)?;
        let rights = timeout(LOOKUP, self.state.rights_of(sent.to_owned())).await.map_err(|_| Refusal::busy())?;
        let rights = rights.map_err(|why| {
            tracing::warn!("a token cannot be looked up: {why}");
            Refusal::busy()
        })?;
        let rights = rights.ok_or_else(no_token)?;
        let is_unbound = !rights.is_bound();
        let lease = Lease { state: self.state.clone(), token: sent.to_owned(), rights: rights.clone() };
        let others = || {
            let why = "this server does not serve the project or agent of your token";
            Refusal::new(StatusCode::FORBIDDEN, why)
        };
        let service = self.bound(rights).ok_or_else(others)?;
        Ok((Service { lease: Some(lease), ..service }, is_unbound))
    }

    /// The service of clients with these rights. There is one, also if two ask first at once: they share its sessions.
    fn bound(&self, rights: TokenRights) -> Option<Service> {
        let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(service) = bound.get(&rights) {
            return Some(service.clone());
        }
        let handler = self.state.bound(&rights).ok().flatten()?;
        let service = Service::new(&handler, &self.config, &self.state.changes, self.trusted.streams.of_others());
        if bound.len() >= MOST_BOUND {
            for (_, service) in bound.drain() {
                // Nobody can reach its sessions any longer.
                service.config.cancellation_token.cancel();
            }
        }
        bound.insert(rights, service.clone());
        Some(service)
    }
}

/// The rights of a client for as long as its token has them.
#[derive(Clone)]
struct Lease {
    state: Arc<ServerState>,
    token: String,
    rights: TokenRights,
}

impl Lease {
    /// A stream that ends when the token was revoked or means something else. While that is not known it goes on.
    fn limit(&self, answer: Answer) -> Answer {
        let lease = self.clone();
        until(answer, RECHECK, move || {
            let lease = lease.clone();
            async move {
                let rights = lease.state.rights_of(lease.token.clone()).await;
                rights.is_ok_and(|rights| rights.as_ref() != Some(&lease.rights))
            }
        })
    }
}

/// The answer until `over` says so, which is asked time and again.
fn until<F: Future<Output = bool> + Send>(
    answer: Answer,
    every: Duration,
    over: impl Fn() -> F + Send + Sync + 'static,
) -> Answer {
    let (mut open, closed) = oneshot::channel::<()>();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = open.closed() => return,
                () = sleep(every) => {}
            }
            if over().await {
                // `open` is dropped, which ends the stream.
                return;
            }
        }
    });
    answer.map(|body| BodyExt::boxed(StreamBody::new(BodyStream::new(body).take_until(closed))))
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};

    use futures_util::stream;
    use http::Response;
    use hyper::body::Frame;
    use memorist_engine::types::Rights;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn clients_with_the_same_rights_have_one_service() {
        let folder = tempfile::tempdir().unwrap();
        let state = ServerState::of_store(folder.path());
        let services = Services::new(None, true, state, StreamableHttpServerConfig::default()).unwrap();
        for project in 0..20 {
            let projects = vec![format!("project {project}"), "of all".into()];
            let rights = TokenRights { projects, agent: None, rights: Rights::Read };
            let together = Barrier::new(2);
            let first = || {
                together.wait();
                services.bound(rights.clone()).unwrap()
            };
            let (one, other) = std::thread::scope(|threads| {
                let other = threads.spawn(first);
                (first(), other.join().unwrap())
            });
            assert!(Arc::ptr_eq(&one.sessions, &other.sessions), "{project}");
        }
    }

    #[tokio::test]
    async fn a_stream_ends_when_its_token_is_revoked() {
        let events = stream::iter([Ok(Frame::data(Bytes::from_static(b"data")))]).chain(stream::pending());
        let revoked = Arc::new(AtomicBool::new(false));
        let asked = revoked.clone();
        let answer =
            until(Response::new(BodyExt::boxed(StreamBody::new(events))), Duration::from_millis(10), move || {
                let is_over = asked.load(Ordering::Relaxed);
                async move { is_over }
            });
        let mut body = answer.into_body();
        assert!(body.frame().await.is_some());
        timeout(Duration::from_millis(100), body.frame()).await.unwrap_err();
        revoked.store(true, Ordering::Relaxed);
        assert!(timeout(Duration::from_secs(30), body.frame()).await.unwrap().is_none());
    }
}
