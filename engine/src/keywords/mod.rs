//! The keyword index of a store: BM25 over content, context, tags and identifiers, in tantivy.
//!
//! | file | job |
//! |---|---|
//! | `typos.rs` | corrections of a word that no record has |
//! | `codes.rs` | the codes of a text: `HRB-31`, `src/main.rs` |
//! | `dictionary.rs` | the words of a segment as one text |
//! | `within.rs` | the words that contain a word that no record has |
//! | `completions.rs` | completions of a word that is not written to its end |
//! | `traits.rs` | [`KeywordIndex`] and [`KeywordSnapshot`]: the interface of a keyword index |
//! | `folding.rs` | one spelling for what readers take for the same |
//! | `scripts.rs` | words, runs of scripts without spaces and their clusters, symbols |
//! | `analysis.rs` | text to terms: words, pairs of clusters, symbols, identifiers and their parts, stop words, stems |
//! | `found.rs` | [`KeywordHit`], [`Match`], [`Window`]: what a search returns |
//! | `query.rs` | [`KeywordQuery`]: the terms of a query and its word pairs |
//! | `schema.rs` | the fields, a record as a document, the commit payload |
//! | `seal.rs` | the list of segments with a checksum, and the files it was written with |
//! | `segment.rs` | one segment opened for searching |
//! | `filter.rs` | a filter as a set of documents, from the fast fields |
//! | `filter_cache.rs` | a cache of filter results per segment, shared by snapshots |
//! | `doc_bits.rs` | a set of documents of a segment, a bit for each |
//! | `spans.rs` | where a text has the terms of a search |
//! | `doc_ids.rs` | the ids of a segment's documents, as runs, and the document of an id |
//! | `posting_list.rs` | the documents in which a term occurs |
//! | `scoring.rs` | how much a term adds to a score |
//! | `plan.rs` | the terms that a query searches for |
//! | `planning.rs` | makes the plan of a query |
//! | `scorer.rs` | scores the documents of a segment or of a part of the tail |
//! | `passage.rs` | the words of a query that count in a long text: those in one passage of it |
//! | `sums.rs` | the documents that can reach a score, by the sums of what their terms add |
//! | `threads.rs` | the order of the records of a session |
//! | `windows.rs` | the records around one in its thread, over all segments and the tail |
//! | `top_k.rs` | the best k |
//! | `snapshot.rs` | an immutable snapshot, and how it is searched |
//! | `postings.rs` | a few records indexed in memory |
//! | `tail.rs` | [`TailIndex`]: records not applied yet |
//! | `index.rs` | [`TantivyIndex`]: open, apply, merge, verify |
//! | `memory.rs` | [`MemoryIndex`]: all records in memory, for read-only stores |
//! | `damage.rs` | errors and panics on damaged files, as errors that say so |
//!
//! # On disk
//!
//! The folder is a tantivy index (its `meta.json` lists the live segments and is replaced atomically by each commit;
//! every segment file ends with a checksum). It is derived: it may be deleted at any time and is rebuilt from
//! `memory.db`. Nothing is stored in it but terms and columns.
//!
//! `meta.json` ends with a seal (`seal.rs`), so that any change to it, or a swap of files, is noticed when it is
//! opened. Each process compares the files themselves with their checksums before it relies on them.
//!
//! The payload of each commit is the JSON text `{"format":7,"store":ID,"applied":N}`: the format number, the id of the
//! store that the index was built from, and the sequence number up to which the sync log is applied. An index without
//! it, of another store, or with another format or schema, is unusable, and is rebuilt. Format 1 had no seal, format 2
//! no store, format 3 no `updated_at` and tags in upper and lower case, format 4 no threads, format 5 no dates, no symbols, and of
//! scripts without spaces only those of East Asia.
//!
//! | field | type | contents |
//! |---|---|---|
//! | `id` | u64, indexed, fast | the record's id; one live document per id |
//! | `content` | text, frequencies, positions, lengths | stems of the content |
//! | `context` | text, each stem once | stems of the context, and of the parts of names in camel case in any of the texts |
//! | `tags` | text, each stem once | stems of all tags |
//! | `exact` | text, each once | identifiers of content, context and tags, unstemmed, whole and in parts |
//! | `kind` | u64, fast | position in [`Kind::ALL`](crate::types::Kind::ALL) |
//! | `importance`, `created_at`, `updated_at` | i64, fast | as in the record |
//! | `confidence` | f64, fast | as in the record |
//! | `tag` | text, fast, many | each tag, composed (NFC), trimmed, in lower case (ASCII) |
//! | `project`, `agent` | text, fast | `=name`, composed and trimmed like a tag, or `-` for none |
//! | `thread` | u64, fast, of records with a session | a hash of scope and session |
//! | `turn` | i64, fast, of records with a session | as in the record |
//! | `happens_from`, `happens_to` | i64, fast, of records with a date | [`Record::happening`](crate::types::Record::happening) |
//! | `question` | bool, fast, of records with a session | whether the content ends with a question mark |
//! | `words` | u64, fast, of records with a session | the number of words of the content |
//!
//! # Terms
//!
//! Text is folded (`folding.rs`), so that `Caf\u{e9}` and `cafe` are the same word. A word is a run of letters, digits and their
//! combining marks; `snake_case` and `src/main.rs` are found by their words, and as identifiers too, which count for more. The
//! parts of `getUserById` are terms of the field `context`, so that no text is longer by them. Words are stemmed by the English
//! Porter 2 stemmer; identifiers are not.
//!
//! Scripts that are written without spaces (Han, kana, Hangul; Thai, Lao, Khmer, Burmese, Tibetan, Javanese and their kin) are
//! indexed as clusters (`scripts.rs`) and as overlapping pairs of them; a query of two or more clusters searches for the pairs.
//! Symbols are terms: an emoji with all that is joined to it, and its first one.
//!
//! A dictionary would cut Thai into words instead. `icu_segmenter` 2.4 reads กรุงเทพมหานคร as one word and กรุงเทพ as one or two, so
//! that the second does not find the first; it cuts names that it does not know anywhere, and does not know Javanese or Tibetan. It adds
//! 3.4 MB and 31 crates with dictionaries (24 MB of text in a second), or 0.4 MB with its neural model (0.2 MB in a second).
//! `charabia` 0.9 knows Thai and Khmer, and adds 2.5 MB. Pairs add nothing, and whatever a text says is found by any part of it.

