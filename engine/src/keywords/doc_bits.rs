//! A set of documents of a segment: a bit for each document, because sets of most of them are usual.

use std::ops::Range;

use tantivy::DocId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocBits {
    /// The bits after the last document are 0.
    words: Vec<u64>,
}

impl DocBits {
    /// No document of a segment with this many.
    pub(super) fn none(max_doc: DocId) -> Self {
        DocBits { words: vec![0; (max_doc as usize).div_ceil(64)] }
    }

    /// Each document of a segment with this many.
    pub(super) fn all(max_doc: DocId) -> Self {
        let mut words = vec![u64::MAX; (max_doc as usize).div_ceil(64)];
        if let Some(last) = words.last_mut() {
            *last >>= (64 - max_doc % 64) % 64;
        }
        DocBits { words }
    }

    pub(super) fn insert(&mut self, doc: DocId) {
        self.words[doc as usize / 64] |= 1 << (doc % 64);
    }

    /// Inserts documents in any order. It is fastest if most are near the one before.
    pub(super) fn insert_all(&mut self, docs: &[DocId]) {
        // A word is written when it is left.
        let (mut at, mut word) = (0, 0);
        for &doc in docs {
            if doc as usize / 64 != at {
                self.words[at] |= word;
                (at, word) = (doc as usize / 64, 0);
            }
            word |= 1 << (doc % 64);
        }
        if word != 0 {
            self.words[at] |= word;
        }
    }

    /// Removes what `other`, a set of the same segment, lacks.
    pub(super) fn intersect(&mut self, other: &DocBits) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    pub(super) fn contains(&self, doc: DocId) -> bool {
        self.words[doc as usize / 64] >> (doc % 64) & 1 == 1
    }

    pub(super) fn len(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The documents, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = DocId> {
        self.within(0..64 * self.words.len() as DocId)
    }

    /// The documents in `docs`, ascending.
    pub(super) fn within(&self, docs: Range<DocId>) -> impl Iterator<Item = DocId> {
        docs.clone().step_by(64).flat_map(move |first| {
            let mut bits = self.bits(first as usize, 64.min((docs.end - first) as usize));
            std::iter::from_fn(move || {
                let next = (bits != 0).then(|| first + bits.trailing_zeros());
                bits &= bits.wrapping_sub(1);
                next
            })
        })
    }

    /// Sets the bits of `docs` in `words`, from bit `to` on.
    pub(super) fn copy(&self, docs: Range<DocId>, words: &mut [u64], mut to: usize) {
        let (mut doc, end) = (docs.start as usize, docs.end as usize);
        while doc < end {
            let count = (end - doc).min(64 - to % 64);
            words[to / 64] |= self.bits(doc, count) << (to % 64);
            (doc, to) = (doc + count, to + count);
        }
    }

    /// The bits of 1 to 64 documents, `first` in the lowest.
    fn bits(&self, first: usize, count: usize) -> u64 {
        let (at, shift) = (first / 64, first % 64);
        let low = self.words[at] >> shift;
        let high = if shift + count > 64 { self.words[at + 1] << (64 - shift) } else { 0 };
        (low | high) & (u64::MAX >> (64 - count))
    }
}
