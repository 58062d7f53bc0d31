//! What the words of a query count in a long text: those that stand in one passage of it. Among two thousand words, most words
//! of any question are found somewhere.

/// Words of a passage.
pub(super) const PASSAGE: u32 = 60;
/// A text of more words than this is long.
pub(super) const LONG: u32 = 200;
/// A word that occurs more often in a text is in every passage of it.
pub(super) const EVERYWHERE: u32 = 64;

/// The words of a query in one text.
#[derive(Default)]
pub(super) struct Occurrences {
    /// Where each is that has a place: its position, and its index in the query.
    places: Vec<(u32, usize)>,
    /// How often each is in the passage that is looked at.
    inside: Vec<u32>,
    /// Those that count wherever the passage is.
    everywhere: Vec<bool>,
}

impl Occurrences {
    /// Begins with another text, of a query with so many words.
    pub(super) fn clear(&mut self, words: usize) {
        self.places.clear();
        self.inside.clear();
        self.inside.resize(words, 0);
        self.everywhere.clear();
        self.everywhere.resize(words, false);
    }

    /// A word at these positions.
    pub(super) fn add(&mut self, word: usize, positions: &[u32]) {
        self.places.extend(positions.iter().map(|position| (*position, word)));
    }

    /// A word that counts wherever the passage is.
    pub(super) fn add_everywhere(&mut self, word: usize) {
        self.everywhere[word] = true;
    }

    /// The most that the words of a passage of `length` count together, each as much as `weights` says, once.
    pub(super) fn most(&mut self, weights: &[f32], length: u32) -> f32 {
        let everywhere: f32 =
            weights.iter().zip(&self.everywhere).filter(|(_, is)| **is).map(|(weight, _)| *weight).sum();
        self.places.retain(|(_, word)| !self.everywhere[*word]);
        self.places.sort_unstable();
        let (mut sum, mut most, mut first) = (0.0_f32, 0.0_f32, 0);
        for &(position, word) in &self.places {
            while position - self.places[first].0 >= length {
                let left = self.places[first].1;
                self.inside[left] -= 1;
                if self.inside[left] == 0 {
                    sum -= weights[left];
                }
                first += 1;
            }
            self.inside[word] += 1;
            if self.inside[word] == 1 {
                sum += weights[word];
            }
            most = most.max(sum);
        }
        everywhere + most
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn most(words: &[&[u32]], everywhere: &[usize], weights: &[f32], length: u32) -> f32 {
        let mut occurrences = Occurrences::default();
        occurrences.clear(weights.len());
        words.iter().enumerate().for_each(|(word, positions)| occurrences.add(word, positions));
        everywhere.iter().for_each(|word| occurrences.add_everywhere(*word));
        occurrences.most(weights, length)
    }

    #[test]
    fn what_stands_in_one_passage_counts_once_each() {
        assert_eq!(most(&[&[5, 100], &[9, 70], &[200]], &[], &[1.0, 2.0, 4.0], 10), 4.0);
        assert_eq!(most(&[&[5, 100], &[9, 70], &[200]], &[], &[3.0, 2.0, 4.0], 10), 5.0);
        assert_eq!(most(&[&[5], &[14]], &[], &[1.0, 1.0], 10), 2.0, "ten words, the first and the last");
        assert_eq!(most(&[&[5], &[15]], &[], &[1.0, 1.0], 10), 1.0);
        assert_eq!(most(&[&[5, 6, 7], &[]], &[1], &[1.0, 8.0], 10), 9.0);
        assert_eq!(most(&[&[5], &[5]], &[0], &[1.0, 8.0], 10), 9.0, "one that is everywhere counts once");
        assert_eq!(most(&[], &[], &[], 10), 0.0);
        assert_eq!(most(&[&[u32::MAX - 3], &[u32::MAX - 1]], &[], &[1.0, 1.0], 10), 2.0);
    }

    proptest! {
        #[test]
        fn it_is_the_most_of_all_passages(
            words in prop::collection::vec(prop::collection::btree_set(0_u32..60, 0..6), 1..6),
            length in 1_u32..20,
        ) {
            let weights: Vec<f32> = (0..words.len()).map(|word| (1 << word) as f32).collect();
            let positions: Vec<Vec<u32>> = words.iter().map(|word| word.iter().copied().collect()).collect();
            let slices: Vec<&[u32]> = positions.iter().map(Vec::as_slice).collect();
            let passage = |from: u32| {
                let has = |word: &Vec<u32>| word.iter().any(|at| (from..from + length).contains(at));
                positions.iter().zip(&weights).filter(|(word, _)| has(word)).map(|(_, weight)| weight).sum::<f32>()
            };
            let expected = (0..60).map(passage).fold(0.0, f32::max);
            prop_assert_eq!(most(&slices, &[], &weights, length), expected);
        }
    }
}
