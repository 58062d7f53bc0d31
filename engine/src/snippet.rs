//! The shown passage of a long text: the one with the most words of the query, where it is nearest by meaning if that is
//! known.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// A text of up to this many characters is shown whole.
pub const MAX_CHARS: usize = 700;

/// Characters before the first matching word.
const LEAD_CHARS: usize = 80;

/// Maximum matches of one word: enough to choose a passage, few enough that a text of a million words costs nothing, and
/// that a frequent word at the beginning does not hide a rare one at the end.
const MAX_MATCHES: usize = 64;

/// The passage of at most [`MAX_CHARS`], or `None` if the text is short enough to be shown whole.
pub fn cut(text: &str, query: &str) -> Option<String> {
    cut_to(text, query, MAX_CHARS)
}

/// The passage of at most so many characters, or `None` if the text is short enough to be shown whole.
pub fn cut_to(text: &str, query: &str, most: usize) -> Option<String> {
    cut_near(text, None, query, most)
}

/// Cuts a passage as [`cut_to`] does, but from the bytes that are `nearest` to the query by meaning, unless only the rest has
/// words of the query.
pub fn cut_near(text: &str, nearest: Option<&Range<usize>>, query: &str, most: usize) -> Option<String> {
    // A character has at least one byte, so most short texts are recognised without counting.
    if text.len() <= most || text.char_indices().nth(most).is_none() {
        return None;
    }
    let lead = LEAD_CHARS.min(most / 4);
    let nearest = nearest.filter(|bytes| text.get((*bytes).clone()).is_some());
    let start = best_start(text, nearest, &words(query), most.saturating_sub(lead));
    let start = if start == 0 || lead == 0 { start } else { step_back(text, start, lead) };
    let start = next_word(text, start);
    let room = most.saturating_sub(1 + usize::from(start > 0));
    let passage = &text[start..];
    let (end, more) = match passage.char_indices().nth(room) {
        Some((end, _)) => (last_word(passage, end), true),
        None => (passage.len(), false),
    };
    let before = if start > 0 { "…" } else { "" };
    let after = if more { "…" } else { "" };
    Some(format!("{before}{}{after}", passage[..end].trim_end()))
}

/// The line that has the most of the query's words, counted from 0; the first when none occurs.
pub fn best_line(text: &str, query: &str) -> usize {
    let matches = matches(text, &words(query));
    let (mut best, mut start) = ((0.0, 0), 0);
    for (number, line) in text.split('\n').enumerate() {
        let weight = matches.weight(start..start + line.len());
        if weight > best.0 {
            best = (weight, number);
        }
        start += line.len() + 1;
    }
    best.1
}

/// Whether a word of the query is in the text.
pub fn has_word_of(text: &str, query: &str) -> bool {
    !matches(text, &words(query)).found.is_empty()
}

/// The byte where the passage of so many bytes begins that has the most of the query's words, each once; a word that is
/// rare in the text counts for more. Of those in `nearest`, if there are any. Where `nearest` begins, or 0, when none occurs.
fn best_start(text: &str, nearest: Option<&Range<usize>>, query: &[String], length: usize) -> usize {
    let matches = matches(text, query);
    let is_near = |start: usize| nearest.is_some_and(|bytes| bytes.contains(&start));
    let has_near = matches.found.iter().any(|(start, _)| is_near(*start));
    let mut best = (0.0, nearest.map_or(0, |bytes| bytes.start));
    for &(start, _) in matches.found.iter().filter(|(start, _)| !has_near || is_near(*start)) {
        // In bytes, so never more than fits in the characters.
        let weight = matches.weight(start..start + length);
        if weight > best.0 {
            best = (weight, start);
        }
    }
    best.1
}

/// Where the words of a query occur in a text.
struct WordPositions {
    /// Byte position and word, by position.
    found: Vec<(usize, usize)>,
    /// How often each word occurs, at least once.
    times: Vec<usize>,
}

impl WordPositions {
    /// The weight of the words within these bytes, each once: a word that is rare in the text counts for more.
    fn weight(&self, within: Range<usize>) -> f64 {
        let first = self.found.partition_point(|(position, _)| *position < within.start);
        let found = self.found[first..].iter().take_while(|(position, _)| *position < within.end);
        let different: HashSet<usize> = found.map(|(_, word)| *word).collect();
        different.iter().map(|word| 1.0 / self.times[*word] as f64).sum()
    }
}

fn matches(text: &str, query: &[String]) -> WordPositions {
    let mut found = Vec::new();
    let mut times = vec![0; query.len()];
    let mut token_start = None;
    for (position, character) in text.char_indices().chain([(text.len(), ' ')]) {
        if character.is_alphanumeric() {
            token_start.get_or_insert(position);
        } else if let Some(start) = token_start.take() {
            let token = text[start..position].to_lowercase();
            if let Some(word) = query.iter().position(|word| same_word(&token, word)) {
                times[word] += 1;
                if times[word] <= MAX_MATCHES {
                    found.push((start, word));
                }
            }
        }
    }
    // Scripts without spaces between words: a query's word is somewhere inside a run of characters.
    for (index, word) in query.iter().enumerate().filter(|(_, word)| !word.is_ascii()) {
        found.extend(text.match_indices(word.as_str()).take(MAX_MATCHES).map(|(start, _)| (start, index)));
        times[index] = times[index].max(text.matches(word.as_str()).count());
    }
    found.sort_unstable();
    times.iter_mut().for_each(|times| *times = (*times).max(1));
    WordPositions { found, times }
}

