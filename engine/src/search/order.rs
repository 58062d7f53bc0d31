//! The order in which results are shown, where their scores do not say it all: of two that say nearly the same, the newer comes
//! first; and a result that stands above one of more relevance says why.

use std::collections::BTreeSet;

use super::merge::Ranked;
use crate::overlap;
use crate::types::{Hit, Placed};

/// Results are put in order within so many places, from the first one on, whatever the page: so pages belong to one order.
const PLACES: usize = 10;
/// Two results are equally relevant if neither their relevance nor their score is further apart.
const APART: f64 = 0.05;
/// Scores that are nearer than this are the same.
const SAME: f64 = 1e-9;
/// Words in the order of the query score more by this factor: less is the length of the text.
const IN_ORDER: f64 = 1.04;
/// Bytes at the beginning of a text that are compared.
const COMPARED_BYTES: usize = 1 << 10;
/// The share of the words of the shorter text that both have, stop words too, if they say nearly the same: "deploys go out on
/// Tuesdays", "deploys go out on Thursdays".
const ALIKE: f64 = 0.7;

/// How many results have to be there to put those of a page in order that ends at `end`.
pub fn needed(end: usize) -> usize {
    end.next_multiple_of(PLACES)
}

/// Puts the newer of two results first that are equally relevant and say nearly the same, unless the older one has a word of the
/// query that the newer one lacks, or has them in its order.
pub fn put_newer_first(hits: &mut [Hit]) {
    for places in hits.chunks_mut(PLACES) {
        for last in 1..places.len() {
            for at in (1..=last).rev() {
                let [older, newer] = &mut places[at - 1..=at] else { break };
                if !is_outdone(older, newer) {
                    break;
                }
                // The order stays that of the scores.
                older.score = older.score.min(newer.score);
                places.swap(at - 1, at);
            }
        }
    }
}

/// Whether a result belongs below the next one.
fn is_outdone(one: &Hit, next: &Hit) -> bool {
    let when = |hit: &Hit| (hit.record.updated_at, hit.record.id);
    if when(next) <= when(one) {
        return false;
    }
    let apart = |a: f64, b: f64| (a - b).abs();
    let is_saved = |hit: &Hit| !hit.record.kind.is_read() && hit.record.session.is_none();
    apart(one.score, next.score) < SAME
        || apart(one.score, next.score).max(apart(one.relevance, next.relevance)) < APART
            && is_saved(one)
            && is_saved(next)
            && !has_more_of_query(one, next)
            && are_alike(&one.record.content, &next.record.content)
}

/// Whether a result has a word of the query that the next one lacks, or has them in the order of the query where that has not.
fn has_more_of_query(one: &Hit, next: &Hit) -> bool {
    let more = |of: fn(&Hit) -> Option<f64>, factor: f64| {
        of(one).unwrap_or_default() > factor * of(next).unwrap_or_default() + SAME
    };
    more(|hit| hit.word_share, 1.0) || more(|hit| hit.keyword_score, IN_ORDER)
}

fn are_alike(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| text[..text.floor_char_boundary(COMPARED_BYTES)].to_lowercase());
    let [one, other] = [&one, &other].map(|text| {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<BTreeSet<_>>()
    });
    overlap::coefficient(&one, &other).is_some_and(|share| share >= ALIKE)
}

/// The reason, beside its relevance, for the place of a result, if there is one.
pub fn placed(ranked: &Ranked) -> Option<Placed> {
    let reasons = [
        (ranked.is_exact(), Placed::Exact),
        (ranked.candidate.in_period == Some(true), Placed::Period),
        (ranked.candidate.in_session.is_some(), Placed::Session),
    ];
    reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
}

