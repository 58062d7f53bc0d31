//! Durations of the steps of a search.

use std::time::Instant;

/// Microseconds since then.
pub(super) fn micros(since: Instant) -> u64 {
    since.elapsed().as_micros() as u64
}
