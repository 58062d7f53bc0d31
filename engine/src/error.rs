//! Errors, worded so that the reader knows what to do next.

use std::path::PathBuf;

use crate::types::RecordId;

/// The result of an engine call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine. Its text says what is wrong and, if there is one, the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that the caller gave is out of bounds.
    #[error("{field}: {why}")]
    Invalid {
        /// The field, named as on the wire.
        field: &'static str,
        /// What is wrong with it.
        why: String,
    },

    /// No live record has this id.
    #[error("Memory entry not found: {0}")]
    NotFound(RecordId),

    /// The text of an update is the text of another record of the same scope.
    #[error("another memory of this scope has this text already: {0}; delete one of the two")]
    Duplicate(RecordId),

    /// The store's folder cannot be used.
    #[error("cannot use {path} as a store: {why}")]
    Store {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong, and the remedy.
        why: String,
    },

    /// The database is not what it should be.
    #[error("{path} cannot be read as a memory database: {why}")]
    Database {
        /// The database file.
        path: PathBuf,
        /// What is wrong, and the remedy.
        why: String,
    },

    /// A statement of the database failed, or what it returned cannot be read.
    #[error("the database failed: {0}")]
    DatabaseFailed(#[source] Box<dyn std::error::Error + Send + Sync>),

    /// The keyword index failed.
    #[error("the keyword index failed: {0}")]
    Keywords(#[from] tantivy::TantivyError),

    /// The vector index failed.
    #[error("the vector index failed: {0}")]
    Vectors(String),

    /// An index cannot be opened and must be rebuilt from the records.
    #[error("the {index} index cannot be opened and will be rebuilt: {why}")]
    IndexUnusable {
        /// `vector` or `keyword`.
        index: &'static str,
        /// Missing, of another version or model, or damaged: as text.
        why: String,
    },

    /// No embedding can be made.
    #[error("{0}")]
    NoEmbedder(String),

    /// No embedding can be made for now.
    #[error("{why}\n(it is tried again in {seconds} seconds)")]
    NoEmbedderYet {
        /// What failed.
        why: String,
        /// After so long, the next call tries again.
        seconds: u64,
    },

    /// The embedding model or its library failed.
    #[error("the embedding model failed: {0}")]
    Embedding(String),

    /// A file could not be fetched or is not the one expected.
    #[error("{0}")]
    Provision(String),

    /// The store was written with another embedding model.
    #[error(
        "this store's vectors were made by {stored}, but the configured model is {offered}; the two cannot be mixed. {way_out}"
    )]
    ModelMismatch {
        /// Identity of the model the store was written with.
        stored: String,
        /// Identity of the available model.
        offered: String,
        /// What to do.
        way_out: String,
    },

    /// A measurement has nothing to measure.
    #[error("there is nothing to measure: {0}")]
    NothingToMeasure(String),

    /// Another process holds a lock and does not release it in time.
    #[error("{0}")]
    Held(String),

    /// A file operation failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },

    /// The caller cancelled the work.
    #[error("cancelled")]
    Cancelled,
}

/// The category of an [`Error`]: decides exit codes, and whether a model can correct its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The caller's input; another call may succeed.
    Input,
    /// No such record.
    NotFound,
    /// The store or an index is damaged, of another version, or not usable.
    Store,
    /// The model is missing or failed.
    Model,
    /// The operating system refused.
    Io,
    /// Stopped on request.
    Cancelled,
}

impl Error {
    /// An out-of-bounds value of `field`.
    pub fn invalid(field: &'static str, why: impl Into<String>) -> Self {
        Error::Invalid { field, why: why.into() }
    }

    /// A failed operation on the file `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Io { path: path.into(), source }
    }

    /// A value in the database that cannot be read.
    pub(crate) fn unreadable(why: impl Into<String>) -> Self {
        Error::DatabaseFailed(why.into().into())
    }

    /// Its category.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Invalid { .. } | Error::Duplicate(_) => ErrorKind::Input,
            Error::NotFound(_) => ErrorKind::NotFound,
            Error::Store { .. }
            | Error::Database { .. }
            | Error::DatabaseFailed(_)
            | Error::Keywords(_)
            | Error::Vectors(_)
            | Error::IndexUnusable { .. }
            | Error::ModelMismatch { .. }
            | Error::Held(_)
            | Error::NothingToMeasure(_) => ErrorKind::Store,
            Error::NoEmbedder(_) | Error::NoEmbedderYet { .. } | Error::Embedding(_) | Error::Provision(_) => {
                ErrorKind::Model
            }
            Error::Io { .. } => ErrorKind::Io,
            Error::Cancelled => ErrorKind::Cancelled,
        }
    }

    /// The vector index belongs to another model.
    pub(crate) fn of_another_model() -> Self {
        Error::IndexUnusable { index: "vector", why: "its vectors were made by another model".into() }
    }

    /// The index of this name, `vector` or `keyword`, lacks entries that the log no longer has: it cannot catch up.
    pub(crate) fn behind_the_log(index: &'static str) -> Self {
        Error::IndexUnusable { index, why: "it is older than the sync log reaches back".into() }
    }
}
