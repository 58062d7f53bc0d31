//! What a search answers.

use serde::{Deserialize, Serialize};

use super::query::Weights;
use super::record::Record;
use super::units::RecordId;

/// One of the two sides of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Found by meaning.
    Vector,
    /// Found by words.
    Keyword,
}

/// One result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The record, whole.
    pub record: Record,
    /// The merged score, 0 to 1, relative to the other candidates of this search.
    pub score: f64,
    /// Which sides found it.
    pub matched_by: Vec<Side>,
    /// Raw cosine similarity to the query, -1 to 1, where the record has a vector and the query too.
    pub vector_score: Option<f64>,
    /// Raw BM25 score, where the search used words (0: none of them occurs in it).
    pub keyword_score: Option<f64>,
    /// The memories that contradict it, of those that the search could have found, by id.
    pub contradicted_by: Vec<RecordId>,
}

/// How a search was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// By every side that was asked for.
    Full,
    /// By words alone, because no query embedding could be had.
    Keyword,
    /// By substring, because the other sides found nothing.
    Substring,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchReply {
    /// The results, best first, at most `limit`.
    pub hits: Vec<Hit>,
    /// Whether the ranking goes on after the last of them.
    pub more: bool,
    /// How it was answered.
    pub tier: Tier,
    /// What the caller should know: a side that was missing, records that still wait for their embedding, a rebuild.
    pub warnings: Vec<String>,
    /// Where the time went and how many candidates each side brought.
    pub explain: Explain,
}

/// The inside of one search: candidate counts and times in microseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explain {
    /// Candidates asked of each side.
    pub pool: usize,
    /// Weights after scaling to a sum of 1.
    pub weights: Weights,
    /// Records that pass the filter, where one was given and counted.
    pub allowed: Option<u64>,
    /// Candidates found by meaning.
    pub vector_candidates: usize,
    /// Candidates found by words.
    pub keyword_candidates: usize,
    /// Log entries that the indexes had not applied and that were searched exactly.
    pub tail: usize,
    /// Embedding the query.
    pub embed_us: u64,
    /// Turning the filter into a set of ids.
    pub filter_us: u64,
    /// The vector side.
    pub vector_us: u64,
    /// The keyword side.
    pub keyword_us: u64,
    /// Merging, and filling in missing scores.
    pub merge_us: u64,
    /// Loading the records.
    pub load_us: u64,
    /// All of it.
    pub total_us: u64,
}

/// A memory that resembles another.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    /// The one that is like it.
    pub record: Record,
    /// The share of the words of the shorter text that both have, 0.6 to 1, where it is as much.
    pub words: Option<f64>,
    /// The cosine of their embeddings, 0.7 to 1, where it is as much.
    pub cosine: Option<f64>,
}

impl Similar {
    /// From this cosine on, two memories say the same.
    pub const SAME: f64 = 0.9;

    /// Whether they say the same, as far as can be told.
    pub fn is_duplicate(&self) -> bool {
        self.words.is_some() || self.cosine.is_some_and(|cosine| cosine >= Similar::SAME)
    }

    /// How alike the two are, 0 to 1.
    pub fn likeness(&self) -> f64 {
        self.words.unwrap_or(0.0).max(self.cosine.unwrap_or(0.0))
    }
}
