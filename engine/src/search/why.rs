//! How one record fares in a search, wherever it ranks, and whether the filter lets it pass or not.

use super::gathering::{Gathered, QueryVector, gather};
use super::merge::{self, Candidate};
use super::view::SearchContext;
use crate::config::Config;
use crate::error::Result;
use crate::types::{MatchSource, Millis, Parts, Query, RecordId, Threshold, Weights};

/// How a record fares among the candidates of a search.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Its score.
    pub score: f64,
    /// The contribution of each side to it.
    pub parts: Parts,
    /// How likely it answers the query.
    pub relevance: f64,
    /// Its cosine.
    pub vector: Option<f64>,
    /// Its BM25.
    pub keyword: Option<f64>,
    /// Its place among the candidates, from 1; `None` if it is no candidate and would come after all of them.
    pub rank: Option<usize>,
    /// Its place among the results of the vector index, from 1.
    pub vector_rank: Option<usize>,
    /// Its place among the results of the keyword index, from 1.
    pub keyword_rank: Option<usize>,
    /// How many of each side are candidates.
    pub pool: usize,
    /// Whether it is one of them, or beside the best of them in their thread.
    pub is_candidate: bool,
    /// The threshold that it does not reach, and what that requires.
    pub below: Option<(Threshold, f64)>,
    /// Whether the vector index was searched.
    pub has_vector: bool,
    /// The weights of both sides.
    pub weights: Weights,
    /// The terms that were searched for.
    pub terms: Vec<String>,
}

/// Judges a record among the candidates of `query`. It may be in neither index.
///
/// # Errors
/// Errors of a search.
pub fn judge(
    context: &SearchContext<'_>,
    query: &Query,
    vector: Option<QueryVector>,
    id: RecordId,
    config: &Config,
    now: Millis,
) -> Result<Judged> {
    let Gathered { mut candidates, terms, explain, has_vector, .. } =
        gather(context, query, vector, Some(id), config, now)?;
    let is_candidate = |candidate: &Candidate| {
        candidate.id == id && (!candidate.found_by.is_empty() || candidate.in_session.is_some())
    };
    let is_candidate = candidates.iter().any(is_candidate);
    let mut below = None;
    if let Some(least) = query.min_similarity {
        // It may have words of the query, and not be among the best.
        let reaches = |candidate: &Candidate| {
            let mut candidate = candidate.clone();
            if candidate.id == id && candidate.bm25.is_some_and(|score| score > 0.0) {
                candidate.found_by.push(MatchSource::Keyword);
            }
            candidate.drop_far_vector_match(least)
        };
        if candidates.iter().any(|candidate| candidate.id == id && !reaches(candidate)) {
            below = Some((Threshold::Similarity, least));
        }
        candidates.retain_mut(|candidate| candidate.drop_far_vector_match(least) || candidate.id == id);
    }
    let ranked = merge::merge(candidates, explain.weights, explain.scale);
    let at = ranked.iter().position(|ranked| ranked.candidate.id == id).expect("it is a candidate");
    let own = &ranked[at];
    let score = query.min_score.filter(|least| !own.reaches(*least)).map(|least| (Threshold::Score, least));
    let relevance = query.min_relevance.filter(|least| !own.is_relevant(*least));
    let relevance = relevance.map(|least| (Threshold::Relevance, least));
    let is_last = at + 1 == ranked.len() && own.candidate.found_by.is_empty();
    let place = |rank: Option<usize>| rank.map(|rank| rank + 1);
    Ok(Judged {
        score: own.score,
        parts: own.parts,
        relevance: own.relevance,
        vector: own.candidate.cosine,
        keyword: own.candidate.bm25,
        rank: (!is_last).then_some(at + 1),
        vector_rank: place(own.candidate.vector_rank),
        keyword_rank: place(own.candidate.keyword_rank),
        pool: explain.pool,
        is_candidate,
        below: below.or(score).or(relevance),
        has_vector,
        weights: explain.weights,
        terms,
    })
}
