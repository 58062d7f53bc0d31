//! What a keyword index does.

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;

use super::query::KeywordQuery;
use super::tail::TailIndex;
use crate::error::Result;
use crate::types::{Filter, Record, RecordId, Seq};

/// One unchanging view of a keyword index. Searching it takes no lock on any file.
///
/// Where a `tail` is given, its records are searched as well, their older versions in the index are hidden, and scores
/// are those of both together.
pub trait KeywordSnapshot: Send + Sync {
    /// The sync log is applied up to here.
    fn applied(&self) -> Seq;

    /// Whether all that a search may read was compared with its checksums since this process opened it. That begins with
    /// the snapshot; this waits for it, at most `patience`.
    ///
    /// # Errors
    /// [`Error::IndexUnusable`](crate::Error::IndexUnusable) when it is damaged.
    fn is_checked(&self, patience: Duration) -> Result<bool>;

    /// How many records it has.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The best `k` by BM25 (with the phrase bonus) among the records in which a term of the query occurs, that pass
    /// `filter` and are not in `except`: best first, ties by id. The first of many are the same as the first of few.
    ///
    /// `except` are the ids that must not come back from the index nor from the tail: deleted or expired ones.
    fn search(
        &self,
        query: &KeywordQuery,
        k: usize,
        filter: &Filter,
        except: &RoaringTreemap,
        tail: Option<&TailIndex>,
    ) -> Result<Vec<(RecordId, f32)>>;

    /// The score of each of `ids`, exactly as [`KeywordSnapshot::search`] gives it: 0 where no term occurs, `None`
    /// where there is no such record. One seek each, not a search.
    fn scores(&self, query: &KeywordQuery, ids: &[RecordId], tail: Option<&TailIndex>) -> Result<Vec<Option<f32>>>;

    /// Whether the words of the query single out each of `ids`: it has an identifier of the query, or a word of it that
    /// ten records at most have, or all of its words. How many other records there are changes nothing in that.
    fn singled_out(&self, query: &KeywordQuery, ids: &[RecordId], tail: Option<&TailIndex>) -> Result<Vec<bool>>;

    /// Every id of the index (not of a tail) that passes `filter`. The last few answers are kept, also for later
    /// snapshots of the same index.
    fn matching(&self, filter: &Filter) -> Result<RoaringTreemap>;
}

/// A keyword index of one store. Applying is idempotent.
pub trait KeywordIndex: Send + Sync {
    /// The newest published view. Picks up what other processes have published.
    fn snapshot(&self) -> Result<Arc<dyn KeywordSnapshot>>;

    /// Puts `upserts` in the place of what is there of them, removes `deletes` (unknown ones are ignored), and
    /// publishes all of it together with `applied`: after a crash all is there or nothing is. An id is in at most one
    /// of the two lists, once. Only the holder of the store's writer lock may call this.
    ///
    /// After an error the writer is dropped, and with it what was not published; the batch is to be applied again.
    fn apply(&self, upserts: &[Record], deletes: &[RecordId], applied: Seq) -> Result<()>;

    /// Merges segments where there are many of about one size, or much is deleted, and lets go of the writer. Only the
    /// holder of the store's writer lock may call this.
    fn maintain(&self) -> Result<()>;

    /// Rewrites every segment that has a deleted record, so that no term of one is left, and removes the files of those
    /// before and whatever else is not published. Others who have such a file open keep it until they let go of it; it has
    /// no name any more. Returns whether all are removed, and lets go of the writer. Only the holder of the store's
    /// writer lock may call this.
    fn forget_deleted(&self) -> Result<bool>;

    /// Lets go of the writer, its threads and its memory. The next
    /// [`KeywordIndex::apply`] makes a new one.
    fn release_writer(&self) -> Result<()>;

    /// Checks everything that can be checked: checksums of all files, ids, counts. Returns what is wrong, in words.
    fn verify(&self) -> Result<Vec<String>>;
}
