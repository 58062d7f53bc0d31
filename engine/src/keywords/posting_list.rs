//! Posting lists: those of tantivy in a segment, and those of the tail in memory.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::{DocId, DocSet};

/// The documents in which a term occurs, in ascending order.
pub(super) trait PostingList {
    /// The current document, [`TERMINATED`](tantivy::TERMINATED) after the last.
    fn doc(&self) -> DocId;

    /// Advances to the first document at or after `doc`, which is after the current one.
    fn seek(&mut self, doc: DocId);

    /// The term frequency in the current document.
    fn frequency(&self) -> u32;

    /// Replaces the content of `positions` with the term's positions in the current document.
    fn positions(&mut self, positions: &mut Vec<u32>);
}

impl PostingList for SegmentPostings {
    fn doc(&self) -> DocId {
        DocSet::doc(self)
    }

    fn seek(&mut self, doc: DocId) {
        DocSet::seek(self, doc);
    }

    fn frequency(&self) -> u32 {
        self.term_freq()
    }

    fn positions(&mut self, positions: &mut Vec<u32>) {
        Postings::positions(self, positions);
    }
}
