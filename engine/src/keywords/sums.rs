//! Which documents of a segment can reach a score: what its terms add is summed up for a block of documents at a time, in
//! memory that stays in the processor's cache (the idea of Lucene's `BooleanScorer`). Up to some ten thousands of postings this
//! is faster than to find out what can be skipped.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::Bm25Weight;
use tantivy::{DocId, DocSet, TERMINATED};

/// Documents in a block.
const BLOCK: usize = 4_096;

/// The postings of a term, and what each adds.
pub(super) struct Addend<'a> {
    pub(super) postings: SegmentPostings,
    /// Its bit, if it is a word of a pair.
    pub(super) bit: u32,
    pub(super) weight: &'a Bm25Weight,
    pub(super) norms: &'a FieldNormReader,
}

/// A document whose terms add up to `sum`.
pub(super) struct Summed {
    pub(super) doc: DocId,
    pub(super) sum: f32,
    /// The bits of the words of pairs that it has.
    pub(super) bits: u32,
}

/// Visits the documents whose sums are at least `least`, in ascending order. `visit` returns the next `least`.
pub(super) fn visit(mut addends: Vec<Addend<'_>>, mut least: f32, mut visit: impl FnMut(Summed) -> f32) {
    let (mut sums, mut occupied) = (vec![(0.0, 0_u32); BLOCK], [0_u64; BLOCK / 64]);
    loop {
        let first = addends.iter().map(|addend| addend.postings.doc()).min().unwrap_or(TERMINATED);
        // A damaged list may go beyond it.
        if first >= TERMINATED {
            return;
        }
        let start = first - first % BLOCK as u32;
        let end = (start + BLOCK as u32).min(TERMINATED);
        for Addend { postings, bit, weight, norms } in &mut addends {
            let mut doc = postings.doc();
            while doc < end {
                let at = (doc - start) as usize;
                let (sum, bits) = &mut sums[at];
                *sum += weight.score(norms.fieldnorm_id(doc), postings.term_freq());
                *bits |= *bit;
                occupied[at / 64] |= 1 << (at % 64);
                doc = postings.advance();
            }
        }
        for (word, bits) in occupied.iter_mut().enumerate() {
            while *bits != 0 {
                let at = word * 64 + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                let (sum, words) = std::mem::take(&mut sums[at]);
                if sum >= least {
                    least = visit(Summed { doc: start + at as u32, sum, bits: words });
                }
            }
        }
    }
}
