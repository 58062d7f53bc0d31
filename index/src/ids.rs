//! Names of vectors: the caller's keys, and the positions within a segment.

/// The caller's name of a vector.
pub type Key = u64;

/// The position of a vector within its segment.
pub(crate) type Slot = u32;
