//! Errors: what is wrong, and which remedy the engine has.

use std::fmt;
use std::path::PathBuf;

use crate::types::RecordId;

/// The result of an engine call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Separates what a rule refuses, before it has changed anything, from what fails a transaction.
pub(crate) fn refused<T>(outcome: Result<T>) -> Result<Result<T>> {
    match outcome {
        Err(refused @ (Error::Invalid { .. } | Error::NotFound(_) | Error::Duplicate(_))) => Ok(Err(refused)),
        outcome => outcome.map(Ok),
    }
}

/// An error of the engine. Its text says what is wrong, [`Error::remedy`] what this engine can do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that the caller gave is out of bounds.
    #[error("{field}: {why}")]
    Invalid {
        /// The field of the parameter type.
        field: &'static str,
        /// The reason.
        why: String,
    },

    /// No live record has this id.
    #[error("Memory entry not found: {0}")]
    NotFound(RecordId),

    /// The text of an update is the text of another record of the same scope.
    #[error("duplicate text: memory {0} of the same scope has it already; delete one of the two")]
    Duplicate(RecordId),

    /// The store's folder cannot be used.
    #[error("cannot use {path} as a store: {why}")]
    Store {
        /// The folder or file.
        path: PathBuf,
        /// The reason, and the way out.
        why: String,
    },

    /// The disk of the store is full.
    #[error("cannot use {path} as a store: the disk is full; make room and try again")]
    DiskFull {
        /// The file that could not grow.
        path: PathBuf,
    },

    /// The server of a team store cannot be used.
    #[error("the team store {address}: {why}")]
    Server {
        /// The server and its database, without a password.
        address: String,
        /// The reason, and the way out.
        why: String,
    },

    /// The database is not what it should be.
    #[error("cannot open the database {path}: {why}")]
    Database {
        /// The database file.
        path: PathBuf,
        /// The reason.
        why: String,
        /// The remedy, if there is one.
        remedy: Option<Remedy>,
    },

    /// A statement of the database failed, or what it returned cannot be read.
    #[error("the database failed: {0}")]
    DatabaseFailed(#[source] Box<dyn std::error::Error + Send + Sync>),

    /// An index failed.
    #[error("the {index} index failed: {source}")]
    IndexFailed {
        /// Which.
        index: IndexKind,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// An index cannot be opened and must be rebuilt from the records.
    #[error("cannot open the {index} index, rebuilding it: {why}")]
    IndexUnusable {
        /// Which.
        index: IndexKind,
        /// Missing, of another version or model, or damaged: as text.
        why: String,
    },

    /// No embedding can be made.
    #[error(transparent)]
    Embedding(memorist_embed::Error),

    /// The store was written with another embedding model.
    #[error("embedding model mismatch: the store uses {stored}, the settings name {offered}")]
    ModelMismatch {
        /// Identity of the model the store was written with.
        stored: String,
        /// Identity of the available model.
        offered: String,
    },

    /// The store has begun to change to a third embedding model meanwhile.
    #[error(
        "embedding model mismatch: the store uses {stored}, the settings name {offered}. Another model change has \
         begun meanwhile: let it finish, or start this one again"
    )]
    ModelChanging {
        /// Identity of the model the store was written with.
        stored: String,
        /// Identity of the available model.
        offered: String,
    },

    /// A measurement has nothing to measure.
    #[error("cannot run the benchmark: {why}")]
    NothingToMeasure {
        /// The reason.
        why: String,
        /// The remedy, if there is one.
        remedy: Option<Remedy>,
    },

    /// Another process holds a lock and does not release it in time.
    #[error("{0}")]
    Held(String),

    /// A file operation failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },

    /// The caller cancelled the work.
    #[error("cancelled")]
    Cancelled,
}

/// One of the two derived indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// Finds by meaning.
    Vector,
    /// Finds by words.
    Keyword,
}

impl fmt::Display for IndexKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IndexKind::Vector => "vector",
            IndexKind::Keyword => "keyword",
        })
    }
}

