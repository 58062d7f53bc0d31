//! Completions of the last word of a query, of which only the beginning is written: the terms that begin with it.
//!
//! The dictionary has stems: no term begins with "runnin". So the word is also completed by common endings, and stemmed.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use super::analysis::WordStemmer;
use super::schema::SearchField;
use super::segment::Segment;
use super::tail::TailPart;
use crate::error::Result;

/// Completions of a word: the most frequent terms that begin with it.
const MAX_COMPLETIONS: usize = 8;
/// Terms of a field of a segment that are looked at.
const MAX_LOOKED_AT: usize = 10_000;
/// Letters before an ending.
const LEAST_LETTERS: usize = 3;
/// Endings of English words that the stemmer takes off.
const ENDINGS: [&str; 22] = [
    "ing", "ings", "ed", "er", "ers", "es", "ies", "ly", "ally", "ation", "ations", "ition", "ment", "ments", "ness",
    "ity", "ities", "able", "ible", "ive", "ance", "ence",
];

/// The terms of the words that begin with `start`, as far as records have them: the most frequent first.
pub(super) fn completions(start: &str, segments: &[Segment], parts: &[TailPart]) -> Result<Vec<String>> {
    let mut found = HashMap::new();
    let mut note = |term: &str, frequency: u64| match found.get_mut(term) {
        Some(known) => *known += frequency,
        None if frequency == 0 => {}
        None => drop(found.insert(term.to_owned(), frequency)),
    };
    let stems = stems(start);
    for place in [SearchField::Content, SearchField::Context, SearchField::Tags] {
        for field in segments.iter().map(|segment| segment.field(place)) {
            field.beginning_with(start, MAX_LOOKED_AT, &mut note)?;
            for stem in &stems {
                note(stem, field.frequency(stem)?);
            }
        }
        for field in parts.iter().map(|part| part.indexed.field(place)) {
            field.beginning_with(start).for_each(|(term, frequency)| note(term, frequency));
            stems.iter().for_each(|stem| note(stem, field.doc_freq(stem)));
        }
    }
    let mut found: Vec<(String, u64)> = found.into_iter().collect();
    found.sort_unstable_by(|a, b| (Reverse(a.1), &a.0).cmp(&(Reverse(b.1), &b.0)));
    found.truncate(MAX_COMPLETIONS);
    Ok(found.into_iter().map(|(term, _)| term).collect())
}

/// The stems, of words that begin with `start`, that do not begin so themselves: those of it and the rest of an ending.
fn stems(start: &str) -> BTreeSet<String> {
    let stemmer = WordStemmer::new();
    let mut stems = BTreeSet::new();
    for ending in ENDINGS {
        for written in 1..ending.len() {
            let Some(before) = start.strip_suffix(&ending[..written]) else { continue };
            if before.chars().count() >= LEAST_LETTERS {
                stems.insert(stemmer.stem(&format!("{before}{ending}")).into_owned());
            }
        }
    }
    stems.retain(|stem| !stem.starts_with(start));
    stems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_without_its_end_has_the_stem_of_the_whole() {
        for (start, whole) in
            [("runnin", "running"), ("activit", "activity"), ("organizat", "organization"), ("deploye", "deployed")]
        {
            let stem = WordStemmer::new().stem(whole);
            assert!(!stem.starts_with(start) && stems(start).contains(&*stem), "{start}: {stem}, {:?}", stems(start));
        }
        assert!(stems("ki").is_empty(), "too short to have an ending");
        assert!(stems("庭").is_empty());
    }
}
