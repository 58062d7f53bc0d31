//! The interface of a keyword index.

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;

use super::found::{DocLocation, KeywordHit, Matches, Window};
use super::query::KeywordQuery;
use super::tail::TailIndex;
use crate::error::Result;
use crate::types::{Filter, Record, RecordId, Seq};

/// An immutable snapshot of a keyword index. Searching it takes no lock on any file.
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

    /// A search for `query`. The records of the `tail` are searched as well, their older versions in the index are
    /// hidden, and scores are those of both together.
    fn query<'a>(&'a self, query: &KeywordQuery, tail: Option<&'a TailIndex>) -> Result<Box<dyn KeywordSearch + 'a>>;

    /// Every id of the index (not of a tail) that passes `filter`, whatever its metadata is: a search leaves those out by
    /// `except`. The last few results are cached, also for later
    /// snapshots of the same index.
    fn matching(&self, filter: &Filter) -> Result<RoaringTreemap>;

    /// Every id of the index (not of a tail) with a term that contains one of `parts`, which are normalised. An ending that the
    /// stemmer takes off a word is in no term.
    fn containing(&self, parts: &[String]) -> Result<RoaringTreemap>;
}

/// A query against a snapshot and a tail.
pub trait KeywordSearch: Send {
    /// The best `k` by BM25 (with the phrase bonus) among the records that contain a term of the query, pass `filter`
    /// and are not in `except`: best first, ties by id. A larger `k` returns the same first results.
    ///
    /// `except` are ids that must not be returned, from the index or the tail: deleted or expired ones.
    fn best(&self, k: usize, filter: &Filter, except: &RoaringTreemap) -> Result<Vec<KeywordHit>>;

    /// Whether no word of the query occurs as it is spelt, but only those one letter away.
    fn is_of_typos(&self) -> bool;

    /// Whether no word of the query occurs by itself, but only within other words, or one letter away.
    fn is_within_words(&self) -> bool;

    /// The terms that it searches for, each once: stems and identifiers, as [`super::matching_spans`] takes them.
    fn terms(&self) -> Vec<String>;

    /// Where each of `ids` is: `None` if there is no such record.
    fn places(&self, ids: &[RecordId]) -> Result<Vec<Option<DocLocation>>>;

    /// How the record at each of `places` matches. One seek each for every term, not a search.
    fn matches(&self, places: &[DocLocation]) -> Result<Matches>;

    /// The thread around the record at each of `places`: `None` if it belongs to none. Records that do not pass `filter`
    /// or are in `except` are left out.
    fn windows(&self, places: &[DocLocation], filter: &Filter, except: &RoaringTreemap) -> Result<Vec<Option<Window>>>;
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
