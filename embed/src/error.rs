//! Errors of an embedding model.

use std::path::PathBuf;
use std::sync::Arc;

/// The result of a call of a model.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no embedding.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No model is available: none is configured, or the settings forbid to fetch it.
    #[error("{0}")]
    Unavailable(String),

    /// The last attempt to load the model failed.
    #[error("{cause}{}", in_seconds(*retry_in))]
    FailedBefore {
        /// The earlier failure.
        cause: Arc<Error>,
        /// Seconds after which the next call tries again.
        retry_in: Option<u64>,
    },

    /// The model is not set up: it must be fetched, or named.
    #[error("{0}")]
    NotSetUp(String),

    /// A file of the model is missing or damaged. Setting it up again replaces it.
    #[error("{0}")]
    Damaged(String),

    /// Other users can change the cache folder, from which code is loaded.
    #[error("{0}")]
    Exposed(String),

    /// A file could not be fetched, or may not be used.
    #[error("{0}")]
    Provision(String),

    /// The model or its library failed.
    #[error("the embedding model failed: {0}")]
    Failed(String),

    /// A provider returns no vectors. It has logged that itself.
    #[error("{0}")]
    Provider(String),

    /// A provider has replaced the model behind its name: the vectors have other dimensions. It has logged that itself.
    #[error("{0}")]
    Replaced(String),

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

fn in_seconds(retry_in: Option<u64>) -> String {
    retry_in.map_or_else(String::new, |seconds| format!("\n(it is tried again in {seconds} seconds)"))
}

impl Error {
    /// Returns the original failure: the cause of [`Error::FailedBefore`], else this error.
    pub fn root(&self) -> &Error {
        match self {
            Error::FailedBefore { cause, .. } => cause.root(),
            other => other,
        }
    }

    /// A failed operation on the file `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Io { path: path.into(), source }
    }
}
