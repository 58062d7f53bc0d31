//! Analysed queries: the terms of a query text, and which of them are adjacent.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::analysis::{Singles, WordStemmer, identifiers, is_stop_word, names_in_camel_case, words};
use super::folding::normalise;
use crate::error::Result;

/// Distinct words and identifiers of a query that are considered; the search itself uses the rarest few of them.
const MAX_TERMS: usize = 256;
/// Pairs of neighbouring words that earn the phrase bonus.
pub(super) const MAX_PAIRS: usize = 16;
/// Words further apart than this (stop words between them) are not a pair.
const MAX_DISTANCE: usize = 4;

/// Words that begin the name of a place or of an event after "going to".
const DETERMINERS: [&str; 24] = [
    "the", "a", "an", "my", "your", "his", "her", "its", "our", "their", "this", "that", "these", "those", "some",
    "all", "any", "both", "each", "every", "no", "one", "which", "what",
];

/// An analysed query. Any text is valid: there is no query syntax.
///
/// ```
/// use memorist_engine::keywords::KeywordQuery;
///
/// assert!(!KeywordQuery::new("what is the \"AND\" of (src/main.rs").is_empty());
/// assert!(KeywordQuery::new("( \" *").is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeywordQuery {
    /// Distinct stems, in the order of their first occurrence.
    pub(super) words: Vec<String>,
    /// For each stem the word, as the query first has it.
    pub(super) as_written: Vec<String>,
    /// Distinct identifiers.
    pub(super) identifiers: Vec<String>,
    /// Adjacent words.
    pub(super) pairs: Vec<Pair>,
    /// Whether there are only stop words.
    pub(super) is_of_stop_words: bool,
    /// The word at its end, as it is spelt, if it may be the beginning of one.
    pub(super) beginning: Option<String>,
    /// The words in camel case, each with the stems of its parts.
    pub(super) parts: Vec<(String, Vec<String>)>,
    /// Whether parts of words are looked for.
    pub(super) within_words: bool,
}

/// Two words of a query, and the distance of the second from the first in positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    /// Index into [`KeywordQuery::words`].
    pub(super) first: usize,
    /// Index into [`KeywordQuery::words`].
    pub(super) second: usize,
    /// 1 for neighbours, more where stop words were dropped between them.
    pub(super) distance: u32,
}

impl KeywordQuery {
    /// Analyses `text` as the index analyses records. Stop words are dropped unless nothing else is left.
    pub fn new(text: &str) -> Self {
        let parts = parts_of_words(text);
        let text = normalise(text);
        let mut spoken = Vec::new();
        words(&text, Singles::Lone, |word, position| spoken.push((word, position)));
        let is_of_stop_words = spoken.iter().all(|(word, _)| is_stop_word(word));
        if !is_of_stop_words {
            let mut kept = without_going_to(&spoken).into_iter();
            spoken.retain(|_| kept.next().unwrap_or(true));
        }
        let identifiers = identifiers(&text).into_iter().take(MAX_TERMS).map(str::to_owned).collect();
        let mut query = KeywordQuery { identifiers, is_of_stop_words, parts, ..KeywordQuery::default() };
        query.add_words(&spoken);
        query
    }

    /// A query for a code as a whole, without its parts.
    pub fn of_code(code: &str) -> Self {
        let text = normalise(code);
        match identifiers(&text).contains(&&*text) {
            true => KeywordQuery { identifiers: vec![text.into_owned()], ..KeywordQuery::default() },
            false => KeywordQuery::new(code),
        }
    }