/// Leaves the reasons with those results alone whose place differs from their relevance.
pub fn explain(hits: &mut [Hit]) {
    // For each the most relevant one below it, if that is more relevant by more than a little.
    let mut best_below: Option<usize> = None;
    let mut outdone_by = vec![None; hits.len()];
    for (at, hit) in hits.iter().enumerate().rev() {
        outdone_by[at] = best_below.filter(|below| hits[*below].relevance > hit.relevance + APART);
        best_below = best_below.filter(|below| hits[*below].relevance >= hit.relevance).or(Some(at));
    }
    let mut least_above = f64::INFINITY;
    for (at, outdone_by) in outdone_by.into_iter().enumerate() {
        let hit = &hits[at];
        let outdoes = least_above + APART < hit.relevance;
        least_above = least_above.min(hit.relevance);
        let placed = hit.placed.filter(|placed| match placed {
            Placed::Exact | Placed::Period => outdone_by.is_some(),
            Placed::Superseded | Placed::Kept => outdoes,
            _ => outdone_by.is_some() || outdoes,
        });
        // What is below it may have a reason of its own.
        let is_lowered = |hit: &Hit| {
            matches!(hit.placed, Some(Placed::Superseded | Placed::Kept | Placed::Session | Placed::Reranked))
        };
        let by_sides = outdone_by.map(|below| &hits[below]).filter(|below| !is_lowered(below));
        let by_sides = by_sides.map(|below| match hit.parts.vector > below.parts.vector {
            true => Placed::Meaning,
            false => Placed::Words,
        });
        hits[at].placed = placed.or(by_sides);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keywords::tests::record;
    use crate::types::Kind;

    /// A result that was saved at the moment of its id.
    fn hit(id: i64, content: &str, score: f64, relevance: f64) -> Hit {
        let mut record = record(id, content);
        (record.created_at, record.updated_at) = (id, id);
        Hit { score, relevance, ..super::super::unscored(record) }
    }

    fn ids(hits: &[Hit]) -> Vec<i64> {
        hits.iter().map(|hit| hit.record.id.get()).collect()
    }

    fn newest_first(mut hits: Vec<Hit>) -> Vec<i64> {
        put_newer_first(&mut hits);
        assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "the order of the scores");
        ids(&hits)
    }

    #[test]
    fn the_newer_of_two_near_duplicates_comes_first() {
        let days = |relevance: f64| {
            vec![
                hit(1, "Deploys go out on Tuesdays", 0.9, 0.8),
                hit(2, "Deploys go out on Thursdays.", 0.88, relevance),
                hit(3, "deploys go out on Fridays", 0.87, 0.78),
            ]
        };
        assert_eq!(newest_first(days(0.78)), [3, 2, 1]);
        assert_eq!(newest_first(days(0.7)), [1, 2, 3], "the second is less relevant, and between the others");
        let others = vec![hit(1, "Deploys go out on Tuesdays", 0.9, 0.8), hit(2, "Backups run at night", 0.9, 0.8)];
        assert_eq!(newest_first(others), [2, 1], "whatever they say, if their scores are the same");
        let others = vec![hit(1, "Deploys go out on Tuesdays", 0.9, 0.8), hit(2, "Backups run at night", 0.89, 0.8)];
        assert_eq!(newest_first(others), [1, 2]);
        let of_share = |id, share| Hit {
            word_share: Some(share),
            ..hit(id, "Deploys go out on Tuesdays", 0.9 - 0.01 * id as f64, 0.8)
        };
        assert_eq!(newest_first(vec![of_share(1, 0.9), of_share(2, 0.6)]), [1, 2], "it has a word of the query more");
        assert_eq!(newest_first(vec![of_share(1, 0.9), of_share(2, 0.9)]), [2, 1]);
        let of_words = |id, score| Hit { keyword_score: Some(score), ..of_share(id, 0.9) };
        assert_eq!(newest_first(vec![of_words(1, 5.5), of_words(2, 5.0)]), [1, 2], "it has them in order");
        assert_eq!(newest_first(vec![of_words(1, 5.1), of_words(2, 5.0)]), [2, 1]);
    }

    #[test]
    fn neither_turns_nor_chunks_are_put_before_what_they_come_after() {
        let of_session = |id, score| {
            let mut hit = hit(id, "Deploys go out on Tuesdays", score, 0.8);
            hit.record.session = Some("talk".to_owned());
            hit
        };
        assert_eq!(newest_first(vec![of_session(1, 0.9), of_session(2, 0.89)]), [1, 2]);
        let chunk = |id, score| {
            let mut hit = hit(id, "Deploys go out on Tuesdays", score, 0.8);
            hit.record.kind = Kind::Chunk;
            hit
        };
        assert_eq!(newest_first(vec![chunk(1, 0.9), chunk(2, 0.89)]), [1, 2]);
    }

    #[test]
    fn pages_of_any_size_belong_to_one_order() {
        let all: Vec<Hit> = (1..=35).map(|id| hit(id, "Deploys go out on Tuesdays", 0.9, 0.8)).collect();
        let page = |offset: usize, limit: usize| {
            let most = (offset + limit + 1).max(needed(offset + limit)).min(all.len());
            let mut hits = all[..most].to_vec();
            put_newer_first(&mut hits);
            ids(&hits[offset..(offset + limit).min(most)])
        };
        for limit in [1, 3, 7, 10, 20] {
            let pages: Vec<i64> = (0..35).step_by(limit).flat_map(|offset| page(offset, limit)).collect();
            assert_eq!(pages, page(0, 35), "pages of {limit}");
        }
        assert_eq!(page(0, 1), [10]);
    }

    #[test]
    fn only_hits_ranked_against_their_relevance_have_a_reason() {
        let reasons = |shown: &[(f64, Option<Placed>)]| {
            let mut hits: Vec<Hit> = shown
                .iter()
                .map(|(relevance, placed)| Hit { placed: *placed, ..hit(1, "a memory", 0.5, *relevance) })
                .collect();
            explain(&mut hits);
            hits.iter().map(|hit| hit.placed).collect::<Vec<_>>()
        };
        let (exact, kept, session) = (Some(Placed::Exact), Some(Placed::Kept), Some(Placed::Session));
        assert_eq!(reasons(&[(0.4, exact), (0.6, exact), (0.3, exact)]), [exact, None, None]);
        assert_eq!(reasons(&[(0.58, exact), (0.6, None)]), [None, None], "hardly different");
        assert_eq!(reasons(&[(0.4, None), (0.3, kept)]), [None, None]);
        assert_eq!(reasons(&[(0.3, None), (0.4, kept)]), [None, kept]);
        assert_eq!(reasons(&[(0.3, None), (0.4, None)]), [Some(Placed::Words), None], "the sides weigh otherwise");
        assert_eq!(reasons(&[(0.3, session), (0.4, session), (0.4, session)]), [session; 3]);
    }
}
