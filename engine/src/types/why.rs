//! Why a search does not find a memory.

use super::query::Weights;
use super::reply::{Parts, Threshold};
use super::units::{Millis, RecordId};

/// How a memory fares in a search, and what kept it out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Why {
    /// The memory.
    pub id: RecordId,
    /// Whether the search finds it.
    pub found: bool,
    /// What kept it out, if it does not.
    pub kept_out: Option<KeptOut>,
    /// Its place in the ranking, from 1; `None` beyond the [`MAX_LIMIT`](super::MAX_LIMIT) best of each side.
    pub rank: Option<usize>,
    /// Its scores; `None` if it is not there.
    pub scores: Option<Scores>,
    /// The terms of the keyword index that were searched for.
    pub terms: Vec<String>,
}

/// The scores of a memory in a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// As in [`Hit::score`](super::Hit::score).
    pub score: f64,
    /// What each side adds to it.
    pub parts: Parts,
    /// As in [`Hit::relevance`](super::Hit::relevance).
    pub relevance: f64,
    /// Its cosine.
    pub vector: Option<f64>,
    /// Its BM25.
    pub keyword: Option<f64>,
    /// Its place among what meaning finds, from 1; `None` beyond the best.
    pub vector_rank: Option<usize>,
    /// Its place among what the words find, from 1.
    pub keyword_rank: Option<usize>,
    /// The weights of both sides.
    pub weights: Weights,
}

/// What keeps a memory out of a search.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum KeptOut {
    /// There is none that the viewer sees.
    Unknown,
    /// It was deleted then.
    Deleted(Millis),
    /// It has expired then.
    Expired(Millis),
    /// The search is for another project or agent.
    Scope,
    /// This field of the filter.
    Filter(&'static str),
    /// What supersedes it, of what the viewer sees.
    Superseded(Vec<RecordId>),
    /// It waits for its embedding.
    NotEmbedded,
    /// It has no word of the query, and there is no meaning to compare.
    NoMatch,
    /// A threshold, and what that requires.
    Threshold(Threshold, f64),
    /// The search looked at so many of each side, and a deeper one at so many, to rank it.
    Pool {
        /// Of this search.
        size: usize,
        /// Of the deeper one.
        deeper: usize,
    },
    /// Others rank above it.
    Limit,
}
