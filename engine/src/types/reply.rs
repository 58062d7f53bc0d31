//! A search reply.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::query::{Scale, Weights};
use super::record::Record;
use super::units::RecordId;
use crate::error::Remedy;

/// The index that found a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchSource {
    /// The vector index.
    Vector,
    /// The keyword index.
    Keyword,
    /// The keyword index, of which the record has words of the query only within other words.
    Part,
}

/// Version of the curve behind [`Hit::relevance`]: relevances of different versions are not comparable.
pub const RELEVANCE_VERSION: u32 = 2;

/// Relevance of the best result below which the store seems to have no answer. `cargo bench --bench quality` prints how often
/// that is said with reason, and how often wrongly.
pub const DOUBTFUL: f64 = 0.25;

/// Relevance below which interfaces for people and models leave results out and say how many there are.
///
/// In the set `sessions` of `benches/quality.rs`, leaving these out loses no right answer of the first ten, and four in ten
/// results of questions that the store cannot answer.
pub const WEAK: f64 = 0.1;

/// One result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The record.
    pub record: Record,
    /// The bytes of a long content that are nearest to the query by meaning; `None` if its beginning is.
    pub passage: Option<Range<usize>>,
    /// The merged score, 0 to 1, relative to the other candidates of this search; with what the reranker adds, if it has read the
    /// first results.
    pub score: f64,
    /// The weighted contribution of each side to the score. A record that words single out may have its score from them alone. A
    /// thread may take from the sum of both, and the period of a query adds to it.
    pub parts: Parts,
    /// How likely it answers the query, 0 to 1: comparable between queries and stores, unlike the score, and of version
    /// [`RELEVANCE_VERSION`].
    pub relevance: f64,
    /// Why it stands above others that are more relevant by more than a little, or below others that are less.
    pub placed: Option<Placed>,
    /// Which indexes found it.
    pub matched_by: Vec<MatchSource>,
    /// Raw cosine similarity to the query, -1 to 1, if both the record and the query have a vector. Of a long text, the best
    /// passage counts.
    pub vector_score: Option<f64>,
    /// The cosine on a scale that is the same for all models: unrelated texts have about 0.1, also if the model finds all texts
    /// in the language of the query alike.
    pub similarity: Option<f64>,
    /// Raw BM25 score, if the keyword index was searched (0: no word of the query occurs in it).
    pub keyword_score: Option<f64>,
    /// The share of the query's words that it has, each weighted by its rarity, 0 to 1; if the keyword index was searched.
    pub word_share: Option<f64>,
    /// How rare the rarest word of the query is that it has, 0 to 1: 1 is a word that no record has; as `word_share`.
    pub rarest_word: Option<f64>,
    /// The logit of the reranker: above 0, it probably answers the query. `None` if it was not read.
    pub logit: Option<f32>,
    /// The neighbors in its thread whose words counted for it, by id.
    pub boosted_by: Vec<RecordId>,
    /// The records before and after it in its thread, in order; none unless [`Query::neighbors`](super::Query::neighbors)
    /// asks for them.
    pub neighbors: Vec<Record>,
    /// The memories that contradict it and that the search could have found, by id.
    pub contradicted_by: Vec<RecordId>,
}

/// The reason, beside its relevance, for the place of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placed {
    /// The words of the query single it out: an identifier, a code, a name.
    Exact,
    /// It is of the period that the query is about.
    Period,
    /// It is judged together with those around it in its session.
    Session,
    /// It has one of the places that are kept for memories beside chunks and turns.
    Kept,
    /// It comes after what supersedes it.
    Superseded,
    /// The model that reads query and memory together says so.
    Reranked,
    /// It is nearer by meaning than what is more relevant below it, whose words may be there by chance.
    Meaning,
    /// It has more of the words than what is more relevant below it.
    Words,
}

/// The contribution of each side to a score.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Parts {
    /// Meaning.
    pub vector: f64,
    /// Words.
    pub keyword: f64,
}

/// How a search was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// By every requested index.
    Full,
    /// By keywords only, because there was no query embedding.
    Keyword,
    /// By parts of words in the texts, because the indexes found nothing.
    Substring,
}

/// A threshold of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threshold {
    /// [`Query::min_similarity`](super::Query::min_similarity).
    Similarity,
    /// [`Query::min_score`](super::Query::min_score).
    Score,
    /// [`Query::min_relevance`](super::Query::min_relevance).
    Relevance,
}

