//! A cache of sets of ids that are slow to find: the superseded records of a viewer, and those without some metadata.

use std::sync::Arc;

use parking_lot::Mutex;
use roaring::RoaringTreemap;

use crate::error::Result;

/// The cache contains this many sets at most.
const SETS: usize = 8;

/// Caches the sets of the last few keys. They belong to one state of the store, a number that grows with each change.
pub struct SetCache<K> {
    cached: Mutex<CachedSets<K>>,
}

struct CachedSets<K> {
    state: i64,
    /// The most recently used first.
    sets: Vec<(K, Arc<RoaringTreemap>)>,
}

impl<K> Default for SetCache<K> {
    fn default() -> Self {
        SetCache { cached: Mutex::new(CachedSets::new(0)) }
    }
}

impl<K: Clone + PartialEq> SetCache<K> {
    /// The set of `key` in this state, found by `find` if it is not cached.
    pub fn get(
        &self,
        state: i64,
        key: &K,
        find: impl FnOnce() -> Result<RoaringTreemap>,
    ) -> Result<Arc<RoaringTreemap>> {
        if let Some(set) = self.cached.lock().find(state, key) {
            return Ok(set);
        }
        let set = Arc::new(find()?);
        self.cached.lock().keep(state, key, &set);
        Ok(set)
    }
}

impl<K> CachedSets<K> {
    fn new(state: i64) -> Self {
        CachedSets { state, sets: Vec::new() }
    }
}

impl<K: Clone + PartialEq> CachedSets<K> {
    fn find(&mut self, state: i64, key: &K) -> Option<Arc<RoaringTreemap>> {
        if self.state != state {
            return None;
        }
        let at = self.sets.iter().position(|(kept, _)| kept == key)?;
        self.sets[..=at].rotate_right(1);
        Some(self.sets[0].1.clone())
    }

    fn keep(&mut self, state: i64, key: &K, set: &Arc<RoaringTreemap>) {
        // A search that started earlier must not undo the update of a later one.
        if state < self.state {
            return;
        }
        if state > self.state {
            *self = CachedSets::new(state);
        }
        self.sets.retain(|(kept, _)| kept != key);
        self.sets.truncate(SETS - 1);
        self.sets.insert(0, (key.clone(), set.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_kept_for_the_last_few_keys_and_for_the_newest_state() {
        let mut kept = CachedSets::new(0);
        let key = |at: usize| at.to_string();
        let set = |id: u64| Arc::new(RoaringTreemap::from([id]));
        for at in 0..SETS {
            kept.keep(5, &key(at), &set(at as u64));
        }
        assert_eq!(kept.find(5, &key(0)), Some(set(0)), "and now it is the most recently used");
        kept.keep(5, &key(99), &set(99));
        assert_eq!(kept.find(5, &key(1)), None);
        assert_eq!(kept.find(5, &key(0)), Some(set(0)));
        assert_eq!(kept.find(6, &key(0)), None);
        kept.keep(4, &key(0), &set(4));
        assert_eq!((kept.find(5, &key(0)), kept.find(4, &key(0))), (Some(set(0)), None), "an older one is not kept");
        kept.keep(6, &key(0), &set(6));
        assert_eq!((kept.find(6, &key(0)), kept.find(6, &key(99))), (Some(set(6)), None));
    }
}
