//! Scores and their order.

use proptest::prelude::*;

use super::*;

/// The highest BM25 of a candidate here: its share of the query is 1.
const HIGHEST_BM25: f64 = 50.0;

/// A candidate that each index found in which it has a score. A BM25 of 0 is no keyword match.
fn candidate(id: i64, cosine: Option<f64>, bm25: Option<f64>) -> Candidate {
    let mut found_by = Vec::new();
    if cosine.is_some() {
        found_by.push(MatchSource::Vector);
    }
    if bm25.is_some_and(|score| score > 0.0) {
        found_by.push(MatchSource::Keyword);
    }
    let share = bm25.map(|score| (score / HIGHEST_BM25).min(1.0));
    Candidate {
        rarest: None,
        id: id.into(),
        cosine,
        similarity: cosine,
        passage: 0,
        bm25,
        found_by,
        vector_rank: None,
        keyword_rank: None,
        is_singled_out: false,
        share,
        information_ratio: NO_CHANCE,
        in_session: None,
        in_period: None,
    }
}

fn order(ranked: &[Ranked]) -> Vec<i64> {
    ranked.iter().map(|ranked| ranked.candidate.id.get()).collect()
}

/// Rows Q3 and Q6 of the specification.
#[test]
fn the_weights_decide_between_meaning_and_words() {
    let candidates = vec![candidate(1, Some(0.9), Some(0.0)), candidate(2, Some(0.1), Some(7.0))];
    let default = merge(candidates.clone(), Weights::default(), Scale::Pool);
    assert_eq!(order(&default), [1, 2]);
    assert!((default[0].score - 0.7).abs() < 1e-12 && (default[1].score - 0.3).abs() < 1e-12);
    let words = merge(candidates, Weights { vector: 0.3, keyword: 0.7 }, Scale::Pool);
    assert_eq!(order(&words), [2, 1]);
}

/// Rows Q4 and Q5 of the specification.
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
    // With `Scale::Theoretical` its similarity counts as its share times the highest similarity.
    let waiting = |share| Candidate { share: Some(share), ..candidate(3, None, Some(7.0)) };
    let first = |share| {
        let all = [&unrelated[..], &[waiting(share)]].concat();
        order(&merge(all, Weights::default(), Scale::Theoretical))[0]
    };
    assert_eq!((first(0.8), first(0.05)), (3, 1));
    // If it is singled out, its BM25 relative to the highest one replaces its share if that is more: 1.0 here, not 0.6.
    let code = Candidate { is_singled_out: true, share: Some(0.6), ..candidate(3, None, Some(7.0)) };
    let like = Candidate { share: Some(0.4), ..candidate(1, Some(0.54), Some(4.5)) };
    let waits = |code: Candidate| order(&merge(vec![like.clone(), code], Weights::default(), Scale::Theoretical))[0];
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

/// In a large store, some text has both common words of a short query by chance, so they count little.
#[test]
fn words_that_some_text_has_by_chance_say_little() {
    let first = |share: f64, information_ratio: f64, rarest: f64| {
        let with = |share, rarest, candidate| Candidate {
            share: Some(share),
            information_ratio,
            rarest: Some(rarest),
            ..candidate
        };
        let wordy = with(share, rarest, candidate(1, Some(0.5), Some(5.0)));
        let near = with(0.0, 0.0, candidate(2, Some(0.6), Some(0.0)));
        let ranked = merge(vec![wordy, near], Weights::default(), Scale::Theoretical);
        (order(&ranked)[0], ranked.iter().map(|ranked| ranked.parts.keyword).fold(0.0, f64::max))
    };
    assert_eq!(first(0.5, 1.0, 0.3), (2, 0.3 * 0.5 * 0.5f64.powi(4)), "half of words that say little");
    assert_eq!(first(0.5, 2.0, 0.3), (1, 0.3 * 0.5), "half of words that say much");
    assert_eq!(first(0.5, 1.0, 1.0), (1, 0.3 * 0.5), "half of them, with a rare one");
    assert_eq!(first(1.0, 1.0, 0.3), (1, 0.3), "all of them, however little they say");
}

