//! Corrections of a word of a query that no record has: the words that differ from it by one letter.
//!
//! The dictionary has stems, and a typo in an ending changes the stem. So the words are made from the typo and stemmed,
//! instead of comparing stems.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::analysis::WordStemmer;
use crate::error::Result;

/// Shorter words are not corrected: too many others are one letter away.
const LEAST_LETTERS: usize = 5;
/// Nor are longer ones, which are no words.
const MOST_LETTERS: usize = 24;

/// The stems of the words that have one letter more than `word`, one less, another one, or two swapped, as far as `frequency` is
/// above 0, with it. The first letter is taken as right. `None` for a word that is short, or has a digit or letters without a
/// known alphabet.
pub(super) fn corrections(
    word: &str,
    mut frequency: impl FnMut(&str) -> Result<u64>,
) -> Result<Option<BTreeMap<String, u64>>> {
    let letters: Vec<char> = word.chars().collect();
    let alphabet = match letters.first() {
        Some('a'..='z') => 'a'..='z',
        Some('α'..='ω') => 'α'..='ω',
        Some('а'..='я') => 'а'..='я',
        _ => return Ok(None),
    };
    let is_word = letters.iter().all(|letter| alphabet.contains(letter));
    if !is_word || !(LEAST_LETTERS..=MOST_LETTERS).contains(&letters.len()) {
        return Ok(None);
    }
    let stemmer = WordStemmer::new();
    let own = stemmer.stem(word);
    let mut found = BTreeMap::new();
    each_changed(&letters, alphabet, |changed| {
        let stem = stemmer.stem(changed);
        if stem == own || found.contains_key(&*stem) {
            return Ok(());
        }
        let frequency = frequency(&stem)?;
        if frequency > 0 {
            found.insert(stem.into_owned(), frequency);
        }
        Ok(())
    })?;
    Ok(Some(found))
}

/// There are some fifty for each letter, so all are made in one buffer.
fn each_changed(
    letters: &[char],
    alphabet: RangeInclusive<char>,
    mut each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut buffer = String::new();
    let mut with = |before: &[char], changed: &[char], after: &[char]| {
        buffer.clear();
        buffer.extend(before.iter().chain(changed).chain(after));
        each(&buffer)
    };
    for at in 1..=letters.len() {
        let (before, rest) = letters.split_at(at);
        if let [_, after @ ..] = rest {
            with(before, &[], after)?;
        }
        if let [first, second, after @ ..] = rest {
            with(before, &[*second, *first], after)?;
        }
        for letter in alphabet.clone() {
            with(before, &[letter], rest)?;
            if let [_, after @ ..] = rest {
                with(before, &[letter], after)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_letter_from_its_typos() {
        let stemmer = WordStemmer::new();
        let is_corrected = |typo, word| {
            let stem = stemmer.stem(word);
            !corrections(typo, |made| Ok((made == stem).into())).unwrap().unwrap().is_empty()
        };
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
            assert!(is_corrected(typo, word), "{typo}");
        }
        for (other, word) in [("apontment", "appointment"), ("fardens", "gardens"), ("hsoue", "mouse")] {
            assert!(!is_corrected(other, word), "{other}");
        }
    }

    #[test]
    fn only_plain_words_of_medium_length_are_corrected() {
        for word in ["", "hose", "e4242x", "庭の石を見る", "naive_bayes", &"a".repeat(25)] {
            assert_eq!(corrections(word, |_| Ok(1)).unwrap(), None, "{word}");
        }
        let stems = corrections("house", |_| Ok(7)).unwrap().unwrap();
        assert!(!stems.contains_key("hous"), "its own stem is no correction");
        assert_eq!(stems.get("hors"), Some(&7));
    }
}
