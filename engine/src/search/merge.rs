//! Ranks the candidates of a search, which `candidates.rs` collects from both indexes. A pure function: no I/O, no
//! clock, no index.
//!
//! The scores of each index are scaled to 0..1 (min-max), weighted and added. 1 is the highest score of a candidate. 0
//! is the lowest possible score ([`Scale::Theoretical`]) or the lowest score of a candidate ([`Scale::Pool`]). If only
//! one index found a candidate, `candidates.rs` looks up its exact score in the other one. If a missing score counted
//! as 0 instead, hybrid search could return fewer relevant results than keyword search alone.
//!
//! An *exact match* is a candidate that has an identifier of the query, a rare word of it, or all of its words
//! ([`Candidate::is_singled_out`]). With both scales it may pass a minimum score or relevance by its BM25 alone
//! ([`Ranked::reaches`]).
//!
//! A candidate that is not embedded yet has no vector. With [`Scale::Pool`], or if the vector index found no candidate,
//! its keyword score is its vector score, too.
//!
//! With [`Scale::Theoretical`], these rules are added:
//!
//! | rule | effect |
//! |---|---|
//! | evidence | The evidence of a candidate is the share of the query's words that it has, lowered if some keyword passage of the store (some 60 words of a text, `keywords/passage.rs`) may have these words by chance. [`Candidate::evidence`] has the exceptions |
//! | coverage | All keyword scores are multiplied by one factor, which rises with the highest evidence of a candidate. If no candidate has more than a few words of the query, even the highest BM25 says little. The factor is 1 if the vector index found no candidate |
//! | no vector yet | The similarity of a candidate without a vector counts as the highest similarity times the candidate's share of the query's words. An exact match may count as more similar ([`Fusion::vector_score_without_vector`]) |
//! | exact match | If the keyword score of an exact match is higher than its weighted sum, its score is the keyword score, without weight and penalty: similar vectors do not outrank it. The rule does not hold with a keyword weight of 0 |
//! | within words | If no candidate was found by a whole word of the query, a candidate with a word of the query within another one ("engui" in "penguin") ranks above unrelated candidates |

use super::relevance::relevance;
use crate::scale::QueryScale;
use crate::types::{MatchSource, Parts, RecordId, Scale, Weights};

/// The score that a candidate gains if it belongs to the period of the query, before [`Candidate::lifted`] divides all
/// scores.
const PERIOD_LIFT: f64 = 0.1;
/// The lowest possible scores.
const LOWEST_SIMILARITY: f64 = -1.0;
const LOWEST_BM25: f64 = 0.0;
/// The similarity that unrelated texts hardly exceed.
const UNRELATED: f64 = 0.25;
/// The part of the evidence above this counts twice: the keyword factor is 0.5 for an evidence of 0.5, and 1 from 0.75
/// on.
const COUNTS_TWICE_ABOVE: f64 = 0.5;
/// The exponent of certainty in [`Candidate::evidence`]. In a store of long texts, candidates with words of the query
/// by chance outrank those with similar vectors if it is 1, and hardly ever if it is 4 (`benches/quality.rs`).
const CERTAINTY_EXPONENT: i32 = 4;
/// The [`Candidate::information_ratio`] before it is set: so high that the certainty in [`Candidate::evidence`] is 1.
/// It is finite because 0 times infinity is not a number.
const NO_CHANCE: f64 = f64::MAX;

