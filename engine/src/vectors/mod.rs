//! The vector side of a store: [`VectorIndex`], and the three implementations behind it.
//!
//! | file | backend |
//! |---|---|
//! | `hnsw.rs` | our memory-mapped HNSW (crate `memorist-index`): the default, durable, shared by processes |
//! | `exact.rs` | a scan of every vector, in memory: the oracle |
//! | `hnsw_rs.rs` | the crate hnsw_rs, in memory, behind the feature `hnsw-rs`: for comparison |
//! | `contract.rs` | one suite of tests, run against all three |

pub mod exact;
pub mod hnsw;
#[cfg(feature = "hnsw-rs")]
pub mod hnsw_rs;

#[cfg(test)]
mod contract;

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;

use crate::error::Result;
use crate::progress::Progress;
use crate::quality::Quality;
use crate::types::{RecordId, Seq};

/// Which ids a search may return.
#[derive(Debug, Clone, Default)]
pub enum IdFilter {
    /// All of them.
    #[default]
    All,
    /// These alone.
    Only(RoaringTreemap),
    /// All but these.
    Except(RoaringTreemap),
}

impl IdFilter {
    /// Whether `id` may be returned.
    pub fn allows(&self, id: RecordId) -> bool {
        match self {
            IdFilter::All => true,
            IdFilter::Only(ids) => ids.contains(id as u64),
            IdFilter::Except(ids) => !ids.contains(id as u64),
        }
    }

    /// At most so many of `count` vectors can pass.
    pub fn at_most(&self, count: usize) -> usize {
        match self {
            IdFilter::Only(ids) => count.min(ids.len() as usize),
            IdFilter::All | IdFilter::Except(_) => count,
        }
    }
}

/// What is to change in a vector index, all at once. An id is in at most one of the two lists.
#[derive(Debug, Default)]
pub struct VectorBatch {
    /// Vectors to add, or to put in the place of an earlier one. Of length 1.
    pub upserts: Vec<(RecordId, Vec<f32>)>,
    /// Ids to remove; unknown ones are ignored.
    pub deletes: Vec<RecordId>,
}

/// One unchanging view of a vector index. Searching it takes no lock.
pub trait VectorSnapshot: Send + Sync {
    /// The sync log is applied up to here.
    fn applied(&self) -> Seq;

    /// Whether all that a search may read was compared with its checksums since this process opened it. That begins with
    /// the snapshot; this waits for it, at most `patience`.
    ///
    /// # Errors
    /// [`Error::IndexUnusable`](crate::Error::IndexUnusable) when it is damaged.
    fn is_checked(&self, patience: Duration) -> Result<bool>;

    /// How many vectors can be found.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids of all of them.
    fn ids(&self) -> RoaringTreemap;

    /// The `k` ids nearest to `query` by cosine among those the filter lets pass, with their cosine, best first,
    /// ties by id. `quality` says how much of them is to be found; a backend takes of it what makes sense for it.
    fn search(&self, query: &[f32], k: usize, filter: &IdFilter, quality: Quality) -> Result<Vec<(RecordId, f32)>>;

    /// The vector of `id`, of length 1; `None` where it has none here.
    fn vector(&self, id: RecordId) -> Option<Vec<f32>>;

    /// The cosine of each of `ids` to `query`, `None` where it has no vector here.
    fn scores(&self, query: &[f32], ids: &[RecordId]) -> Result<Vec<Option<f32>>>;
}

/// A vector index of one store and one embedding model. Applying is idempotent.
pub trait VectorIndex: Send + Sync {
    /// The identity of the model that made its vectors, as it was given when the index was made.
    fn model(&self) -> &str;

    /// The newest published view. Picks up what other processes have published.
    fn snapshot(&self) -> Result<Arc<dyn VectorSnapshot>>;

    /// Applies a batch and publishes it together with `applied`: after a crash both are there or neither is. Only the
    /// holder of the store's writer lock may call this on an index that is on disk.
    fn apply(&self, batch: VectorBatch, applied: Seq) -> Result<()>;

    /// Does what makes later searches faster (merging segments), up to a sensible amount. Returns whether more remains.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when `progress` says so; nothing is changed then.
    fn maintain(&self, progress: &dyn Progress) -> Result<bool>;

    /// Rewrites a segment that has a deleted or replaced vector, so that nothing of it is left in a file. Others who have
    /// the file before open keep it until they let go of it; it has no name any more. Returns whether more remains. Only
    /// the holder of the store's writer lock may call this.
    ///
    /// # Errors
    /// As [`VectorIndex::maintain`].
    fn forget_deleted(&self, progress: &dyn Progress) -> Result<bool>;

    /// Checks everything that can be checked: checksums, links, reachability, keys. Returns what is wrong, in words.
    fn verify(&self) -> Result<Vec<String>>;
}
