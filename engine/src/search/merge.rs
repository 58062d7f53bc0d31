//! Ranks the candidates of a search, which `candidates.rs` collects from both indexes. A pure function: no I/O, no clock, no
//! index.
//!
//! The scores of each index are scaled to 0..1 (min-max), weighted and added. The minimum is the lowest score that is
//! possible ([`Scale::Theoretical`]), or the lowest score of a candidate ([`Scale::Pool`]). If only one index found a
//! candidate, the caller looks up its exact score in the other one. If a missing score counted as 0, hybrid search
//! would find less than keyword search alone.
//!
//! A candidate without a vector, because it is not embedded yet, gets a vector score from its keywords: its keyword
//! score with [`Scale::Pool`], or if the vector index found no candidate.
//!
//! With [`Scale::Theoretical`], these rules are added:
//!
//! | rule | effect |
//! |---|---|
//! | evidence | The evidence of a candidate is the share of the query's words that it has, lowered if some passage of the store may have these words by chance (`Candidate::evidence`) |
//! | coverage | All keyword scores are multiplied by one factor, which rises with the highest evidence of a candidate. If no memory has more than a few words of the query, even the highest BM25 says little. The factor is 1 if the vector index found no candidate |
//! | no vector yet | The similarity of a candidate without a vector counts as its share of the query's words times the highest similarity |
//! | exact match | A candidate that the query singles out has its keyword score as its score, without weight and penalty, if that is higher than its weighted sum: similar vectors do not push it down |
//! | within words | If records have the words of the query only within other words, such a match ranks above unrelated texts |

use super::relevance::relevance;
use crate::scale::QueryScale;
use crate::types::{MatchSource, Parts, RecordId, Scale, Weights};

/// The score that a candidate gains if it belongs to the period of the query.
const PERIOD_LIFT: f64 = 0.1;
/// The lowest possible scores.
const LOWEST_SIMILARITY: f64 = -1.0;
const LOWEST_BM25: f64 = 0.0;
/// The similarity, on the scale that all models share, of a text that has nothing to do with the query.
const UNRELATED: f64 = 0.25;
/// Evidence above this counts twice: the keyword factor is 0.5 for an evidence of 0.5, and 1 from 0.75 on.
const COUNTS_TWICE_ABOVE: f64 = 0.5;
/// The exponent of certainty in [`Candidate::evidence`]. With 1, records that match by chance still outrank records
/// with similar vectors in a store of long texts; with 4, they hardly do (`benches/quality.rs`).
const CERTAINTY_EXPONENT: i32 = 4;
/// [`Candidate::information`] of words that no text has by chance. Finite, so that 0 times it is 0.
const NO_CHANCE: f64 = f64::MAX;

/// A record that at least one index found, or a neighbor of one, with its raw score in each index.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The record.
    pub id: RecordId,
    /// Its cosine to the query, as the model computes it; `None` if the record or the query has no vector.
    pub cosine: Option<f64>,
    /// The cosine on the scale that all models share, -1 to 1; `None` before [`Candidate::scale_cosines`].
    pub similarity: Option<f64>,
    /// The number of the passage with that cosine: 0, the beginning of the text, unless the vector index found another one.
    pub passage: u8,
    /// Its BM25; `None` if the keyword index was not searched.
    pub bm25: Option<f64>,
    /// How it was found: by its vector, by a keyword, or only by query words within other words
    /// ([`MatchSource::Part`]).
    pub found_by: Vec<MatchSource>,
    /// Its rank among the results of the vector index, from 0; `None` if it is not among them.
    pub vector_rank: Option<usize>,
    /// Its rank among the results of the keyword index, from 0; `None` if it is not among them.
    pub keyword_rank: Option<usize>,
    /// [`Match::is_singled_out`](crate::keywords::Match::is_singled_out): by an identifier, a rare word, or all words
    /// of the query.
    pub is_singled_out: bool,
    /// The share of the query's words that it has, weighted by their idf; `None` if the keyword index was not searched.
    pub share: Option<f64>,
    /// [`Matches::information`](crate::keywords::Matches::information): the idf of all words of the query together,
    /// divided by the idf that the words of an unrelated passage may have by chance. At least 1. The same for all
    /// candidates of a query.
    pub information: f64,
    /// The relative idf, 0 to 1, of the rarest word of the query in its own text; `None` if the keyword index was not
    /// searched.
    pub rarest: Option<f64>,
    /// Its scores together with its neighbors; `None` if it belongs to no session.
    pub in_thread: Option<InThread>,
    /// Whether it belongs to the period that the query names; `None` if the query names none.
    pub in_period: Option<bool>,
}

