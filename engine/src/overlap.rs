//! How many words two texts share: finds near-duplicates that are worded differently.
//!
//! The words are normalised by the caller, so that only the keyword analysis knows about languages.

use std::collections::BTreeSet;

/// The overlap coefficient from which two texts are similar: row D3 of the specification.
pub const SIMILAR: f64 = 0.6;

/// The significant words among the normalised words of a text: no stop words, and none of one or two letters. A pair of
/// CJK characters is a word, though it has only two.
pub fn significant<'a>(
    words: impl IntoIterator<Item = &'a str>,
    is_stop_word: impl Fn(&str) -> bool,
) -> BTreeSet<&'a str> {
    const MOST_BYTES_OF_TWO_LETTERS: usize = 4;
    let is_long = |word: &str| word.len() > MOST_BYTES_OF_TWO_LETTERS || word.chars().count() > 2;
    words.into_iter().filter(|word| is_long(word) && !is_stop_word(word)).collect()
}

/// The overlap coefficient, 0 to 1: |A∩B| / min(|A|, |B|). The specification leaves the denominator open; with the
/// smaller set, a text is similar to another that only adds to it. `None` if a set has fewer than two words: any single
/// word would make it similar.
pub fn coefficient(a: &BTreeSet<&str>, b: &BTreeSet<&str>) -> Option<f64> {
    let smaller = a.len().min(b.len());
    (smaller >= 2).then(|| a.intersection(b).count() as f64 / smaller as f64)
}

/// The numbers in a text.
pub fn numbers(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> BTreeSet<&str> {
        significant(text.split(' '), |word| matches!(word, "the" | "for" | "all"))
    }

    #[test]
    fn the_coefficient_is_relative_to_the_smaller_text() {
        let short = words("user prefers dark mode");
        let long = words("the user prefers dark mode for all the applications and terminals");
        assert_eq!(coefficient(&short, &long), Some(1.0));
        assert_eq!(coefficient(&long, &short), Some(1.0));
        assert_eq!(coefficient(&short, &words("user prefers light mode")), Some(0.75));
        assert_eq!(coefficient(&short, &words("nothing in common")), Some(0.0));
    }

    #[test]
    fn three_words_of_five_are_similar_and_of_six_are_not() {
        let five = words("one1 two2 three four five");
        let six = words("one1 two2 three six6 seven eight");
        assert!(coefficient(&five, &words("one1 two2 three nine tenth")).is_some_and(|share| share >= SIMILAR));
        assert!(coefficient(&words("one1 two2 three four five twelve"), &six).is_some_and(|share| share < SIMILAR));
    }

    #[test]
    fn a_single_word_is_similar_to_nothing() {
        assert_eq!(coefficient(&words("mode"), &words("dark mode")), None);
        assert_eq!(coefficient(&words("mode the mode"), &words("mode")), None);
        assert_eq!(coefficient(&words(""), &words("dark mode")), None);
    }

    #[test]
    fn stop_words_and_short_words_do_not_count() {
        let expected = ["cat", "dark", "на\u{301}м", "京都"];
        assert_eq!(words("the cat is on dark ui на на\u{301}м 京都 京"), BTreeSet::from(expected));
    }
}
