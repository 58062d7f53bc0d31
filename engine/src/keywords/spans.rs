//! Where a text has the terms of a search, as it is spelt there: to be marked.
//!
//! The terms are looked for in the folded text, as in the index, and led back to what is written.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::analysis::{Singles, WordStemmer, each_identifier, names_in_camel_case, words};
use super::folding::normalise;
use super::scripts::is_unspaced;

/// Bytes at the beginning of a text that are looked through.
const MOST_BYTES: usize = 64 << 10;

/// The spans of a text in which one of `terms` is, stems or identifiers of an index: each spelling once, in the order in which
/// they occur.
pub fn matching_spans(text: &str, terms: &[String]) -> Vec<String> {
    let terms: HashSet<&str> = terms.iter().map(String::as_str).collect();
    if terms.is_empty() {
        return Vec::new();
    }
    let text = &text[..text.floor_char_boundary(MOST_BYTES)];
    let folded = Folded::of(text);
    let mut found = words_among(&folded, &terms);
    each_identifier(&folded.text, |identifier| {
        if terms.contains(identifier) {
            found.push(folded.written(identifier));
        }
    });
    found.extend(parts_among(text, &terms));
    found.sort_unstable_by_key(|span| (span.start, Reverse(span.end)));
    // The words of an identifier that is one itself.
    found.dedup_by(|later, span| later.end <= span.end);
    let mut seen = HashSet::new();
    let spelt = found.into_iter().map(|span| &text[span]).filter(|span| seen.insert(*span));
    spelt.map(str::to_owned).collect()
}

/// A text as it is compared, with the way back.
struct Folded<'a> {
    text: Cow<'a, str>,
    /// Where what a reader takes for one character ends, folded and as it is written. None in ASCII, where both are the same.
    ends: Vec<(usize, usize)>,
}

impl<'a> Folded<'a> {
    fn of(written: &'a str) -> Self {
        if written.is_ascii() {
            return Folded { text: normalise(written), ends: Vec::new() };
        }
        let (mut text, mut ends) = (String::with_capacity(written.len()), Vec::new());
        for (at, character) in written.grapheme_indices(true) {
            text.push_str(&normalise(character));
            ends.push((text.len(), at + character.len()));
        }
        Folded { text: Cow::Owned(text), ends }
    }

    /// The bytes, as they are written, of a part of the folded text.
    fn written(&self, part: &str) -> Range<usize> {
        let start = part.as_ptr().addr() - self.text.as_ptr().addr();
        let end = start + part.len();
        if self.ends.is_empty() {
            return start..end;
        }
        let before = self.ends.partition_point(|(folded, _)| *folded <= start);
        let last = self.ends.partition_point(|(folded, _)| *folded < end);
        let from = before.checked_sub(1).map_or(0, |at| self.ends[at].1);
        from..self.ends[last.min(self.ends.len() - 1)].1
    }
}

/// The words of a text that are one of `terms`; of a script without spaces, the clusters.
fn words_among(text: &Folded<'_>, terms: &HashSet<&str>) -> Vec<Range<usize>> {
    let stemmer = WordStemmer::new();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut is_last_unspaced = false;
    words(&text.text, Singles::All, |word, _| {
        let is_term = terms.contains(&*stemmer.stem(word));
        if !is_term {
            return;
        }
        let span = text.written(word);
        let is_of_run = word.starts_with(is_unspaced);
        match found.last_mut().filter(|_| is_of_run && is_last_unspaced) {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => found.push(span),
        }
        is_last_unspaced = is_of_run;
    });
    found
}

/// The parts of names in camel case that are one of `terms`.
fn parts_among(text: &str, terms: &HashSet<&str>) -> Vec<Range<usize>> {
    let stemmer = WordStemmer::new();
    let is_term = |part: &Range<usize>| terms.contains(&*stemmer.stem(&normalise(&text[part.clone()])));
    names_in_camel_case(text).into_iter().flat_map(|name| name.parts).filter(|part| is_term(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::query::KeywordQuery;
    use super::*;

    fn marked(query: &str, text: &str) -> Vec<String> {
        let query = KeywordQuery::new(query);
        matching_spans(text, &[query.words, query.identifiers].concat())
    }

    #[test]
    fn words_are_marked_in_every_form_as_they_are_spelt() {
        assert_eq!(marked("running", "I run, she Runs; they ran running."), ["run", "Runs", "running"]);
        assert_eq!(marked("cafe", "Two Caf\u{e9}s and a cafe\u{301}"), ["Caf\u{e9}s", "cafe\u{301}"]);
        assert_eq!(marked("the trunk of a tree", "the trunk"), ["trunk"], "stop words are no match");
        assert!(marked("run", "trunk and prune").is_empty());
        assert!(marked("run", "").is_empty());
        assert_eq!(marked("run", "run run RUN run"), ["run", "RUN"]);
    }

    #[test]
    fn identifiers_are_marked_as_far_as_they_are_the_same() {
        assert_eq!(marked("main.rs", "see src/Main.rs:42 for it"), ["Main.rs"]);
        assert!(marked("ERR_CONN-42", "it says err_conn-42.").contains(&"err_conn-42".to_owned()));
    }

    #[test]
    fn characters_are_marked_in_scripts_without_spaces() {
        assert_eq!(marked("京都", "私は東京都に行く"), ["京都"]);
        assert_eq!(marked("กรุงเทพ", "ฉันอยู่ในกรุงเทพมหานคร"), ["กรุงเทพ"]);
        assert_eq!(marked("น้ำ", "ดื่มน้ำ"), ["น้ำ"], "its vowel is written as two characters when it is folded");
        assert_eq!(
            marked("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}어").concat(),
            "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"
        );
        assert_eq!(marked("東京都", "私は東京都に行く"), ["東京都"]);
        assert_eq!(marked("都", "東京都"), ["都"]);
        assert!(marked("大阪", "東京都").is_empty());
    }

    #[test]
    fn folded_matches_are_marked_as_they_are_written() {
        assert_eq!(marked("еще", "Ещё раз"), ["Ещё"]);
        assert_eq!(marked("مدرسه", "في المَدرسة مَدْرَسَةٌ"), ["مَدْرَسَةٌ"]);
        assert_eq!(marked("strasse", "Die Straße ist ＳＴＲＡＳＳＥ"), ["Straße", "ＳＴＲＡＳＳＥ"]);
        assert_eq!(marked("👍", "gut 👍🏽!"), ["👍🏽"]);
        assert_eq!(marked("🚀", "é 🚀🎉"), ["🚀"]);
        assert_eq!(marked("user by id", "é getUserById()"), ["User", "Id"]);
        assert_eq!(marked("é_x", "an e\u{301}_x here"), ["e\u{301}_x"]);
    }

    #[test]
    fn only_the_beginning_of_a_long_text_is_scanned() {
        let text = format!("{}\u{e9} zebra", "x ".repeat(MOST_BYTES / 2));
        assert!(marked("zebra", &text).is_empty());
    }
}
