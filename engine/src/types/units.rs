//! The numbers that the engine speaks in.

/// The id of a record: positive, never used twice, the number that the tools speak.
pub type RecordId = i64;

/// A position in the sync log. 0 is "before the first entry".
pub type Seq = u64;

/// Unix time in milliseconds.
pub type Millis = i64;
