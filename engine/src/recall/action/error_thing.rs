//! Whether a memory with the code of an error is about the thing that failed: the same file, table, package or port.

use std::collections::BTreeSet;

use super::error_names::{names, path_names, quoted_names};
use super::lists::{BEFORE_HYPHENS, ERRNOS, GENERIC, GENERIC_NAMES, IN_PATHS};
use crate::keywords::{has_code, significant_words};
use crate::recall::words::has;

/// Words between a code and the thing that failed.
const BEFORE_THINGS: &str = "a an about after at by for from in is my no of on our over so the this to when with";
/// Words after a code that may be the thing.
const MOST_AFTER: usize = 4;
/// Words after a code without "for" or the like.
const MOST_BARE: usize = 2;
/// Words at the beginning of a sentence that may be the thing.
const MOST_FIRST: usize = 2;
/// Digits of a number that may be a port.
const PORT_DIGITS: std::ops::RangeInclusive<usize> = 4..=5;
/// Fewer letters are an abbreviation or a unit.
const LEAST_CHARS: usize = 3;

/// How many things that `text` names are in the error, and whether it names others alone: then it is about another cause.
pub fn shared_things(error: &str, text: &str, codes: &[String]) -> (usize, bool) {
    let is_thing = |name: &String| !has(GENERIC_NAMES, name) && !has(ERRNOS, &name.to_uppercase());
    let rest = without_codes(text, codes);
    let mut certain = things(&rest);
    certain.retain(is_thing);
    let marked = marked_names(&rest);
    let mut likely = marked.clone();
    likely.extend(words_with_capital(&rest));
    likely.retain(|name| is_thing(name) && !has(GENERIC, name));
    let count = |names: &BTreeSet<String>| names.iter().filter(|name| has_code(error, name)).count();
    let shared = count(&certain.union(&likely).cloned().collect());
    // A word with a capital alone may be any: "LFS".
    if shared > 0 && (certain.is_empty() || count(&certain) > 0 || count(&marked) > 0) {
        return (shared, false);
    }
    let after =
        codes.iter().flat_map(|code| words_after(text, code, |word| certain.contains(word) || likely.contains(word)));
    let after: BTreeSet<String> = after.collect();
    let is_about_others = !certain.is_empty() || !likely.is_empty() || !after.is_empty();
    if is_about_others {
        return (count(&after), count(&after) == 0);
    }
    let in_place =
        |word: &String| !has(GENERIC, word) && !has(IN_PATHS, word) && is_thing(word) && is_placed(error, word);
    let placed = first_words(&rest).into_iter().filter(in_place).count();
    (placed, false)
}

/// A text without the words that have one of these codes.
pub fn without_codes(text: &str, codes: &[String]) -> String {
    let has_one = |word: &str| codes.iter().any(|code| word.contains(&**code));
    let lines = text.lines().map(|line| line.split(' ').filter(|word| !has_one(word)).collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

/// The names of a text: in quotes, files, ports, identifiers and ends of paths, in lower case.
pub fn things(text: &str) -> BTreeSet<String> {
    text.lines().flat_map(|line| [names(line), quoted_names(line), path_names(line)]).flatten().collect()
}

/// The words after a code that say of what: "P2002 on invoices", "NU1101: …" has none.
fn words_after(text: &str, code: &str, is_known: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let Some(at) = text.find(code) else { return BTreeSet::new() };
    let rest = text[at + code.len()..].trim_start_matches(['`', ')', ']', '"', '\'']);
    if !rest.starts_with(' ') {
        return BTreeSet::new();
    }
    let clause = rest.split(['.', ',', ';', ':', '(', '\n']).next().unwrap_or_default();
    let all: Vec<&str> = clause.split_whitespace().collect();
    let begins = all.iter().take_while(|word| has(BEFORE_THINGS, word)).count();
    // "on the log group /ecs/cart": the path is the thing.
    let names = things(clause);
    let is_named = names.iter().any(|name| is_known(name)) || all.iter().any(|word| is_known(&word.to_lowercase()));
    if is_named || begins == 0 && all.len() > MOST_BARE {
        return BTreeSet::new();
    }
    let words = all[begins..].iter().map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()).to_lowercase());
    let significant = significant_words(clause);
    let is_thing = |word: &String| {
        let is_word = word.len() >= LEAST_CHARS && word.starts_with(char::is_alphabetic);
        is_word && significant.contains(word) && !has(GENERIC, word) && !has(IN_PATHS, word)
    };
    words.take(MOST_AFTER).filter(is_thing).collect()
}

