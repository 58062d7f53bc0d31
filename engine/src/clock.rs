//! The clock of a store.

use std::fmt;
use std::sync::Arc;

use crate::types::Millis;

/// Unix time in milliseconds, by the system's clock.
pub fn now() -> Millis {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_millis().min(i64::MAX as u128) as Millis)
}

/// How far another clock is ahead of the system's, which said `now` between a question and its answer; 0 if it may be the same.
#[cfg(feature = "postgres")]
pub(crate) fn ahead(now: Millis, asked: Millis, answered: Millis) -> Millis {
    now - now.clamp(asked, answered.max(asked))
}

/// The clock of a store, for the times of saves and for expiry. By default the system's.
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<dyn Fn() -> Millis + Send + Sync>>);

impl Clock {
    /// A clock that calls `now` for the Unix time in milliseconds.
    pub fn new(now: impl Fn() -> Millis + Send + Sync + 'static) -> Self {
        Clock(Some(Arc::new(now)))
    }

    /// The present time.
    pub fn now(&self) -> Millis {
        self.0.as_ref().map_or_else(now, |now| now())
    }
}

/// Clocks are equal if they are the system's, or copies of one.
impl PartialEq for Clock {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            _ => false,
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Clock(injected)" } else { "Clock(system)" })
    }
}
