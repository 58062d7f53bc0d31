//! Threads: a candidate that belongs to a session is judged together with the records around it, as an answer often
//! has none of the words of the question before it.
//!
//! With k the distance of two records in their thread:
//!
//! - **Candidates** are also the neighbours of candidates, up to k = 2.
//! - **Words**: of each word of the query counts the most of what the record itself has of it, what a neighbour has, times
//!   0.6 * 0.85^(k-1) up to k = 4, and what the record before has, times 0.9, if that is a question.
//! - **Meaning**: the cosine is the mean with those of the neighbours, which count 0.3 (k = 1) and 0.15 (k = 2).
//! - **A question answers nothing**: a record that ends with a question mark loses 0.06 of its score.
//!
//! A neighbour that the search could not return adds nothing.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::merge::InThread;
use crate::keywords::{Matches, Place, Turn, Window};
use crate::types::{RecordId, ThreadRules};

/// Neighbours up to this distance are candidates.
const NEAR: usize = 2;
/// And up to this one they lend words.
const FAR: usize = 4;
/// What the words of a neighbour count.
const LENT: f64 = 0.6;
/// How much less they count with each further step.
const FADING: f64 = 0.85;
/// What the words of a question count for the record after it.
const ASKED: f64 = 0.9;
/// What the cosines of neighbours count, by distance.
const COSINES: [f64; NEAR + 1] = [1.0, 0.3, 0.15];
/// What a question loses.
const QUESTION: f64 = 0.06;

/// All records that are scored: the candidates, and those around them in their threads.
pub struct Pool {
    /// Each record once.
    pub ids: Vec<RecordId>,
    /// Where each is.
    pub places: Vec<Place>,
    slots: HashMap<RecordId, usize>,
    /// By record: its neighbours up to `FAR`, itself in the middle, as indexes into `ids`.
    threads: HashMap<usize, Thread>,
}

/// The scores of all records of a [`Pool`].
pub struct Scores {
    /// How their words match.
    pub matches: Matches,
    /// Their cosines, of those that need one and have a vector.
    pub cosines: Vec<Option<f64>>,
}

/// A record in its thread.
struct Thread {
    turns: [Option<usize>; 2 * FAR + 1],
    is_question: bool,
    /// Whether the record before it is a question.
    is_answer: bool,
}

const _: () = assert!(NEAR + FAR <= Window::REACH);

impl Pool {
    /// Those of `candidates`, with the neighbours that `windows` has of each.
    pub fn of(found: &[(RecordId, Place)], windows: &[Option<Window>]) -> Self {
        let (ids, places) = found.iter().copied().unzip();
        let slots = found.iter().zip(0..).map(|((id, _), slot)| (*id, slot)).collect();
        let mut pool = Pool { ids, places, slots, threads: HashMap::new() };
        for window in windows.iter().flatten() {
            for at in Window::REACH - NEAR..=Window::REACH + NEAR {
                let Some(turn) = window.turns[at] else { continue };
                let slot = pool.slot(&turn);
                if pool.threads.contains_key(&slot) {
                    continue;
                }
                let turns = std::array::from_fn(|near| window.turns[at + near - FAR].map(|turn| pool.slot(&turn)));
                let is_answer = window.turns[at - 1].is_some_and(|before| before.is_question);
                pool.threads.insert(slot, Thread { turns, is_question: turn.is_question, is_answer });
            }
        }
        pool
    }

    /// The indexes of those that are candidates.
    pub fn candidates(&self, found: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.ids.len()).filter(move |slot| *slot < found || self.threads.contains_key(slot))
    }

    /// The indexes of those whose cosine counts.
    pub fn with_cosine(&self, found: usize) -> HashSet<usize> {
        let near = self.threads.values().flat_map(|thread| &thread.turns[FAR - NEAR..=FAR + NEAR]).flatten();
        (0..found).chain(near.copied()).collect()
    }

    /// How the record at `slot` is judged with those around it; `None` if it belongs to no thread.
    pub fn in_thread(&self, slot: usize, scores: &Scores, rules: ThreadRules) -> Option<InThread> {
        let thread = self.threads.get(&slot)?;
        let (words, share, lenders) = thread.words(slot, &scores.matches, rules);
        Some(InThread {
            cosine: scores.cosines[slot]
                .map(|own| if rules.cosines { thread.cosine(own, &scores.cosines) } else { own }),
            words,
            share,
            lost: if rules.questions && thread.is_question { QUESTION } else { 0.0 },
            lenders: lenders.into_iter().map(|slot| self.ids[slot]).collect(),
        })
    }

    fn slot(&mut self, turn: &Turn) -> usize {
        *self.slots.entry(turn.id).or_insert_with(|| {
            self.ids.push(turn.id);
            self.places.push(turn.place);
            self.ids.len() - 1
        })
    }
}

impl Thread {
    /// The score and the share of the words, and the neighbours that lend some.
    fn words(&self, own: usize, matches: &Matches, rules: ThreadRules) -> (f64, f64, BTreeSet<usize>) {
        let found = matches.records[own];
        let parts = matches.parts(own);
        // The bonus for phrases is of the record alone.
        let mut words = f64::from(found.score);
        let mut share = f64::from(found.share);
        let mut lenders = BTreeSet::new();
        for (term, (&has, &adds)) in parts.iter().zip(&matches.shares).enumerate() {
            let (mut most, mut lender) = (f64::from(has), None);
            for (place, slot) in self.turns.iter().enumerate().filter_map(|(place, slot)| Some((place, (*slot)?))) {
                let lends = self.lends(place, rules) * f64::from(matches.parts(slot)[term]);
                if lends > most {
                    (most, lender) = (lends, Some((slot, self.lends(place, rules))));
                }
            }
            let Some((slot, factor)) = lender else { continue };
            words += most - f64::from(has);
            if has == 0.0 {
                share += factor * f64::from(adds);
            }
            lenders.insert(slot);
        }
        (words, share.min(1.0), lenders)
    }

    /// What the words of the neighbour at `place` of `turns` count.
    fn lends(&self, place: usize, rules: ThreadRules) -> f64 {
        let distance = place.abs_diff(FAR);
        if distance == 0 {
            return 0.0;
        }
        if rules.answers && self.is_answer && place + 1 == FAR {
            return ASKED;
        }
        if rules.words { LENT * FADING.powi(distance as i32 - 1) } else { 0.0 }
    }

    /// The mean of the cosines; a neighbour without one counts as the record itself.
    fn cosine(&self, own: f64, cosines: &[Option<f64>]) -> f64 {
        let near = (FAR - NEAR..=FAR + NEAR).map(|place| {
            let weight = COSINES[place.abs_diff(FAR)];
            let cosine = self.turns[place].and_then(|slot| cosines[slot]).unwrap_or(own);
            (weight, cosine)
        });
        let (weights, sum) =
            near.fold((0.0, 0.0), |(weights, sum), (weight, cosine)| (weights + weight, sum + weight * cosine));
        sum / weights
    }
}
