//! A cache of the results of the last few filters on one segment. A segment never changes except for its deletes, so
//! all snapshots that contain it share the cache: after a publish only new segments are evaluated.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use roaring::RoaringTreemap;

use super::doc_bits::DocBits;
use crate::error::Result;
use crate::types::Filter;

/// Results that are cached per segment, for as long as a snapshot contains it. A result takes an eighth of a byte for each
/// record of the segment; its ids, about as much again, or up to two bytes for each match if ids are far apart.
pub(super) const CACHED_FILTERS: usize = 16;

/// The result of a filter. It includes deleted documents, as the next snapshot may have more deletes.
pub(super) struct FilteredDocs {
    pub(super) docs: DocBits,
    pub(super) count: u64,
    ids: OnceLock<RoaringTreemap>,
}

impl FilteredDocs {
    /// The ids of `docs`, computed by `find` on first use: a keyword search does not need them.
    pub(super) fn ids(&self, find: impl FnOnce(&DocBits) -> RoaringTreemap) -> &RoaringTreemap {
        self.ids.get_or_init(|| find(&self.docs))
    }
}

/// The cached results, the most recently used first.
#[derive(Default)]
pub(super) struct FilterCache(Mutex<Vec<(Filter, Arc<FilteredDocs>)>>);

impl FilterCache {
    /// The result of `filter`, computed by `find` if it is not cached.
    pub(super) fn get(&self, filter: &Filter, find: impl FnOnce() -> Result<DocBits>) -> Result<Arc<FilteredDocs>> {
        if let Some(kept) = self.kept(filter) {
            return Ok(kept);
        }
        let docs = find()?;
        let found = Arc::new(FilteredDocs { count: docs.len(), docs, ids: OnceLock::new() });
        let mut cache = self.0.lock();
        // Another search may have computed it meanwhile.
        cache.retain(|(kept, _)| kept != filter);
        cache.truncate(CACHED_FILTERS - 1);
        cache.insert(0, (filter.clone(), found.clone()));
        Ok(found)
    }

    fn kept(&self, filter: &Filter) -> Option<Arc<FilteredDocs>> {
        let mut cache = self.0.lock();
        let at = cache.iter().position(|(kept, _)| kept == filter)?;
        cache[..=at].rotate_right(1);
        Some(cache[0].1.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(doc: usize) -> DocBits {
        let mut docs = DocBits::none(200);
        docs.insert(doc as u32);
        docs
    }

    #[test]
    fn the_last_few_results_are_cached() {
        let cache = FilterCache::default();
        let filter = |at: usize| Filter { created_before: Some(at as i64), ..Filter::default() };
        let is_kept = |at| cache.kept(&filter(at)).is_some();
        for at in 0..10 * CACHED_FILTERS {
            let found = cache.get(&filter(at), || Ok(docs(at))).unwrap();
            assert!(found.docs.contains(at as u32));
            // the first is used again and again
            let first = cache.get(&filter(0), || panic!("the answer is kept")).unwrap();
            assert!(first.docs.contains(0));
            assert!(cache.0.lock().len() <= CACHED_FILTERS);
        }
        let last = 10 * CACHED_FILTERS - 1;
        assert!(is_kept(0) && is_kept(last) && is_kept(last + 2 - CACHED_FILTERS));
        assert!(!is_kept(last + 1 - CACHED_FILTERS) && !is_kept(1));
    }

    #[test]
    fn a_failure_is_not_cached() {
        let cache = FilterCache::default();
        let filter = Filter { min_importance: Some(3), ..Filter::default() };
        assert!(cache.get(&filter, || Err(crate::error::Error::Cancelled)).is_err());
        assert_eq!(cache.get(&filter, || Ok(docs(7))).unwrap().count, 1);
    }
}
