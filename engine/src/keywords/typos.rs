//! What a word of a query may have meant that no record has: the words that differ from it by one letter.
//!
//! The dictionary has stems, and a typo in an ending changes the stem. So the words are made from the typo and stemmed,
//! instead of comparing stems.

use std::collections::BTreeSet;

use super::analysis::WordStemmer;

/// Shorter words are not corrected: too many others are one letter away.
const LEAST_LETTERS: usize = 5;
/// Nor are longer ones, which are no words.
const MOST_LETTERS: usize = 24;

/// The stems of the words that have one letter more than `word`, one less, another one, or two swapped. The first letter is
/// taken as right. None for a word that is short, or has a digit or letters without a known alphabet.
pub(super) fn corrections(word: &str) -> BTreeSet<String> {
    let letters: Vec<char> = word.chars().collect();
    let alphabet = match letters.first() {
        Some('a'..='z') => 'a'..='z',
        Some('α'..='ω') => 'α'..='ω',
        Some('а'..='я') => 'а'..='я',
        _ => return BTreeSet::new(),
    };
    let is_word = letters.iter().all(|letter| alphabet.contains(letter));
    if !is_word || !(LEAST_LETTERS..=MOST_LETTERS).contains(&letters.len()) {
        return BTreeSet::new();
    }
    let mut stemmer = WordStemmer::new();
    let mut stems = BTreeSet::new();
    let mut try_with = |change: &dyn Fn(&mut Vec<char>)| {
        let mut changed = letters.clone();
        change(&mut changed);
        stems.insert(stemmer.stem(&changed.into_iter().collect::<String>()));
    };
    for at in 1..=letters.len() {
        if at < letters.len() {
            try_with(&|word| {
                word.remove(at);
            });
        }
        if at + 1 < letters.len() {
            try_with(&|word| word.swap(at, at + 1));
        }
        for letter in alphabet.clone() {
            try_with(&|word| word.insert(at, letter));
            if at < letters.len() {
                try_with(&|word| word[at] = letter);
            }
        }
    }
    stems.remove(&stemmer.stem(word));
    stems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_letter_from_its_typos() {
        let mut stemmer = WordStemmer::new();
        for (typo, word) in [
            ("appointmnt", "appointment"),
            ("appointmentt", "appointment"),
            ("apointment", "appointment"),
            ("appiontment", "appointment"),
            ("runnung", "running"),
            ("kuberntes", "kubernetes"),
            ("деревни", "деревня"),
            ("gardin", "garden"),
        ] {
            assert!(corrections(typo).contains(&stemmer.stem(word)), "{typo}");
        }
        for (other, word) in [("apontment", "appointment"), ("fardens", "gardens"), ("hsoue", "mouse")] {
            assert!(!corrections(other).contains(&stemmer.stem(word)), "{other}");
        }
    }

    #[test]
    fn what_is_short_or_no_plain_word_is_not_corrected() {
        for word in ["", "hose", "e4242x", "庭の石を見る", "naive_bayes", &"a".repeat(25)] {
            assert!(corrections(word).is_empty(), "{word}");
        }
        assert!(!corrections("house").contains("hous"), "its own stem is no correction");
    }
}
