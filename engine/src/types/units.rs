//! The numbers that the engine uses.

use serde::{Deserialize, Serialize};

/// The id of a record: positive, never reused, the number that the tools use.
pub type RecordId = i64;

/// A position in the sync log; by default before its first entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(u64);

impl Seq {
    /// Before the first entry.
    pub const START: Seq = Seq(0);

    /// The bare number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The integer that a database keeps for it.
    pub(crate) fn stored(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }

    /// The position that a database keeps as this integer.
    pub(crate) fn from_stored(number: i64) -> Self {
        Seq(number.unsigned_abs())
    }

    /// How many entries come after `earlier`, up to this one.
    pub const fn since(self, earlier: Seq) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl From<u64> for Seq {
    fn from(number: u64) -> Self {
        Seq(number)
    }
}

/// Unix time in milliseconds.
pub type Millis = i64;