/// The scores of a record together with its neighbors: the turns before and after it in its session (`threads.rs`).
#[derive(Debug, Clone, PartialEq)]
pub struct InThread {
    /// Replaces [`Candidate::similarity`]. Before [`Candidate::scale_cosines`] it holds the raw cosine. `None` if the
    /// record itself has no vector.
    pub similarity: Option<f64>,
    /// Replaces [`Candidate::bm25`].
    pub bm25: f64,
    /// Replaces [`Candidate::share`].
    pub share: f64,
    /// Subtracted from the score of a turn that asks a question, since it answers none; 0 for other turns.
    pub penalty: f64,
    /// The neighbors whose words count for it.
    pub lenders: Vec<RecordId>,
}

impl Candidate {
    /// A candidate without scores.
    pub fn new(id: RecordId) -> Self {
        Candidate {
            id,
            cosine: None,
            similarity: None,
            passage: 0,
            bm25: None,
            found_by: Vec::with_capacity(2),
            vector_rank: None,
            keyword_rank: None,
            is_singled_out: false,
            share: None,
            information: NO_CHANCE,
            rarest: None,
            in_thread: None,
            in_period: None,
        }
    }

    /// Computes the similarities from the cosines.
    pub fn scale_cosines(&mut self, scale: &QueryScale) {
        let similarity = |cosine: Option<f64>| cosine.map(|cosine| scale.similarity(cosine));
        self.similarity = similarity(self.cosine);
        if let Some(thread) = &mut self.in_thread {
            thread.similarity = similarity(thread.similarity);
        }
    }

    /// The similarity that it is ranked by: in a session, that with its neighbors.
    fn ranked_similarity(&self) -> Option<f64> {
        self.in_thread.as_ref().map_or(self.similarity, |thread| thread.similarity)
    }

    /// The BM25 that it is ranked by.
    fn ranked_bm25(&self) -> Option<f64> {
        self.in_thread.as_ref().map_or(self.bm25, |thread| Some(thread.bm25))
    }

    /// The share of the query's words that it is ranked by.
    fn ranked_share(&self) -> Option<f64> {
        self.in_thread.as_ref().map_or(self.share, |thread| Some(thread.share))
    }

    /// Its share of the query's words, times its certainty to the power of [`CERTAINTY_EXPONENT`]: 0 to 1. The
    /// certainty is the idf of its words together, divided by the idf that is reached by chance, or
    /// [`Candidate::rarest`] if that is higher, and at most 1. In a session it is 1: neighbors do not have words of the
    /// query by chance.
    fn evidence(&self) -> Option<f64> {
        let share = self.ranked_share()?;
        if self.in_thread.is_some() {
            return Some(share);
        }
        let certainty = (share * self.information).max(self.rarest.unwrap_or_default()).min(1.0);
        Some(share * certainty.powi(CERTAINTY_EXPONENT))
    }

    /// How likely it answers the query. Computed from the higher of its two similarities, its own and that with its
    /// neighbors, and from the higher of the two shares.
    fn relevance(&self) -> f64 {
        let Some(thread) = &self.in_thread else { return relevance(self.similarity, self.share) };
        // Neighbors give no similarity to a record without a vector.
        let higher = |own: Option<f64>, other: Option<f64>| own.zip(other).map(|(own, other)| own.max(other)).or(own);
        relevance(higher(self.similarity, thread.similarity), higher(self.share, Some(thread.share)))
    }

    /// `score` with the lift of the period. If the query names a period, the scores of all candidates are divided by
    /// 1 + [`PERIOD_LIFT`], so that none is above 1.
    fn lifted(&self, score: f64) -> f64 {
        self.in_period.map_or(score, |is_in| (score + if is_in { PERIOD_LIFT } else { 0.0 }) / (1.0 + PERIOD_LIFT))
    }

    /// Drops its vector match if its cosine is below `min_cosine`. Returns whether the candidate remains: its cosine
    /// reaches the minimum, or the keyword index found it.
    pub fn drop_far_vector_match(&mut self, min_cosine: f64) -> bool {
        let is_near = self.cosine.is_some_and(|cosine| cosine >= min_cosine);
        if !is_near {
            self.found_by.retain(|source| *source != MatchSource::Vector);
        }
        is_near || !self.found_by.is_empty()
    }
}

