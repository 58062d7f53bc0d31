//! The numbers that the engine uses.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The id of a record: positive, never reused, the number that the tools use. By default it is before every record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordId(i64);

impl RecordId {
    /// Before every record.
    pub const START: RecordId = RecordId(0);
    /// After every record.
    pub const MAX: RecordId = RecordId(i64::MAX);

    /// The bare number.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Its key in the indexes, and in sets of ids.
    pub const fn key(self) -> u64 {
        self.0.cast_unsigned()
    }

    /// The id with this key.
    pub const fn from_key(key: u64) -> Self {
        RecordId(key.cast_signed())
    }
}

impl From<i64> for RecordId {
    fn from(number: i64) -> Self {
        RecordId(number)
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

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

/// The milliseconds of a day.
pub const DAY: Millis = 24 * 60 * 60 * 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_written_as_its_number_and_has_one_key() {
        for number in [7, 0, -1, i64::MAX, i64::MIN] {
            let id = RecordId::from(number);
            assert_eq!((id.to_string(), serde_json::to_string(&id).unwrap()), (number.to_string(), number.to_string()));
            assert_eq!(serde_json::from_str::<RecordId>(&number.to_string()).unwrap(), id);
            assert_eq!(RecordId::from_key(id.key()), id);
        }
        assert_eq!(format!("{:>4}", RecordId::from(7)), "   7");
    }

    #[test]
    fn a_position_beyond_what_a_database_keeps_is_kept_as_the_last() {
        assert_eq!((Seq::from(u64::MAX).stored(), Seq::from(41).stored()), (i64::MAX, 41));
        assert_eq!(Seq::from_stored(41), Seq::from(41));
        assert_eq!((Seq::from(41).since(Seq::START), Seq::START.since(Seq::from(41))), (41, 0));
    }
}
