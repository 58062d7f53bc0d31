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
    /// The reason why the search does not find it, if so.
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
    /// See [`Hit::score`](super::Hit::score).
    pub score: f64,
    /// The contribution of each side to it.
    pub parts: Parts,
    /// See [`Hit::relevance`](super::Hit::relevance).
    pub relevance: f64,
    /// Its cosine.
    pub vector: Option<f64>,
    /// Its BM25.
    pub keyword: Option<f64>,
    /// Its place among the results of the vector index, from 1; `None` beyond the best.
    pub vector_rank: Option<usize>,
    /// Its place among the results of the keyword index, from 1.
    pub keyword_rank: Option<usize>,
    /// The weights of both sides.
    pub weights: Weights,
}

/// The reason why a search does not find a memory.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum KeptOut {
    /// There is no such memory that the viewer sees.
    Unknown,
    /// It was deleted then.
    Deleted(Millis),
    /// It has expired then.
    Expired(Millis),
    /// The search is for another project or agent.
    Scope,
    /// This field of the filter.
    Filter(&'static str),
    /// These memories that the viewer sees supersede it.
    Superseded(Vec<RecordId>),
    /// It waits for its embedding.
    NotEmbedded,
    /// It has no word of the query, and there is no meaning to compare.
    NoMatch,
    /// A threshold, and what that requires.
    Threshold(Threshold, f64),
    /// The search looked at so many of each side, and a deeper one at so many, to rank it.
    Pool {
        /// Candidates of each side in this search.
        size: usize,
        /// Candidates of each side in the deeper one.
        deeper: usize,
    },
    /// Others rank above it.
    Limit,
}
