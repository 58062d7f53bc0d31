//! The documents in which a term occurs: in a segment as tantivy has them, in a tail as they were indexed in memory.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::{DocId, DocSet};

/// The documents in which a term occurs, gone through in ascending order.
pub(super) trait Occurrences {
    /// The present one, [`TERMINATED`](tantivy::TERMINATED) after the last.
    fn doc(&self) -> DocId;

    /// Goes on to the first document at or after `doc`, which is after the present one.
    fn seek(&mut self, doc: DocId);

    /// How often the term occurs in the present document.
    fn frequency(&self) -> u32;

    /// Puts where it occurs there in the place of what is in `positions`.
    fn positions(&mut self, positions: &mut Vec<u32>);
}

impl Occurrences for SegmentPostings {
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