/// A record that is scored, with its scores and ranks in both indexes: one that an index found, a neighbor of such a
/// record in its session, or the record whose rank the caller asks for (`why.rs`).
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The record.
    pub id: RecordId,
    /// Its raw cosine to the query; `None` if the record or the query has no vector.
    pub cosine: Option<f64>,
    /// Its calibrated cosine, -1 to 1, which is comparable between models (`scale/`); `None` before
    /// [`Candidate::calibrate_cosines`].
    pub similarity: Option<f64>,
    /// The number of the embedded passage by which the vector index found it. 0 (the beginning of the text) if the
    /// vector index did not find it. `cosine` is then looked up, and may be that of another passage.
    pub passage: u8,
    /// Its BM25; `None` if the keyword index was not searched, or does not have the record.
    pub bm25: Option<f64>,
    /// How it was found: by its vector, by a keyword, or only by query words within other words
    /// ([`MatchSource::Part`]). Empty if no index found it.
    pub found_by: Vec<MatchSource>,
    /// Its rank among the results of the vector index, from 0; `None` if it is not among them.
    pub vector_rank: Option<usize>,
    /// Its rank among the results of the keyword index, from 0; `None` if it is not among them.
    pub keyword_rank: Option<usize>,
    /// Whether it is an exact match: its own text has an identifier, a rare word, or all words of the query
    /// ([`Match::is_singled_out`](crate::keywords::Match::is_singled_out)). Words of its neighbors do not count.
    pub is_singled_out: bool,
    /// The share of the query's words that it has, weighted by their idf; `None` as for `bm25`.
    pub share: Option<f64>,
    /// The sum of the idfs of all words of the query, divided by the smaller of two numbers: the idf of a word that
    /// only one keyword passage of the store has, and the sum of the idfs of the query's words that any record has.
    /// Some passage may have words with the first idf by chance. At least 1, and equal for all candidates of a query
    /// ([`Matches::information`](crate::keywords::Matches::information)).
    pub information_ratio: f64,
    /// The rarity, 0 to 1, of the rarest word of the query that its own text has: the idf of this word, divided by that
    /// of a word that no record has. `None` as for `bm25`.
    pub rarest: Option<f64>,
    /// Its scores together with its neighbors. `Some` only in a hybrid search with [`Scale::Theoretical`], for a turn
    /// that is one of the first 100 candidates of an index, or at most two turns away from such a turn in its session.
    pub in_session: Option<InSession>,
    /// Whether it belongs to the period that the query names; `None` if the query names none.
    pub in_period: Option<bool>,
}

/// The scores of a turn together with its neighbors: the turns before and after it in its session (`threads.rs`).
#[derive(Debug, Clone, PartialEq)]
pub struct InSession {
    /// The weighted mean of its own raw cosine and those of its neighbors. `None` if the turn itself has no vector.
    pub cosine: Option<f64>,
    /// The calibrated cosine. Replaces [`Candidate::similarity`]; `None` before [`Candidate::calibrate_cosines`].
    pub similarity: Option<f64>,
    /// Replaces [`Candidate::bm25`].
    pub bm25: f64,
    /// Replaces [`Candidate::share`].
    pub share: f64,
    /// The loss of score of a turn that asks a question, since it answers none; 0 for other turns.
    pub penalty: f64,
    /// The neighbors whose words count for the turn.
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
            information_ratio: NO_CHANCE,
            rarest: None,
            in_session: None,
            in_period: None,
        }
    }

    /// Computes the similarities from the cosines. `calibration` converts cosines of the store's model to the scale
    /// that all models share. Unrelated to [`Scale`].
    pub fn calibrate_cosines(&mut self, calibration: &QueryScale) {
        let similarity = |cosine: Option<f64>| cosine.map(|cosine| calibration.similarity(cosine));
        self.similarity = similarity(self.cosine);
        if let Some(session) = &mut self.in_session {
            session.similarity = similarity(session.cosine);
        }
    }

    /// The similarity that counts for its score: in a session, that with its neighbors.
    fn effective_similarity(&self) -> Option<f64> {
        self.in_session.as_ref().map_or(self.similarity, |session| session.similarity)
    }

    /// The BM25 that counts for its score.
    fn effective_bm25(&self) -> Option<f64> {
        self.in_session.as_ref().map_or(self.bm25, |session| Some(session.bm25))
    }

    /// The share of the query's words that counts for its score.
    fn effective_share(&self) -> Option<f64> {
        self.in_session.as_ref().map_or(self.share, |session| Some(session.share))
    }

    /// Its share of the query's words, times its certainty to the power of [`CERTAINTY_EXPONENT`]: 0 to 1.
    ///
    /// The certainty is the share times [`Candidate::information_ratio`]: the idf of the words that it has, divided by
    /// the idf that some passage may have by chance. It is at most 1, and at least [`Candidate::rarest`]. It is 1 for a
    /// candidate that has every word of the query that any record has. It is also 1 for a turn that is scored with its
    /// neighbors: they are about the same topic, so they are unlikely to have words of the query by chance.
    fn evidence(&self) -> Option<f64> {
        let share = self.effective_share()?;
        if self.in_session.is_some() {
            return Some(share);
        }
        let certainty = (share * self.information_ratio).max(self.rarest.unwrap_or_default()).min(1.0);
        Some(share * certainty.powi(CERTAINTY_EXPONENT))
    }

    /// How likely it answers the query. Computed from the higher of its two similarities, its own and that with its
    /// neighbors, and from the higher of the two shares.
    fn relevance(&self) -> f64 {
        let Some(session) = &self.in_session else { return relevance(self.similarity, self.share) };
        // A turn without a vector has no similarity, whatever its neighbors have.
        let higher = |own: Option<f64>, other: Option<f64>| own.zip(other).map(|(own, other)| own.max(other)).or(own);
        relevance(higher(self.similarity, session.similarity), higher(self.share, Some(session.share)))
    }

    /// The score with the lift of the period. If the query names a period, the scores of all candidates are divided by
    /// 1 + [`PERIOD_LIFT`], so that none is above 1.
    fn lifted(&self, score: f64) -> f64 {
        self.in_period.map_or(score, |is_in| (score + if is_in { PERIOD_LIFT } else { 0.0 }) / (1.0 + PERIOD_LIFT))
    }

    /// Drops its vector match if its raw cosine is below `min_cosine`. Returns whether the candidate remains: its
    /// cosine reaches the minimum, or the keyword index found it.
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
    /// The score by which it is ranked, 0 to 1.
    pub score: f64,
    /// The weighted vector score and the weighted keyword score, before a penalty and a lift. For an exact match that
    /// is scored by its keyword score alone: 0 and that score, without its weight. Unrelated to
    /// [`MatchSource::Part`].
    pub parts: Parts,
    /// How likely it answers the query, 0 to 1.
    pub relevance: f64,
    /// The score before the lift of the period.
    unlifted: f64,
    /// For an exact match, its own BM25 divided by the highest own BM25 of a candidate; else 0.
    exact_bm25_ratio: f64,
}

