//! Errors of this crate.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be mapped.
    #[error("the packed model cannot be mapped: {0}")]
    Io(#[from] std::io::Error),
    /// A packed model is damaged, of another version, or of other weights; or what should be packed is another model.
    #[error("{0}")]
    Unusable(String),
    /// A text has a token that the model does not know, none at all, or too many.
    #[error("{0}")]
    Tokens(String),
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
