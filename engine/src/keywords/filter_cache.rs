//! The answers to the last few filters of one segment. A segment never changes but for what is deleted of it, so that
//! all snapshots which have it share them: after a publish only what is new of the index is looked at.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use roaring::{RoaringBitmap, RoaringTreemap};

use crate::error::Result;
use crate::types::Filter;

/// A segment keeps the answers to so many filters, for as long as a snapshot has it. An answer takes at most a quarter
/// of a byte for each record of the segment, or twelve bytes for each that passes, whichever is less.
pub(super) const KEPT_FILTERS: usize = 16;

/// The answer to a filter. What is deleted of the segment is not left out: that may be more in the next snapshot.
pub(super) struct Passing {
    pub(super) docs: RoaringBitmap,
    ids: OnceLock<RoaringTreemap>,
}

impl Passing {
    /// The records that `docs` are, looked up by `find` the first time: a search by words alone does not ask.
    pub(super) fn ids(&self, find: impl FnOnce(&RoaringBitmap) -> RoaringTreemap) -> &RoaringTreemap {
        self.ids.get_or_init(|| find(&self.docs))
    }
}

/// The answers that are kept, the last asked for first.
#[derive(Default)]
pub(super) struct Answers(Mutex<Vec<(Filter, Arc<Passing>)>>);

impl Answers {
    /// The answer to `filter`, by `find` where it is not kept.
    pub(super) fn get(&self, filter: &Filter, find: impl FnOnce() -> Result<RoaringBitmap>) -> Result<Arc<Passing>> {
        if let Some(kept) = self.kept(filter) {
            return Ok(kept);
        }
        let found = Arc::new(Passing { docs: find()?, ids: OnceLock::new() });
        let mut answers = self.0.lock();
        // Another search may have found it meanwhile.
        answers.retain(|(kept, _)| kept != filter);
        answers.truncate(KEPT_FILTERS - 1);
        answers.insert(0, (filter.clone(), found.clone()));
        Ok(found)
    }

    fn kept(&self, filter: &Filter) -> Option<Arc<Passing>> {
        let mut answers = self.0.lock();
        let at = answers.iter().position(|(kept, _)| kept == filter)?;
        answers[..=at].rotate_right(1);
        Some(answers[0].1.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_few_answers_are_kept() {
        let answers = Answers::default();
        let filter = |at: usize| Filter { created_before: Some(at as i64), ..Filter::default() };
        let is_kept = |at| answers.kept(&filter(at)).is_some();
        for at in 0..10 * KEPT_FILTERS {
            let found = answers.get(&filter(at), || Ok(RoaringBitmap::from([at as u32]))).unwrap();
            assert!(found.docs.contains(at as u32));
            // the first is asked for again and again
            let first = answers.get(&filter(0), || panic!("the answer is kept")).unwrap();
            assert!(first.docs.contains(0));
            assert!(answers.0.lock().len() <= KEPT_FILTERS);
        }
        let last = 10 * KEPT_FILTERS - 1;
        assert!(is_kept(0) && is_kept(last) && is_kept(last + 2 - KEPT_FILTERS));
        assert!(!is_kept(last + 1 - KEPT_FILTERS) && !is_kept(1));
    }

    #[test]
    fn a_failure_is_no_answer() {
        let answers = Answers::default();
        let filter = Filter { min_importance: Some(3), ..Filter::default() };
        assert!(answers.get(&filter, || Err(crate::error::Error::Cancelled)).is_err());
        assert_eq!(answers.get(&filter, || Ok(RoaringBitmap::from([7]))).unwrap().docs.len(), 1);
    }
}
