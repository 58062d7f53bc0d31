//! The words of a query in a long text: only those that stand in one passage of it count. Among two thousand words, most
//! words of any question are found somewhere.

use super::scripts::is_unspaced;

/// A word that occurs more often in a text counts as one of every passage: to read where it is would take longer than it
/// tells.
pub(super) const FREQUENT: u32 = 64;

/// The lengths of a long text and of a passage, for a query.
pub(super) struct Lengths {
    /// A text of more tokens is long. Lengths are rounded down, as the index keeps them: 200, 216, 232.
    pub(super) long: u32,
    /// The positions of a passage.
    pub(super) passage: u32,
}

impl Lengths {
    /// For a query of these words. A long query has a longer passage. Of a script without spaces, a cluster has a position, and two
    /// clusters say what a word does; each is a token by itself and with the next one.
    pub(super) fn of(words: &[String]) -> Self {
        let of_characters = words.iter().any(|word| word.chars().any(is_unspaced));
        let (long, passage) = if of_characters { (800, 120) } else { (200, 60) };
        Lengths { long, passage: passage.max(2 * words.len() as u32) }
    }
}

/// The words of a query in one text.
#[derive(Default)]
pub(super) struct Occurrences {
    /// Where each is that has a place: its position, and its index in the query.
    places: Vec<(u32, usize)>,
    /// Whether each is in every passage.
    everywhere: Vec<bool>,
    /// How often each is in the passage that is looked at.
    inside: Vec<u32>,
}

/// Words that are together in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Together {
    /// The sum of their weights, each once.
    pub(super) weight: f32,
    /// How many there are.
    pub(super) words: usize,
}

impl Together {
    /// Words with these weights.
    pub(super) fn of(weights: impl Iterator<Item = f32>) -> Self {
        weights.fold(Together { weight: 0.0, words: 0 }, |sum, weight| Together {
            weight: sum.weight + weight,
            words: sum.words + 1,
        })
    }
}

impl Occurrences {
    /// Begins with another text, of a query with so many words.
    pub(super) fn clear(&mut self, words: usize) {
        self.places.clear();
        self.everywhere.clear();
        self.everywhere.resize(words, false);
    }

    /// A word at these positions.
    pub(super) fn add(&mut self, word: usize, positions: &[u32]) {
        self.places.extend(positions.iter().map(|position| (*position, word)));
    }

    /// A word of every passage.
    pub(super) fn add_everywhere(&mut self, word: usize) {
        self.everywhere[word] = true;
    }

    /// The words of the passage of so many positions whose words count most by these weights.
    pub(super) fn best_passage(&mut self, weights: &[f32], length: u32) -> Together {
        self.places.retain(|(_, word)| !self.everywhere[*word]);
        self.places.sort_unstable();
        self.inside.clear();
        self.inside.resize(weights.len(), 0);
        let (mut start, mut weight, mut heaviest, mut best) = (0, 0.0, 0.0, 0..0);
        for (at, &(position, word)) in self.places.iter().enumerate() {
            while position - self.places[start].0 >= length {
                let first = self.places[start].1;
                self.inside[first] -= 1;
                if self.inside[first] == 0 {
                    weight -= weights[first];
                }
                start += 1;
            }
            self.inside[word] += 1;
            if self.inside[word] == 1 {
                weight += weights[word];
            }
            if weight > heaviest {
                (heaviest, best) = (weight, start..at + 1);
            }
        }
        // Summed again: adding and subtracting has rounded.
        let mut is_inside = self.everywhere.clone();
        self.places[best].iter().for_each(|(_, word)| is_inside[*word] = true);
        Together::of(weights.iter().zip(is_inside).filter(|(_, is_inside)| *is_inside).map(|(weight, _)| *weight))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn best(words: &[&[u32]], everywhere: &[usize], weights: &[f32], length: u32) -> (f32, usize) {
        let mut occurrences = Occurrences::default();
        // Of another text.
        occurrences.clear(2);
        occurrences.add_everywhere(1);
        occurrences.add(0, &[3]);
        occurrences.best_passage(&[1.0, 1.0], 4);
        occurrences.clear(weights.len());
        words.iter().enumerate().for_each(|(word, positions)| occurrences.add(word, positions));
        everywhere.iter().for_each(|word| occurrences.add_everywhere(*word));
        let Together { weight, words } = occurrences.best_passage(weights, length);
        (weight, words)
    }

    #[test]
    fn a_passage_counts_each_of_its_words_once() {
        assert_eq!(best(&[&[5, 100], &[9, 70], &[200]], &[], &[1.0, 2.0, 4.0], 10), (4.0, 1));
        assert_eq!(best(&[&[5, 100], &[9, 70], &[200]], &[], &[3.0, 2.0, 4.0], 10), (5.0, 2));
        assert_eq!(best(&[&[5], &[14]], &[], &[1.0, 1.0], 10), (2.0, 2), "ten words, the first and the last");
        assert_eq!(best(&[&[5], &[15]], &[], &[1.0, 1.0], 10), (1.0, 1));
        assert_eq!(best(&[&[5, 6, 7], &[]], &[1], &[1.0, 8.0], 10), (9.0, 2));
        assert_eq!(best(&[&[5], &[5]], &[0], &[1.0, 8.0], 10), (9.0, 2), "one that is everywhere counts once");
        assert_eq!(best(&[], &[], &[], 10), (0.0, 0));
        assert_eq!(best(&[&[u32::MAX - 3], &[u32::MAX - 1]], &[], &[1.0, 1.0], 10), (2.0, 2));
    }

    #[test]
    fn lengths_are_of_words_or_of_characters() {
        let of = |words: &[&str]| {
            let Lengths { long, passage } =
                Lengths::of(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
            (long, passage)
        };
        assert_eq!(of(&["boiler"]), (200, 60));
        assert_eq!(of(&["boiler", "京都"]), (800, 120));
        assert_eq!(of(&["word"; 40]), (200, 80));
    }

    proptest! {
        #[test]
        fn it_is_the_best_of_all_passages(
            words in prop::collection::vec(prop::collection::btree_set(0_u32..60, 0..6), 1..6),
            everywhere in prop::collection::btree_set(0_usize..6, 0..2),
            length in 1_u32..20,
        ) {
            let weights: Vec<f32> = (0..words.len()).map(|word| 1.0 / (word + 3) as f32).collect();
            let everywhere: Vec<usize> = everywhere.into_iter().filter(|word| *word < words.len()).collect();
            let positions: Vec<Vec<u32>> = words.iter().map(|word| word.iter().copied().collect()).collect();
            let slices: Vec<&[u32]> = positions.iter().map(Vec::as_slice).collect();
            let passage = |from: u32| {
                let has = |word: usize| {
                    everywhere.contains(&word) || positions[word].iter().any(|at| (from..from + length).contains(at))
                };
                let words: Vec<f32> = (0..weights.len()).filter(|word| has(*word)).map(|word| weights[word]).collect();
                (words.iter().sum::<f32>(), words.len())
            };
            let expected = (0..60).map(passage).fold(0.0, |most: f32, (weight, _)| most.max(weight));
            let (weight, count) = best(&slices, &everywhere, &weights, length);
            prop_assert!((weight - expected).abs() < 1e-6, "{weight} {expected}");
            prop_assert!((0..60).map(passage).any(|(weight, words)| words == count && (weight - expected).abs() < 1e-6));
        }
    }
}
