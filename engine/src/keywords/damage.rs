//! Turns errors and panics of tantivy on damaged files into errors that say so.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::panic::{self, AssertUnwindSafe, catch_unwind};

use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

use crate::error::{Error, IndexKind, Result};

thread_local! {
    /// Whether this thread is within [`contained`].
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// From now on, panics that become errors are logged at the debug level instead of printed on stderr. Call it once per
/// program; other panics are passed to the installed hook.
pub fn log_contained_panics() {
    let others = panic::take_hook();
    panic::set_hook(Box::new(
        move |info| {
            if CONTAINED.get() { tracing::debug!("contained: {info}") } else { others(info) }
        },
    ));
}

#[doc(hidden)]
impl From<TantivyError> for Error {
    fn from(error: TantivyError) -> Self {
        Error::keywords(error)
    }
}

/// Runs `work`. A panic, or an error that reports bad bytes or missing files, becomes [`Error::IndexUnusable`]. The
/// index is only read or discarded afterwards, so no half-changed state is visible.
pub(super) fn contained<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let outer = CONTAINED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(outer);
    match outcome {
        Ok(done) => done.map_err(named),
        Err(panic) => Err(unusable(format!("reading it failed: {}", message(panic.as_ref())))),
    }
}

/// An error that makes the engine rebuild the index.
pub(super) fn unusable(why: impl Into<String>) -> Error {
    Error::IndexUnusable { index: IndexKind::Keyword, why: why.into() }
}

fn named(error: Error) -> Error {
    let Error::IndexFailed { source, .. } = &error else { return error };
    match source.downcast_ref() {
        Some(why) if is_damage(why) => unusable(explain(why)),
        // tantivy hides the cause, and says that a thread may have panicked.
        Some(TantivyError::ErrorInThread(_)) => Error::keywords("its writer could not write; is the disk full?"),
        _ => error,
    }
}

/// tantivy prints this error with `Debug`; two parts of it matter.
fn explain(error: &TantivyError) -> String {
    match error {
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath }) => {
            format!("{}: {io_error}", filepath.display())
        }
        other => other.to_string(),
    }
}

fn is_damage(error: &TantivyError) -> bool {
    use TantivyError::*;
    match error {
        DataCorruption(_)
        | OpenReadError(_)
        | OpenDirectoryError(_)
        | IncompatibleIndex(_)
        | SchemaError(_)
        | FieldNotFound(_)
        | DeserializeError(_) => true,
        IoError(why) => matches!(why.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof),
        _ => false,
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_was_stopped_by_the_disk_says_so() {
        let stopped = TantivyError::ErrorInThread("a worker thread encountered an error or panicked".to_owned());
        let error = contained(|| Err::<(), _>(stopped.into())).unwrap_err().to_string();
        assert!(error.contains("is the disk full?") && !error.contains("panicked"), "{error}");
    }
}
