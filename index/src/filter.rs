//! Which keys a search may return.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Debug;
use std::hash::BuildHasher;

use crate::ids::Key;

/// Which keys a search may return.
#[derive(Debug, Clone, Copy)]
pub enum Filter<'a> {
    /// All of them.
    All,
    /// These alone. Keys that are not in the index are no error.
    Only(&'a dyn KeySet),
    /// All but these.
    Except(&'a dyn KeySet),
}

impl Filter<'_> {
    /// Whether the filter lets a key pass.
    #[inline]
    pub fn allows(&self, key: Key) -> bool {
        match self {
            Self::All => true,
            Self::Only(keys) => keys.contains(key),
            Self::Except(keys) => !keys.contains(key),
        }
    }
}

/// Keys that a [`Filter`] names, however the caller keeps them: a search looks at them where they are.
///
/// `BTreeSet` and `HashSet` are such sets. A large one is smaller and faster as a compressed bitmap: with the feature
/// `roaring`, `RoaringTreemap` is one too.
pub trait KeySet: Debug + Sync {
    /// Whether a key is one of them. A search that walks asks for thousands.
    fn contains(&self, key: Key) -> bool;

    /// How many there are.
    fn count(&self) -> u64;

    /// Calls `visit` with each of them, once. Ascending order is the fastest. A search does so where they are few.
    fn for_each(&self, visit: &mut dyn FnMut(Key));
}

impl KeySet for BTreeSet<Key> {
    fn contains(&self, key: Key) -> bool {
        self.contains(&key)
    }

    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn for_each(&self, visit: &mut dyn FnMut(Key)) {
        self.iter().copied().for_each(visit);
    }
}

impl<S: BuildHasher + Sync> KeySet for HashSet<Key, S> {
    fn contains(&self, key: Key) -> bool {
        self.contains(&key)
    }

    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn for_each(&self, visit: &mut dyn FnMut(Key)) {
        self.iter().copied().for_each(visit);
    }
}

#[cfg(feature = "roaring")]
impl KeySet for roaring::RoaringTreemap {
    fn contains(&self, key: Key) -> bool {
        self.contains(key)
    }

    fn count(&self) -> u64 {
        self.len()
    }

    fn for_each(&self, visit: &mut dyn FnMut(Key)) {
        self.iter().for_each(visit);
    }
}
