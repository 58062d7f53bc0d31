//! Why a request failed, and whether it may be repeated.

use std::time::Duration;

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The texts of this request are refused: fewer or shorter ones may be accepted.
    Refused(String),
    /// It may succeed later, after this long if the provider says so.
    Later(String, Option<Duration>),
    /// The server failed, as [`Failure::Later`], but perhaps because of one of the texts.
    ServerError(String, Option<Duration>),
    /// Every vector has so many numbers, and not as many as are known.
    OtherLength {
        /// Numbers that the vectors have.
        found: usize,
        /// Numbers that they were known to have.
        known: usize,
    },
    /// It will not succeed until somebody changes something.
    Never(String),
    /// The caller gave up.
    Cancelled,
}
