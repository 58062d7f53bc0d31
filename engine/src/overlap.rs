//! How many words two texts have in common: the near-duplicates that are not worded quite alike.
//!
//! The words are normalised by the caller, so that a language is known in one place, the keyword analysis.

use std::collections::BTreeSet;

/// The share of common words from which two texts are similar: row D3 of the specification.
pub const SIMILAR: f64 = 0.6;

/// Those of the normalised words of a text that say what it is about: no stop words, and none of one or two letters.
/// A pair of CJK characters is a word, though it has but two.
pub fn telling<'a>(words: impl IntoIterator<Item = &'a str>, is_stop_word: impl Fn(&str) -> bool) -> BTreeSet<&'a str> {
    const MOST_BYTES_OF_TWO_LETTERS: usize = 4;
    let is_long = |word: &str| word.len() > MOST_BYTES_OF_TWO_LETTERS || word.chars().count() > 2;
    words.into_iter().filter(|word| is_long(word) && !is_stop_word(word)).collect()
}

/// The share of the smaller set that is in the other too, 0 to 1: |A∩B| / min(|A|, |B|). The specification leaves the
/// denominator open; with the smaller one, a text is similar to another that only says more. `None` where a set has
/// fewer than two words, of which any one would make it similar.
pub fn share(a: &BTreeSet<&str>, b: &BTreeSet<&str>) -> Option<f64> {
    let smaller = a.len().min(b.len());
    (smaller >= 2).then(|| a.intersection(b).count() as f64 / smaller as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> BTreeSet<&str> {
        telling(text.split(' '), |word| matches!(word, "the" | "for" | "all"))
    }

    #[test]
    fn the_share_is_of_the_smaller_text() {
        let short = words("user prefers dark mode");
        let long = words("the user prefers dark mode for all the applications and terminals");
        assert_eq!(share(&short, &long), Some(1.0));
        assert_eq!(share(&long, &short), Some(1.0));
        assert_eq!(share(&short, &words("user prefers light mode")), Some(0.75));
        assert_eq!(share(&short, &words("nothing in common")), Some(0.0));
    }

    #[test]
    fn three_words_of_five_are_similar_and_of_six_are_not() {
        let five = words("one1 two2 three four five");
        let six = words("one1 two2 three six6 seven eight");
        assert!(share(&five, &words("one1 two2 three nine tenth")).is_some_and(|share| share >= SIMILAR));
        assert!(share(&words("one1 two2 three four five twelve"), &six).is_some_and(|share| share < SIMILAR));
    }

    #[test]
    fn a_single_word_is_similar_to_nothing() {
        assert_eq!(share(&words("mode"), &words("dark mode")), None);
        assert_eq!(share(&words("mode the mode"), &words("mode")), None);
        assert_eq!(share(&words(""), &words("dark mode")), None);
    }

    #[test]
    fn stop_words_and_short_words_do_not_count() {
        let expected = ["cat", "dark", "на\u{301}м", "京都"];
        assert_eq!(words("the cat is on dark ui на на\u{301}м 京都 京"), BTreeSet::from(expected));
    }
}
