//! Errors of SQLite, in words that say what to do.

use std::path::Path;

use rusqlite::ffi;

use crate::error::{Error, Remedy};
use crate::holders::{self, Holder};
use crate::paths::companions;

/// The only place that makes an error of SQLite one of the engine.
#[doc(hidden)]
impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Error::DatabaseFailed(Box::new(error))
    }
}

/// Explains an error, if it is SQLite's.
pub(super) fn explain(path: &Path, error: Error) -> Error {
    match error {
        Error::DatabaseFailed(error) => match error.downcast() {
            Ok(error) => open_error(path, *error),
            Err(error) => Error::DatabaseFailed(error),
        },
        other => other,
    }
}

/// Explains an error of SQLite from opening a database.
pub(super) fn open_error(path: &Path, error: rusqlite::Error) -> Error {
    let Some(code) = code(&error) else { return error.into() };
    let store = |why: &str| Error::Store { path: path.to_owned(), why: why.to_owned() };
    match code {
        ffi::SQLITE_NOTADB => Error::Database {
            path: path.to_owned(),
            why: "its header is damaged, or it is not an SQLite database; move the file and the indexes away to start \
                 with an empty store"
                .into(),
            remedy: Some(Remedy::Repair),
        },
        ffi::SQLITE_CORRUPT => damaged(path, &error.to_string()),
        ffi::SQLITE_CANTOPEN | ffi::SQLITE_PERM | ffi::SQLITE_READONLY => {
            store("the file or its folder is not writable; fix its permissions, or choose another folder")
        }
        ffi::SQLITE_FULL => Error::DiskFull { path: path.to_owned() },
        ffi::SQLITE_BUSY => held(path),
        _ => error.into(),
    }
}

/// Whether others keep the database locked.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    code(error) == Some(ffi::SQLITE_BUSY)
}

/// Whether SQLite does not recognize the file: it is no database, or its header is damaged.
pub(super) fn is_no_database(error: &rusqlite::Error) -> bool {
    code(error) == Some(ffi::SQLITE_NOTADB)
}

/// Whether a row was refused that breaks a rule of its table: nothing of it was written.
#[cfg(feature = "postgres")]
pub(in crate::records) fn breaks_a_rule(error: &Error) -> bool {
    let Error::DatabaseFailed(error) = error else { return false };
    let refusals = [ffi::SQLITE_CONSTRAINT, ffi::SQLITE_MISMATCH, ffi::SQLITE_TOOBIG];
    error.downcast_ref().and_then(code).is_some_and(|code| refusals.contains(&code))
}

/// SQLite's primary result code.
fn code(error: &rusqlite::Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code & 0xFF)
}

/// The byte of the shared-memory file that a writer of the write-ahead log keeps locked.
/// See <https://sqlite.org/walformat.html#wal_locks>.
const WRITE_LOCK: u64 = 120;

/// The error for a database that others keep locked for too long.
pub(super) fn held(path: &Path) -> Error {
    let [_, shared_memory, _] = companions(path);
    let holder = Holder::of_byte(&shared_memory, WRITE_LOCK);
    holders::held(&format!("the write lock of {}", path.display()), holder.as_ref())
}

/// The error for a database that contradicts itself.
pub(super) fn damaged(path: &Path, what: &str) -> Error {
    Error::Database { path: path.to_owned(), why: format!("it is damaged ({what})"), remedy: Some(Remedy::Repair) }
}

pub(super) fn database_error(path: &Path, why: impl Into<String>) -> Error {
    Error::Database { path: path.to_owned(), why: why.into(), remedy: None }
}