/// A remedy for a problem. A program words it for its users, as a command or a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Set up the embedding model: `embed::setup`.
    SetUpModel,
    /// Name another cache folder: [`ModelSettings::cache_dir`](crate::config::ModelSettings::cache_dir).
    UseAnotherCache,
    /// Name an embedding model: [`Config::model`](crate::config::Config::model).
    ConfigureModel,
    /// Embed what waits for it: [`Engine::embed_pending`](crate::Engine::embed_pending).
    EmbedMemories,
    /// Save memories first.
    AddMemories,
    /// Rebuild the index: [`Engine::rebuild`](crate::Engine::rebuild).
    Rebuild,
    /// Remove the map and make another: [`Engine::doctor`](crate::Engine::doctor) with `repair`, then
    /// [`Engine::build_map`](crate::Engine::build_map).
    RebuildMap,
    /// Repair the store: [`examine`](crate::examine) rebuilds its indexes, or saves what can be read of a damaged database
    /// into a new one. The damaged one is kept.
    Repair,
    /// Put a copy of the file as `memory.db` into an empty folder, and repair that.
    RepairCopy,
    /// Restore a backup: [`restore`](crate::restore). Without one, begin an empty store in another folder.
    Restore,
    /// Bring in what this other system has saved; choose another folder for the store.
    MoveIn(&'static str),
    /// Configure the store's model, or change the store to the configured one: [`Engine::reembed`](crate::Engine::reembed).
    Reembed,
    /// Change the store to a model of more languages:
    /// [`NamedModel::E5Small`](crate::embed::NamedModel::E5Small) and [`Engine::reembed`](crate::Engine::reembed).
    UseMultilingualModel,
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

impl From<memorist_embed::Error> for Error {
    fn from(error: memorist_embed::Error) -> Self {
        match error {
            memorist_embed::Error::Io { path, source } => Error::Io { path, source },
            memorist_embed::Error::Cancelled => Error::Cancelled,
            other => Error::Embedding(other),
        }
    }
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

    /// The vector index failed.
    pub(crate) fn vectors(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error::IndexFailed { index: IndexKind::Vector, source: source.into() }
    }

    /// The keyword index failed.
    pub(crate) fn keywords(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error::IndexFailed { index: IndexKind::Keyword, source: source.into() }
    }

    /// The embedding model gave a vector that cannot be used.
    pub(crate) fn bad_vector(why: impl Into<String>) -> Self {
        Error::Embedding(memorist_embed::Error::Failed(why.into()))
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
            | Error::DiskFull { .. }
            | Error::Server { .. }
            | Error::Database { .. }
            | Error::DatabaseFailed(_)
            | Error::IndexFailed { .. }
            | Error::IndexUnusable { .. }
            | Error::ModelMismatch { .. }
            | Error::ModelChanging { .. }
            | Error::Held(_)
            | Error::NothingToMeasure { .. } => ErrorKind::Store,
            Error::Embedding(error) => match error.root() {
                memorist_embed::Error::Io { .. } => ErrorKind::Io,
                _ => ErrorKind::Model,
            },
            Error::Io { .. } => ErrorKind::Io,
            Error::Cancelled => ErrorKind::Cancelled,
        }
    }

    /// The remedy, if it is something that this engine does.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Error::Database { remedy, .. } | Error::NothingToMeasure { remedy, .. } => *remedy,
            Error::IndexUnusable { .. } => Some(Remedy::Rebuild),
            Error::ModelMismatch { .. } => Some(Remedy::Reembed),
            Error::Embedding(error) => match error.root() {
                memorist_embed::Error::NotSetUp(_) | memorist_embed::Error::Damaged(_) => Some(Remedy::SetUpModel),
                memorist_embed::Error::Exposed(_) => Some(Remedy::UseAnotherCache),
                memorist_embed::Error::Replaced(_) => Some(Remedy::Reembed),
                _ => None,
            },
            _ => None,
        }
    }

    /// The vector index belongs to another model.
    pub(crate) fn of_another_model() -> Self {
        Error::IndexUnusable { index: IndexKind::Vector, why: "its vectors were made by another model".into() }
    }

    /// An index lacks entries that the log no longer has: it cannot catch up.
    pub(crate) fn behind_the_log(index: IndexKind) -> Self {
        Error::IndexUnusable { index, why: "it is behind the oldest entry of the sync log".into() }
    }
}
