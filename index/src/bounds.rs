//! The bounds of what an index can hold.

/// The most dimensions that a vector can have.
pub const MAX_DIMS: usize = 16_384;
/// The most bytes that a caller can keep in the manifest.
pub const MAX_PAYLOAD: usize = 4096;

/// The most that [`IndexOptions::m`](crate::IndexOptions::m) can be.
pub(crate) const MAX_M: usize = 64;
