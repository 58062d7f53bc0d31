//! Results of a keyword search.

use crate::types::RecordId;

/// Where a record is in a snapshot and its tail. It means nothing for another snapshot or tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(Default))]
pub struct DocLocation {
    /// A segment of the snapshot, or after the last of them a part of the tail.
    pub(super) source: u32,
    pub(super) doc: u32,
}

/// A record that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeywordHit {
    /// The record.
    pub id: RecordId,
    /// Where it is.
    pub place: DocLocation,
    /// Its BM25 with the phrase bonus.
    pub score: f32,
}

/// How a record matches a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Exactly as [`KeywordSearch::best`](super::KeywordSearch::best) returns it: 0 if no term occurs.
    pub score: f32,
    /// Whether the words of the query single it out: it has an identifier of the query, or a word of it that at most ten
    /// records have, or all of its words, of a long text in one passage. How many other records there are does not matter.
    pub is_singled_out: bool,
    /// The words and identifiers of the query that it has, as a share of all of them, each weighted by its inverse document
    /// frequency: 0 to 1. One that no record has counts as the rarest. Of a text of more than some 200 words, those of its best
    /// passage (`passage.rs`).
    pub share: f32,
    /// How rare the rarest word or identifier of the query is that it has: its inverse document frequency, in a store of at
    /// least a thousand records, as a share of that of a word that no record has. 0 if it has none.
    pub rarest: f32,
    /// Whether it has words of the query only within other words.
    pub is_by_parts: bool,
}

/// How several records match a query, in the order in which they were given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matches {
    /// One for each record.
    pub records: Vec<Match>,
    /// The share that each word and identifier of the query that occurs anywhere adds to [`Match::share`] where it counts.
    pub shares: Vec<f32>,
    /// How much all words and identifiers of the query say, as a multiple of what some passage of the store says by chance:
    /// the sum of their inverse document frequencies, divided by that of a word that one passage has; or by the sum of those
    /// that occur anywhere, if that is less: what has all of them does not have them by chance. At least 1.
    pub information: f32,
    /// The score of each record, without the phrase bonus, by word or identifier: as many as `shares` for each.
    pub(crate) parts: Vec<f32>,
}

impl Matches {
    /// The score of the record at `index` by word or identifier of the query, without the phrase bonus.
    pub fn parts(&self, index: usize) -> &[f32] {
        let terms = self.shares.len();
        &self.parts[index * terms..(index + 1) * terms]
    }
}

/// A record and those around it in its thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The record is in the middle. `None` where the thread has ended, and for a record that may not be returned.
    pub turns: [Option<Turn>; 2 * Window::REACH + 1],
}

impl Window {
    /// Records on each side.
    pub const REACH: usize = 6;
}

/// A record of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The record.
    pub id: RecordId,
    /// Where it is.
    pub place: DocLocation,
    /// Whether it ends with a question mark.
    pub is_question: bool,
    /// Its words.
    pub words: u32,
}
