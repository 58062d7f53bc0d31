//! The clock.

use crate::types::Millis;

/// Unix time in milliseconds.
pub fn now() -> Millis {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_millis().min(i64::MAX as u128) as Millis)
}
