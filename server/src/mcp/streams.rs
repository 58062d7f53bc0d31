//! Streams of notices (MCP notifications) stay open for days. Their number is limited, so that clients that only wait lock
//! out nobody.

use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most streams of all clients.
const MOST: usize = 256;
/// Most streams of clients with the same rights.
const MOST_OF_SAME: usize = 128;

/// The room for streams of clients with the same rights.
#[derive(Clone)]
pub struct Streams {
    all: Arc<Semaphore>,
    of_same: Arc<Semaphore>,
}

/// The permit of an open stream.
pub struct StreamPermit {
    _all: OwnedSemaphorePermit,
    _of_same: OwnedSemaphorePermit,
}

impl Streams {
    /// The room of a server.
    pub fn new() -> Self {
        Streams { all: Arc::new(Semaphore::new(MOST)), of_same: Arc::new(Semaphore::new(MOST_OF_SAME)) }
    }

    /// The room of the same server, for clients with other rights.
    pub fn of_others(&self) -> Self {
        Streams { all: self.all.clone(), ..Streams::new() }
    }

    /// A permit for one more, if one is left.
    pub fn open(&self) -> Option<StreamPermit> {
        let _of_same = self.of_same.clone().try_acquire_owned().ok()?;
        Some(StreamPermit { _all: self.all.clone().try_acquire_owned().ok()?, _of_same })
    }
}

/// Whether a message begins a stream of notices, as does a GET in a session.
pub fn is_listen_request(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(call)
        if matches!(call.request, ClientRequest::SubscriptionsListenRequest(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_with_the_same_rights_leave_room_to_others() {
        let own = Streams::new();
        let others = own.of_others();
        let mut open: Vec<_> = std::iter::from_fn(|| own.open()).take(2 * MOST).collect();
        assert_eq!(open.len(), MOST_OF_SAME);
        let of_others: Vec<_> = std::iter::from_fn(|| others.open()).take(2 * MOST).collect();
        assert_eq!(of_others.len(), MOST - MOST_OF_SAME);
        assert!(own.of_others().open().is_none(), "that is all");
        open.pop();
        assert!(own.open().is_some(), "one has ended");
    }
}
