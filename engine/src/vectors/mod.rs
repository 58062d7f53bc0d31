//! The vector index of a store: [`VectorIndex`], and its three implementations.
//!
//! | file | backend |
//! |---|---|
//! | `hnsw.rs` | our memory-mapped HNSW (crate `memorist-index`): the default, durable, shared by processes |
//! | `exact.rs` | a scan of every vector, in memory: the reference |
//! | `hnsw_rs.rs` | the crate hnsw_rs, in memory, behind the feature `hnsw-rs`: for comparison |
//! | `records.rs` | a search for records, of which the best passage counts |
//! | `contract.rs` | one suite of tests, run against all three |

pub mod exact;
pub mod hnsw;
#[cfg(feature = "hnsw-rs")]
pub mod hnsw_rs;

pub mod records;

#[cfg(test)]
mod contract;

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;

use crate::config::Backend;
use crate::error::Result;
use crate::passages::PassageKey;
use crate::progress::Progress;
use crate::quality::Quality;
use crate::types::Seq;

/// Which keys a search may return.
#[derive(Debug, Clone, Default)]
pub enum IdFilter {
    /// All of them.
    #[default]
    All,
    /// Only these.
    Only(RoaringTreemap),
    /// All except these.
    Except(RoaringTreemap),
}

impl IdFilter {
    /// Whether `key` may be returned.
    pub fn allows(&self, key: PassageKey) -> bool {
        match self {
            IdFilter::All => true,
            IdFilter::Only(keys) => keys.contains(key.get()),
            IdFilter::Except(keys) => !keys.contains(key.get()),
        }
    }

    /// At most this many of `count` vectors can pass.
    pub fn at_most(&self, count: usize) -> usize {
        match self {
            IdFilter::Only(keys) => count.min(keys.len() as usize),
            IdFilter::All | IdFilter::Except(_) => count,
        }
    }
}

/// Changes to a vector index, applied at once. A key is in at most one of the two lists.
#[derive(Debug, Default)]
pub struct VectorBatch {
    /// Vectors to add or to replace. Of length 1.
    pub upserts: Vec<(PassageKey, Vec<f32>)>,
    /// Keys to remove; unknown ones are ignored.
    pub deletes: Vec<PassageKey>,
}

/// An immutable snapshot of a vector index. Searching it takes no lock.
pub trait VectorSnapshot: Send + Sync {
    /// Which index it is of.
    fn backend(&self) -> Backend;

    /// The sync log is applied up to here.
    fn applied(&self) -> Seq;

    /// Waits, at most `timeout`, until all that a search may read has been compared with its checksums. Returns whether
    /// it has been. The verification starts with the snapshot.
    ///
    /// # Errors
    /// [`Error::IndexUnusable`](crate::Error::IndexUnusable) if it is damaged.
    fn wait_verified(&self, timeout: Duration) -> Result<bool>;

    /// How many vectors can be found.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys of all of them.
    fn keys(&self) -> RoaringTreemap;

    /// The keys of further passages: mostly none.
    fn further(&self) -> &RoaringTreemap;

    /// The `k` keys nearest to `query` by cosine that pass the filter, with their cosine, best first, ties by key.
    /// `quality` is the target recall; a backend maps it to its own parameters.
    fn search(&self, query: &[f32], k: usize, filter: &IdFilter, quality: Quality) -> Result<Vec<(PassageKey, f32)>>;

    /// The vector of `key`, of length 1; `None` if there is none here.
    fn vector(&self, key: PassageKey) -> Option<Vec<f32>>;

    /// The cosine of each of `keys` to `query`, `None` if it has no vector here.
    fn scores(&self, query: &[f32], keys: &[PassageKey]) -> Result<Vec<Option<f32>>>;
}

/// A vector index of one store and one embedding model. Applying is idempotent.
pub trait VectorIndex: Send + Sync {
    /// The identity of the model that made its vectors, as given when the index was created.
    fn model(&self) -> &str;

    /// The newest published snapshot. Includes what other processes have published.
    fn snapshot(&self) -> Result<Arc<dyn VectorSnapshot>>;

    /// Applies a batch and publishes it together with `applied`, atomically. Only the holder of the store's writer lock
    /// may call this on an index that is on disk.
    fn apply(&self, batch: VectorBatch, applied: Seq) -> Result<()>;

    /// Makes later searches faster (merges segments), up to a reasonable amount of work. Returns whether more remains.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) if `progress` is cancelled; nothing is changed then.
    fn maintain(&self, progress: &dyn Progress) -> Result<bool>;

    /// Rewrites every segment that has a deleted or replaced vector, so that nothing of it is left in a file. Other
    /// processes that have the old file open can use it until they close it. Returns whether all old files are removed.
    /// Only the holder of the store's writer lock may call this.
    ///
    /// # Errors
    /// As [`VectorIndex::maintain`].
    fn forget_deleted(&self, progress: &dyn Progress) -> Result<bool>;

    /// Checks everything that can be checked: checksums, links, reachability, keys. Returns what is wrong.
    fn verify(&self) -> Result<Vec<String>>;
}
