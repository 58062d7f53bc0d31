//! The keyword side of a store: BM25 over content, context, tags and identifiers, in a tantivy index.
//!
//! | file | job |
//! |---|---|
//! | `traits.rs` | [`KeywordIndex`] and [`KeywordSnapshot`]: what such an index does |
//! | `analysis.rs` | text to terms: normalising, words, CJK pairs, identifiers, stop words, stems |
//! | `query.rs` | [`KeywordQuery`]: the terms of a query and which stand side by side |
//! | `schema.rs` | the fields, a record as a document, the commit payload |
//! | `seal.rs` | the list of segments under a checksum, and the files it was written with |
//! | `segment.rs` | one segment opened for searching |
//! | `filter.rs` | a filter as a set of documents, from the fast fields |
//! | `answers.rs` | the answers to the last few filters of a segment, shared by snapshots |
//! | `occurrences.rs` | the documents in which a term occurs |
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
mod occurrences;
mod postings;
mod query;
mod schema;
mod scoring;
pub(crate) mod seal;
mod segment;
mod snapshot;
mod tail;
mod top;
mod traits;

#[cfg(test)]
mod tests;

pub use self::analysis::telling_words;
pub use self::damage::log_contained_panics;
pub use self::index::{TantivyIndex, nothing};
pub use self::memory::MemoryIndex;
pub use self::query::KeywordQuery;
pub(crate) use self::schema::Payload;
pub use self::tail::TailIndex;
pub use self::traits::{KeywordIndex, KeywordSnapshot};
