//! What vectors are named by: the caller's keys, and the places within a segment.

/// What the caller names a vector by.
pub type Key = u64;

/// The position of a vector within its segment.
pub(crate) type Slot = u32;
