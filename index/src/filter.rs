//! Which keys a search may return.

use roaring::RoaringTreemap;

use crate::ids::Key;

/// Which keys a search may return.
#[derive(Debug, Clone, Copy)]
pub enum Filter<'a> {
    /// All of them.
    All,
    /// These alone. Keys that are not in the index are no error.
    Only(&'a RoaringTreemap),
    /// All but these.
    Except(&'a RoaringTreemap),
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