/// A candidate with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The candidate.
    pub candidate: Candidate,
    /// 0 to 1.
    pub score: f64,
    /// The weighted vector score and the weighted keyword score, before a penalty and a lift. For an exact match that
    /// is scored by its keyword score alone: 0 and that score, without its weight.
    pub parts: Parts,
    /// 0 to 1.
    pub relevance: f64,
    /// The score before the lift of the period.
    unlifted: f64,
    /// Its own BM25 divided by the highest own BM25 of a candidate, if the query singles it out; else 0.
    exact_share: f64,
}

impl Ranked {
    /// Whether it passes a minimum score. A period lowers the scores of other records, but excludes none: the score
    /// before the lift counts, too.
    ///
    /// An exact match also passes if its BM25, divided by the highest one, reaches the minimum. Its score may be low
    /// however exact the match is: with [`Scale::Pool`], a record with the lowest similarity scores at most the keyword
    /// weight. BM25 depends on no vector, so the quotient does not fall in a larger store with more similar vectors.
    pub fn reaches(&self, min_score: f64) -> bool {
        self.score.max(self.unlifted) >= min_score || self.exact_share >= min_score
    }

    /// Whether it is an exact match: the query singles it out, and its own words match.
    pub fn is_exact(&self) -> bool {
        self.exact_share > 0.0
    }

    /// Whether it passes a minimum relevance. Most of the relevance is the similarity, which says little about an
    /// identifier, so an exact match passes as in [`Ranked::reaches`].
    pub fn is_relevant(&self, min_relevance: f64) -> bool {
        self.relevance >= min_relevance || self.exact_share >= min_relevance
    }
}

/// Ranks the candidates by score, the highest first. Equal scores: the newer record, with the higher id, comes first; with
/// [`Scale::Pool`] the lower id does, as in the systems that use it.
///
/// If an index found no candidate, its scores count 0. If it is the vector index, a candidate without a vector still
/// gets its keyword score as vector score. If all scores of an index are at the minimum, each counts 1; with
/// [`Scale::Pool`] that means that all are equal, or that there is only one.
pub fn merge(candidates: Vec<Candidate>, weights: Weights, scale: Scale) -> Vec<Ranked> {
    let fusion = Fusion::new(&candidates, weights, scale);
    let mut ranked: Vec<Ranked> = candidates.into_iter().map(|candidate| fusion.rank(candidate)).collect();
    ranked.sort_by(|a, b| {
        let by_id = a.candidate.id.cmp(&b.candidate.id);
        b.score.total_cmp(&a.score).then(if scale == Scale::Theoretical { by_id.reverse() } else { by_id })
    });
    ranked
}

/// The numbers that the score of every candidate depends on.
struct Fusion {
    weights: Weights,
    scale: Scale,
    /// The similarities of all candidates.
    similarities: Range,
    /// The BM25 of all candidates.
    bm25: Range,
    /// The factor of all keyword scores.
    keyword_factor: f64,
    /// The highest [`Candidate::bm25`], without the words of neighbors: a candidate is an exact match only by its own
    /// words.
    highest_own_bm25: f64,
    /// Whether no candidate was found by a word of the query or a correction, but at most by words within other words.
    /// False with [`Scale::Pool`].
    is_within_words: bool,
}

impl Fusion {
    fn new(candidates: &[Candidate], weights: Weights, scale: Scale) -> Self {
        let is_theoretical = scale == Scale::Theoretical;
        let minimum = |lowest: f64| is_theoretical.then_some(lowest);
        let similarities =
            Range::of(candidates, MatchSource::Vector, minimum(LOWEST_SIMILARITY), Candidate::ranked_similarity);
        let bm25 = Range::of(candidates, MatchSource::Keyword, minimum(LOWEST_BM25), Candidate::ranked_bm25);
        let keyword_factor = if !is_theoretical || matches!(similarities, Range::Empty) {
            // Without vector matches, keyword scores are all there is: they are not lowered.
            1.0
        } else {
            let evidence = candidates.iter().filter_map(Candidate::evidence).fold(0.0, f64::max);
            (evidence + (evidence - COUNTS_TWICE_ABOVE).max(0.0)).min(1.0)
        };
        let highest_own_bm25 = candidates.iter().filter_map(|candidate| candidate.bm25).fold(0.0, f64::max);
        let has_word = |candidate: &Candidate| candidate.found_by.contains(&MatchSource::Keyword);
        let is_within_words = is_theoretical && !candidates.iter().any(has_word);
        Fusion { weights, scale, similarities, bm25, keyword_factor, highest_own_bm25, is_within_words }
    }