mod analysis;
mod codes;
mod completions;
mod damage;
mod dictionary;
mod doc_bits;
mod doc_ids;
mod filter;
mod filter_cache;
mod folding;
mod found;
mod index;
mod memory;
mod passage;
mod plan;
mod planning;
mod posting_list;
mod postings;
mod query;
mod schema;
mod scorer;
mod scoring;
mod scripts;
pub(crate) mod seal;
mod segment;
mod snapshot;
mod spans;
mod sums;
mod tail;
mod threads;
mod top_k;
mod traits;
mod typos;
mod windows;
mod within;

#[cfg(test)]
pub(crate) mod tests;

pub use self::analysis::{longest_word, pieces, significant_count, significant_words};
pub use self::codes::{codes, has_code, has_only_codes};
pub use self::damage::log_contained_panics;
pub use self::found::{DocLocation, KeywordHit, Match, Matches, Turn, Window};
pub use self::index::{TantivyIndex, empty_snapshot};
pub use self::memory::MemoryIndex;
pub use self::query::KeywordQuery;
pub(crate) use self::schema::Payload;
pub use self::spans::matching_spans;
pub use self::tail::TailIndex;
pub use self::threads::{count_words, is_question};
pub use self::traits::{KeywordIndex, KeywordSearch, KeywordSnapshot};
