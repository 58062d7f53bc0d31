//! Why a file is not changed.

/// Why a file is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not of its format.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// Something stands where the entry would.
    #[error("{0}")]
    InTheWay(String),
    /// The change would do more than it should.
    #[error("its layout is not one that can be changed safely here")]
    Unsafe,
}
