//! Threads: a candidate that belongs to a session is judged together with the records around it, as an answer often
//! has none of the words of the question before it.
//!
//! With k the distance of two records in their thread:
//!
//! - **Candidates** are also the neighbors of candidates, up to k = 2.
//! - **Words**: of each word of the query counts the most of what the record itself has of it, what a neighbor has, times
//!   0.6 * 0.85^(k-1) up to k = 4, and what the record before has, times 0.9, if that is a question.
//! - **Meaning**: the cosine is the mean with those of the neighbors, which count 0.3 (k = 1) and 0.15 (k = 2).
//! - **A question answers nothing**: a record that ends with a question mark loses 0.06 of its score.
//! - **Lengths**: what ends with a question mark and has more than 30 words is no question, but a message that says what its writer
//!   has or wants, and then asks for help. A text of more than 100 words has a cosine of its own: none is mixed with it; and of its
//!   neighbors only the words of a question before it count for it.
//!
//! A neighbor that the search could not return adds nothing, and keeps its place until it is deleted.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::merge::InSession;
use crate::keywords::{DocLocation, Matches, Turn, Window};
use crate::types::{RecordId, ThreadRules};

/// Neighbors up to this distance are candidates.
const NEAR: usize = 2;
/// Neighbors up to this distance add their words.
const FAR: usize = 4;
/// Weight of the words of a neighbor.
const LENT: f64 = 0.6;
/// How much less they count with each further step.
const FADING: f64 = 0.85;
/// Weight of the words of a question for the record after it.
const ASKED: f64 = 0.9;
/// Weights of the cosines of neighbors, by distance.
const COSINES: [f64; NEAR + 1] = [1.0, 0.3, 0.15];
/// The score that a question loses.
const QUESTION: f64 = 0.06;
/// A question has at most so many words.
pub const QUESTION_WORDS: u32 = 30;
/// A turn of more words says by itself what it is about.
const LONG_WORDS: u32 = 100;

/// All records that are scored: the candidates, and those around them in their threads.
pub struct CandidatePool {
    /// Each record once.
    pub ids: Vec<RecordId>,
    /// Where each is.
    pub places: Vec<DocLocation>,
    slots: HashMap<RecordId, usize>,
    /// By record: its neighbors up to `FAR`, itself in the middle, as indexes into `ids`.
    threads: HashMap<usize, Thread>,
}

/// The scores of all records of a [`CandidatePool`].
pub struct PoolScores {
    /// How their words match.
    pub matches: Matches,
    /// Their cosines, of those that need one and have a vector.
    pub cosines: Vec<Option<f64>>,
}

/// A record in its thread.
struct Thread {
    turns: [Option<usize>; 2 * FAR + 1],
    question: QuestionKind,
    /// Whether the record before it is a question.
    before: QuestionKind,
    /// Which of the turns are long.
    long: [bool; 2 * FAR + 1],
}

/// Whether a turn is a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum QuestionKind {
    No,
    /// A message that ends with one.
    InMessage,
    /// A short text that ends with one.
    Short,
}

impl QuestionKind {
    fn of(turn: &Turn) -> Self {
        match turn.is_question {
            false => QuestionKind::No,
            true if turn.words > QUESTION_WORDS => QuestionKind::InMessage,
            true => QuestionKind::Short,
        }
    }

    /// Whether it counts as one: if lengths count, only a short one.
    fn counts(self, rules: ThreadRules) -> bool {
        self >= if rules.lengths { QuestionKind::Short } else { QuestionKind::InMessage }
    }
}

const _: () = assert!(NEAR + FAR <= Window::REACH);

