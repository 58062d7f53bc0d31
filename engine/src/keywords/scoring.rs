//! The score of a record for a keyword query: BM25, with all segments and the tail as one corpus.
//!
//! A **segment** is an immutable part of the index. The **tail** (`tail.rs`) has the records that the index has not applied
//! yet, in several parts, each indexed in memory. A **document** is a record in a segment or in a part of the tail. A
//! **word** is a stem here; a *written word* is not stemmed.
//!
//! | file | job |
//! |---|---|
//! | `scoring.rs` | how much a term adds to a score |
//! | `planning.rs` | makes the plan of a query: looks up its words, and finds other terms for absent words |
//! | `plan.rs` | a plan: the terms that a query searches for |
//! | `scorer.rs` | scores the documents of one segment, or of one part of the tail |
//! | `sums.rs` | adds up the terms of many documents of a segment at a time |
//!
//! A score is the sum of what each term of the plan adds, times the phrase factor. Every sum is made by `Scorer::score` or
//! by `sums.rs`. Both add the terms in the order of the plan, so the score of a record is the same to the last bit, however
//! the record was found.
//!
//! # A term
//!
//! For each field in which it occurs, a term adds its inverse document frequency (idf), times the field weight, times the
//! factor of its origin. A word has one idf for content, context and tags, computed from the highest of its document
//! frequencies in these fields. An **identifier** is a name such as `snake_case` or `src/main.rs`, unstemmed. It is in the
//! field `exact`, and has an idf of its own.
//!
//! | field | field weight |
//! |---|---|
//! | content | BM25 without its idf (k1 = 1.2, b = 0.75): 1.0 for one occurrence in a text of average length (at least 160 tokens are assumed), 2.2 at most |
//! | context | 0.5 |
//! | tags | 0.8 |
//! | exact (identifiers) | 1.2 |
//!
//! In all fields but the content, neither the number of occurrences nor the length of the field matters. The index keeps
//! each term of such a field once.
//!
//! # The origin of a term
//!
//! | if a word of the query | these terms are in the plan | factor |
//! |---|---|---|
//! | occurs in records | the word itself | 1 |
//! | is the last one, and is to be completed (`KeywordQuery::with_beginning`) | also its completions (`completions.rs`): indexed words that begin with it, and the stems of written words that begin with it, such as "run" (of "running") for "runnin" | [`COMPLETION_FACTOR`] |
//! | is absent | its corrections (`typos.rs`): indexed stems of written words that differ from it by one letter (inserted, deleted or replaced) or by a swap of two neighboring letters, never by the first letter | [`CORRECTION_FACTOR`] |
//! | is absent, has no correction, and the query allows it (`KeywordQuery::within_words`) | indexed words that contain it (`within.rs`) | [`WITHIN_FACTOR`] |
//!
//! A word is **absent** if it occurs in no record and has no completion. Absent words of a query that has only stop words
//! get no other terms. A query searches for at most 32 words, the rarest. If 32 of its words occur in records, none of its
//! other words counts as absent.
//!
//! The identifiers of the query that occur in records are in the plan, too, with the factor 1: at most 16, the rarest.
//!
//! Completions of one word all have the idf of the most frequent of them: a rare completion is not more likely to be
//! the intended one than a frequent one. The words that contain one absent word all have the idf of the most frequent
//! of them, too. Each correction has its own idf.
//!
//! `planning.rs` limits the words, the identifiers, the words that are corrected, and the corrections of each.
//! `completions.rs` and `within.rs` limit the other terms.
//!
//! # Phrases
//!
//! A pair is two consecutive words of the query, with at most three stop words between them. Only the first 16 distinct
//! pairs of a query count ([`MAX_PAIRS`]). The content of a record has a pair if the second word follows the first at the
//! same distance as in the query. The phrase factor is 1 + [`PHRASE_BONUS`] * the share of the query's pairs that the
//! content has.

use super::query::MAX_PAIRS;
use super::schema::SearchField;

/// The bonus of a record whose content has all pairs of the query, as a share of the sum of its terms.
pub(super) const PHRASE_BONUS: f32 = 0.25;
/// A word that at most this many records have singles out these records. A hybrid search may rank such a record by its
/// keyword score alone ([`Match::is_singled_out`](super::found::Match::is_singled_out)).
pub(super) const FEW: u64 = 10;
/// The factor of a correction.
const CORRECTION_FACTOR: f32 = 0.6;
/// The factor of a word that contains an absent word of the query.
const WITHIN_FACTOR: f32 = 0.6;
/// The factor of a completion.
const COMPLETION_FACTOR: f32 = 0.8;

