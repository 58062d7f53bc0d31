//! The ids of a segment's documents, as runs that count up by one: memories that were saved one after another have such ids.

use roaring::{RoaringBitmap, RoaringTreemap};
use tantivy::DocId;
use tantivy::columnar::ColumnValues;

use super::doc_bits::DocBits;

/// Ids read at once.
const BLOCK: usize = 1_024;
/// A set whose ids are further apart on average is no array of bits on the way.
const SPREAD: u64 = 64;

/// The runs, in the order of their ids. A record has one document in a segment, so no id is in two of them. A run takes 16
/// bytes: ids in no order take as much for each document.
#[derive(Debug, Default)]
pub(super) struct DocIds(Vec<Run>);

#[derive(Debug, Clone, Copy)]
struct Run {
    first_id: u64,
    first: DocId,
    count: u32,
}

impl DocIds {
    /// The documents with these ids.
    pub(super) fn of(ids: &dyn ColumnValues<u64>) -> Self {
        let (mut runs, mut block) = (Vec::<Run>::new(), [0; BLOCK]);
        let (mut doc, count) = (0, ids.num_vals());
        while doc < count {
            let block = &mut block[..BLOCK.min((count - doc) as usize)];
            ids.get_range(u64::from(doc), block);
            for &mut id in block {
                match runs.last_mut() {
                    Some(run) if run.first_id.checked_add(run.count.into()) == Some(id) => run.count += 1,
                    _ => runs.push(Run { first_id: id, first: doc, count: 1 }),
                }
                doc += 1;
            }
        }
        runs.sort_unstable_by_key(|run| run.first_id);
        runs.shrink_to_fit();
        DocIds(runs)
    }

    /// The document with this id, deleted or not.
    pub(super) fn doc(&self, id: u64) -> Option<DocId> {
        let run = self.0[..self.0.partition_point(|run| run.first_id <= id)].last()?;
        let place = id - run.first_id;
        (place < run.count.into()).then(|| run.first + place as DocId)
    }

    /// The ids of `docs`.
    pub(super) fn ids(&self, docs: &DocBits) -> RoaringTreemap {
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else { return RoaringTreemap::new() };
        let (least, most) = (first.first_id, last.first_id + u64::from(last.count - 1));
        if least >> 32 != most >> 32 || (most - least) / SPREAD > docs.len() {
            let ids = |run: Run| {
                let docs = docs.within(run.first..run.first + run.count);
                docs.map(move |doc| run.first_id + u64::from(doc - run.first))
            };
            return self.0.iter().copied().flat_map(ids).collect();
        }
        let from = least & !63;
        let mut words = vec![0; ((most - from) / 64 + 1) as usize];
        for run in &self.0 {
            docs.copy(run.first..run.first + run.count, &mut words, (run.first_id - from) as usize);
        }
        let mut bytes = vec![0; 8 * words.len()];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        RoaringTreemap::from_bitmaps([((from >> 32) as u32, RoaringBitmap::from_lsb0_bytes(from as u32, &bytes))])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct IdColumn(Vec<u64>);

    impl ColumnValues<u64> for IdColumn {
        fn get_val(&self, doc: DocId) -> u64 {
            self.0[doc as usize]
        }

        fn min_value(&self) -> u64 {
            0
        }

        fn max_value(&self) -> u64 {
            u64::MAX
        }

        fn num_vals(&self) -> u32 {
            self.0.len() as u32
        }
    }

    fn chosen(max_doc: DocId, choose: impl Fn(DocId) -> bool) -> DocBits {
        let mut docs = DocBits::none(max_doc);
        (0..max_doc).filter(|&doc| choose(doc)).for_each(|doc| docs.insert(doc));
        docs
    }

    proptest! {
        /// Pieces in any order, as merges leave them, with gaps; around a multiple of 2^32; far from one another.
        #[test]
        fn ids_and_documents_belong_to_one_another(
            pieces in prop::collection::vec((0..40_u64, 1..300_u64), 1..30),
            turned in any::<bool>(),
            base in prop::sample::select(vec![0, 7, 65_530, u64::from(u32::MAX) - 3_000, u64::from(u32::MAX) - 9, 1 << 40]),
            far in prop::collection::vec(1_u64 << 41..1 << 62, 0..3),
            modulus in 1..90_u32,
        ) {
            let mut next = base;
            let mut pieces: Vec<Vec<u64>> = pieces.into_iter().map(|(gap, count)| {
                let first = next + gap;
                next = first + count;
                (first..next).collect()
            }).collect();
            if turned {
                pieces.reverse();
            }
            let mut far = far;
            far.sort_unstable();
            far.dedup();
            let ids: Vec<u64> = pieces.concat().into_iter().chain(far).collect();
            let (count, doc_ids) = (ids.len() as DocId, DocIds::of(&IdColumn(ids.clone())));
            for (doc, id) in (0..).zip(&ids) {
                prop_assert_eq!(doc_ids.doc(*id), Some(doc));
            }
            prop_assert_eq!(doc_ids.doc(next), None);
            prop_assert_eq!(doc_ids.doc(u64::MAX), None);
            for docs in [chosen(count, |doc| doc % modulus != 1), chosen(count, |doc| doc % modulus == 1), DocBits::all(count)] {
                let expected: RoaringTreemap = docs.iter().map(|doc| ids[doc as usize]).collect();
                prop_assert_eq!(doc_ids.ids(&docs), expected);
                prop_assert_eq!(docs.iter().filter(|doc| docs.contains(*doc)).count() as u64, docs.len());
            }
        }

        #[test]
        fn bits_are_the_documents_that_were_inserted(mut docs in prop::collection::vec(0..1_000_u32, 0..600), max_doc in 1_000..1_100_u32) {
            let mut bits = DocBits::none(max_doc);
            docs.chunks(7).for_each(|docs| bits.insert_all(docs));
            let mut all = DocBits::all(max_doc);
            prop_assert_eq!(all.iter().collect::<Vec<_>>(), (0..max_doc).collect::<Vec<_>>());
            all.intersect(&bits);
            prop_assert_eq!(&all, &bits);
            docs.sort_unstable();
            docs.dedup();
            prop_assert_eq!(bits.iter().collect::<Vec<_>>(), docs);
        }
    }

    #[test]
    fn a_segment_without_documents_has_no_ids() {
        let none = DocIds::of(&IdColumn(Vec::new()));
        assert!(none.doc(1).is_none() && none.ids(&DocBits::all(0)).is_empty());
    }
}