    fn rank(&self, candidate: Candidate) -> Ranked {
        let relative_bm25 = candidate.ranked_bm25().map_or(0.0, |bm25| self.bm25.scaled(bm25));
        let keyword_score = self.keyword_factor * relative_bm25;
        let vector_score = match candidate.ranked_similarity() {
            Some(similarity) => self.vector_score(&candidate, similarity),
            None => self.vector_score_without_vector(&candidate, relative_bm25),
        };
        let parts = Parts { vector: self.weights.vector * vector_score, keyword: self.weights.keyword * keyword_score };
        let penalty = candidate.in_thread.as_ref().map_or(0.0, |thread| thread.penalty);
        let sum = (parts.vector + parts.keyword - penalty).max(0.0);

        let may_count_alone =
            candidate.is_singled_out && self.scale == Scale::Theoretical && self.weights.keyword > 0.0;
        let (unlifted, parts) = if may_count_alone && keyword_score > sum {
            (keyword_score, Parts { vector: 0.0, keyword: keyword_score })
        } else {
            (sum, parts)
        };
        let exact_bm25 = candidate.bm25.filter(|bm25| candidate.is_singled_out && *bm25 > 0.0);
        let exact_share = exact_bm25.map_or(0.0, |bm25| bm25 / self.highest_own_bm25);
        let (score, relevance) = (candidate.lifted(unlifted), candidate.relevance());
        Ranked { candidate, score, parts, relevance, unlifted, exact_share }
    }

    /// The similarity of a candidate, scaled.
    ///
    /// If the words of a query occur only within other words, they are fragments, of which a model knows little:
    /// similarities say little, too. So a within-word match counts as at least as similar as an unrelated text, but not
    /// as more similar than the nearest candidate.
    fn vector_score(&self, candidate: &Candidate, similarity: f64) -> f64 {
        let is_within_words = self.is_within_words && candidate.found_by.contains(&MatchSource::Part);
        let similarity = match self.similarities {
            Range::Between { highest, .. } if is_within_words => similarity.max(highest.min(UNRELATED)),
            _ => similarity,
        };
        self.similarities.scaled(similarity)
    }

    /// The vector score of a candidate without a vector. Its similarity counts as its share of the query's words times
    /// the highest similarity; as the highest one itself if that is negative. If the query singles it out, its BM25
    /// relative to the highest one replaces the share if it is more.
    ///
    /// With [`Scale::Pool`], and without a range of similarities, it is its keyword score.
    fn vector_score_without_vector(&self, candidate: &Candidate, relative_bm25: f64) -> f64 {
        match (candidate.ranked_share(), self.similarities) {
            (Some(share), Range::Between { highest, .. }) if self.scale == Scale::Theoretical => {
                let share = if candidate.is_singled_out { share.max(relative_bm25) } else { share };
                self.similarities.scaled(highest.min(share * highest.max(0.0)))
            }
            _ => self.keyword_factor * relative_bm25,
        }
    }
}

/// The range of the scores of one index.
#[derive(Debug, Clone, Copy)]
enum Range {
    /// The index found no candidate.
    Empty,
    /// No score is above the minimum.
    Flat,
    /// From the minimum to the highest score.
    Between { minimum: f64, highest: f64 },
}

impl Range {
    /// The range of the scores of all candidates in an index. Without a given `minimum` it is the lowest score.
    fn of(
        candidates: &[Candidate],
        source: MatchSource,
        minimum: Option<f64>,
        score: impl Fn(&Candidate) -> Option<f64>,
    ) -> Self {
        // The keyword index finds within-word matches, too.
        let is_of_index =
            |by: &MatchSource| *by == source || (source == MatchSource::Keyword && *by == MatchSource::Part);
        if !candidates.iter().any(|candidate| candidate.found_by.iter().any(is_of_index)) {
            return Range::Empty;
        }
        let scores = || candidates.iter().filter_map(&score);
        let highest = scores().fold(f64::NEG_INFINITY, f64::max);
        let minimum = minimum.unwrap_or_else(|| scores().fold(f64::INFINITY, f64::min));
        if highest > minimum { Range::Between { minimum, highest } } else { Range::Flat }
    }

    /// A score on the scale from 0, the minimum, to 1, the highest.
    fn scaled(self, score: f64) -> f64 {
        match self {
            Range::Empty => 0.0,
            Range::Flat => 1.0,
            Range::Between { minimum, highest } => (score - minimum) / (highest - minimum),
        }
    }
}

#[cfg(test)]
mod tests;
