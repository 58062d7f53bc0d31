//! Scores and ranks the candidates of both indexes, which `candidates.rs` has united. A pure function: no I/O, no clock, no index.
//!
//! The scores of each index are scaled to 0..1 (min-max), from the least that there can be or from the least among the
//! candidates ([`Scale`]), then weighted and added. A candidate that only one index found comes with its exact score in the
//! other, filled in by the caller: counting it as 0 finds less than keywords alone.
//!
//! From the theoretical minima, words count by the share of the query that the best candidate has of them, and in full from three
//! quarters on: a question in other words has a best match too, which says nothing. They count little if some text would have as many by chance. For one
//! that has no vector yet, its words count for both; and for one that they single out, by a code or a name, if that is more,
//! so that likeness does not push it away.

use super::relevance::relevance;
use crate::scale::QueryScale;
use crate::types::{MatchSource, Parts, RecordId, Scale, Weights};

/// A record that at least one index found, with its raw score in each.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The record.
    pub id: RecordId,
    /// Its cosine; `None` if it has no vector or the query has none.
    pub vector: Option<f64>,
    /// The cosine on the scale that all models share: [`QueryScale::similarity`]. The raw cosine until it is scaled.
    pub similarity: Option<f64>,
    /// Which passage has that cosine: 0, its beginning, unless the vector index found another one.
    pub passage: u8,
    /// Its BM25; `None` if the keyword index was not searched.
    pub keyword: Option<f64>,
    /// The indexes that found it.
    pub found_by: Vec<MatchSource>,
    /// Its place among the results of the vector index, from 0; `None` if it is not among them.
    pub vector_rank: Option<usize>,
    /// Its place among the results of the keyword index, from 0; `None` if it is not among them.
    pub keyword_rank: Option<usize>,
    /// Whether the words of the query single it out.
    pub is_singled_out: bool,
    /// The share of the query's words that it has, weighted by their rarity; `None` if the keyword index was not searched.
    pub share: Option<f64>,
    /// How much all words of the query say beside chance: [`Matches::information`](crate::keywords::Matches::information).
    pub information: f64,
    /// How rare the rarest word of the query is that it has itself, 0 to 1; `None` as with `share`.
    pub rarest: Option<f64>,
    /// How it is judged with those around it; `None` if it belongs to no thread.
    pub in_thread: Option<InThread>,
    /// Whether it is of the period that the query is about; `None` if the query is about none.
    pub in_period: Option<bool>,
}

/// A record judged with those around it in its thread (`threads.rs`).
#[derive(Debug, Clone, PartialEq)]
pub struct InThread {
    /// Replaces [`Candidate::similarity`].
    pub cosine: Option<f64>,
    /// Replaces [`Candidate::keyword`].
    pub words: f64,
    /// Replaces [`Candidate::share`].
    pub share: f64,
    /// Subtracted from its score.
    pub lost: f64,
    /// The neighbours that lent words.
    pub lenders: Vec<RecordId>,
}

impl Candidate {
    /// A candidate without scores.
    pub fn new(id: RecordId) -> Self {
        Candidate {
            id,
            vector: None,
            similarity: None,
            passage: 0,
            keyword: None,
            found_by: Vec::with_capacity(2),
            vector_rank: None,
            keyword_rank: None,
            is_singled_out: false,
            share: None,
            information: CERTAIN,
            rarest: None,
            in_thread: None,
            in_period: None,
        }
    }

    /// Places its cosines on the scale that all models share.
    pub fn scale_cosines(&mut self, scale: &QueryScale) {
        let similarity = |cosine: Option<f64>| cosine.map(|cosine| scale.similarity(cosine));
        self.similarity = similarity(self.vector);
        if let Some(thread) = &mut self.in_thread {
            thread.cosine = similarity(thread.cosine);
        }
    }

    /// The similarity that it is ranked by.
    fn ranked_similarity(&self) -> Option<f64> {
        self.in_thread.as_ref().map_or(self.similarity, |thread| thread.cosine)
    }

    /// The BM25 that it is ranked by.
    fn ranked_words(&self) -> Option<f64> {
        self.in_thread.as_ref().map_or(self.keyword, |thread| Some(thread.words))
    }

    fn ranked_share(&self) -> Option<f64> {
        self.in_thread.as_ref().map_or(self.share, |thread| Some(thread.share))
    }

