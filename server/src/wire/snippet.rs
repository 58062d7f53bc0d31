//! The shown passage of a long text: the one with the most words of the query.

use std::collections::HashSet;

/// A text of up to this many characters is shown whole.
pub const MAX_CHARS: usize = 700;

/// Characters before the first matching word.
const LEAD_CHARS: usize = 80;

/// Maximum matches: enough to choose a passage, few enough that a text of a million words costs nothing.
const MAX_MATCHES: usize = 256;

/// The passage, or `None` if the text is short enough to be shown whole.
pub fn cut(text: &str, query: &str) -> Option<String> {
    // A character has at least one byte, so most short texts are recognised without counting.
    if text.len() <= MAX_CHARS || text.char_indices().nth(MAX_CHARS).is_none() {
        return None;
    }
    let start = best_start(text, &words(query));
    let start = if start == 0 { 0 } else { step_back(text, start, LEAD_CHARS) };
    let start = next_word(text, start);
    let room = MAX_CHARS - 1 - usize::from(start > 0);
    let passage = &text[start..];
    let (end, more) = match passage.char_indices().nth(room) {
        Some((end, _)) => (last_word(passage, end), true),
        None => (passage.len(), false),
    };
    let before = if start > 0 { "…" } else { "" };
    let after = if more { "…" } else { "" };
    Some(format!("{before}{}{after}", passage[..end].trim_end()))
}

/// The byte where the passage with the most different words of the query begins; 0 when none occurs.
fn best_start(text: &str, query: &[String]) -> usize {
    let matches = matches(text, query);
    let mut best = (0, 0);
    for (at, &(start, _)) in matches.iter().enumerate() {
        // In bytes, so never more than fits in the characters.
        let end = start + MAX_CHARS - LEAD_CHARS;
        let different: HashSet<usize> =
            matches[at..].iter().take_while(|(position, _)| *position < end).map(|(_, word)| *word).collect();
        if different.len() > best.0 {
            best = (different.len(), start);
        }
    }
    best.1
}

/// Occurrences of the query's words: byte position and word, by position.
fn matches(text: &str, query: &[String]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut token_start = None;
    for (position, character) in text.char_indices().chain([(text.len(), ' ')]) {
        if character.is_alphanumeric() {
            token_start.get_or_insert(position);
        } else if let Some(start) = token_start.take() {
            let token = text[start..position].to_lowercase();
            found.extend(query.iter().position(|word| same_word(&token, word)).map(|word| (start, word)));
            if found.len() >= MAX_MATCHES {
                break;
            }
        }
    }
    // Scripts without spaces between words: a query's word is somewhere inside a run of characters.
    for (index, word) in query.iter().enumerate().filter(|(_, word)| !word.is_ascii()) {
        found.extend(text.match_indices(word.as_str()).take(MAX_MATCHES).map(|(start, _)| (start, index)));
    }
    found.sort_unstable();
    found
}

/// Equal, or one is a prefix of the other ("run" and "running").
fn same_word(token: &str, word: &str) -> bool {
    let (short, long) = if token.len() < word.len() { (token, word) } else { (word, token) };
    token == word || (short.len() >= 3 && long.starts_with(short))
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
    fn without_a_match_the_beginning_is_shown() {
        let text = "word ".repeat(400);
        let snippet = cut_long(&text, "zebra");
        assert!(snippet.starts_with("word word") && snippet.ends_with('…'), "{snippet}");
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
