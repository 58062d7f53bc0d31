//! Errors of tools, by kind.

use std::error::Error as _;
use std::io;

use memorist_engine::{Error, ErrorKind};

use crate::exit::{self, Failure};
use crate::ops::memory_files::FileError;
use crate::wording::Worded as _;

/// The kinds of errors that a program can tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The program's input; another call may succeed.
    InvalidInput,
    /// No such memory, or no such source.
    NotFound,
    /// Another memory has this text already.
    Conflict,
    /// Others hold a lock for longer than anybody waits.
    Locked,
    /// The database or an index is damaged, of another version, or no store.
    Corrupt,
    /// The disk is full.
    Full,
    /// The store's vectors are another model's.
    ModelMismatch,
    /// The model is missing or failed.
    Model,
    /// The store cannot be used, or the operating system refused.
    Store,
    /// Stopped on request.
    Cancelled,
}

impl ProblemKind {
    /// Its name: that of a class of exceptions, for instance.
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::InvalidInput => "InvalidInput",
            ProblemKind::NotFound => "NotFound",
            ProblemKind::Conflict => "Conflict",
            ProblemKind::Locked => "Locked",
            ProblemKind::Corrupt => "Corrupt",
            ProblemKind::Full => "Full",
            ProblemKind::ModelMismatch => "ModelMismatch",
            ProblemKind::Model => "ModelError",
            ProblemKind::Store => "StoreError",
            ProblemKind::Cancelled => "Cancelled",
        }
    }
}

/// An error: its kind, and a text that says what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub kind: ProblemKind,
    /// The error, and the way out.
    pub message: String,
}

impl Problem {
    /// Input that is refused.
    pub fn input(message: impl Into<String>) -> Self {
        Problem { kind: ProblemKind::InvalidInput, message: message.into() }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Duplicate(_) => ProblemKind::Conflict,
            Error::Held(_) => ProblemKind::Locked,
            Error::Database { .. } | Error::IndexUnusable { .. } => ProblemKind::Corrupt,
            Error::DiskFull { .. } => ProblemKind::Full,
            Error::ModelMismatch { .. } | Error::ModelChanging { .. } => ProblemKind::ModelMismatch,
            other if is_full(other) => ProblemKind::Full,
            other => match other.kind() {
                ErrorKind::Input => ProblemKind::InvalidInput,
                ErrorKind::NotFound => ProblemKind::NotFound,
                ErrorKind::Model => ProblemKind::Model,
                ErrorKind::Cancelled => ProblemKind::Cancelled,
                ErrorKind::Store | ErrorKind::Io => ProblemKind::Store,
            },
        };
        Problem { kind, message: error.worded() }
    }
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Problem::input(message)
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Refused(why) => Problem::input(why),
            FileError::Store(error) => error.into(),
        }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let kind = match &failure {
            Failure::Error { kind: exit::Kind::Input, .. } => ProblemKind::InvalidInput,
            Failure::Error { kind: exit::Kind::NotFound, .. } => ProblemKind::NotFound,
            Failure::Error { kind: exit::Kind::Model, .. } => ProblemKind::Model,
            Failure::Error { kind: exit::Kind::Cancelled, .. } => ProblemKind::Cancelled,
            Failure::Error { .. } | Failure::ReaderGone => ProblemKind::Store,
        };
        Problem { kind, message: failure.to_string() }
    }
}

/// Whether the disk had no room: of a file or of an index.
fn is_full(error: &Error) -> bool {
    let mut source = error.source();
    while let Some(error) = source {
        if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::StorageFull) {
            return true;
        }
        source = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_can_tell_what_went_wrong() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        for (error, kind) in [
            (Error::invalid("limit", "0"), ProblemKind::InvalidInput),
            (Error::NotFound(7.into()), ProblemKind::NotFound),
            (Error::Duplicate(7.into()), ProblemKind::Conflict),
            (Error::Held("held".into()), ProblemKind::Locked),
            (Error::Database { path: "x".into(), why: "damaged".into(), remedy: None }, ProblemKind::Corrupt),
            (Error::DiskFull { path: "x".into() }, ProblemKind::Full),
            (Error::io("x", full()), ProblemKind::Full),
            (Error::io("x", io::Error::other("disk")), ProblemKind::Store),
            (Error::ModelMismatch { stored: "a".into(), offered: "b".into() }, ProblemKind::ModelMismatch),
            (memorist_engine::embed::Error::Failed("x".into()).into(), ProblemKind::Model),
            (Error::Cancelled, ProblemKind::Cancelled),
        ] {
            assert_eq!(Problem::from(error).kind, kind);
        }
        assert_eq!(Problem::from(Failure::input("no")).kind, ProblemKind::InvalidInput);
    }
}