impl Ranked {
    /// Whether it passes a minimum score. If the query names a period, [`Candidate::lifted`] lowers the scores of
    /// candidates outside of it. So that this excludes none, the score before that counts, too.
    ///
    /// An exact match also passes if the ratio of its BM25 to the highest one reaches the minimum. Its score may be low
    /// however exact the match is: with [`Scale::Pool`], a candidate with the lowest similarity scores at most the
    /// keyword weight. The ratio depends on no vector, so it does not fall in a larger store with more similar vectors.
    pub fn reaches(&self, min_score: f64) -> bool {
        self.score.max(self.unlifted) >= min_score || self.exact_bm25_ratio >= min_score
    }

    /// Whether it is an exact match.
    pub fn is_exact(&self) -> bool {
        self.exact_bm25_ratio > 0.0
    }

    /// Whether it passes a minimum relevance. Most of the relevance is the similarity, which says little about an
    /// identifier, so an exact match also passes by its ratio of BM25, as in [`Ranked::reaches`].
    pub fn is_relevant(&self, min_relevance: f64) -> bool {
        self.relevance >= min_relevance || self.exact_bm25_ratio >= min_relevance
    }
}

/// Ranks the candidates by score, the highest first. Of equal scores, the higher id comes first: the newer record. With
/// [`Scale::Pool`] the lower id comes first, as in the other memory systems whose tools memorist offers
/// (`server/src/mcp/profiles/`).
///
/// If an index found no candidate, its scores count 0. If that is the vector index, the vector score of a candidate
/// without a vector is still its keyword score. If all scores of an index equal the minimum, each counts 1. With
/// [`Scale::Pool`] this happens if there is only one candidate, or if all scores are equal.
pub fn merge(candidates: Vec<Candidate>, weights: Weights, scale: Scale) -> Vec<Ranked> {
    let fusion = Fusion::new(&candidates, weights, scale);
    let mut ranked: Vec<Ranked> = candidates.into_iter().map(|candidate| fusion.score(candidate)).collect();
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
    /// The range of the effective similarities of all candidates.
    similarities: Range,
    /// The range of their effective BM25.
    bm25: Range,
    /// The factor of all keyword scores.
    keyword_factor: f64,
    /// The highest [`Candidate::bm25`], without the words of neighbors: a candidate is an exact match only by its own
    /// words.
    highest_own_bm25: f64,
    /// Whether no candidate was found by a whole word, be it of the query or a correction: keyword matches, if there
    /// are any, are within other words. False with [`Scale::Pool`].
    has_no_whole_word: bool,
}

