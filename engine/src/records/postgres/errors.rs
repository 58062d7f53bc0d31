//! Errors of PostgreSQL as those of the engine.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use tokio_postgres::error::SqlState;

use crate::address::ServerAddress;
use crate::error::{Error, Result};

/// An error of PostgreSQL, or of the connection to it.
#[derive(Debug)]
pub(crate) enum Failure {
    Client(tokio_postgres::Error),
    /// The server did not answer within this time.
    Silent(Duration),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = match self {
            Failure::Silent(waited) => return write!(f, "no answer in {} s", waited.as_secs_f32()),
            Failure::Client(error) => error,
        };
        match (error.as_db_error(), error.source()) {
            (Some(said), _) => write!(f, "the server says: {}", said.message()),
            (None, Some(source)) => write!(f, "{error}: {source}"),
            (None, None) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Error::DatabaseFailed(Box::new(Failure::Client(error)))
    }
}

/// The error for a server that did not answer for this long.
pub(super) fn silent(waited: Duration) -> Error {
    Error::DatabaseFailed(Box::new(Failure::Silent(waited)))
}

fn failure(error: &Error) -> Option<&Failure> {
    let Error::DatabaseFailed(source) = error else { return None };
    source.downcast_ref::<Failure>()
}

fn state(error: &Error) -> Option<&SqlState> {
    match failure(error)? {
        Failure::Client(error) => error.code(),
        Failure::Silent(_) => None,
    }
}

/// Whether a transaction lost against another one, and may win when it runs again. Two that make the same scope at the same
/// time meet in its unique index before they are found not to be serializable.
pub(super) fn has_lost(error: &Error) -> bool {
    let states = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    state(error).is_some_and(|state| states.contains(state)) || is_doubled(error)
}

/// Whether a row has what is unique to another one: one that another transaction wrote at the same time, or one that this role
/// does not see.
pub(super) fn is_doubled(error: &Error) -> bool {
    state(error) == Some(&SqlState::UNIQUE_VIOLATION)
}

/// Whether the connection is gone, so that the outcome of what was sent over it last is not known.
pub(crate) fn is_disconnected(error: &Error) -> bool {
    let ended = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT];
    failure(error).is_some_and(|failure| match failure {
        Failure::Silent(_) => true,
        Failure::Client(error) => match error.code() {
            Some(code) => ended.contains(code) || code.code().starts_with("08"),
            // What the server did not say: it could not be reached, or was lost.
            None => true,
        },
    })
}

/// Whether a table has other columns than ours.
pub(super) fn has_other_columns(error: &Error) -> bool {
    state(error) == Some(&SqlState::UNDEFINED_COLUMN)
}

/// Whether the connection was lost, rather than left without an answer: a new connection may work.
pub(crate) fn was_dropped(error: &Error) -> bool {
    is_disconnected(error) && !matches!(failure(error), Some(Failure::Silent(_)))
}

/// Whether the role may not do this.
pub(crate) fn is_denied(error: &Error) -> bool {
    state(error) == Some(&SqlState::INSUFFICIENT_PRIVILEGE)
}

/// Whether the server takes no writes: a standby.
pub(super) fn is_read_only(error: &Error) -> bool {
    // It has no serializable transactions.
    let states = [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::FEATURE_NOT_SUPPORTED];
    state(error).is_some_and(|state| states.contains(state))
}

/// Whether the server asks for a password, and none was found.
fn lacks_password(error: &Error) -> bool {
    let Some(Failure::Client(error)) = failure(error) else { return false };
    error.source().is_some_and(|source| source.to_string() == "password missing")
}

/// Tells what still works without the server.
const MEANWHILE: &str = "the local replica stays searchable, and writes fail until it is back";

/// Adds to an error which server failed, and what can be done.
pub(crate) fn explain(address: &ServerAddress, error: Error) -> Error {
    let why = match state(&error) {
        Some(code) if *code == SqlState::INVALID_SCHEMA_NAME || *code == SqlState::UNDEFINED_TABLE => {
            "its database has no team store; make one with `memorist team init`".to_owned()
        }
        Some(code) if *code == SqlState::QUERY_CANCELED || *code == SqlState::LOCK_NOT_AVAILABLE => {
            "timed out while other nodes were writing; retry".to_owned()
        }
        Some(code) if *code == SqlState::CANNOT_CONNECT_NOW => {
            format!("it is starting up or shutting down; try again in a moment: {MEANWHILE}")
        }
        Some(code) if *code == SqlState::TOO_MANY_CONNECTIONS => format!(
            "all its connections are in use; raise max_connections there, or put a pooler before it: {MEANWHILE}"
        ),
        Some(code) if *code == SqlState::DISK_FULL => {
            "its disk is full, so that nothing can be saved; make room on the server".to_owned()
        }
        _ if lacks_password(&error) => address.missing_password(),
        _ if is_read_only(&error) => {
            "it is a standby, which takes no writes; give the address of the primary".to_owned()
        }
        Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
            format!("this role may not do that, the owner of the tables may ({error})")
        }
        Some(code) if code.code().starts_with("28") => {
            "it rejects the user or the password; set PGPASSWORD, or a line in the file that PGPASSFILE names"
                .to_owned()
        }
        _ => match &error {
            Error::DatabaseFailed(source) if is_disconnected(&error) => {
                format!("it cannot be reached ({source}); {MEANWHILE}")
            }
            _ => return error,
        },
    };
    Error::Server { address: address.to_string(), why }
}

/// [Explains](explain) the error of a result.
pub(crate) fn explained<T>(address: &ServerAddress, result: Result<T>) -> Result<T> {
    result.map_err(|error| explain(address, error))
}
