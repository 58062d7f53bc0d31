//! The sessions of HTTP clients of the older era: what a server sends unasked goes to the stream of a session. A session
//! costs memory, so their number is limited, and the one that was not used for longest makes room. It is not missed: a
//! client whose session is unknown is answered without one, also after a restart. Only one that its client has ended is
//! refused.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::session::{RestoreOutcome, ServerSseMessage, SessionId, SessionManager};

use super::changes::Changes;

/// Most sessions of clients with the same rights.
const MOST: usize = 256;
/// Ids of ended sessions that are remembered.
const MOST_ENDED: usize = 1_024;
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

/// The use of a session.
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

    /// Whether a request with this id is for here: it is of a session, or of one that was ended.
    pub fn know(&self, id: &str) -> bool {
        let used = self.used();
        used.live.contains_key(id) || used.ended.iter().any(|ended| **ended == *id)
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, id: &SessionId) -> Option<Arc<()>> {
        let mut used = self.used();
        let found = used.live.get_mut(id)?;
        found.last = Instant::now();
        Some(found.streams.clone())
    }
}

impl Used {
    /// Adds one, and says which one has to go for it: an idle one rather than one with an open stream.
    fn begin(&mut self, id: SessionId) -> Option<SessionId> {
        let oldest = || {
            let age = |found: &Use| (Arc::strong_count(&found.streams) > 1, found.last);
            self.live.iter().min_by_key(|(_, found)| age(found)).map(|(id, _)| id.clone())
        };
        let surplus = if self.live.len() >= MOST { oldest() } else { None };
        if let Some(surplus) = &surplus {
            self.live.remove(surplus);
        }
        self.live.insert(id, Use { last: Instant::now(), streams: Arc::default() });
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
        let surplus = self.used().begin(id.clone());
        if let Some(surplus) = surplus {
            self.local.close_session(&surplus).await?;
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
        let mut changes = self.changes.subscribe();
        let held = self.touch(id);
        stream.take_until(Box::pin(async move {
            changes.ended().await;
            drop(held);
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_that_was_idle_for_longest_makes_room() {
        let mut used = Used::default();
        let id = |number: usize| SessionId::from(number.to_string());
        for number in 0..MOST {
            assert_eq!(used.begin(id(number)), None);
        }
        // The first waits for notices, the second is in use.
        let stream = used.live[&id(0)].streams.clone();
        used.live.get_mut(&id(1)).unwrap().last = Instant::now();
        assert_eq!(used.begin(id(MOST)), Some(id(2)));
        drop(stream);
        assert_eq!(used.begin(id(MOST + 1)), Some(id(0)));
        assert_eq!(used.live.len(), MOST);
        assert!(used.ended.is_empty(), "only clients end sessions");
    }

    #[test]
    fn an_ended_session_is_remembered_for_a_while() {
        let mut used = Used::default();
        for number in 0..=MOST_ENDED {
            let id = SessionId::from(number.to_string());
            used.begin(id.clone());
            used.end(&id);
            used.end(&id);
        }
        assert!(used.live.is_empty());
        assert_eq!(used.ended.len(), MOST_ENDED);
        assert_eq!(used.ended[0], SessionId::from("1"));
    }
}
