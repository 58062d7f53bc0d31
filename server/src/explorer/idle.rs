//! Whether a page is open: it calls a function now and then, and receives events all the time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::sleep;

/// Counts the requests of pages.
pub struct Idle {
    state: Mutex<IdleState>,
}

struct IdleState {
    running: usize,
    /// When the last one ended.
    since: Instant,
}

impl Idle {
    /// From now on.
    pub fn new() -> Self {
        Idle { state: Mutex::new(IdleState { running: 0, since: Instant::now() }) }
    }

    /// A request begins; it ends when this is dropped.
    pub fn begin(self: &Arc<Self>) -> Busy {
        self.state().running += 1;
        Busy(self.clone())
    }

    /// Ends when there was no request for this long.
    pub async fn for_long(&self, limit: Duration) {
        while let Some(left) = self.left(limit) {
            sleep(left).await;
        }
    }

    /// The least time that it takes until there was no request for `limit`; `None` if that is so.
    fn left(&self, limit: Duration) -> Option<Duration> {
        let state = self.state();
        let idle = if state.running > 0 { Duration::ZERO } else { state.since.elapsed() };
        limit.checked_sub(idle).filter(|left| !left.is_zero())
    }

    fn state(&self) -> MutexGuard<'_, IdleState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that runs, until this is dropped.
pub struct Busy(Arc<Idle>);

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running -= 1;
        state.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn idle_time_starts_after_the_last_request_ends() {
        const LIMIT: Duration = Duration::from_millis(40);
        let idle = Arc::new(Idle::new());
        let busy = idle.begin();
        timeout(LIMIT * 5, idle.for_long(LIMIT)).await.expect_err("a request runs");
        drop(busy);
        let ended = Instant::now();
        timeout(LIMIT * 100, idle.for_long(LIMIT)).await.unwrap();
        assert!(ended.elapsed() >= LIMIT);
    }
}