/// Equal, or one is a prefix of the other ("run" and "running").
fn same_word(token: &str, word: &str) -> bool {
    let (short, long) = if token.len() < word.len() { (token, word) } else { (word, token) };
    let is_form = || long.strip_prefix(short).is_some_and(|ending| ending.chars().all(char::is_alphabetic));
    token == word || (short.len() >= 3 && is_form())
}

/// The query's words in lower case; short ones ("of", "to") only when there are no others.
fn words(query: &str) -> Vec<String> {
    let all: Vec<String> = query
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let long: Vec<String> = all.iter().filter(|word| word.len() > 3).cloned().collect();
    if long.is_empty() { all } else { long }
}

/// The byte `characters` before `from`.
fn step_back(text: &str, from: usize, characters: usize) -> usize {
    text[..from].char_indices().rev().nth(characters - 1).map_or(0, |(position, _)| position)
}

/// The beginning of the first whole word at or soon after `from`.
fn next_word(text: &str, from: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let near = text[from..].char_indices().take(LEAD_CHARS / 2);
    near.skip_while(|(_, character)| !character.is_whitespace())
        .find(|(_, character)| !character.is_whitespace())
        .map_or(from, |(offset, _)| from + offset)
}

/// The end of the last whole word that ends at or shortly before `end`.
fn last_word(text: &str, end: usize) -> usize {
    let near = text[..end].char_indices().rev().take(LEAD_CHARS / 2);
    near.filter(|(_, character)| character.is_whitespace()).map(|(position, _)| position).next().unwrap_or(end)
}

/// A text of at most so many bytes, and little more: of a longer one its beginning and its end.
pub fn both_ends(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let beginning = &text[..text.floor_char_boundary(most / 2)];
    let end = &text[text.ceil_char_boundary(text.len() - most / 2)..];
    Cow::Owned(format!("{beginning}\n{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_long(text: &str, query: &str) -> String {
        let snippet = cut(text, query).expect("the text is long");
        assert!(snippet.chars().count() <= MAX_CHARS, "{} characters", snippet.chars().count());
        snippet
    }

    #[test]
    fn a_short_text_is_whole() {
        assert_eq!(cut("dark mode", "mode"), None);
        assert_eq!(cut(&"é".repeat(MAX_CHARS), "x"), None);
        assert!(cut(&"é".repeat(MAX_CHARS + 1), "x").is_some());
    }

    #[test]
    fn the_passage_contains_the_words_of_the_query() {
        let text =
            format!("{}the login page uses OAuth tokens {}", "filler words ".repeat(200), "and more ".repeat(200));
        let snippet = cut_long(&text, "how does login use oauth?");
        assert!(snippet.contains("login page uses OAuth"), "{snippet}");
        assert!(snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
    }

    #[test]
    fn the_passage_where_most_words_meet_wins() {
        let text = format!("login {}login oauth {}", "a ".repeat(600), "b ".repeat(600));
        assert!(cut_long(&text, "login oauth").contains("login oauth"));
    }

    #[test]
    fn a_rare_word_at_the_end_is_not_hidden_by_a_frequent_one() {
        let text = format!("{}the gateway has port 8443", "port 80 is open, ".repeat(2_000));
        assert!(cut_long(&text, "which port does the gateway have").contains("8443"));
        let short = cut_to(&text, "gateway", 60).unwrap();
        assert!(short.contains("gateway") && short.chars().count() <= 60, "{short}");
        for most in 0..20 {
            assert!(cut_to(&text, "gateway", most).unwrap().chars().count() <= most.max(2));
        }
    }

    #[test]
    fn without_a_match_the_beginning_is_shown() {
        let text = "word ".repeat(400);
        let snippet = cut_long(&text, "zebra");
        assert!(snippet.starts_with("word word") && snippet.ends_with('…'), "{snippet}");
    }

    #[test]
    fn the_nearest_passage_is_shown_unless_only_others_match() {
        let text = format!("port {}Ships dock at the quay. {}port", "a b ".repeat(400), "c d ".repeat(400));
        let quay = text.find("Ships").unwrap();
        let near = |bytes: Range<usize>, query| cut_near(&text, Some(&bytes), query, 300).unwrap();
        assert!(near(quay..quay + 900, "harbour").contains("Ships dock at the quay"));
        assert!(near(quay..quay + 900, "port").starts_with("port a b"), "the words are elsewhere");
        assert!(near(quay..text.len(), "port").ends_with("port"), "the words are there too");
        assert!(near(quay..text.len() + 1, "harbour").starts_with("port a b"), "no bytes of this text");
    }

    #[test]
    fn any_text_is_cut_at_characters() {
        for unit in ["é", "漢字", "👩‍👩‍👧", "a\u{301}", "İ ", "\u{3000}", "ß x"] {
            let text = unit.repeat(1_500);
            for query in [unit, "", "漢", "ß", "x", "…"] {
                let snippet = cut_long(&text, query);
                assert!(!snippet.is_empty(), "{unit:?} {query:?}");
            }
        }
    }

    #[test]
    fn a_match_within_a_run_of_characters_is_found() {
        let text = format!("{}認証{}", "漢".repeat(2_000), "字".repeat(2_000));
        assert!(cut_long(&text, "認証").contains("認証"));
    }
}