impl CandidatePool {
    /// The pool of the records `found`, with the neighbors that `windows` has of each.
    pub fn of(found: &[(RecordId, DocLocation)], windows: &[Option<Window>]) -> Self {
        let (ids, places) = found.iter().copied().unzip();
        let slots = found.iter().zip(0..).map(|((id, _), slot)| (*id, slot)).collect();
        let mut pool = CandidatePool { ids, places, slots, threads: HashMap::new() };
        for window in windows.iter().flatten() {
            for at in Window::REACH - NEAR..=Window::REACH + NEAR {
                let Some(turn) = window.turns[at] else { continue };
                let slot = pool.slot(&turn);
                if pool.threads.contains_key(&slot) {
                    continue;
                }
                let turns = std::array::from_fn(|near| window.turns[at + near - FAR].map(|turn| pool.slot(&turn)));
                let before = window.turns[at - 1].as_ref().map_or(QuestionKind::No, QuestionKind::of);
                let long = std::array::from_fn(|near| {
                    window.turns[at + near - FAR].is_some_and(|turn| turn.words > LONG_WORDS)
                });
                pool.threads.insert(slot, Thread { turns, question: QuestionKind::of(&turn), before, long });
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
    pub fn in_session(&self, slot: usize, scores: &PoolScores, rules: ThreadRules) -> Option<InSession> {
        let thread = self.threads.get(&slot)?;
        let (words, share, lenders) = thread.words(slot, &scores.matches, rules);
        Some(InSession {
            cosine: scores.cosines[slot].map(|own| thread.cosine(own, &scores.cosines, rules)),
            similarity: None,
            bm25: words,
            share,
            penalty: if rules.questions && thread.question.counts(rules) { QUESTION } else { 0.0 },
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
    /// The score, the word share, and the neighbors whose words count.
    fn words(&self, own: usize, matches: &Matches, rules: ThreadRules) -> (f64, f64, BTreeSet<usize>) {
        let found = matches.records[own];
        let parts = matches.parts(own);
        // The bonus for phrases is of the record alone.
        let mut words = f64::from(found.score);
        // In a session a text counts whole, however long: a neighbor adds no word that another passage of it has.
        let has_some = parts.iter().zip(&matches.shares).filter(|(part, _)| **part > 0.0);
        let mut share = has_some.map(|(_, adds)| f64::from(*adds)).sum::<f64>();
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

    /// The weight of the words of the neighbor at `place` of `turns`. A long text borrows from a question before it alone.
    fn lends(&self, place: usize, rules: ThreadRules) -> f64 {
        let distance = place.abs_diff(FAR);
        if distance == 0 {
            return 0.0;
        }
        if rules.answers && self.before.counts(rules) && place + 1 == FAR {
            return ASKED;
        }
        if rules.lengths && self.long[FAR] {
            return 0.0;
        }
        if rules.words { LENT * FADING.powi(distance as i32 - 1) } else { 0.0 }
    }

    /// The mean of the cosines; a neighbor without one counts as the record itself, and so does a long one.
    fn cosine(&self, own: f64, cosines: &[Option<f64>], rules: ThreadRules) -> f64 {
        let is_alone = |place: usize| rules.lengths && self.long[place];
        if !rules.cosines || is_alone(FAR) {
            return own;
        }
        let near = (FAR - NEAR..=FAR + NEAR).map(|place| {
            let weight = COSINES[place.abs_diff(FAR)];
            let lent = self.turns[place].filter(|_| !is_alone(place));
            let cosine = lent.and_then(|slot| cosines[slot]).unwrap_or(own);
            (weight, cosine)
        });
        let (weights, sum) =
            near.fold((0.0, 0.0), |(weights, sum), (weight, cosine)| (weights + weight, sum + weight * cosine));
        sum / weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keywords::Match;

    /// A session of which all is candidate, with words and cosines of each turn.
    struct Session {
        words: Vec<[f32; 2]>,
        cosines: Vec<Option<f64>>,
        questions: Vec<usize>,
        lengths: Vec<u32>,
    }

    impl Session {
        fn new(words: &[[f32; 2]]) -> Self {
            Session {
                words: words.to_vec(),
                cosines: vec![None; words.len()],
                questions: Vec::new(),
                lengths: vec![10; words.len()],
            }
        }

        fn judged(&self, at: usize, rules: ThreadRules) -> InSession {
            let id = |slot: usize| RecordId::from(slot as i64 + 1);
            let found: Vec<_> = (0..self.words.len()).map(|slot| (id(slot), DocLocation::default())).collect();
            let window = |own: usize| Window {
                turns: std::array::from_fn(|place| {
                    let slot = (own + place).checked_sub(Window::REACH).filter(|slot| *slot < found.len())?;
                    Some(Turn {
                        id: id(slot),
                        place: found[slot].1,
                        is_question: self.questions.contains(&slot),
                        words: self.lengths[slot],
                    })
                }),
            };
            let windows: Vec<_> = (0..found.len()).map(|own| Some(window(own))).collect();
            let pool = CandidatePool::of(&found, &windows);
            let record = |parts: &[f32; 2]| Match {
                score: parts.iter().sum::<f32>() + PHRASE,
                is_singled_out: false,
                rarest: 0.0,
                is_by_parts: false,
                share: parts.iter().zip(SHARES).map(|(part, share)| if *part > 0.0 { share } else { 0.0 }).sum(),
            };
            let matches = Matches {
                records: self.words.iter().map(record).collect(),
                shares: SHARES.to_vec(),
                information: 1.0,
                parts: self.words.concat(),
            };
            pool.in_session(at, &PoolScores { matches, cosines: self.cosines.clone() }, rules).expect("it has a thread")
        }

        fn words(&self, at: usize, rules: ThreadRules) -> (f64, f64, Vec<i64>) {
            let judged = self.judged(at, rules);
            (judged.bm25, judged.share, judged.lenders.iter().map(|id| id.get() - 1).collect())
        }
    }

    /// The bonus for phrases of each record, without those of neighbors.
    const PHRASE: f32 = 0.25;
    /// The shares of the first word of the query, and of the second.
    const SHARES: [f32; 2] = [0.75, 0.25];
    const WORDS: ThreadRules = ThreadRules { words: true, ..ThreadRules::NONE };
    const ANSWERS: ThreadRules = ThreadRules { answers: true, ..ThreadRules::NONE };

    fn assert_near(is: (f64, f64, Vec<i64>), should: (f64, f64, &[i64])) {
        assert!((is.0 - should.0).abs() < 1e-6 && (is.1 - should.1).abs() < 1e-6 && is.2 == should.2, "{is:?}");
    }

    #[test]
    fn a_word_counts_its_best_score_of_a_turn_and_its_neighbors() {
        let phrase = f64::from(PHRASE);
        let session = Session::new(&[[0.0, 0.0], [10.0, 0.0], [0.0, 2.0], [4.0, 3.0]]);
        // The first word from one turn before; the second is its own, as two after the factor are not more.
        assert_near(session.words(2, WORDS), (phrase + 6.0 + 2.0, 0.25 + 0.6 * 0.75, &[1]));
        // From one and from three turns after.
        assert_near(
            session.words(0, WORDS),
            (phrase + 6.0 + 3.0 * 0.6 * 0.85 * 0.85, 0.6 * 0.75 + 0.6 * 0.7225 * 0.25, &[1, 3]),
        );
        // A word that it has more often itself is not added, and its share stays.
        assert_near(session.words(1, WORDS), (phrase + 10.0 + 3.0 * 0.6 * 0.85, 0.75 + 0.6 * 0.85 * 0.25, &[3]));
        assert_near(session.words(2, ThreadRules::NONE), (phrase + 2.0, 0.25, &[]));
    }

    #[test]
    fn words_are_lent_up_to_four_turns() {
        let mut words = vec![[0.0; 2]; 6];
        words[5] = [10.0, 0.0];
        let session = Session::new(&words);
        let phrase = f64::from(PHRASE);
        assert_near(session.words(1, WORDS), (phrase + 6.0 * 0.85_f64.powi(3), 0.75 * 0.6 * 0.85_f64.powi(3), &[5]));
        assert_near(session.words(0, WORDS), (phrase, 0.0, &[]));
    }

    #[test]
    fn a_question_lends_more_to_its_answer_and_loses_itself() {
        let mut session = Session::new(&[[10.0, 0.0], [0.0, 0.0], [0.0, 0.0]]);
        session.questions = vec![0];
        let phrase = f64::from(PHRASE);
        let both = ThreadRules { words: true, answers: true, ..ThreadRules::NONE };
        assert_near(session.words(1, both), (phrase + 9.0, 0.9 * 0.75, &[0]));
        assert_near(session.words(1, ANSWERS), (phrase + 9.0, 0.9 * 0.75, &[0]));
        assert_near(session.words(1, WORDS), (phrase + 6.0, 0.6 * 0.75, &[0]));
        assert_near(session.words(2, ANSWERS), (phrase, 0.0, &[]));
        session.questions = vec![1];
        assert_near(session.words(0, ANSWERS), (phrase + 10.0, 0.75, &[]));
        let penalty = |at, rules| session.judged(at, rules).penalty;
        assert_eq!([0, 1, 2].map(|at| penalty(at, ThreadRules::ALL)), [0.0, 0.06, 0.0]);
        assert_eq!(penalty(1, ThreadRules { questions: false, ..ThreadRules::ALL }), 0.0);
    }

    #[test]
    fn a_long_question_is_a_message_and_a_long_turn_stands_alone() {
        let mut session = Session::new(&[[10.0, 0.0], [0.0, 0.0]]);
        let both = [ThreadRules { lengths: false, ..ThreadRules::ALL }, ThreadRules::ALL];
        session.questions = vec![0];
        session.cosines = vec![Some(0.9), Some(0.3)];
        let mut judged = |lengths: [u32; 2]| {
            session.lengths = lengths.to_vec();
            both.map(|rules| [0, 1].map(|at| session.judged(at, rules)))
        };
        let long = judged([31, 101]);
        assert_eq!(long.each_ref().map(|[question, _]| question.penalty), [0.06, 0.0]);
        assert_eq!(
            long.each_ref().map(|[_, answer]| answer.share),
            [0.9 * 0.75, 0.0],
            "a long reply borrows from a question alone"
        );
        let [[_, answer], [question, own]] = long;
        assert!(answer.cosine.unwrap() > 0.35 && own.cosine == Some(0.3));
        assert!((question.cosine.unwrap() - 0.9).abs() < 1e-9, "its neighbor is long");

        let [_, [_, answer]] = judged([30, 101]);
        assert_eq!(answer.share, 0.9 * 0.75);
        let [_, [_, answer]] = judged([31, 100]);
        assert_eq!(answer.share, 0.6 * 0.75);
        let [_, [question, answer]] = judged([30, 100]);
        assert!(question.penalty == 0.06 && answer.cosine.unwrap() > 0.35);
        assert_eq!(answer.share, 0.9 * 0.75);
    }

    #[test]
    fn the_cosine_is_the_mean_with_those_around_it() {
        let mut session = Session::new(&[[0.0; 2]; 6]);
        session.cosines = vec![Some(0.9), Some(0.5), Some(0.1), None, Some(0.7), Some(0.9)];
        let cosine = |at, rules| session.judged(at, rules).cosine;
        let is = cosine(1, ThreadRules::ALL).expect("a cosine");
        // One before, one after; two after it is one without a vector, and two before it nothing: both count as itself.
        let should = (0.5 + 0.3 * (0.9 + 0.1) + 0.15 * (0.5 + 0.5)) / 1.9;
        assert!((is - should).abs() < 1e-12, "{is}");
        assert_eq!(cosine(1, ThreadRules { cosines: false, ..ThreadRules::ALL }), Some(0.5));
        assert_eq!(cosine(3, ThreadRules::ALL), None);
        session.cosines[0] = Some(0.95);
        assert!(session.judged(2, ThreadRules::ALL).cosine < Some(0.5));
        let before = session.judged(4, ThreadRules::ALL).cosine;
        session.cosines[1] = Some(0.95);
        assert_eq!(session.judged(4, ThreadRules::ALL).cosine, before, "three turns before it");
    }

    #[test]
    fn neighbors_of_a_hit_are_candidates_only_within_a_session() {
        let place = DocLocation::default();
        let turns = std::array::from_fn(|at| {
            (at > 0).then(|| Turn { id: RecordId::from(at as i64), place, is_question: false, words: 10 })
        });
        let found = [(RecordId::from(Window::REACH as i64), place), (RecordId::from(99), place)];
        let pool = CandidatePool::of(&found, &[Some(Window { turns }), None]);
        let ids = |slots: &mut dyn Iterator<Item = usize>| {
            slots.map(|slot| pool.ids[slot].get()).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        assert_eq!(ids(&mut pool.candidates(2)), [4, 5, 6, 7, 8, 99]);
        assert_eq!(ids(&mut (0..pool.ids.len())), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 99]);
        assert_eq!(ids(&mut pool.with_cosine(2).into_iter()), [2, 3, 4, 5, 6, 7, 8, 9, 10, 99]);
        assert!(
            pool.in_session(1, &PoolScores { matches: Matches::default(), cosines: Vec::new() }, ThreadRules::ALL)
                .is_none()
        );
    }
}