// The field weights; that of the content is 1.
const CONTEXT_WEIGHT: f32 = 0.5;
const TAGS_WEIGHT: f32 = 0.8;
const EXACT_WEIGHT: f32 = 1.2;
/// BM25 assumes that contents have at least this average length, in tokens. Without this minimum, the shortest matching
/// texts would rank too high in a store of very short texts.
const MIN_AVERAGE_LENGTH: u64 = 160;
/// The average length that BM25 assumes for the other fields: so large that the real length of a field does not matter.
const HUGE_AVERAGE_LENGTH: u64 = 1_000_000;
/// BM25 of one occurrence with idf 1 and [`HUGE_AVERAGE_LENGTH`]: (k1 + 1) / (1 + k1 * (1 - b)).
const BM25_OF_ONE_OCCURRENCE: f32 = 2.2 / 1.3;
/// [`relative_idf`] assumes at least this many documents.
const MIN_DOCS: u64 = 1_000;

// `Plan::pair_bit` gives each word of each pair a bit of a u32.
const _: () = assert!(2 * MAX_PAIRS <= u32::BITS as usize);

/// Why a term is in the plan of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TermOrigin {
    /// It is a word of the query.
    Word,
    /// It is an identifier of the query.
    Identifier,
    /// It corrects an absent word of the query.
    Correction,
    /// It completes the last word of the query.
    Completion,
    /// It contains an absent word of the query.
    Within,
}

impl TermOrigin {
    /// The factor of a term of this origin.
    pub(super) fn factor(self) -> f32 {
        match self {
            TermOrigin::Word | TermOrigin::Identifier => 1.0,
            TermOrigin::Correction => CORRECTION_FACTOR,
            TermOrigin::Completion => COMPLETION_FACTOR,
            TermOrigin::Within => WITHIN_FACTOR,
        }
    }
}

/// The boost by which tantivy's BM25 score of a term is multiplied, so that the term gets its field weight.
pub(super) fn field_boost(field: SearchField) -> f32 {
    match field {
        SearchField::Content => 1.0,
        SearchField::Context => CONTEXT_WEIGHT / BM25_OF_ONE_OCCURRENCE,
        SearchField::Tags => TAGS_WEIGHT / BM25_OF_ONE_OCCURRENCE,
        SearchField::Exact => EXACT_WEIGHT / BM25_OF_ONE_OCCURRENCE,
    }
}

/// The total number of tokens that BM25 assumes in a field, over all `docs` documents. `content_tokens` is the real
/// number in the contents.
pub(super) fn assumed_tokens(field: SearchField, content_tokens: u64, docs: u64) -> u64 {
    match field {
        SearchField::Content => content_tokens.max(docs * MIN_AVERAGE_LENGTH),
        _ => docs * HUGE_AVERAGE_LENGTH,
    }
}

/// A sum of terms times the phrase factor of a content that has `pairs` of the query's `query_pairs`. It must not
/// decrease as `pairs` grows: a search skips a document if even all pairs could not bring it among the best.
pub(super) fn with_phrase_factor(sum: f32, pairs: usize, query_pairs: usize) -> f32 {
    // Without pairs in the query, `query_pairs` is 0, too.
    if pairs == 0 { sum } else { sum * (1.0 + PHRASE_BONUS * pairs as f32 / query_pairs as f32) }
}

/// The inverse document frequency in BM25 of a term that `frequency` of `docs` documents have.
pub(super) fn idf(frequency: u64, docs: u64) -> f32 {
    let (frequency, docs) = (frequency.min(docs) as f32, docs as f32);
    (1.0 + (docs - frequency + 0.5) / (frequency + 0.5)).ln()
}

/// The idf of a term as a share of the highest possible one, 0 to 1. In a store of few documents every word is in few of
/// them, so at least [`MIN_DOCS`] are assumed.
pub(super) fn relative_idf(frequency: u64, docs: u64) -> f32 {
    let docs = docs.max(MIN_DOCS);
    idf(frequency, docs) / idf(0, docs)
}