impl Fusion {
    fn new(candidates: &[Candidate], weights: Weights, scale: Scale) -> Self {
        let is_theoretical = scale == Scale::Theoretical;
        let minimum = |lowest: f64| is_theoretical.then_some(lowest);
        let similarities =
            Range::of(candidates, MatchSource::Vector, minimum(LOWEST_SIMILARITY), Candidate::effective_similarity);
        let bm25 = Range::of(candidates, MatchSource::Keyword, minimum(LOWEST_BM25), Candidate::effective_bm25);
        let keyword_factor = if !is_theoretical || matches!(similarities, Range::Empty) {
            // Without candidates of the vector index, keyword scores are all there is: they are not lowered.
            1.0
        } else {
            let evidence = candidates.iter().filter_map(Candidate::evidence).fold(0.0, f64::max);
            (evidence + (evidence - COUNTS_TWICE_ABOVE).max(0.0)).min(1.0)
        };
        let highest_own_bm25 = candidates.iter().filter_map(|candidate| candidate.bm25).fold(0.0, f64::max);
        let has_word = |candidate: &Candidate| candidate.found_by.contains(&MatchSource::Keyword);
        let has_no_whole_word = is_theoretical && !candidates.iter().any(has_word);
        Fusion { weights, scale, similarities, bm25, keyword_factor, highest_own_bm25, has_no_whole_word }
    }

    fn score(&self, candidate: Candidate) -> Ranked {
        let scaled_bm25 = candidate.effective_bm25().map_or(0.0, |bm25| self.bm25.scaled(bm25));
        let keyword_score = self.keyword_factor * scaled_bm25;
        let vector_score = match candidate.effective_similarity() {
            Some(similarity) => self.vector_score(&candidate, similarity),
            None => self.vector_score_without_vector(&candidate, scaled_bm25),
        };
        let parts = Parts { vector: self.weights.vector * vector_score, keyword: self.weights.keyword * keyword_score };
        let penalty = candidate.in_session.as_ref().map_or(0.0, |session| session.penalty);
        let sum = (parts.vector + parts.keyword - penalty).max(0.0);

        let may_count_alone =
            candidate.is_singled_out && self.scale == Scale::Theoretical && self.weights.keyword > 0.0;
        let (unlifted, parts) = if may_count_alone && keyword_score > sum {
            (keyword_score, Parts { vector: 0.0, keyword: keyword_score })
        } else {
            (sum, parts)
        };
        let exact_bm25 = candidate.bm25.filter(|bm25| candidate.is_singled_out && *bm25 > 0.0);
        let exact_bm25_ratio = exact_bm25.map_or(0.0, |bm25| bm25 / self.highest_own_bm25);
        let (score, relevance) = (candidate.lifted(unlifted), candidate.relevance());
        Ranked { candidate, score, parts, relevance, unlifted, exact_bm25_ratio }
    }

    /// The similarity of a candidate, scaled.
    ///
    /// If the words of the query occur only within other words, they are fragments, and embedding models represent
    /// fragments badly. So the similarity of a candidate with such a fragment is raised to [`UNRELATED`] if it is
    /// lower, but not above the highest similarity of any candidate.
    fn vector_score(&self, candidate: &Candidate, similarity: f64) -> f64 {
        let is_raised = self.has_no_whole_word && candidate.found_by.contains(&MatchSource::Part);
        let similarity = match self.similarities {
            Range::Between { highest, .. } if is_raised => similarity.max(highest.min(UNRELATED)),
            _ => similarity,
        };
        self.similarities.scaled(similarity)
    }

    /// The vector score of a candidate without a vector. Its similarity counts as its share of the query's words times
    /// the highest similarity, or as the highest similarity if that is negative. For an exact match, the scaled BM25
    /// replaces the share if it is higher.
    ///
    /// With [`Scale::Pool`], or if the similarities have no range, it is the keyword score.
    fn vector_score_without_vector(&self, candidate: &Candidate, scaled_bm25: f64) -> f64 {
        match (candidate.effective_share(), self.similarities) {
            (Some(share), Range::Between { highest, .. }) if self.scale == Scale::Theoretical => {
                let share = if candidate.is_singled_out { share.max(scaled_bm25) } else { share };
                self.similarities.scaled(highest.min(share * highest.max(0.0)))
            }
            _ => self.keyword_factor * scaled_bm25,
        }
    }
}

/// The range of the scores of one index, from which they are scaled.
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
    /// The range of the scores of all candidates in an index. Without a given `minimum`, the lowest score is the
    /// minimum.
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
