//! Timelines: event counts of the memories of a store, by time.

use std::collections::BTreeMap;

use super::kind::Kind;
use super::units::Millis;

/// How long a bucket of a timeline is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimelineUnit {
    /// A day.
    #[default]
    Day,
    /// A week, which begins on Monday.
    Week,
    /// A month.
    Month,
}

impl TimelineUnit {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            TimelineUnit::Day => "day",
            TimelineUnit::Week => "week",
            TimelineUnit::Month => "month",
        }
    }
}

/// The event counts of the memories of a store, by time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// How long a bucket is.
    pub unit: TimelineUnit,
    /// The buckets with an event, the oldest first.
    pub buckets: Vec<Happened>,
}

/// Event counts of one day, week or month.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Happened {
    /// Its beginning.
    pub start: Millis,
    /// How many memories of each kind were saved; also those that are deleted or have expired, as long as they can come back.
    pub saved: BTreeMap<Kind, u64>,
    /// How many versions were replaced.
    pub changed: u64,
    /// How many times one came to supersede another.
    pub superseded: u64,
    /// How many expired.
    pub expired: u64,
    /// How many were deleted.
    pub deleted: u64,
}
