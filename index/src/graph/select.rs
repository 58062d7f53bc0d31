//! Which candidates become neighbours.

use super::codes::Codes;
use super::ranked::Ranked;
use crate::ids::Slot;

/// A candidate lies in a direction of its own when no neighbour is nearer to it than its own distance (1 - cosine) to
/// the node divided by this. The alpha of DiskANN (Subramanya and others, NeurIPS 2019), squared.
const ALPHA: f32 = 1.1;
/// The nearest candidates that are checked for that.
const MOST_CHECKED: usize = 64;

/// Adds candidates, which are best first, up to `most`. Returns how many of all are firm.
pub(crate) fn choose(codes: &Codes<'_>, candidates: &[Ranked], most: usize, chosen: &mut Vec<Slot>) -> usize {
    select(codes, candidates, most, chosen);
    let firm = chosen.len();
    fill_up(codes, candidates, most, chosen);
    firm
}

/// Adds candidates, which are best first, up to `most`: each that is more similar to the node than to every one chosen
/// before it, so that the links point in different directions. Where that leaves fewer than half of `most`, as among
/// duplicates, the best of the others fill up to that. (Algorithm 4 of the HNSW paper.)
fn select(codes: &Codes<'_>, candidates: &[Ranked], most: usize, chosen: &mut Vec<Slot>) {
    for candidate in candidates {
        if chosen.len() == most {
            return;
        }
        let (slot, similarity) = (candidate.slot(), candidate.similarity());
        let query = codes.query(slot);
        // By rounding, one that is chosen already can be less similar to itself than to the node.
        if chosen.iter().all(|&other| other != slot && codes.similarity(query, other) < similarity) {
            chosen.push(slot);
        }
    }
    nearest(candidates, most / 2, chosen);
}

/// Adds candidates, which are best first, up to `most`: those that lie in a direction of their own, then the nearest.
/// Selection leaves many nodes a third empty; a walk estimates all neighbours of a node in one pass, full or not, so
/// near slots in the free places cost it nothing and shorten its way.
fn fill_up(codes: &Codes<'_>, candidates: &[Ranked], most: usize, chosen: &mut Vec<Slot>) {
    for candidate in candidates.iter().take(MOST_CHECKED) {
        if chosen.len() >= most {
            return;
        }
        let query = codes.query(candidate.slot());
        let reach = (1.0 - candidate.similarity()) / ALPHA;
        // One that is chosen already is as near to itself as can be.
        if chosen.iter().all(|&other| other != candidate.slot() && 1.0 - codes.similarity(query, other) > reach) {
            chosen.push(candidate.slot());
        }
    }
    nearest(candidates, most, chosen);
}

