//! Turns what tantivy does on damaged files, errors and panics alike, into errors that say so.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tantivy::TantivyError;

use crate::error::{Error, Result};

/// Does `work`; a panic in it, or an error that speaks of bad bytes or missing files, becomes
/// [`Error::IndexUnusable`]. The index is only read or thrown away afterwards, so no half-changed state is seen.
pub(super) fn contained<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(named),
        Err(panic) => Err(unusable(format!("reading it failed: {}", message(panic.as_ref())))),
    }
}

/// An error that makes the engine rebuild the index.
pub(super) fn unusable(why: impl Into<String>) -> Error {
    Error::IndexUnusable { index: "keyword", why: why.into() }
}

fn named(error: Error) -> Error {
    match error {
        Error::Keywords(why) if is_damage(&why) => unusable(why.to_string()),
        other => other,
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
