//! Bodies of requests. Each is limited in length and time, and those of all clients together in length.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::header::EXPECT;
use http::request::Parts;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::answer::Refusal;

/// How long a client may take to send its request.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Bodies up to this length are bounded by the number of connections.
const SMALL_BODY: usize = 64 << 10;
/// Longer bodies of the greatest length that may be in memory at once, from the first byte until the response.
const LARGE_BODIES: usize = 8;
/// Bytes of a refused request's body to read and drop, in bodies of the greatest length: closing at once could cost the
/// client the response.
const DROPPED_BODIES: usize = 4;

/// The bodies of a server.
pub struct Bodies {
    most: usize,
    too_long: &'static str,
    large: Arc<Semaphore>,
}

/// A body that was read.
pub struct Body {
    /// All of it.
    pub bytes: Bytes,
    /// For a long body, its share of the memory for all long bodies.
    pub permit: Option<OwnedSemaphorePermit>,
}

impl Bodies {
    /// Bodies of at most `most` bytes each; `too_long` is the message for longer ones.
    pub fn new(most: usize, too_long: &'static str) -> Self {
        Bodies { most, too_long, large: Arc::new(Semaphore::new(LARGE_BODIES * most)) }
    }

    /// The upper bound of a body's length.
    pub fn length(&self, body: &Incoming) -> Result<usize, Refusal> {
        match body.size_hint().upper() {
            None => Ok(self.most),
            Some(length) => {
                usize::try_from(length).ok().filter(|length| *length <= self.most).ok_or_else(|| self.too_long())
            }
        }
    }

    /// Reads a body of at most this length, which is at most that of [`Bodies::length`].
    pub async fn read(&self, body: Incoming, length: usize) -> Result<Body, Refusal> {
        let mut permit = if length > SMALL_BODY {
            // At most the greatest length, acquired at once: two requests that acquire in parts could deadlock.
            let permit = self.large.clone().acquire_many_owned(length as u32);
            Some(timeout(BODY_TIMEOUT, permit).await.ok().and_then(Result::ok).ok_or_else(Refusal::busy)?)
        } else {
            None
        };
        match timeout(BODY_TIMEOUT, Limited::new(body, length).collect()).await {
            Ok(Ok(body)) => {
                let bytes = body.to_bytes();
                // A body of unknown length has reserved the maximum.
                let surplus = if bytes.len() > SMALL_BODY { length - bytes.len() } else { length };
                drop(permit.as_mut().and_then(|permit| permit.split(surplus)));
                Ok(Body { bytes, permit })
            }
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(self.too_long()),
            Ok(Err(_)) => Err(Refusal::new(StatusCode::BAD_REQUEST, "the body ended early")),
            Err(_) => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time")),
        }
    }

    /// Reads and discards the body of a refused request in the background, for a limited time.
    pub fn discard(&self, head: &Parts, mut body: Incoming) {
        // A client that sent `Expect: 100-continue` has not sent the body.
        if head.headers.contains_key(EXPECT) {
            return;
        }
        let mut left = DROPPED_BODIES * self.most;
        tokio::spawn(timeout(BODY_TIMEOUT, async move {
            while let Some(Ok(frame)) = body.frame().await {
                let length = frame.data_ref().map_or(0, Bytes::len);
                match left.checked_sub(length) {
                    Some(rest) => left = rest,
                    None => break,
                }
            }
        }));
    }

    fn too_long(&self) -> Refusal {
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, self.too_long)
    }
}
