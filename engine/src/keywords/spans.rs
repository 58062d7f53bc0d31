//! Where a text has the terms of a search, as it is spelt there: to be marked.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::analysis::{Class, Singles, WordStemmer, identifiers, is_identifier_char, normalise, words};

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
    let mut found = words_among(text, &terms);
    found.extend(identifiers_among(text, &terms));
    found.sort_unstable_by_key(|span| (span.start, Reverse(span.end)));
    // The words of an identifier that is one itself.
    found.dedup_by(|later, span| later.end <= span.end);
    let mut seen = HashSet::new();
    let spelt = found.into_iter().map(|span| &text[span]).filter(|span| seen.insert(*span));
    spelt.map(str::to_owned).collect()
}

/// The words of a text that are one of `terms`; of a script without spaces, the characters.
fn words_among(text: &str, terms: &HashSet<&str>) -> Vec<Range<usize>> {
    let mut stemmer = WordStemmer::new();
    let mut is_term = |text: &str| {
        let (text, mut is_one) = (normalise(text), false);
        words(&text, Singles::All, |word, _| is_one |= terms.contains(stemmer.stem(word).as_str()));
        is_one
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let class = Class::of(first);
        let length = text[start..].char_indices().find(|&(_, c)| !class.takes(c)).map(|(at, _)| at);
        let end = length.map_or(text.len(), |length| start + length);
        match class {
            Class::Gap => {}
            Class::Word if is_term(&text[start..end]) => found.push(start..end),
            Class::Word => {}
            Class::Cjk => {
                let mut marked: Vec<Range<usize>> = Vec::new();
                for pair in pairs(&text[start..end]) {
                    let pair = start + pair.start..start + pair.end;
                    let single = text[pair.clone()].chars().next().map_or(0, char::len_utf8);
                    // A pair has the terms of both of its characters, too.
                    let hit = [pair.clone(), pair.start..pair.start + single].into_iter().find(|span| {
                        let text = normalise(&text[span.clone()]);
                        terms.contains(text.as_ref())
                    });
                    match (hit, marked.last_mut()) {
                        (Some(hit), Some(last)) if hit.start <= last.end => last.end = last.end.max(hit.end),
                        (Some(hit), _) => marked.push(hit),
                        (None, _) => {}
                    }
                }
                found.extend(marked);
            }
        }
        start = end;
    }
    found
}

/// Each character of a run with the one after it; the last alone.
fn pairs(run: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let ends = |from: usize| run[from..].chars().next().map_or(from, |c| from + c.len_utf8());
    run.char_indices().map(move |(at, _)| at..ends(ends(at)))
}

/// The identifiers of a text that are one of `terms`: as much of a longer one as is spelt the same.
fn identifiers_among(text: &str, terms: &HashSet<&str>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for chunk in text.split_inclusive(|c: char| !is_identifier_char(c) && !is_combining_mark(c)) {
        let normalised = normalise(chunk);
        for identifier in identifiers(&normalised).into_iter().filter(|identifier| terms.contains(identifier)) {
            let at = normalised.find(identifier).unwrap_or_default();
            let same = chunk.get(at..at + identifier.len()).filter(|_| chunk.len() == normalised.len());
            found.push(match same {
                Some(same) => start + at..start + at + same.len(),
                None => start..start + chunk.trim_end_matches(|c: char| !is_identifier_char(c)).len(),
            });
        }
        start += chunk.len();
    }
    found
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
    fn of_scripts_without_spaces_the_characters_are_marked() {
        assert_eq!(marked("京都", "私は東京都に行く"), ["京都"]);
        assert_eq!(marked("東京都", "私は東京都に行く"), ["東京都"]);
        assert_eq!(marked("都", "東京都"), ["都"]);
        assert!(marked("大阪", "東京都").is_empty());
    }

    #[test]
    fn of_a_long_text_the_beginning_is_looked_through() {
        let text = format!("{}\u{e9} zebra", "x ".repeat(MOST_BYTES / 2));
        assert!(marked("zebra", &text).is_empty());
    }
}
