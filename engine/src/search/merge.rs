//! Scores and ranks the candidates of both indexes, which `candidates.rs` has united. A pure function: no I/O, no clock, no index.
//!
//! The scores of each index are scaled to 0..1 over all candidates (min-max), then weighted and added. A candidate that
//! only one index found comes with its exact score in the other, filled in by the caller: counting it as 0 finds less
//! than keywords alone. For one that has no vector yet, its words count for both.

use crate::types::{MatchSource, RecordId, Weights};

/// A record that at least one index found, with its raw score in each.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The record.
    pub id: RecordId,
    /// Its cosine; `None` if it has no vector or the query has none.
    pub vector: Option<f64>,
    /// Its BM25; `None` if the keyword index was not searched.
    pub keyword: Option<f64>,
    /// The indexes that found it.
    pub found_by: Vec<MatchSource>,
    /// Whether the words of the query single it out; only set if a threshold needs it.
    pub is_singled_out: bool,
}

impl Candidate {
    /// Removes the vector match if its cosine is below `least`. Returns whether a match is left.
    pub fn is_found_above(&mut self, least: f64) -> bool {
        if self.vector.is_none_or(|cosine| cosine < least) {
            self.found_by.retain(|source| *source != MatchSource::Vector);
        }
        !self.found_by.is_empty()
    }
}

/// A candidate with its merged score.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The candidate.
    pub candidate: Candidate,
    /// 0 to 1.
    pub score: f64,
    /// Its keyword score as a share of the best one, if the words of the query single it out; else 0.
    by_words: f64,
}

impl Ranked {
    /// Whether it reaches a minimum merged score. A record that words single out may reach it by its keyword score
    /// alone: the keyword weight bounds its merged score, however exact the match is. The candidates of the vector
    /// index do not matter for that, so that an exact match in a small store is one in a large store, too.
    pub fn reaches(&self, least: f64) -> bool {
        self.score >= least || self.by_words >= least
    }
}

/// Ranks the candidates: best first, ties by id. An index without candidates adds nothing. If all scores of an index
/// are equal (or it has only one), each of them becomes 1.
pub fn merge(candidates: Vec<Candidate>, weights: Weights) -> Vec<Ranked> {
    let vector = Scale::of(&candidates, MatchSource::Vector, |candidate| candidate.vector);
    let keyword = Scale::of(&candidates, MatchSource::Keyword, |candidate| candidate.keyword);
    let best = candidates.iter().filter_map(|candidate| candidate.keyword).fold(0.0, f64::max);
    let mut ranked: Vec<Ranked> = candidates
        .into_iter()
        .map(|candidate| {
            let by_keyword = keyword.apply(candidate.keyword);
            // One that waits for its embedding is judged by its words alone.
            let by_vector = if candidate.vector.is_some() { vector.apply(candidate.vector) } else { by_keyword };
            let score = weights.vector * by_vector + weights.keyword * by_keyword;
            let exact = candidate.keyword.filter(|score| candidate.is_singled_out && *score > 0.0);
            let by_words = exact.map_or(0.0, |score| score / best);
            Ranked { candidate, score, by_words }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.candidate.id.cmp(&b.candidate.id)));
    ranked
}

/// The min-max scale of one index.
#[derive(Debug, Clone, Copy)]
enum Scale {
    /// It found nothing.
    Silent,
    /// All scores are the same.
    Flat,
    Range {
        least: f64,
        most: f64,
    },
}