    /// Whether there is nothing to search for: no letter, digit or ideograph.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.identifiers.is_empty()
    }

    /// Completes the last word of the query if `text`, from which the query was made, ends with it. One letter is completed only
    /// if it is the whole query: it is the beginning of too many words.
    pub fn with_beginning(mut self, text: &str) -> Self {
        let text = normalise(text);
        let mut last = None;
        words(&text, Singles::Lone, |word, _| last = Some(word));
        let is_alone = self.words.len() == 1;
        let last = last.filter(|word| text.ends_with(word) && (is_alone || word.chars().nth(1).is_some()));
        let last = last.filter(|word| self.is_of_stop_words || !is_stop_word(word));
        self.beginning = last.map(str::to_owned);
        self
    }

    /// Makes the query also find records that have a word of it within another word, if no record has that word as it is, nor
    /// with a typo.
    pub fn within_words(mut self) -> Self {
        self.within_words = true;
        self
    }

    /// Replaces each name in camel case that no record has by its parts.
    pub(super) fn with_camel_case_split(
        &self,
        mut is_absent: impl FnMut(&str) -> Result<bool>,
    ) -> Result<Cow<'_, Self>> {
        let mut query = Cow::Borrowed(self);
        for (whole, parts) in &self.parts {
            let Some(at) = query.words.iter().position(|word| word == whole) else { continue };
            let mut new = parts.iter().filter(|part| !self.words.contains(part)).cloned();
            if !is_absent(whole)? {
                continue;
            }
            let Some(first) = new.next() else { continue };
            let changed = query.to_mut();
            changed.pairs.retain(|pair| pair.first != at && pair.second != at);
            changed.as_written[at].clone_from(&first);
            changed.words[at] = first;
            for part in new.take(MAX_TERMS.saturating_sub(changed.words.len())) {
                changed.as_written.push(part.clone());
                changed.words.push(part);
            }
        }
        Ok(query)
    }

    /// Which of its words this one is.
    pub(super) fn index_of(&self, word: &str) -> Option<usize> {
        let stem = WordStemmer::new().stem(word);
        self.words.iter().position(|known| *known == stem)
    }

    /// Its stems and identifiers.
    pub fn terms(&self) -> Vec<String> {
        [&self.words[..], &self.identifiers[..]].concat()
    }

    fn add_words(&mut self, spoken: &[(&str, usize)]) {
        let stemmer = WordStemmer::new();
        let mut index_of = HashMap::new();
        let mut previous: Option<(usize, usize)> = None;
        for &(word, position) in spoken {
            let stem = stemmer.stem(word);
            let index = match index_of.get(&*stem) {
                Some(&index) => index,
                None if self.words.len() == MAX_TERMS => break,
                None => {
                    self.words.push(stem.clone().into_owned());
                    self.as_written.push(word.to_owned());
                    index_of.insert(stem, self.words.len() - 1);
                    self.words.len() - 1
                }
            };
            if let Some((before, at)) = previous {
                self.add_pair(before, index, position - at);
            }
            previous = Some((index, position));
        }
    }

    fn add_pair(&mut self, first: usize, second: usize, distance: usize) {
        if distance > MAX_DISTANCE || self.pairs.len() == MAX_PAIRS {
            return;
        }
        let pair = Pair { first, second, distance: distance as u32 };
        if !self.pairs.contains(&pair) {
            self.pairs.push(pair);
        }
    }
}

/// The stems of the words in camel case, each with those of its parts that are no stop words, each once.
fn parts_of_words(text: &str) -> Vec<(String, Vec<String>)> {
    let stemmer = WordStemmer::new();
    let stem = |bytes: Range<usize>| {
        let word = normalise(&text[bytes]);
        (stemmer.stem(&word).into_owned(), is_stop_word(&word))
    };
    let mut words = Vec::new();
    for name in names_in_camel_case(text).into_iter().take(MAX_TERMS) {
        let mut stems = Vec::new();
        for (part, is_stop_word) in name.parts.into_iter().map(&stem) {
            if !is_stop_word && !stems.contains(&part) {
                stems.push(part);
            }
        }
        words.push((stem(name.whole).0, stems));
    }
    words
}

/// Which words are no stop words, and no "going" that says that something is in the future ("what is she going to do?"), unless
/// nothing else is left. Where it says a place, that is known by an article or the like: "going to the office".
fn without_going_to(spoken: &[(&str, usize)]) -> Vec<bool> {
    let is_word: Vec<bool> = spoken.iter().map(|(word, _)| !is_stop_word(word)).collect();
    let mut is_kept = is_word.clone();
    for (at, words) in spoken.windows(3).enumerate() {
        if let [("going", going), ("to", to), (next, _)] = words {
            let is_place = DETERMINERS.contains(next) || next.starts_with(|c: char| c.is_ascii_digit());
            is_kept[at] = *to != going + 1 || is_place;
        }
    }
    if is_kept.contains(&true) { is_kept } else { is_word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn going_to_says_when_unless_it_says_where() {
        let words = |text| KeywordQuery::new(text).words;
        assert_eq!(words("What is the choir going to do with its savings?"), ["choir", "save"]);
        assert_eq!(words("is Hamid going to Berlin"), ["hamid", "berlin"]);
        for place in
            ["who is going to the office", "who is going to these offices", "is she going to all of the offices"]
        {
            assert_eq!(words(place), ["go", "offic"], "{place}");
        }
        assert_eq!(words("how is it going to date"), ["date"]);
        assert_eq!(words("what are we going to do"), ["go"], "when nothing else is left");
        assert_eq!(words("who is going to 3 of them"), ["go", "3"]);
        assert!(KeywordQuery::new(&"going to be ".repeat(100_000)).words.len() < 2, "in no time");
    }
}
