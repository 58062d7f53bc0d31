//! Why a store cannot be read.

use std::path::{Path, PathBuf};

use super::System;

/// Why reading a store ended.
#[derive(Debug, thiserror::Error)]
pub enum MoveError<E> {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The receiver of the memories failed.
    #[error("{0}")]
    Visit(E),
}

/// Why a store cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is something else.
    #[error("{}: {why}; expected is {}", path.display(), system.expected())]
    Unexpected {
        /// The system whose store was expected.
        system: System,
        /// The path that was given.
        path: PathBuf,
        /// The difference from the expected store.
        why: String,
    },
    /// The file system says so.
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    /// The database says so.
    #[error("{}: {error}", path.display())]
    Database { path: PathBuf, error: rusqlite::Error },
}

impl StoreError {
    pub(super) fn unexpected(system: System, path: &Path, why: impl Into<String>) -> Self {
        StoreError::Unexpected { system, path: path.into(), why: why.into() }
    }

    pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |error| StoreError::Io { path: path.into(), error }
    }
}