    /// The evidence of its words, 0 to 1: their share of the query, or less if some text has as many by chance and none of
    /// them is rare. In a thread the share counts as it is: the words that neighbors lend are there by more than chance.
    fn evidence(&self) -> Option<f64> {
        let share = self.ranked_share()?;
        if self.in_thread.is_some() {
            return Some(share);
        }
        let certainty = (share * self.information).max(self.rarest.unwrap_or_default()).min(1.0);
        Some(share * certainty.powi(DOUBT))
    }

    /// How likely it answers the query: by its own cosine and words, or by those of the records around it if they say more.
    fn relevance(&self) -> f64 {
        let Some(thread) = &self.in_thread else { return relevance(self.similarity, self.share) };
        let most = |own: Option<f64>, other: Option<f64>| own.zip(other).map(|(own, other)| own.max(other)).or(own);
        relevance(most(self.similarity, thread.cosine), most(self.share, Some(thread.share)))
    }

    /// Its score with the lift of the period.
    fn lifted(&self, score: f64) -> f64 {
        self.in_period.map_or(score, |is_in| (score + if is_in { LIFT } else { 0.0 }) / (1.0 + LIFT))
    }

    /// Removes the vector match if its cosine is below `least`. Returns whether a match is left, or a cosine that is not.
    pub fn is_found_above(&mut self, least: f64) -> bool {
        let is_near = self.vector.is_some_and(|cosine| cosine >= least);
        if !is_near {
            self.found_by.retain(|source| *source != MatchSource::Vector);
        }
        is_near || !self.found_by.is_empty()
    }
}

/// A candidate with its merged score.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The candidate.
    pub candidate: Candidate,
    /// 0 to 1.
    pub score: f64,
    /// The contribution of each side to the score.
    pub parts: Parts,
    /// 0 to 1.
    pub relevance: f64,
    /// The score without a period, which excludes nothing.
    unlifted: f64,
    /// Its keyword score as a share of the best one, if the words of the query single it out; else 0.
    by_words: f64,
}

impl Ranked {
    /// Whether it reaches a minimum merged score. A record that words single out may reach it by its keyword score
    /// alone: the keyword weight bounds its merged score, however exact the match is. The candidates of the vector
    /// index do not matter for that, so that an exact match in a small store is one in a large store, too.
    pub fn reaches(&self, least: f64) -> bool {
        self.score.max(self.unlifted) >= least || self.by_words >= least
    }

    /// Whether the words of the query single it out.
    pub fn is_exact(&self) -> bool {
        self.by_words > 0.0
    }

    /// Whether it reaches a minimum relevance; see [`Ranked::reaches`].
    pub fn is_relevant(&self, least: f64) -> bool {
        self.relevance >= least || self.by_words >= least
    }
}

