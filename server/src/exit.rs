//! The outcome of a command: errors and exit codes.

use std::fmt;
use std::io;
use std::path::Path;

use memorist_engine::{Error, ErrorKind};

use crate::wording::Worded;

/// The table of exit codes, as `--help` prints it.
pub const HELP: &str = "\
Exit codes:
  0    done
  1    internal error
  2    bad usage or refused input (import: at least one line was refused)
  3    the store or an index cannot be used
  4    no memory with this id
  5    the embedding model is missing or failed
  6    the operating system refused: files, network, addresses
  130  interrupted";

/// The category of a failure. The number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A bug of this program.
    Internal = 1,
    /// The request is invalid.
    Input = 2,
    /// The store.
    Store = 3,
    /// No such memory.
    NotFound = 4,
    /// The model.
    Model = 5,
    /// The operating system.
    Io = 6,
    /// Stopped on request.
    Cancelled = 130,
}

impl Kind {
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The name in `{"error": {"kind": ...}}`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Internal => "internal",
            Kind::Input => "input",
            Kind::Store => "store",
            Kind::NotFound => "not_found",
            Kind::Model => "model",
            Kind::Io => "io",
            Kind::Cancelled => "cancelled",
        }
    }
}

/// Why a command failed, or stopped silently.
#[derive(Debug)]
pub enum Failure {
    /// An error, not yet reported.
    Error {
        kind: Kind,
        /// The error, and the remedy.
        message: String,
    },
    /// The reader of stdout has closed it (`memorist list | head`): there is nobody to report to, and nothing is wrong.
    ReaderGone,
}

/// The result of a command: an exit code, or a failure.
pub type Outcome = Result<u8, Failure>;

impl Failure {
    /// A failure of the category `kind`.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Failure::Error { kind, message: message.into() }
    }

    /// Input that is refused.
    pub fn input(message: impl Into<String>) -> Self {
        Failure::new(Kind::Input, message)
    }

    /// An operation on the file `path` that failed.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        Failure::new(Kind::Io, format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Error { message, .. } => f.write_str(message),
            Failure::ReaderGone => f.write_str("the reader has gone"),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::new(kind_of(&error), error.worded())
    }
}

impl From<memorist_engine::embed::Error> for Failure {
    fn from(error: memorist_engine::embed::Error) -> Self {
        Error::from(error).into()
    }
}

/// The category of an engine's error.
pub fn kind_of(error: &Error) -> Kind {
    match error.kind() {
        ErrorKind::Input => Kind::Input,
        ErrorKind::NotFound => Kind::NotFound,
        ErrorKind::Store => Kind::Store,
        ErrorKind::Model => Kind::Model,
        ErrorKind::Io => Kind::Io,
        ErrorKind::Cancelled => Kind::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(error: Error) -> u8 {
        match Failure::from(error) {
            Failure::Error { kind, .. } => kind.code(),
            Failure::ReaderGone => 0,
        }
    }

    #[test]
    fn every_category_of_error_has_its_code() {
        assert_eq!(code(Error::invalid("limit", "0 is outside 1 to 1000")), 2);
        assert_eq!(code(Error::Store { path: "x".into(), why: "is a file".into() }), 3);
        assert_eq!(code(Error::NotFound(99.into())), 4);
        assert_eq!(code(memorist_engine::embed::Error::Provision("no network".into()).into()), 5);
        assert_eq!(code(Error::io("x", io::Error::other("disk"))), 6);
        assert_eq!(code(Error::Cancelled), 130);
    }

    #[test]
    fn the_help_names_every_code() {
        let kinds = [Kind::Internal, Kind::Input, Kind::Store, Kind::NotFound, Kind::Model, Kind::Io, Kind::Cancelled];
        for kind in kinds {
            let line = format!("\n  {} ", kind.code());
            assert!(HELP.contains(&line), "{} is not in the help", kind.code());
        }
    }
}
