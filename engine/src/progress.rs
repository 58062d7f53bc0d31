//! Progress and cancellation of long operations.

pub use memorist_embed::progress::{NoProgress, Progress};

use crate::error::{Error, Result};

/// A point at which the work can stop.
///
/// # Errors
/// [`Error::Cancelled`] when it should.
pub(crate) fn cancel_point(progress: &dyn Progress) -> Result<()> {
    if progress.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}