/// Ranks the candidates: best first, of equals the newer, or by id from the least of the candidates, as other systems do. An index without candidates adds nothing. If all scores of an index
/// are equal (or it has only one), each of them becomes 1.
pub fn merge(candidates: Vec<Candidate>, weights: Weights, scale: Scale) -> Vec<Ranked> {
    let from = |least: f64| (scale == Scale::Theoretical).then_some(least);
    let vector = Range::of(&candidates, MatchSource::Vector, from(LEAST_COSINE), Candidate::ranked_similarity);
    let keyword = Range::of(&candidates, MatchSource::Keyword, from(LEAST_BM25), Candidate::ranked_words);
    let covered = match scale {
        // Where words alone are searched, they are all there is.
        Scale::Theoretical if !matches!(vector, Range::Silent) => {
            let most = candidates.iter().filter_map(Candidate::evidence).fold(0.0, f64::max);
            // From three quarters of the query on, words count in full.
            (most + (most - HALF).max(0.0)).min(1.0)
        }
        _ => 1.0,
    };
    let best = candidates.iter().filter_map(|candidate| candidate.keyword).fold(0.0, f64::max);
    let has_word = |candidate: &Candidate| candidate.found_by.contains(&MatchSource::Keyword);
    let of_parts = scale == Scale::Theoretical && !candidates.iter().any(has_word);
    let mut ranked: Vec<Ranked> = candidates
        .into_iter()
        .map(|candidate| {
            let words = candidate.ranked_words();
            let by_keyword = covered * keyword.apply(words);
            // One that waits for its embedding is judged by its words alone.
            let is_part = of_parts && candidate.found_by.contains(&MatchSource::Part);
            let by_vector = match (candidate.ranked_similarity(), candidate.ranked_share(), vector) {
                (Some(cosine), _, Range::Between { most, .. }) if is_part => {
                    vector.apply(Some(cosine.max(most.min(UNRELATED))))
                }
                (None, Some(share), Range::Between { most, .. }) if scale == Scale::Theoretical => {
                    let share = if candidate.is_singled_out { share.max(keyword.apply(words)) } else { share };
                    vector.apply(Some(most.min(share * most.max(0.0))))
                }
                (None, ..) => by_keyword,
                (cosine, ..) => vector.apply(cosine),
            };
            let lost = candidate.in_thread.as_ref().map_or(0.0, |thread| thread.lost);
            let parts = Parts { vector: weights.vector * by_vector, keyword: weights.keyword * by_keyword };
            let score = (parts.vector + parts.keyword - lost).max(0.0);
            let may_win = candidate.is_singled_out && scale == Scale::Theoretical && weights.keyword > 0.0;
            let (unlifted, parts) = match may_win && by_keyword > score {
                true => (by_keyword, Parts { vector: 0.0, keyword: by_keyword }),
                false => (score, parts),
            };
            let score = candidate.lifted(unlifted);
            let exact = candidate.keyword.filter(|score| candidate.is_singled_out && *score > 0.0);
            let by_words = exact.map_or(0.0, |score| score / best);
            let relevance = candidate.relevance();
            Ranked { candidate, score, parts, relevance, unlifted, by_words }
        })
        .collect();
    ranked.sort_by(|a, b| {
        let by_id = a.candidate.id.cmp(&b.candidate.id);
        b.score.total_cmp(&a.score).then(if scale == Scale::Theoretical { by_id.reverse() } else { by_id })
    });
    ranked
}

/// The score that a record of the period that a query is about gains.
const LIFT: f64 = 0.1;
/// The least scores that there can be.
const LEAST_COSINE: f64 = -1.0;
const LEAST_BM25: f64 = 0.0;
/// The cosine of what has nothing to do with a query. To a query of parts of words alone every text is as far, also one that has
/// them: it is no further than others that are.
const UNRELATED: f64 = 0.25;
/// Words count by the share of the query that the best candidate has of them; above a half, by twice what is above it.
const HALF: f64 = 0.5;
/// How steeply the weight of words falls that say less than chance does. With 1, they still push away what is near in long
/// texts; with 4, they hardly do (`benches/quality.rs`).
const DOUBT: i32 = 4;
/// The information of words that no text has by chance.
const CERTAIN: f64 = f64::MAX;

/// The range of the scores of one index.
#[derive(Debug, Clone, Copy)]
enum Range {
    /// It found nothing.
    Silent,
    /// All scores are the same.
    Flat,
    Between {
        least: f64,
        most: f64,
    },
}

