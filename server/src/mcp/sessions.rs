//! The sessions of HTTP clients of the older era: notifications of the server go to the stream of a session. A session
//! costs memory, and its subscriptions cost time, so a new one ends those that nobody seems to use, and their number is
//! limited. They are not missed: a client whose session is unknown is answered without one, also after a restart. Only one
//! that its client has ended is refused.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::serving::Changes;
use futures_util::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::session::{RestoreOutcome, ServerSseMessage, SessionId, SessionManager};

/// Most sessions of clients with the same rights.
const MOST: usize = 256;
/// Ids of ended sessions that are remembered.
const MOST_ENDED: usize = 1_024;
/// How long a session may be idle that has no stream for notices.
const IDLE: Duration = Duration::from_secs(600);
/// How long an answer is kept for a client whose connection broke.
const KEPT: Duration = Duration::from_secs(10);
/// How long a new session waits for its first message.
const FIRST_MESSAGE: Duration = Duration::from_secs(5);

/// The sessions of clients with the same rights.
pub struct Sessions {
    local: LocalSessionManager,
    changes: Changes,
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    live: HashMap<SessionId, Use>,
    ended: VecDeque<SessionId>,
}

struct Use {
    last: Instant,
    /// Held by each stream for notices.
    streams: Arc<()>,
}

impl Sessions {
    /// None yet. Their streams end when the server stops.
    pub fn new(changes: Changes) -> Self {
        let mut config = SessionConfig::default();
        // A subscriber may wait for days.
        config.keep_alive = None;
        config.completed_cache_ttl = KEPT;
        config.init_timeout = Some(FIRST_MESSAGE);
        let mut local = LocalSessionManager::default();
        local.session_config = config;
        Sessions { local, changes, used: Mutex::default() }
    }

    /// Whether its client has ended it.
    pub fn has_ended(&self, id: &str) -> bool {
        self.used().ended.iter().any(|ended| **ended == *id)
    }

    /// Notes that a session is in use; false if there is none with this id.
    pub fn use_now(&self, id: &str) -> bool {
        self.touch(id).is_some()
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, id: &str) -> Option<Arc<()>> {
        let mut used = self.used();
        let found = used.live.get_mut(id)?;
        found.last = Instant::now();
        Some(found.streams.clone())
    }
}

impl Used {
    /// Adds one, and says which have to go: the idle ones, and if there are too many the one that was not used for longest.
    fn begin(&mut self, id: SessionId, now: Instant) -> Vec<SessionId> {
        let has_stream = |found: &Use| Arc::strong_count(&found.streams) > 1;
        let is_idle = |found: &Use| !has_stream(found) && now.saturating_duration_since(found.last) >= IDLE;
        let mut surplus: Vec<_> =
            self.live.iter().filter(|(_, found)| is_idle(found)).map(|(id, _)| id.clone()).collect();
        if surplus.is_empty() && self.live.len() >= MOST {
            let oldest = self.live.iter().min_by_key(|(_, found)| (has_stream(found), found.last));
            surplus.extend(oldest.map(|(id, _)| id.clone()));
        }
        for id in &surplus {
            self.live.remove(id);
        }
        self.live.insert(id, Use { last: now, streams: Arc::default() });
        surplus
    }

    fn end(&mut self, id: &SessionId) {
        if self.live.remove(id).is_some() {
            self.ended.push_back(id.clone());
            if self.ended.len() > MOST_ENDED {
                self.ended.pop_front();
            }
        }
    }
}

impl SessionManager for Sessions {
    type Error = <LocalSessionManager as SessionManager>::Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.local.create_session().await?;
        let surplus = self.used().begin(id.clone(), Instant::now());
        for surplus in surplus {
            // The new one begins all the same, and the others end.
            if let Err(error) = self.local.close_session(&surplus).await {
                tracing::debug!("a session was not ended: {error}");
            }
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.touch(id);
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.used().end(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = self.local.create_standalone_stream(id).await?;
        Ok(self.for_notices(id, stream))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = self.local.resume(id, last_event_id).await?;
        Ok(self.for_notices(id, stream))
    }

    async fn restore_session(&self, _: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        Ok(RestoreOutcome::NotSupported)
    }
}

impl Sessions {
    /// A stream that keeps its session, and ends when the server stops.
    fn for_notices<S>(&self, id: &SessionId, stream: S) -> impl Stream<Item = ServerSseMessage> + Send + Sync + use<S>
    where
        S: Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    {
        let ended = self.changes.ended();
        let held = self.touch(id);
        stream.take_until(Box::pin(async move {
            ended.await;
            drop(held);
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> SessionId {
        SessionId::from(number.to_string())
    }

    #[test]
    fn the_session_that_was_not_used_for_longest_makes_room() {
        let mut used = Used::default();
        let start = Instant::now();
        let after = |seconds: usize| start + Duration::from_secs(seconds as u64);
        for number in 0..MOST {
            assert!(used.begin(id(number), after(number)).is_empty());
        }
        // The first waits for notices, the second is in use.
        let stream = used.live[&id(0)].streams.clone();
        used.live.get_mut(&id(1)).unwrap().last = after(MOST);
        assert_eq!(used.begin(id(MOST), after(MOST)), [id(2)]);
        drop(stream);
        assert_eq!(used.begin(id(MOST + 1), after(MOST)), [id(0)]);
        assert_eq!(used.live.len(), MOST);
        assert!(used.ended.is_empty(), "only clients end sessions");
    }

    #[test]
    fn idle_sessions_end_unless_they_wait_for_notices() {
        let mut used = Used::default();
        let start = Instant::now();
        for number in 0..3 {
            used.begin(id(number), start);
        }
        let _stream = used.live[&id(1)].streams.clone();
        used.live.get_mut(&id(2)).unwrap().last = start + Duration::from_secs(1);
        assert_eq!(used.begin(id(3), start + IDLE), [id(0)]);
    }

    #[test]
    fn an_ended_session_is_remembered_for_a_while() {
        let mut used = Used::default();
        for number in 0..=MOST_ENDED {
            let id = id(number);
            used.begin(id.clone(), Instant::now());
            used.end(&id);
            used.end(&id);
        }
        assert!(used.live.is_empty());
        assert_eq!(used.ended.len(), MOST_ENDED);
        assert_eq!(used.ended[0], id(1));
    }
}
