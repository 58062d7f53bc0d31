//! Memories to clean up: copies and duplicates.

use super::record::Record;
use super::units::RecordId;

/// Memories of one owner that say the same in the same words.
#[derive(Debug, Clone, PartialEq)]
pub struct Copies {
    /// The one to keep.
    pub keep: Record,
    /// The others, the oldest first.
    pub others: Vec<Record>,
}

/// Memories of one owner that are probably the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Duplicates {
    /// The newest first. Each is a duplicate of another of them, not of all.
    pub records: Vec<Record>,
    /// The share of the words that the newest and another have, 0.6 to 1; `None` if it is lower.
    pub words: Option<f64>,
    /// The cosine of the newest and its nearest, from 0.9 on; `None` if it is lower.
    pub cosine: Option<f64>,
    /// Whether all have the same numbers. "port 5432" and "port 5433" are near each other, and neither replaces the other.
    pub same_numbers: bool,
}

/// A page of groups of duplicates.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DuplicatesPage {
    /// The groups, those with the newest memories first.
    pub groups: Vec<Duplicates>,
    /// There may be more among the memories before this one.
    pub next: Option<RecordId>,
}