/// Words that are written as names are: with a hyphen, or numbers that may be ports; in lower case.
pub fn marked_names(text: &str) -> BTreeSet<String> {
    let words = text.split_whitespace().filter(|word| !word.starts_with('-'));
    let plain = words.map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()));
    let is_name = |word: &&str| {
        let is_number = PORT_DIGITS.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
        let is_joined = word.split_once('-').is_some_and(|(first, _)| !has(BEFORE_HYPHENS, &first.to_lowercase()));
        is_number || word.len() >= LEAST_CHARS && is_joined
    };
    plain.filter(is_name).map(str::to_lowercase).collect()
}

/// Words with a capital amid a sentence, in lower case.
fn words_with_capital(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_first = true;
    for word in text.split_whitespace() {
        let plain = word.trim_matches(|c: char| c.is_ascii_punctuation());
        if !is_first && !word.starts_with('-') && plain.len() >= LEAST_CHARS && plain.starts_with(char::is_uppercase) {
            names.insert(plain.to_lowercase());
        }
        is_first = word.ends_with(['.', ':', '!', '?']);
    }
    names
}

/// The first words of each sentence, where a text says what it is about.
fn first_words(text: &str) -> BTreeSet<String> {
    let sentences = text.split(". ").flat_map(|part| part.split([':', '\n']));
    sentences
        .flat_map(|sentence| {
            let significant = significant_words(sentence);
            let words = sentence
                .split_whitespace()
                .map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()).to_lowercase());
            words
                .take(MOST_FIRST)
                .filter(|word| word.len() >= LEAST_CHARS && significant.contains(word))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Whether an error has a word where names stand: beside a mark of a path, of quotes or of a parameter.
fn is_placed(error: &str, word: &str) -> bool {
    let error = error.to_lowercase();
    error.match_indices(word).any(|(at, _)| {
        let mut before = error[..at].chars().rev();
        let mut after = error[at + word.len()..].chars();
        let (before, after, next) = (before.next(), after.next(), after.next());
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let is_mark = |c: Option<char>| c.is_some_and(|c| "/@=#:<>[]`'\"".contains(c));
        let goes_on = matches!(after, Some('.' | ':')) && is_part(next);
        let is_beside = is_mark(before) || is_mark(after) || matches!(before, Some('.')) || goes_on;
        !is_part(before) && !is_part(after) && is_beside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_found_wherever_a_text_and_an_error_name_it() {
        let esm = "Error [ERR_REQUIRE_ESM]: require() of ES Module /p/node_modules/geo_math/index.js not supported.";
        let package = "error NU1101: Unable to find package invoices. No packages exist with this id.";
        let port = "Error: listen EADDRINUSE: address already in use :::5601";
        let key = "ERROR 1062 (23000): Duplicate entry '17' for key invoices.PRIMARY";
        for (error, code, text, expected) in [
            (esm, "ERR_REQUIRE_ESM", "ERR_REQUIRE_ESM with geo_math: pin it", (1, false)),
            (esm, "ERR_REQUIRE_ESM", "ERR_REQUIRE_ESM with chart_kit: pin it", (0, true)),
            (esm, "ERR_REQUIRE_ESM", "ERR_REQUIRE_ESM: set the type of the module", (0, false)),
            (package, "NU1101", "NU1101 for invoices: add the feed", (1, false)),
            (package, "NU1101", "NU1101 for ledgers: add the feed", (0, true)),
            (port, "EADDRINUSE", "EADDRINUSE 5601: an old watcher", (1, false)),
            (port, "EADDRINUSE", "An old watcher has the port: EADDRINUSE", (0, false)),
            (key, "1062", "invoices was imported twice (1062)", (1, false)),
            (key, "1062", "vouchers was imported twice (1062)", (0, false)),
        ] {
            assert_eq!(shared_things(error, text, &[code.to_owned()]), expected, "{error}: {text}");
        }
    }
}
