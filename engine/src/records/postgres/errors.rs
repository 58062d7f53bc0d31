//! Errors of PostgreSQL as those of the engine.

use std::error::Error as _;
use std::fmt;

use postgres::error::SqlState;

use crate::address::ServerAddress;
use crate::error::{Error, Result};

/// What PostgreSQL refused, or what is wrong with the connection to it.
#[derive(Debug)]
pub(crate) struct Failure(postgres::Error);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.as_db_error(), self.0.source()) {
            (Some(said), _) => write!(f, "the server says: {}", said.message()),
            (None, Some(source)) => write!(f, "{}: {source}", self.0),
            (None, None) => self.0.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl From<postgres::Error> for Error {
    fn from(error: postgres::Error) -> Self {
        Error::DatabaseFailed(Box::new(Failure(error)))
    }
}

fn failure(error: &Error) -> Option<&postgres::Error> {
    let Error::DatabaseFailed(source) = error else { return None };
    source.downcast_ref::<Failure>().map(|failure| &failure.0)
}

fn state(error: &Error) -> Option<&SqlState> {
    failure(error).and_then(postgres::Error::code)
}

/// Whether a transaction lost against another one, and may win when it runs again. Two that make the same scope at the same
/// time meet in its unique index before they are found not to be serializable.
pub(super) fn has_lost(error: &Error) -> bool {
    let states = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::UNIQUE_VIOLATION];
    state(error).is_some_and(|state| states.contains(state))
}

/// Whether the connection is gone, so that the outcome of what was sent over it last is not known.
pub(super) fn is_disconnected(error: &Error) -> bool {
    let ended = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT];
    failure(error).is_some_and(|failure| match failure.code() {
        Some(code) => ended.contains(code) || code.code().starts_with("08"),
        None => failure.is_closed() || failure.source().is_some_and(|source| source.is::<std::io::Error>()),
    })
}

/// Whether a table has other columns than ours.
pub(super) fn has_other_columns(error: &Error) -> bool {
    state(error) == Some(&SqlState::UNDEFINED_COLUMN)
}

/// Whether the server takes no writes: a standby.
pub(super) fn is_read_only(error: &Error) -> bool {
    state(error) == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
}

/// Says which server failed, and what can be done.
pub(crate) fn explain(address: &ServerAddress, error: Error) -> Error {
    let why = match (state(&error), failure(&error)) {
        (Some(code), _) if *code == SqlState::INVALID_SCHEMA_NAME || *code == SqlState::UNDEFINED_TABLE => {
            "its database has no team store; make one with `memorist server init`".into()
        }
        (Some(code), _) if *code == SqlState::QUERY_CANCELED || *code == SqlState::LOCK_NOT_AVAILABLE => {
            "others have been writing for too long; try again".into()
        }
        _ if is_read_only(&error) => "it is a standby, which takes no writes; give the address of the primary".into(),
        (Some(code), Some(_)) if *code == SqlState::INVALID_PASSWORD || code.code().starts_with("28") => {
            "it refuses the user or the password; set PGPASSWORD, or a line in the file that PGPASSFILE names".into()
        }
        (_, Some(_)) if is_disconnected(&error) => {
            let Error::DatabaseFailed(source) = &error else { return error };
            format!(
                "it cannot be reached ({source}); what is here can be searched, but nothing is saved until it is back"
            )
        }
        (None, Some(_)) => {
            let Error::DatabaseFailed(source) = &error else { return error };
            format!(
                "it cannot be reached ({source}); what is here can be searched, but nothing is saved until it is back"
            )
        }
        _ => return error,
    };
    Error::Server { address: address.to_string(), why }
}

/// The same of a result.
pub(crate) fn explained<T>(address: &ServerAddress, result: Result<T>) -> Result<T> {
    result.map_err(|error| explain(address, error))
}