/// The most similar of many unrelated candidates does not outrank the one that has the words of the query.
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
    // Evidence above one half counts twice.
    for (share, weight) in [(0.3, 0.3), (0.5, 0.5), (0.6, 0.7), (0.75, 1.0)] {
        let candidates: Vec<_> = far.clone().chain([sharing(share, 1, 0.09, 5.0)]).collect();
        let ranked = merge(candidates, Weights::default(), Scale::Theoretical);
        let words = ranked.iter().map(|ranked| ranked.parts.keyword).fold(0.0, f64::max);
        assert!((words - 0.3 * weight).abs() < 1e-9, "{share}: {words}");
    }
    // The highest BM25 says little if its candidate has few words of the query.
    let candidates: Vec<_> = far.chain([sharing(0.05, 1, 0.0, 5.0)]).collect();
    assert_eq!(order(&merge(candidates, Weights::default(), Scale::Theoretical))[0], 49);
}

/// A candidate that no index found, but whose neighbor one did.
fn neighbor_of_a_hit(cosine: Option<f64>) -> Candidate {
    let in_session =
        InSession { cosine: None, similarity: Some(0.4), bm25: 5.0, share: 0.8, penalty: 0.0, lenders: vec![7.into()] };
    Candidate { found_by: Vec::new(), in_session: Some(in_session), ..candidate(1, cosine, Some(0.0)) }
}

#[test]
fn a_neighbor_of_a_hit_needs_the_minimum_cosine() {
    let remains = |cosine, min_cosine| neighbor_of_a_hit(cosine).drop_far_vector_match(min_cosine);
    assert!(remains(Some(0.5), 0.5) && remains(Some(-1.0), -1.0));
    assert!(!remains(Some(0.5), 0.6) && !remains(None, -1.0));
}

#[test]
fn relevance_takes_the_higher_of_its_own_and_its_neighbors() {
    let is = |cosine| neighbor_of_a_hit(cosine).relevance();
    assert_eq!(is(Some(0.3)), relevance(Some(0.4), Some(0.8)));
    assert_eq!(is(Some(0.9)), relevance(Some(0.9), Some(0.8)));
    assert_eq!(is(None), relevance(None, Some(0.8)));
}

#[test]
fn an_exact_keyword_match_ranks_above_similar_vectors() {
    let like = (2..40).map(|id| Candidate { share: Some(0.1), ..candidate(id, Some(0.9), Some(1.0)) });
    let far =
        |is_singled_out, share| Candidate { is_singled_out, share: Some(share), ..candidate(1, Some(0.0), Some(9.0)) };
    let first = |one: Candidate, weights, scale| order(&merge(like.clone().chain([one]).collect(), weights, scale))[0];
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

/// The ids of the candidates that pass the minimum score.
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
    let waiting = candidate(4, None, Some(3.0));
    let all = vec![exact, candidate(2, Some(0.9), Some(0.0)), candidate(3, Some(0.1), Some(2.0)), waiting];
    for scale in [Scale::Theoretical, Scale::Pool] {
        for ranked in merge(all.clone(), Weights::default(), scale) {
            let sum = ranked.parts.vector + ranked.parts.keyword;
            assert!((sum - ranked.score).abs() < 1e-12, "{scale:?} {ranked:?}");
        }
    }
    let ranked = merge(all, Weights::default(), Scale::Theoretical);
    let exact = ranked.iter().find(|ranked| ranked.candidate.id == 1.into()).unwrap();
    assert_eq!(exact.parts.vector, 0.0, "its keyword score alone");
}

#[test]
fn a_threshold_above_the_weight_of_words_drops_no_exact_hit() {
    let others = [candidate(2, Some(0.9), Some(0.0)), candidate(3, Some(0.1), Some(2.0))];
    for found_by in [vec![MatchSource::Keyword], vec![MatchSource::Vector, MatchSource::Keyword]] {
        let exact = Candidate {
            id: 1.into(),
            cosine: Some(0.0),
            similarity: Some(0.0),
            passage: 0,
            bm25: Some(9.0),
            found_by,
            vector_rank: None,
            keyword_rank: None,
            is_singled_out: true,
            share: None,
            information_ratio: NO_CHANCE,
            rarest: None,
            in_session: None,
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
                let dominated = lower.candidate.cosine > upper.candidate.cosine
                    && lower.candidate.bm25 > upper.candidate.bm25;
                prop_assert!(!dominated);
            }
        }
    }
}
