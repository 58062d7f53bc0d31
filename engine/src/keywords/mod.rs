//! The keyword side of a store: BM25 over content, context, tags and identifiers, in a tantivy index.
//!
//! | file | job |
//! |---|---|
//! | `analysis.rs` | text to terms: normalising, words, CJK pairs, identifiers, stop words, stems |
//! | `query.rs` | [`KeywordQuery`]: the terms of a query and which stand side by side |
//! | `schema.rs` | the fields, a record as a document, the commit payload |
//! | `seal.rs` | the list of segments under a checksum, and the files it was written with |
//! | `segment.rs` | one segment opened for searching |
//! | `filter.rs` | a filter as a set of documents, from the fast fields |
//! | `answers.rs` | the answers to the last few filters of a segment, shared by snapshots |
//! | `scoring.rs` | BM25 over several segments as one corpus; the weights of the fields |
//! | `top.rs` | the best k |
//! | `snapshot.rs` | one unchanging view, and how it is searched |
//! | `postings.rs` | a few records indexed in memory |
//! | `tail.rs` | [`TailIndex`]: records not applied yet |
//! | `index.rs` | [`TantivyIndex`]: open, apply, merge, verify |
//! | `memory.rs` | [`MemoryIndex`]: all records in memory, where nothing can be written |
//! | `damage.rs` | errors and panics on damaged files, as errors that say so |
//!
//! # On disk
//!
//! The folder is a tantivy index (its `meta.json` lists the live segments and is replaced atomically by each commit;
//! every segment file ends with a checksum). It is derived: it may be deleted at any time and is rebuilt from
//! `memory.db`. Nothing is stored in it but terms and columns.
//!
//! `meta.json` ends with a seal (`seal.rs`), so that any change to it, or to which file is which, is noticed when it is
//! opened; the files themselves are compared with their checksums by each process before it relies on them.
//!
//! The payload of each commit is the JSON text `{"format":3,"store":ID,"applied":N}`: the number of this page, the id of
//! the store that the index was made from, and the sequence number up to which the sync log is applied. An index without
//! it, of another store, or with another format or schema, is unusable, and is rebuilt. Format 1 had no seal, format 2 no
//! store.
//!
//! | field | type | holds |
//! |---|---|---|
//! | `id` | u64, indexed, fast | the record's id; one live document per id |
//! | `content` | text, frequencies, positions, lengths | stems of the content |
//! | `context`, `tags` | text, each stem once | stems of the context; of all tags |
//! | `exact` | text, each once | identifiers of content, context and tags, unstemmed, whole and in parts |
//! | `kind` | u64, fast | position in [`Kind::ALL`](crate::types::Kind::ALL) |
//! | `importance`, `created_at` | i64, fast | as in the record |
//! | `confidence` | f64, fast | as in the record |
//! | `tag` | text, fast, many | each tag as it is |
//! | `project`, `agent` | text, fast | `=name`, or `-` for none |
//!
//! # Terms
//!
//! Text is NFKC-normalised and lower-cased, and Latin and Greek accents are folded, so `Café` and `cafe` are the same
//! word. A word is a run of letters, digits and their combining marks; `snake_case` and `src/main.rs` are found by
//! their words, and as identifiers too, which count for more. Words are stemmed by the English Porter 2 stemmer;
//! identifiers are not. Han, Kana, Bopomofo and Hangul are indexed as single characters and as pairs; a query of two or
//! more of them looks for the pairs.

mod analysis;
mod answers;
mod damage;
mod filter;
mod index;
mod memory;
mod postings;
mod query;
mod schema;
mod scoring;
pub(crate) mod seal;
mod segment;
mod snapshot;
mod tail;
mod top;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;

pub use self::analysis::telling_words;
pub use self::damage::log_contained_panics;
pub use self::index::{TantivyIndex, nothing};
pub use self::memory::MemoryIndex;
pub use self::query::KeywordQuery;
pub(crate) use self::schema::Payload;
pub use self::tail::TailIndex;
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