/// Adds the best that are not chosen yet, up to `most`.
fn nearest(candidates: &[Ranked], most: usize, chosen: &mut Vec<Slot>) {
    for candidate in candidates {
        if chosen.len() >= most {
            return;
        }
        if !chosen.contains(&candidate.slot()) {
            chosen.push(candidate.slot());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::quantize::{Quantized, normalise};

    /// The slot 0 lies at the angle 0, the others at these, in degrees; they come back best first.
    fn circle(angles: &[f32]) -> (Quantized, Vec<Ranked>) {
        let mut vectors = Quantized::default();
        for degrees in std::iter::once(&0.0).chain(angles) {
            let (sin, cos) = degrees.to_radians().sin_cos();
            vectors.push(&[cos, sin]);
        }
        let ranked = ranked(&Codes::of(&vectors, 2));
        (vectors, ranked)
    }

    fn ranked(codes: &Codes<'_>) -> Vec<Ranked> {
        let others = 1..codes.count() as Slot;
        let mut ranked: Vec<Ranked> =
            others.map(|slot| Ranked::new(codes.similarity(codes.query(0), slot), slot)).collect();
        ranked.sort_unstable_by(|a, b| b.cmp(a));
        ranked
    }

    fn selected(vectors: &Quantized, candidates: &[Ranked], most: usize) -> Vec<Slot> {
        let mut chosen = Vec::new();
        select(&Codes::of(vectors, 2), candidates, most, &mut chosen);
        chosen
    }

    #[test]
    fn occluded_neighbors_are_pruned() {
        let (vectors, candidates) = circle(&[20.0, -30.0, 10.0, -70.0, 170.0]);
        assert_eq!(selected(&vectors, &candidates, 4), [3, 2], "20 lies behind 10, -70 behind -30, and 170 behind 10");
        assert_eq!(selected(&vectors, &candidates, 1), [3]);
    }

    #[test]
    fn the_best_of_the_others_fill_up_to_a_half() {
        let (vectors, candidates) = circle(&[20.0, -30.0, 10.0, -70.0, 170.0]);
        assert_eq!(selected(&vectors, &candidates, 7), [3, 2, 1]);
        assert_eq!(selected(&vectors, &candidates, 9), [3, 2, 1, 4]);
        assert_eq!(selected(&vectors, &candidates, 40), [3, 2, 1, 4, 5], "there are no more");
        let (vectors, duplicates) = circle(&[40.0; 20]);
        assert_eq!(selected(&vectors, &duplicates, 8), [1, 2, 3, 4]);
        assert_eq!(selected(&vectors, &duplicates, 1), [1]);
    }

    /// Rounding may bring a neighbor nearer to the node than to itself.
    #[test]
    fn a_kept_neighbor_is_not_reselected_after_rounding() {
        let mut seen = 0;
        for step in 1..100 {
            let (vectors, candidates) = circle(&[step as f32 / 10.0]);
            let codes = Codes::of(&vectors, 2);
            seen += usize::from(codes.similarity(codes.query(1), 1) < candidates[0].similarity());
            let mut chosen = vec![1];
            select(&codes, &candidates, 2, &mut chosen);
            assert_eq!(chosen, [1], "{step}");
        }
        assert!(seen > 0, "rounding has done so to none");
    }

    #[test]
    fn fill_up_prefers_slightly_occluded_over_near_candidates() {
        let (vectors, candidates) = circle(&[5.0, 10.0, 120.0]);
        let filled = |most| {
            let mut chosen = selected(&vectors, &candidates, 2);
            assert_eq!(chosen, [1]);
            fill_up(&Codes::of(&vectors, 2), &candidates, most, &mut chosen);
            chosen
        };
        assert_eq!(filled(1), [1]);
        assert_eq!(filled(2), [1, 3]);
        assert_eq!(filled(3), [1, 3, 2]);
    }

    #[test]
    fn fill_up_checks_only_the_nearest_candidates_for_direction() {
        for (before, expected) in [(MOST_CHECKED - 1, MOST_CHECKED as Slot), (MOST_CHECKED, 2)] {
            // All but the last lie behind the first.
            let mut angles = vec![10.0; before];
            angles[0] = 5.0;
            angles.push(120.0);
            let (vectors, candidates) = circle(&angles);
            let mut chosen = vec![1];
            fill_up(&Codes::of(&vectors, 2), &candidates, 2, &mut chosen);
            assert_eq!(chosen, [1, expected], "{before} before it");
        }
    }

    /// Whole numbers, so that equal ones come up, and some that are nearly equal.
    fn vectors() -> impl Strategy<Value = Vec<Vec<f32>>> {
        let number = (-3i8..=3, 0i8..3).prop_map(|(whole, little)| f32::from(whole) + f32::from(little) / 500.0);
        let vector = prop::collection::vec(number, 3).prop_map(|mut vector| {
            vector[0] += 3.5;
            vector
        });
        prop::collection::vec(vector, 1..90)
    }

    proptest! {
        #[test]
        fn whatever_there_is_some_are_chosen_and_none_twice(
            vectors in vectors(),
            most in 1usize..40,
            kept in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let (mut unit, mut quantized) = (Vec::new(), Quantized::default());
            for vector in &vectors {
                normalise(vector, 3, &mut unit).unwrap();
                quantized.push(&unit);
            }
            let codes = Codes::of(&quantized, 3);
            let candidates = ranked(&codes);
            // What a node keeps of an older graph is among the candidates too.
            let mut chosen: Vec<Slot> = Vec::new();
            for index in kept.iter().filter(|_| !candidates.is_empty()) {
                let slot = index.get(&candidates).slot();
                if chosen.len() < most && !chosen.contains(&slot) {
                    chosen.push(slot);
                }
            }
            let kept = chosen.clone();
            let is_each_once = |chosen: &[Slot]| (1..chosen.len()).all(|at| !chosen[..at].contains(&chosen[at]));

            select(&codes, &candidates, most, &mut chosen);
            let selected = chosen.clone();
            prop_assert!(selected.starts_with(&kept));
            prop_assert!(is_each_once(&selected), "{selected:?}");
            prop_assert!(selected.iter().all(|slot| candidates.iter().any(|candidate| candidate.slot() == *slot)));
            prop_assert!(selected.len() <= most && selected.len() >= candidates.len().min((most / 2).max(1)));
            if selected.len() > (most / 2).max(1) {
                // Not filled up, so that the rule alone has decided.
                for candidate in &candidates {
                    let near = |other: &&Slot| {
                        codes.similarity(codes.query(candidate.slot()), **other) >= candidate.similarity()
                    };
                    let position = selected.iter().position(|slot| *slot == candidate.slot());
                    match position {
                        Some(at) if at >= kept.len() => prop_assert!(!selected[..at].iter().any(|other| near(&other))),
                        None if selected.len() < most => prop_assert!(selected.iter().any(|other| near(&other))),
                        _ => {}
                    }
                }
            }

            fill_up(&codes, &candidates, most, &mut chosen);
            prop_assert!(chosen.starts_with(&selected));
            prop_assert!(is_each_once(&chosen), "{chosen:?}");
            prop_assert_eq!(chosen.len(), most.min(candidates.len()));
        }
    }
}
