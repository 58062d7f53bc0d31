//! Where the ids of a segment's documents ascend, which they do in the pieces that it was merged from: there the document
//! of a record is found in a fraction of the time that its term takes.

use std::cmp::{Ordering, Reverse};

use tantivy::DocId;
use tantivy::columnar::ColumnValues;

/// The longest runs are kept: records that were changed one by one make many short ones.
const MOST: usize = 64;
/// Ids read at once.
const BLOCK: usize = 1_024;

/// Runs of documents whose ids ascend.
#[derive(Debug, Default)]
pub(super) struct DocOrder(Vec<Run>);

#[derive(Debug, Clone, Copy)]
struct Run {
    first_id: u64,
    last_id: u64,
    first: DocId,
    end: DocId,
}

impl DocOrder {
    /// The order of the documents with these ids.
    pub(super) fn of(ids: &dyn ColumnValues<u64>) -> Self {
        let (mut runs, mut block) = (Vec::new(), [0; BLOCK]);
        let mut run = Run { first_id: 0, last_id: u64::MAX, first: 0, end: 0 };
        let count = ids.num_vals();
        while run.end < count {
            let block = &mut block[..BLOCK.min((count - run.end) as usize)];
            ids.get_range(u64::from(run.end), block);
            for &mut id in block {
                if id <= run.last_id {
                    runs.push(run);
                    run = Run { first_id: id, last_id: id, first: run.end, end: run.end };
                }
                run.end += 1;
                run.last_id = id;
            }
        }
        runs.push(run);
        runs.sort_unstable_by_key(|run| Reverse(run.end - run.first));
        runs.truncate(MOST);
        DocOrder(runs)
    }

    /// A document with this id, deleted or not, in one of the runs.
    pub(super) fn doc(&self, ids: &dyn ColumnValues<u64>, id: u64) -> Option<DocId> {
        self.0.iter().filter(|run| run.first_id <= id && id <= run.last_id).find_map(|run| run.doc(ids, id))
    }
}

impl Run {
    fn doc(&self, ids: &dyn ColumnValues<u64>, id: u64) -> Option<DocId> {
        let Run { mut first, mut end, .. } = *self;
        while first < end {
            let doc = first.midpoint(end);
            match ids.get_val(doc).cmp(&id) {
                Ordering::Less => first = doc + 1,
                Ordering::Equal => return Some(doc),
                Ordering::Greater => end = doc,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ids(Vec<u64>);

    impl ColumnValues<u64> for Ids {
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

    #[test]
    fn documents_are_found_in_the_longest_runs() {
        // Merged in another order than they were written, two pieces between others, then some that were changed.
        let pieces = [5_000..7_000, 100..3_000, 20_000..20_100, 7_000..7_100, 10_000..15_000];
        let changed = (0..100).map(|at| 4_000 - at);
        let all: Vec<u64> = pieces.into_iter().flatten().chain(changed).collect();
        let ids = Ids(all.clone());
        let order = DocOrder::of(&ids);
        let found = (0..).zip(&all).filter(|(doc, id)| order.doc(&ids, **id) == Some(*doc)).count();
        assert_eq!((order.0.len(), found), (MOST, all.len() - 100 + MOST - 3));
        for id in [0, 99, 3_000, 4_999, 7_100, 8_000, u64::MAX] {
            assert_eq!(order.doc(&ids, id), None, "{id}");
        }
        let none = Ids(Vec::new());
        assert_eq!(DocOrder::of(&none).doc(&none, 1), None);
    }
}