impl Range {
    /// The range of what the index scored, from `least` on where that is given.
    fn of(
        candidates: &[Candidate],
        source: MatchSource,
        least: Option<f64>,
        score: impl Fn(&Candidate) -> Option<f64>,
    ) -> Self {
        let is_of_it = |by: &MatchSource| *by == source || (*by, source) == (MatchSource::Part, MatchSource::Keyword);
        if !candidates.iter().any(|candidate| candidate.found_by.iter().any(is_of_it)) {
            return Range::Silent;
        }
        let (smallest, most) = candidates
            .iter()
            .filter_map(score)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), score| (least.min(score), most.max(score)));
        let least = least.map_or(smallest, |least| least.min(smallest));
        if most > least { Range::Between { least, most } } else { Range::Flat }
    }

    fn apply(self, score: Option<f64>) -> f64 {
        match (self, score) {
            (_, None) | (Range::Silent, _) => 0.0,
            (Range::Flat, Some(_)) => 1.0,
            (Range::Between { least, most }, Some(score)) => (score - least) / (most - least),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidate(id: i64, vector: Option<f64>, keyword: Option<f64>) -> Candidate {
        let mut found_by = Vec::new();
        if vector.is_some() {
            found_by.push(MatchSource::Vector);
        }
        if keyword.is_some_and(|score| score > 0.0) {
            found_by.push(MatchSource::Keyword);
        }
        let share = keyword.map(|score| (score / 50.0).min(1.0));
        Candidate {
            rarest: None,
            id: id.into(),
            vector,
            similarity: vector,
            passage: 0,
            keyword,
            found_by,
            vector_rank: None,
            keyword_rank: None,
            is_singled_out: false,
            share,
            information: CERTAIN,
            in_thread: None,
            in_period: None,
        }
    }

    fn order(ranked: &[Ranked]) -> Vec<i64> {
        ranked.iter().map(|ranked| ranked.candidate.id.get()).collect()
    }

    /// Q3, Q6.
    #[test]
    fn the_weights_decide_between_meaning_and_words() {
        let candidates = vec![candidate(1, Some(0.9), Some(0.0)), candidate(2, Some(0.1), Some(7.0))];
        let default = merge(candidates.clone(), Weights::default(), Scale::Pool);
        assert_eq!(order(&default), [1, 2]);
        assert!((default[0].score - 0.7).abs() < 1e-12 && (default[1].score - 0.3).abs() < 1e-12);
        let words = merge(candidates, Weights { vector: 0.3, keyword: 0.7 }, Scale::Pool);
        assert_eq!(order(&words), [2, 1]);
    }

    /// Q4, Q5.
    #[test]
    fn a_lone_candidate_and_equal_scores_count_as_one() {
        assert_eq!(merge(vec![candidate(5, Some(0.2), Some(3.0))], Weights::default(), Scale::Pool)[0].score, 1.0);
        let equal =
            merge(vec![candidate(9, Some(0.2), None), candidate(4, Some(0.2), None)], Weights::default(), Scale::Pool);
        assert_eq!(order(&equal), [4, 9], "ties go by id");
        let candidates = vec![candidate(4, Some(0.2), None), candidate(9, Some(0.2), None)];
        let newest = merge(candidates, Weights::default(), Scale::Theoretical);
        assert_eq!(order(&newest), [9, 4], "of equals the newer comes first");
        assert!((equal[0].score - 0.7).abs() < 1e-12);
    }

    #[test]
    fn a_side_that_found_nothing_adds_nothing() {
        let ranked = merge(
            vec![candidate(1, Some(0.5), Some(0.0)), candidate(2, Some(0.4), Some(0.0))],
            Weights::default(),
            Scale::Pool,
        );
        assert!((ranked[0].score - 0.7).abs() < 1e-12);
        assert_eq!(ranked[1].score, 0.0);
    }

    #[test]
    fn a_candidate_without_a_vector_is_ranked_by_its_words() {
        let unrelated = [candidate(1, Some(0.099), Some(0.0)), candidate(2, Some(0.05), Some(0.1))];
        let waiting = candidate(3, None, Some(7.0));
        let ranked = merge([&unrelated[..], &[waiting]].concat(), Weights::default(), Scale::Pool);
        assert_eq!((order(&ranked)[0], ranked[0].score), (3, 1.0));
        // From the theoretical minimum, as one whose cosine is the share of the best that it has of the words.
        let waiting = |share| Candidate { share: Some(share), ..candidate(3, None, Some(7.0)) };
        let first = |share| {
            let all = [&unrelated[..], &[waiting(share)]].concat();
            order(&merge(all, Weights::default(), Scale::Theoretical))[0]
        };
        assert_eq!((first(0.8), first(0.05)), (3, 1));
        // If it is singled out, by its words beside the best.
        let code = Candidate { is_singled_out: true, share: Some(0.6), ..candidate(3, None, Some(7.0)) };
        let like = Candidate { share: Some(0.4), ..candidate(1, Some(0.54), Some(4.5)) };
        let waits =
            |code: Candidate| order(&merge(vec![like.clone(), code], Weights::default(), Scale::Theoretical))[0];
        assert_eq!((waits(code.clone()), waits(Candidate { is_singled_out: false, ..code })), (3, 1));
        let near = [candidate(1, Some(0.6), Some(6.0)), waiting(0.1)].to_vec();
        assert_eq!(order(&merge(near, Weights::default(), Scale::Theoretical))[0], 1);
    }

    #[test]
    fn partial_words_rank_above_far_and_below_near_candidates() {
        let part = Candidate {
            share: Some(0.3),
            found_by: vec![MatchSource::Vector, MatchSource::Part],
            ..candidate(3, Some(0.0), Some(2.0))
        };
        let first = |cosine, other: Candidate| {
            let far = Candidate { share: Some(0.0), ..candidate(1, Some(cosine), Some(0.0)) };
            order(&merge(vec![far, other], Weights::default(), Scale::Theoretical))[0]
        };
        assert_eq!((first(0.28, part.clone()), first(0.6, part.clone())), (3, 1));
        let word = Candidate { share: Some(1.0), ..candidate(2, Some(0.1), Some(7.0)) };
        assert_eq!(order(&merge(vec![part, word], Weights::default(), Scale::Theoretical)), [2, 3]);
    }

    /// Two common words of a short question are together in some text of many.
    #[test]
    fn words_that_some_text_has_by_chance_say_little() {
        let first = |share: f64, information: f64, rarest: f64| {
            let having = |share, rarest, candidate| Candidate {
                share: Some(share),
                information,
                rarest: Some(rarest),
                ..candidate
            };
            let wordy = having(share, rarest, candidate(1, Some(0.5), Some(5.0)));
            let near = having(0.0, 0.0, candidate(2, Some(0.6), Some(0.0)));
            let ranked = merge(vec![wordy, near], Weights::default(), Scale::Theoretical);
            (order(&ranked)[0], ranked.iter().map(|ranked| ranked.parts.keyword).fold(0.0, f64::max))
        };
        assert_eq!(first(0.5, 1.0, 0.3), (2, 0.3 * 0.5 * 0.5f64.powi(4)), "half of words that say little");
        assert_eq!(first(0.5, 2.0, 0.3), (1, 0.3 * 0.5), "half of words that say much");
        assert_eq!(first(0.5, 1.0, 1.0), (1, 0.3 * 0.5), "half of them, with a rare one");
        assert_eq!(first(1.0, 1.0, 0.3), (1, 0.3), "all of them, however little they say");
    }

    /// The nearest of candidates that are all far from the query does not push away the one that has its words.
    #[test]
    fn from_the_theoretical_minimum_noise_is_not_stretched() {
        let sharing = |share: f64, id, vector, keyword| Candidate {
            share: Some(share),
            ..candidate(id, Some(vector), Some(keyword))
        };
        let far = (2..50).map(|id| sharing(0.0, id, 0.10 + 0.002 * id as f64, 0.0));
        let candidates: Vec<_> = far.clone().chain([sharing(0.9, 1, 0.09, 5.0)]).collect();
        let pool = merge(candidates.clone(), Weights::default(), Scale::Pool);
        assert_eq!(order(&pool)[0], 49);
        let theoretical = merge(candidates, Weights::default(), Scale::Theoretical);
        assert_eq!(order(&theoretical)[0], 1);
        assert!((theoretical[0].score - (0.7 * 1.09 / 1.198 + 0.3)).abs() < 1e-9, "{}", theoretical[0].score);
        // Half of the query counts as that, and more than half by twice what is above it.
        for (share, weight) in [(0.3, 0.3), (0.5, 0.5), (0.6, 0.7), (0.75, 1.0)] {
            let candidates: Vec<_> = far.clone().chain([sharing(share, 1, 0.09, 5.0)]).collect();
            let ranked = merge(candidates, Weights::default(), Scale::Theoretical);
            let words = ranked.iter().map(|ranked| ranked.parts.keyword).fold(0.0, f64::max);
            assert!((words - 0.3 * weight).abs() < 1e-9, "{share}: {words}");
        }
        // A best match that has next to nothing of the query says next to nothing.
        let candidates: Vec<_> = far.chain([sharing(0.05, 1, 0.0, 5.0)]).collect();
        assert_eq!(order(&merge(candidates, Weights::default(), Scale::Theoretical))[0], 49);
    }

    /// Relevance: the higher of its own and its session's.
    #[test]
    fn a_session_candidate_needs_the_minimum_cosine() {
        let in_thread = InThread { cosine: Some(0.4), words: 5.0, share: 0.8, lost: 0.0, lenders: vec![7.into()] };
        let brought = |vector| Candidate {
            found_by: Vec::new(),
            in_thread: Some(in_thread.clone()),
            ..candidate(1, vector, Some(0.0))
        };
        assert!(brought(Some(0.5)).is_found_above(0.5) && brought(Some(-1.0)).is_found_above(-1.0));
        assert!(!brought(Some(0.5)).is_found_above(0.6) && !brought(None).is_found_above(-1.0));
        assert_eq!(brought(Some(0.3)).relevance(), relevance(Some(0.4), Some(0.8)));
        assert_eq!(brought(Some(0.9)).relevance(), relevance(Some(0.9), Some(0.8)));
        assert_eq!(brought(None).relevance(), relevance(None, Some(0.8)));
    }

    #[test]
    fn an_exact_keyword_match_ranks_above_similar_vectors() {
        let like = (2..40).map(|id| Candidate { share: Some(0.1), ..candidate(id, Some(0.9), Some(1.0)) });
        let far = |is_singled_out, share| Candidate {
            is_singled_out,
            share: Some(share),
            ..candidate(1, Some(0.0), Some(9.0))
        };
        let first =
            |one: Candidate, weights, scale| order(&merge(like.clone().chain([one]).collect(), weights, scale))[0];
        let (both, theoretical) = (Weights::default(), Scale::Theoretical);
        assert_eq!(first(far(true, 0.9), both, theoretical), 1);
        assert_eq!(first(far(false, 0.9), both, theoretical), 39);
        assert_eq!(first(far(true, 0.5), both, theoretical), 39, "half of the words is no proof");
        assert_eq!(first(far(true, 0.9), both, Scale::Pool), 2);
        assert_eq!(first(far(true, 0.9), Weights { vector: 1.0, keyword: 0.0 }, theoretical), 39);
    }

    #[test]
    fn the_period_of_a_query_lifts_its_records_and_excludes_none() {
        let candidates: Vec<_> = (1..=4).map(|id| candidate(id, Some(1.0 - 0.1 * id as f64), Some(0.0))).collect();
        let scored = |in_period: &dyn Fn(i64) -> Option<bool>| {
            let candidates = candidates.iter().cloned();
            let candidates =
                candidates.map(|one| Candidate { in_period: in_period(one.id.get()), ..one }).collect::<Vec<_>>();
            merge(candidates, Weights::default(), Scale::Theoretical)
        };
        assert_eq!(order(&scored(&|_| None)), [1, 2, 3, 4]);
        let lifted = scored(&|id| Some(id == 3));
        assert_eq!(order(&lifted), [3, 1, 2, 4]);
        assert!(lifted.iter().all(|ranked| ranked.score <= 1.0));
        assert_eq!(order(&scored(&|id| Some(id == 4))), [1, 4, 2, 3], "what is better by more stays first");
        let (none, others) = (scored(&|_| None), scored(&|_| Some(false)));
        assert_eq!(order(&others), [1, 2, 3, 4]);
        assert!(others.iter().zip(&none).all(|(other, none)| other.reaches(none.score)));
    }

    #[test]
    fn no_candidates_no_results() {
        assert!(merge(Vec::new(), Weights::default(), Scale::Pool).is_empty());
    }

    fn scales() -> impl Strategy<Value = Scale> {
        prop::sample::select(vec![Scale::Theoretical, Scale::Pool])
    }

    /// The ids of the candidates that reach the threshold.
    fn kept(candidates: Vec<Candidate>, least: f64) -> Vec<i64> {
        kept_by(candidates, least, Scale::Pool)
    }

    fn kept_by(candidates: Vec<Candidate>, least: f64, scale: Scale) -> Vec<i64> {
        let ranked = merge(candidates, Weights::default(), scale);
        ranked.iter().filter(|ranked| ranked.reaches(least)).map(|ranked| ranked.candidate.id.get()).collect()
    }

    #[test]
    fn the_parts_of_a_score_add_up_to_it() {
        let exact = Candidate { is_singled_out: true, ..candidate(1, Some(-0.9), Some(9.0)) };
        let waiting = Candidate { vector: None, ..candidate(4, None, Some(3.0)) };
        let all = vec![exact, candidate(2, Some(0.9), Some(0.0)), candidate(3, Some(0.1), Some(2.0)), waiting];
        for scale in [Scale::Theoretical, Scale::Pool] {
            for ranked in merge(all.clone(), Weights::default(), scale) {
                let sum = ranked.parts.vector + ranked.parts.keyword;
                assert!((sum - ranked.score).abs() < 1e-12, "{scale:?} {ranked:?}");
            }
        }
        let ranked = merge(all, Weights::default(), Scale::Theoretical);
        let exact = ranked.iter().find(|ranked| ranked.candidate.id == 1.into()).unwrap();
        assert_eq!(exact.parts.vector, 0.0, "by its words alone");
    }

    #[test]
    fn a_threshold_above_the_weight_of_words_drops_no_exact_hit() {
        let others = [candidate(2, Some(0.9), Some(0.0)), candidate(3, Some(0.1), Some(2.0))];
        for found_by in [vec![MatchSource::Keyword], vec![MatchSource::Vector, MatchSource::Keyword]] {
            let exact = Candidate {
                id: 1.into(),
                vector: Some(0.0),
                similarity: Some(0.0),
                passage: 0,
                keyword: Some(9.0),
                found_by,
                vector_rank: None,
                keyword_rank: None,
                is_singled_out: true,
                share: None,
                information: CERTAIN,
                rarest: None,
                in_thread: None,
                in_period: None,
            };
            let all = [vec![exact.clone()], others.to_vec()].concat();
            assert_eq!(kept(all.clone(), 0.35), [2, 1], "{exact:?}");
            assert_eq!(kept(all, 1.0), [1], "{exact:?}");
        }
        let shared = [candidate(1, Some(0.0), Some(9.0)), candidate(4, Some(0.0), Some(9.0))];
        assert_eq!(kept([shared, others].concat(), 0.35), [2], "a word that many have is not an exact hit");
    }

    proptest! {
        #[test]
        fn scores_stay_within_bounds_and_order_is_total(
            raw in prop::collection::vec((prop::option::of(-1.0f64..1.0), prop::option::of(0.0f64..50.0)), 1..60),
            scale in scales(),
        ) {
            let candidates: Vec<_> =
                raw.iter().enumerate().map(|(id, (v, k))| candidate(id as i64, *v, *k)).collect();
            let ranked = merge(candidates.clone(), Weights::default(), scale);
            prop_assert_eq!(ranked.len(), candidates.len());
            prop_assert!(ranked.iter().all(|r| (0.0..=1.0 + 1e-12).contains(&r.score)));
            prop_assert!(ranked.windows(2).all(|pair| pair[0].score > pair[1].score
                || (pair[0].score == pair[1].score
                    && (pair[0].candidate.id > pair[1].candidate.id) == (scale == Scale::Theoretical))));
            let mut reversed = candidates;
            reversed.reverse();
            prop_assert_eq!(order(&ranked), order(&merge(reversed, Weights::default(), scale)));
        }

        /// Unrelated memories contain none of the words, and have any cosine.
        #[test]
        fn unrelated_candidates_never_drop_the_exact_hit(
            exact in (-1.0f64..1.0, 0.1f64..50.0),
            alike in prop::collection::vec((-1.0f64..1.0, 0.0f64..1.0), 0..20),
            unrelated in prop::collection::vec(-1.0f64..1.0, 0..60),
            least in 0.0f64..1.0,
            is_found_by_meaning in any::<bool>(),
            scale in scales(),
        ) {
            let (cosine, words) = exact;
            let mut exact = Candidate { is_singled_out: true, ..candidate(1, Some(cosine), Some(words)) };
            if !is_found_by_meaning {
                exact.found_by = vec![MatchSource::Keyword];
            }
            let others = alike.iter().map(|(vector, share)| (*vector, share * words));
            let others = others.chain(unrelated.iter().map(|vector| (*vector, 0.0)));
            let others = others.zip(2..).map(|((vector, words), id)| candidate(id, Some(vector), Some(words)));
            prop_assert!(kept_by(others.chain([exact]).collect(), least, scale).contains(&1));
        }

        #[test]
        fn better_on_both_sides_is_never_ranked_below(
            raw in prop::collection::vec((0.0f64..1.0, 0.1f64..50.0), 2..40),
            scale in scales(),
        ) {
            let candidates: Vec<_> =
                raw.iter().enumerate().map(|(id, (v, k))| candidate(id as i64, Some(*v), Some(*k))).collect();
            let ranked = merge(candidates, Weights::default(), scale);
            for (at, upper) in ranked.iter().enumerate() {
                for lower in &ranked[at + 1..] {
                    let dominated = lower.candidate.vector > upper.candidate.vector
                        && lower.candidate.keyword > upper.candidate.keyword;
                    prop_assert!(!dominated);
                }
            }
        }
    }
}
