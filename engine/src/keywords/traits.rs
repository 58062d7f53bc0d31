//! The interface of a keyword index.

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;

use super::query::KeywordQuery;
use super::tail::TailIndex;
use crate::error::Result;
use crate::types::{Filter, Record, RecordId, Seq};

/// An immutable snapshot of a keyword index. Searching it takes no lock on any file.
///
/// If a `tail` is given, its records are searched as well, their older versions in the index are hidden, and scores are
/// those of both together.
pub trait KeywordSnapshot: Send + Sync {
    /// The sync log is applied up to here.
    fn applied(&self) -> Seq;

    /// Waits, at most `timeout`, until all that a search may read has been compared with its checksums. Returns whether
    /// it has been. The verification starts with the snapshot.
    ///
    /// # Errors
    /// [`Error::IndexUnusable`](crate::Error::IndexUnusable) if it is damaged.
    fn wait_verified(&self, timeout: Duration) -> Result<bool>;

    /// How many records it has.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The best `k` by BM25 (with the phrase bonus) among the records that contain a term of the query, pass `filter`
    /// and are not in `except`: best first, ties by id. A larger `k` returns the same first results.
    ///
    /// `except` are ids that must not be returned, from the index or the tail: deleted or expired ones.
    fn search(
        &self,
        query: &KeywordQuery,
        k: usize,
        filter: &Filter,
        except: &RoaringTreemap,
        tail: Option<&TailIndex>,
    ) -> Result<Vec<(RecordId, f32)>>;

    /// How each of `ids` matches: `None` if there is no such record. One seek each, not a search.
    fn matches(&self, query: &KeywordQuery, ids: &[RecordId], tail: Option<&TailIndex>) -> Result<Vec<Option<Match>>>;

    /// Every id of the index (not of a tail) that passes `filter`. The last few results are cached, also for later
    /// snapshots of the same index.
    fn matching(&self, filter: &Filter) -> Result<RoaringTreemap>;
}

/// How a record matches a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Exactly as [`KeywordSnapshot::search`] returns it: 0 if no term occurs.
    pub score: f32,
    /// Whether the words of the query single it out: it has an identifier of the query, or a word of it that at most ten
    /// records have, or all of its words. How many other records there are does not matter.
    pub is_singled_out: bool,
    /// The words and identifiers of the query that it has, as a share of all of them, each weighted by its inverse document
    /// frequency: 0 to 1. One that no record has counts as the rarest.
    pub share: f32,
}

/// A keyword index of one store. Applying is idempotent.
pub trait KeywordIndex: Send + Sync {
    /// The newest published view. Picks up what other processes have published.
    fn snapshot(&self) -> Result<Arc<dyn KeywordSnapshot>>;

    /// Replaces or adds `upserts`, removes `deletes` (unknown ones are ignored), and publishes all of it together with
    /// `applied`, atomically. An id is in at most one of the two lists, once. Only the holder of the store's writer
    /// lock may call this.
    ///
    /// After an error the writer is dropped with everything unpublished; the batch has to be applied again.
    fn apply(&self, upserts: &[Record], deletes: &[RecordId], applied: Seq) -> Result<()>;

    /// Merges segments if there are many of similar size, or many deletes, and releases the writer. Only the holder of
    /// the store's writer lock may call this.
    fn maintain(&self) -> Result<()>;

    /// Rewrites every segment that has a deleted record, so that none of its terms is left, and removes the replaced
    /// files and everything else that is not published. Other processes that have such a file open can use it until
    /// they close it; its name is gone. Returns whether all are removed, and releases the writer. Only the holder of
    /// the store's writer lock may call this.
    fn forget_deleted(&self) -> Result<bool>;

    /// Releases the writer, its threads and its memory. The next [`KeywordIndex::apply`] creates a new one.
    fn release_writer(&self) -> Result<()>;

    /// Checks everything that can be checked: checksums of all files, ids, counts. Returns what is wrong.
    fn verify(&self) -> Result<Vec<String>>;
}
