//! The numbers that the engine uses.

/// The id of a record: positive, never reused, the number that the tools use.
pub type RecordId = i64;

/// A position in the sync log. 0 is "before the first entry".
pub type Seq = u64;

/// Unix time in milliseconds.
pub type Millis = i64;