impl Scale {
    fn of(candidates: &[Candidate], source: MatchSource, score: impl Fn(&Candidate) -> Option<f64>) -> Self {
        if !candidates.iter().any(|candidate| candidate.found_by.contains(&source)) {
            return Scale::Silent;
        }
        let (least, most) = candidates
            .iter()
            .filter_map(score)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), score| (least.min(score), most.max(score)));
        if most > least { Scale::Range { least, most } } else { Scale::Flat }
    }

    fn apply(self, score: Option<f64>) -> f64 {
        match (self, score) {
            (_, None) | (Scale::Silent, _) => 0.0,
            (Scale::Flat, Some(_)) => 1.0,
            (Scale::Range { least, most }, Some(score)) => (score - least) / (most - least),
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
        Candidate { id: id.into(), vector, keyword, found_by, is_singled_out: false }
    }

    fn order(ranked: &[Ranked]) -> Vec<i64> {
        ranked.iter().map(|ranked| ranked.candidate.id.get()).collect()
    }

    /// Q3, Q6.
    #[test]
    fn the_weights_decide_between_meaning_and_words() {
        let candidates = vec![candidate(1, Some(0.9), Some(0.0)), candidate(2, Some(0.1), Some(7.0))];
        let default = merge(candidates.clone(), Weights::default());
        assert_eq!(order(&default), [1, 2]);
        assert!((default[0].score - 0.7).abs() < 1e-12 && (default[1].score - 0.3).abs() < 1e-12);
        let words = merge(candidates, Weights { vector: 0.3, keyword: 0.7 });
        assert_eq!(order(&words), [2, 1]);
    }

    /// Q4, Q5.
    #[test]
    fn a_lone_candidate_and_equal_scores_count_as_one() {
        assert_eq!(merge(vec![candidate(5, Some(0.2), Some(3.0))], Weights::default())[0].score, 1.0);
        let equal = merge(vec![candidate(9, Some(0.2), None), candidate(4, Some(0.2), None)], Weights::default());
        assert_eq!(order(&equal), [4, 9], "ties go by id");
        assert!((equal[0].score - 0.7).abs() < 1e-12);
    }

    #[test]
    fn a_side_that_found_nothing_adds_nothing() {
        let ranked =
            merge(vec![candidate(1, Some(0.5), Some(0.0)), candidate(2, Some(0.4), Some(0.0))], Weights::default());
        assert!((ranked[0].score - 0.7).abs() < 1e-12);
        assert_eq!(ranked[1].score, 0.0);
    }

    #[test]
    fn one_without_a_vector_is_judged_by_its_words() {
        let unrelated = [candidate(1, Some(0.099), Some(0.0)), candidate(2, Some(0.05), Some(0.1))];
        let waiting = candidate(3, None, Some(7.0));
        let ranked = merge([&unrelated[..], &[waiting]].concat(), Weights::default());
        assert_eq!((order(&ranked)[0], ranked[0].score), (3, 1.0));
    }

    #[test]
    fn no_candidates_no_results() {
        assert!(merge(Vec::new(), Weights::default()).is_empty());
    }

    /// What reaches the threshold, by id.
    fn kept(candidates: Vec<Candidate>, least: f64) -> Vec<i64> {
        let ranked = merge(candidates, Weights::default());
        ranked.iter().filter(|ranked| ranked.reaches(least)).map(|ranked| ranked.candidate.id.get()).collect()
    }

    #[test]
    fn a_threshold_above_the_weight_of_words_drops_no_exact_hit() {
        let others = [candidate(2, Some(0.9), Some(0.0)), candidate(3, Some(0.1), Some(2.0))];
        for found_by in [vec![MatchSource::Keyword], vec![MatchSource::Vector, MatchSource::Keyword]] {
            let exact =
                Candidate { id: 1.into(), vector: Some(0.0), keyword: Some(9.0), found_by, is_singled_out: true };
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
            raw in prop::collection::vec((prop::option::of(-1.0f64..1.0), prop::option::of(0.0f64..50.0)), 1..60)
        ) {
            let candidates: Vec<_> =
                raw.iter().enumerate().map(|(id, (v, k))| candidate(id as i64, *v, *k)).collect();
            let ranked = merge(candidates.clone(), Weights::default());
            prop_assert_eq!(ranked.len(), candidates.len());
            prop_assert!(ranked.iter().all(|r| (0.0..=1.0 + 1e-12).contains(&r.score)));
            prop_assert!(ranked.windows(2).all(|pair| pair[0].score > pair[1].score
                || (pair[0].score == pair[1].score && pair[0].candidate.id < pair[1].candidate.id)));
            let mut reversed = candidates;
            reversed.reverse();
            prop_assert_eq!(order(&ranked), order(&merge(reversed, Weights::default())));
        }

        /// Unrelated memories contain none of the words, and have any cosine.
        #[test]
        fn unrelated_candidates_never_change_whether_the_exact_hit_is_kept(
            exact in (-1.0f64..1.0, 0.1f64..50.0),
            alike in prop::collection::vec((-1.0f64..1.0, 0.0f64..1.0), 0..20),
            unrelated in prop::collection::vec(-1.0f64..1.0, 0..60),
            least in 0.0f64..1.0,
            is_found_by_meaning in any::<bool>(),
        ) {
            let (cosine, words) = exact;
            let mut exact = Candidate { is_singled_out: true, ..candidate(1, Some(cosine), Some(words)) };
            if !is_found_by_meaning {
                exact.found_by = vec![MatchSource::Keyword];
            }
            let others = alike.iter().map(|(vector, share)| (*vector, share * words));
            let others = others.chain(unrelated.iter().map(|vector| (*vector, 0.0)));
            let others = others.zip(2..).map(|((vector, words), id)| candidate(id, Some(vector), Some(words)));
            prop_assert!(kept(others.chain([exact]).collect(), least).contains(&1));
        }

        #[test]
        fn better_on_both_sides_is_never_ranked_below(
            raw in prop::collection::vec((0.0f64..1.0, 0.1f64..50.0), 2..40)
        ) {
            let candidates: Vec<_> =
                raw.iter().enumerate().map(|(id, (v, k))| candidate(id as i64, Some(*v), Some(*k))).collect();
            let ranked = merge(candidates, Weights::default());
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