/// The best memory there was, which a threshold of the query excluded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NearMiss {
    /// The memory.
    pub id: RecordId,
    /// The threshold that excluded it.
    pub threshold: Threshold,
    /// The minimum that the query required.
    pub minimum: f64,
    /// The value of the memory, rounded down: a query with this minimum finds it.
    pub actual: f64,
    /// The beginning of its text, on one line.
    pub beginning: String,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchReply {
    /// The results, best first, at most `limit`.
    pub hits: Vec<Hit>,
    /// Whether the ranking continues after the last of them.
    pub more: bool,
    /// How many of the last are memories that displaced chunks and turns: the next page begins that much earlier.
    pub reserved: usize,
    /// Whether the store seems to have no answer: nothing was found, or nothing of the relevance [`DOUBTFUL`] where the
    /// query does not require as much; or nothing of twice that which the reranker takes for an answer.
    pub no_answer: bool,
    /// How it was answered.
    pub tier: Tier,
    /// Warnings: a missing index, records that still wait for their embedding, a rebuild.
    pub warnings: Vec<String>,
    /// The best memory there was, if a threshold excluded it: of the similarity whatever else was found, of the other two
    /// where nothing was.
    pub near_miss: Option<NearMiss>,
    /// The remedy for a missing vector.
    pub remedy: Option<Remedy>,
    /// The terms of the keyword index that were searched for: stems and identifiers, also those that a word with a typo, or the
    /// beginning or another part of one, may mean. With [`Tier::Substring`], the parts of words as they are in the query.
    pub terms: Vec<String>,
    /// The identifiers, codes and paths of the query, as typed, that no memory in view has.
    pub missing: Vec<String>,
    /// Whether the model does not know the language of the query, so that its cosines say little.
    pub is_foreign: bool,
    /// How many more results this page would have without [`Query::min_relevance`](super::Query::min_relevance).
    pub weaker: usize,
    /// Times, and numbers of candidates.
    pub explain: Explain,
}

/// Details of one search: candidate counts and times in microseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Explain {
    /// Candidates requested from each index.
    pub pool: usize,
    /// Weights after scaling to a sum of 1.
    pub weights: Weights,
    /// How each side was scaled.
    pub scale: Scale,
    /// Records that pass the filter, if one was given and counted.
    pub allowed: Option<u64>,
    /// Candidates of the vector search.
    pub vector_candidates: usize,
    /// Whether no word of the query was found as it is spelt, but only as a typo of others.
    pub only_corrected: bool,
    /// Candidates of the keyword search.
    pub keyword_candidates: usize,
    /// Log entries that the indexes had not applied and that were searched exactly.
    pub tail: usize,
    /// Embedding the query.
    pub embed_us: u64,
    /// Turning the filter into a set of ids.
    pub filter_us: u64,
    /// The vector search.
    pub vector_us: u64,
    /// The keyword search.
    pub keyword_us: u64,
    /// Merging, and filling in missing scores.
    pub merge_us: u64,
    /// Loading the records, and reranking.
    pub load_us: u64,
    /// Reranking.
    pub rerank_us: u64,
    /// Everything.
    pub total_us: u64,
}

/// A memory that resembles another.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    /// The similar one.
    pub record: Record,
    /// The share of the words of the shorter text that both have, 0.6 to 1; `None` if it is lower.
    pub words: Option<f64>,
    /// The cosine of their embeddings, 0.7 to 1 (of [`Memories::related`](crate::Memories::related) from 0.3 on); `None`
    /// if it is lower.
    pub cosine: Option<f64>,
    /// Whether the new text reads as if it replaces or contradicts this one: it speaks of a change, or has other numbers.
    pub is_change: bool,
}

impl Similar {
    /// Cosine from which two memories are duplicates.
    pub const SAME: f64 = 0.9;

    /// Whether they are probably duplicates.
    pub fn is_duplicate(&self) -> bool {
        self.words.is_some() || self.cosine.is_some_and(|cosine| cosine >= Similar::SAME)
    }

    /// Their similarity, 0 to 1.
    pub fn likeness(&self) -> f64 {
        self.words.unwrap_or(0.0).max(self.cosine.unwrap_or(0.0))
    }
}
