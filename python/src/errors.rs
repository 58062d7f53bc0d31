//! Problems as exceptions of `memorist.errors`.

use std::io;

use memorist_index::{OpenError, SearchError, WriteError};
use memorist_server::library::{Problem, ProblemKind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

pub fn exception(py: Python<'_>, kind: &str, message: impl Into<String>) -> PyErr {
    let raised = || -> PyResult<PyErr> {
        let errors = ERRORS.get_or_try_init(py, || py.import("memorist.errors").map(Bound::unbind))?;
        Ok(PyErr::from_value(errors.bind(py).getattr(kind)?.call1((message.into(),))?))
    };
    raised().unwrap_or_else(|error| error)
}

/// Input that is refused.
pub fn invalid(py: Python<'_>, message: impl Into<String>) -> PyErr {
    exception(py, ProblemKind::InvalidInput.name(), message)
}

/// The exception of a problem.
pub fn of_problem(py: Python<'_>, problem: Problem) -> PyErr {
    exception(py, problem.kind.name(), problem.message)
}

/// A problem of the vector index, by its kind.
pub trait IndexProblem {
    fn kind(&self) -> ProblemKind;
}

/// The exception of a problem of the vector index.
pub fn of_index(py: Python<'_>, error: impl IndexProblem + std::error::Error) -> PyErr {
    exception(py, error.kind().name(), error.to_string())
}

/// The kind of a problem of the operating system.
pub fn of_io(error: &io::Error) -> ProblemKind {
    match error.kind() {
        io::ErrorKind::StorageFull => ProblemKind::Full,
        _ => ProblemKind::Store,
    }
}

impl IndexProblem for OpenError {
    fn kind(&self) -> ProblemKind {
        match self {
            OpenError::Missing { .. } => ProblemKind::NotFound,
            OpenError::NotAnIndex { .. } | OpenError::Version { .. } | OpenError::Damaged { .. } => {
                ProblemKind::Corrupt
            }
            OpenError::Dimensions { .. } => ProblemKind::InvalidInput,
            OpenError::Io { source, .. } => of_io(source),
            _ => ProblemKind::Store,
        }
    }
}

impl IndexProblem for WriteError {
    fn kind(&self) -> ProblemKind {
        match self {
            WriteError::Exists { .. } => ProblemKind::Conflict,
            WriteError::Locked { .. } => ProblemKind::Locked,
            WriteError::Options(_)
            | WriteError::Vector { .. }
            | WriteError::Payload { .. }
            | WriteError::TooMany { .. } => ProblemKind::InvalidInput,
            WriteError::Cancelled => ProblemKind::Cancelled,
            WriteError::Open(error) => error.kind(),
            WriteError::Io { source, .. } | WriteError::Unsynced { source, .. } => of_io(source),
            _ => ProblemKind::Store,
        }
    }
}

impl IndexProblem for SearchError {
    fn kind(&self) -> ProblemKind {
        ProblemKind::InvalidInput
    }
}
