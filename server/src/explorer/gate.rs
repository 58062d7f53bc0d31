//! Takes a request: to the page's files, or to a function. Who may not have an answer takes up nothing.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use serde_json::json;

use super::answers;
use super::api::{self, Api, Function};
use super::guard::{API, Guard, check_call};
use super::idle::Idle;
use super::page::{self, PageFile};
use super::sessions::BrowserSessions;
use crate::http::{Answer, Bodies, Body, Refusal, Slot, holding, plain, sent, unauthorized};

/// Where a code is exchanged for a token.
const SESSION: &str = "session";
/// Longest body with a code.
const CODE_BYTES: usize = 4 << 10;
/// Longest body with parameters: a memory of 1 MiB with every second character escaped, and room for the rest.
const CALL_BYTES: usize = 4 << 20;

const NO_TOKEN: &str = "the session of this page has ended: press Enter where `memorist explore` runs, or run it again, and \
                        open the new address";
const NO_CODE: &str = "this address was opened before, or is older than two minutes: press Enter where `memorist explore` \
                       runs, or run it again, and open the new one";

/// Checks requests and routes them.
pub struct Gate {
    guard: Guard,
    sessions: Arc<BrowserSessions>,
    bodies: Bodies,
    codes: Bodies,
    idle: Arc<Idle>,
    api: Arc<Api>,
}

/// The target of a request.
enum Route {
    File(&'static PageFile),
    Token,
    Call(Function),
}

impl Gate {
    /// The gate at this port of loopback.
    pub fn new(port: u16, sessions: Arc<BrowserSessions>, idle: Arc<Idle>, api: Api) -> Self {
        let bodies = Bodies::new(CALL_BYTES, "the parameters are too long: they may have 4 MiB");
        let codes = Bodies::new(CODE_BYTES, "a code is shorter");
        Gate { guard: Guard::new(port), sessions, bodies, codes, idle, api: Arc::new(api) }
    }

    pub async fn answer(&self, request: Request<Incoming>, slot: Arc<Slot>) -> Answer {
        let (head, body) = request.into_parts();
        let (wanted, length) = match self.admit(&head, &body, &slot) {
            Ok(admitted) => admitted,
            Err(refusal) => {
                tracing::debug!("a request was rejected: {}", refusal.why);
                self.bodies.discard(&head, body);
                return answers::secured(answers::refused(&refusal));
            }
        };
        let answer = match wanted {
            Route::File(file) => plain(StatusCode::OK, Bytes::from_static(file.bytes), file.kind),
            Route::Token => match self.codes.read(body, length).await {
                Ok(Body { bytes, .. }) => self.token(&bytes),
                Err(refusal) => answers::refused(&refusal),
            },
            Route::Call(function) => match self.bodies.read(body, length).await {
                Ok(Body { bytes, permit }) => {
                    let busy = self.idle.begin();
                    let answer = match api::parameters(&bytes) {
                        Ok(given) => self.api.answer(function, given, slot).await,
                        Err(problem) => answers::problem(&problem, None),
                    };
                    holding(answer, (busy, permit))
                }
                Err(refusal) => answers::refused(&refusal),
            },
        };
        answers::secured(answer)
    }

    /// Checks a request. Returns its target, and the upper bound of its body's length.
    fn admit(&self, head: &Parts, body: &Incoming, slot: &Slot) -> Result<(Route, usize), Refusal> {
        if let Some(refusal) = self.guard.refuses(head) {
            return Err(refusal);
        }
        let path = head.uri.path();
        let Some(name) = path.strip_prefix(API) else {
            let file = page::file(path).ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "no such file"))?;
            let is_read = matches!(head.method, Method::GET | Method::HEAD);
            let why = "method not allowed: use GET";
            let file = is_read.then_some(file).ok_or_else(|| Refusal::new(StatusCode::METHOD_NOT_ALLOWED, why))?;
            return Ok((Route::File(file), 0));
        };
        check_call(head)?;
        if name == SESSION {
            return Ok((Route::Token, self.codes.length(body)?));
        }
        if !sent(&head.headers).is_some_and(|token| self.sessions.knows(token)) {
            return Err(unauthorized(NO_TOKEN));
        }
        if !slot.admit() {
            return Err(Refusal::busy());
        }
        let unknown = || Refusal::new(StatusCode::NOT_FOUND, "no such function");
        Ok((Route::Call(Function::named(name).ok_or_else(unknown)?), self.bodies.length(body)?))
    }

    /// A token, for a code.
    fn token(&self, body: &[u8]) -> Answer {
        let given = match api::parameters(body) {
            Ok(given) => given,
            Err(problem) => return answers::problem(&problem, None),
        };
        let code = given.get("code").and_then(|code| code.as_str()).unwrap_or_default();
        match self.sessions.redeem(code, Instant::now()) {
            Ok(Some(token)) => {
                drop(self.idle.begin());
                answers::result(&json!({ "token": token }))
            }
            Ok(None) => answers::refused(&unauthorized(NO_CODE)),
            Err(failure) => answers::failed(&failure.to_string()),
        }
    }
}
