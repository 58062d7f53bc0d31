//! The lines of an error that tell most, and whether a text is about one of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::error_names::{codes, has_exactly, names, quoted_names};
use super::error_thing::{marked_names, shared_things, things, without_codes};
use super::lists::{
    ENDINGS, ERRNOS, GENERIC, GENERIC_NAMES, IN_PATHS, NOISE, NOISE_WITHOUT_CODE, SYSTEM_MESSAGES, TELLING_FAILURES,
};
use crate::keywords::{has_code, significant_words};
use crate::recall::words::has;

/// Lines of one error that are looked up.
const MOST_LINES: usize = 3;
/// Bytes of an error that are read: from its end, where most programs say why.
const MOST_BYTES: usize = 32 << 10;
/// Bytes of a line that are read.
const LONGEST_LINE: usize = 600;
/// Words in a row that a text has of a line by no accident.
const IN_A_ROW: usize = 4;
/// Share of the significant words of a line that a text about it has, and beside something that the line is about.
const SHARE: f64 = 0.6;
const SHARE_BESIDE: f64 = 0.5;
/// Share of words of which none is rare.
const SHARE_OF_COMMON: f64 = 0.8;
/// A line with fewer significant words says too little, and a text with fewer of them is about another.
const LEAST_WORDS: usize = 2;
/// Fewest words that a text shares with a line that is about nothing particular.
const LEAST_ALONE: usize = 3;
/// A line with more to say tells no more.
const MOST_SAID: usize = 6;
/// A text with a code is more surely about the line than one with words in a row, and that more than one with most of its words.
const BY_CODE: usize = 2_000;
const BY_ROW: usize = 1_000;
/// Digits of an HTTP status.
const STATUS_DIGITS: usize = 3;
/// Letters that two forms of a word share at their beginning.
const LEAST_STEM: usize = 5;

/// A line of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorLine {
    /// Its codes and the name of its exception.
    codes: Vec<String>,
    /// Whether a code says little by itself: that of a system, or an exception.
    is_code_generic: bool,
    /// Names that it is about: those in quotes, names of files, ports, identifiers; in lower case.
    about: BTreeSet<String>,
    /// Its words in their order, without numbers and paths; in lower case.
    words: Vec<String>,
    /// Its words that say more than that something failed.
    significant: BTreeSet<String>,
    /// The words of each part of the line between colons.
    clauses: Vec<Vec<String>>,
    line: String,
    /// The whole error.
    error: Arc<str>,
}

/// The lines of an error that tell most: at most three.
pub fn error_lines(error: &str) -> Vec<ErrorLine> {
    let error = without_colours(&error[error.ceil_char_boundary(error.len().saturating_sub(MOST_BYTES))..]);
    let lines: Vec<&str> = error.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let whole: Arc<str> = Arc::from(&*error);
    let mut all: Vec<(u8, usize, ErrorLine)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let line = &line[..line.floor_char_boundary(LONGEST_LINE)];
        let weight = weight(line);
        // A panic says why on the next line, and a compiler where.
        let follows = |next: &&&str| line.contains("panicked at") || next.starts_with("-->");
        let next = lines.get(at + 1).filter(follows).copied().unwrap_or_default();
        let read = ErrorLine::read(line, &next[..next.floor_char_boundary(LONGEST_LINE)], &whole);
        let says = read.about.len() + read.significant.len() + read.codes.len();
        let says_enough = says >= LEAST_WORDS || !read.codes.is_empty() || !read.about.is_empty();
        if weight > 0 && says_enough && !all.iter().any(|(_, _, other)| *other == read) {
            all.push((weight, says.min(MOST_SAID), read));
        }
    }
    all.sort_by_key(|(weight, says, _)| std::cmp::Reverse((*weight, *says)));
    let mut lines: Vec<ErrorLine> = all.into_iter().take(MOST_LINES).map(|(.., line)| line).collect();
    // A line that says little by itself is about what the others are about.
    let about: BTreeSet<String> = lines.iter().flat_map(|line| line.about.iter().cloned()).collect();
    let says_little = |line: &&mut ErrorLine| line.is_code_generic || line.significant.len() < LEAST_WORDS;
    for line in lines.iter_mut().filter(|line| line.about.is_empty()).filter(says_little) {
        line.about.clone_from(&about);
    }
    lines
}

impl ErrorLine {
    fn read(line: &str, next: &str, error: &Arc<str>) -> Self {
        let codes: Vec<String> = codes(line).into_iter().map(str::to_owned).collect();
        let is_code_generic = codes.iter().all(|code| says_little(code));
        // A panic has the name of its thread in quotes.
        let mut about = if line.contains("panicked at") { quoted_names(next) } else { quoted_names(line) };
        about.extend([without_place(line), next].into_iter().flat_map(names));
        let is_new = |name: &str| !codes.iter().any(|code| code.eq_ignore_ascii_case(name));
        about.retain(|name| !has(GENERIC_NAMES, name) && !has(IN_PATHS, name) && is_new(name));
        let next_words = if next.starts_with("-->") { "" } else { next };
        let words = [line, next_words].map(words).concat();
        let mut significant = significant_words(&words.join(" "));
        let is_of_name = |word: &str| codes.iter().chain(&about).any(|name| is_part(word, &name.to_lowercase()));
        significant.retain(|word| !has(GENERIC, word) && !has(IN_PATHS, word) && is_new(word) && !is_of_name(word));
        let clauses = without_place(line).split(": ").flat_map(|part| part.split(". ")).map(self::words).collect();
        ErrorLine {
            codes,
            is_code_generic,
            about,
            words,
            significant,
            clauses,
            line: line.to_owned(),
            error: Arc::clone(error),
        }
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        self.codes.first().map_or("this error", String::as_str)
    }

    /// The words to search for.
    pub fn query(&self) -> String {
        let words = self.codes.iter().chain(&self.about).chain(&self.significant);
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Whether a text is about this error, and then how surely. It has something of what the line is about, if there is any; and a
    /// code, words of the line in a row, or most of its words, of which one is rare.
    pub fn likeness(&self, text: &str, is_rare: impl Fn(&str) -> bool) -> Option<usize> {
        let mentioned = self.about.iter().filter(|name| has_code(text, name)).count();
        if let Some(count) = self.things_beside_code(text, mentioned) {
            return Some(BY_CODE + count);
        }
        // Something that the text names may be bare in the line.
        let rest = without_codes(text, &self.codes);
        let is_new =
            |name: &String| !has(GENERIC_NAMES, name) && !self.about.contains(name) && has_code(&self.line, name);
        let of_text = things(&rest);
        let bare: BTreeSet<String> = of_text.iter().cloned().chain(marked_names(&rest)).filter(is_new).collect();
        let mut named = mentioned + bare.len();
        // Another line of the error may have it.
        let is_elsewhere = named == 0 && of_text.iter().any(|name| has_code(&self.error, name));
        if named == 0 && !self.about.is_empty() && !is_elsewhere {
            return None;
        }
        named += usize::from(is_elsewhere);
        let said = words(text);
        if self.has_row_of(&said, named > 0) {
            return Some(BY_ROW + named);
        }
        let is_name = |word: &str| self.about.iter().chain(&bare).any(|name| is_part(word, name));
        let mut own: Vec<&String> = Vec::new();
        for word in self.significant.iter().filter(|word| !is_name(word)) {
            if !own.iter().any(|other| are_forms(other, word)) {
                own.push(word);
            }
        }
        let is_said = |word: &&String| said.iter().any(|said| are_forms(word, said) && !has(GENERIC, said));
        let shared: Vec<&String> = own.iter().copied().filter(is_said).collect();
        let share = shared.len() as f64 / own.len().max(1) as f64;
        let is_about = match named {
            0 => {
                let is_most = share >= SHARE && shared.iter().any(|word| is_rare(word));
                shared.len() >= LEAST_ALONE && (is_most || share >= SHARE_OF_COMMON)
            }
            1 => {
                let is_enough = shared.len() >= LEAST_WORDS && !is_elsewhere || share > SHARE_BESIDE;
                is_enough || !is_elsewhere && self.has_clause_of(&own, &shared)
            }
            _ => own.is_empty() || !shared.is_empty(),
        };
        is_about.then_some(10 * named + shared.len())
    }

    /// How many things a text with a code of the line shares with the error; `None` if it has no code, or is about another cause.
    fn things_beside_code(&self, text: &str, mentioned: usize) -> Option<usize> {
        if !self.codes.iter().any(|code| has_exactly(text, code)) {
            return None;
        }
        let (shared, has_others) = shared_things(&self.error, text, &self.codes);
        let says_enough = !self.is_code_generic && self.significant.len() >= LEAST_WORDS;
        let is_of_code = says_enough && self.about.is_empty() && !has_others;
        (mentioned + shared > 0 || is_of_code).then_some(mentioned.max(shared))
    }

    /// Whether a part of the line between colons has all of its words among these.
    fn has_clause_of(&self, own: &[&String], shared: &[&String]) -> bool {
        self.clauses.iter().any(|clause| {
            let of_clause = |words: &[&String]| words.iter().filter(|word| clause.contains(*word)).count();
            let count = of_clause(shared);
            count > 0 && count == of_clause(own)
        })
    }

    /// Whether a text has some words of the line in a row: four; or three where it names something of the line; or, beside a name,
    /// all of a shorter line.
    fn has_row_of(&self, said: &[String], is_named: bool) -> bool {
        let has = |row: &[String]| {
            let is_same = |other: &[String]| row.iter().zip(other).all(|(one, other)| are_forms(one, other));
            said.windows(row.len()).any(is_same)
        };
        let significant = |row: &[String]| row.iter().filter(|word| self.significant.contains(*word)).count();
        // Beside its name, words that every text has say nothing.
        let has_about = |row: &[String]| {
            let says = row.iter().filter(|word| !self.about.contains(*word) && significant_words(word).contains(*word));
            let is_name = |word: &String| self.about.iter().any(|name| is_part(word, name));
            row.iter().any(is_name) && says.count() > 0
        };
        let short = (IN_A_ROW - 1).min(self.words.len());
        let says_enough =
            |row: &[String]| has_about(row) || is_named && row.len() == IN_A_ROW - 1 && significant(row) > 0;
        let is_of_system = |row: &[String]| SYSTEM_MESSAGES.iter().any(|message| message.contains(&row.join(" ")));
        let mut long_rows = self.words.windows(IN_A_ROW).filter(|row| has(row));
        long_rows.any(|row| significant(row) >= LEAST_WORDS || has_about(row) || is_named && !is_of_system(row))
            || short >= LEAST_WORDS && self.words.windows(short).any(|row| says_enough(row) && has(row))
    }
}

/// How much a line tells: nothing at 0.
fn weight(line: &str) -> u8 {
    let lower = line.to_lowercase();
    let is_frame = line.starts_with("at ") || line.starts_with("File \"");
    let has_one = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match () {
        () if is_frame || has_one(NOISE) || has_one(NOISE_WITHOUT_CODE) && codes(line).is_empty() => 0,
        () if codes(line).iter().any(|code| code.bytes().any(|byte| byte.is_ascii_digit() || byte == b'_')) => 5,
        () if !codes(line).is_empty() => 4,
        () if has_one(&["error", "panicked", "fatal"]) => 3,
        () if has_one(TELLING_FAILURES) => 2,
        // All that a failed command says may be why.
        () => 1,
    }
}

/// Whether a word is a name or a part of it: "sync" of `media-sync`.
fn is_part(word: &str, name: &str) -> bool {
    word == name || name.split(['-', '_', '.']).any(|part| part == word)
}

/// Whether a code has many causes: an error of the system, an HTTP status, an exception.
fn says_little(code: &str) -> bool {
    let all = |is_one: fn(&u8) -> bool| code.as_bytes().iter().all(is_one);
    let is_exception = all(u8::is_ascii_alphabetic) && !all(u8::is_ascii_uppercase);
    has(ERRNOS, code) || is_exception || code.len() == STATUS_DIGITS && all(u8::is_ascii_digit)
}

/// A line without the file and the line of code at its beginning: "psql:daily.sql:14: ERROR: …".
fn without_place(line: &str) -> &str {
    let (place, rest) = line.split_once(": ").unwrap_or_default();
    let has_number =
        place.rsplit(':').next().is_some_and(|end| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit()));
    if has_number && !place.contains(char::is_whitespace) { rest } else { line }
}

/// The words of a text in their order, in lower case, without numbers, hashes and paths.
fn words(text: &str) -> Vec<String> {
    let is_path = |word: &&str| word.trim_matches(['/', '\\']).contains(['/', '\\']);
    let parts = text.split_whitespace().filter(|word| !is_path(word));
    let parts = parts.flat_map(|word| word.split(|c: char| !(c.is_alphanumeric() || c == '_')));
    let is_hash = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_word = |word: &&str| word.starts_with(|c: char| c.is_alphabetic() || c == '_') && !is_hash(word);
    parts.filter(is_word).map(str::to_lowercase).collect()
}

/// Whether two words are forms of one, such as "connect" and "connection".
fn are_forms(one: &str, other: &str) -> bool {
    let stem: String = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let is_ending = |word: &str| word.len() == stem.len() || has(ENDINGS, &word[stem.len()..]);
    one == other || stem.chars().count() >= LEAST_STEM && is_ending(one) && is_ending(other)
}

/// A text without the codes that colour it in a terminal.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| c.is_ascii_alphabetic()).map_or(piece.len(), |at| at + 1);
        plain.push_str(&piece[end..]);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_about(error: &str, text: &str) -> bool {
        error_lines(error).iter().any(|line| line.likeness(text, |_| true).is_some())
    }

    #[test]
    fn a_text_is_about_an_error_by_its_code_and_what_it_is_about() {
        let bound =
            "error[E0277]: the trait bound `Decimal: Serialize` is not satisfied\n  --> src/billing/invoice.rs:4:10";
        let refused = "Error: connect ECONNREFUSED 127.0.0.1:5432";
        let module = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'";
        let serial = "ERROR: SQLSTATE 40001: could not serialize access due to concurrent update";
        let panic =
            "thread 'main' panicked at src/x.rs:4:5:\ncalled `Option::unwrap()` on a `None` value: tenant_id unset";
        let image =
            "Failed to pull image \"ghcr.io/acme/orders:1.8\": 403\nWarning  Failed  kubelet  Error: ImagePullBackOff";
        let bucket = "An error occurred (NoSuchBucket) when calling the GetObject operation: orders is not there";
        let depends = "psql:a.sql:6: ERROR:  cannot drop table visit-notes because other objects depend on it";
        let denied = "psql:daily.sql:14: ERROR:  permission denied for table invoices";
        let port = "Error: Port 5544 is already in use\n    at Server.onError (file:///p/x.js:1:1)";
        let lint = "error: unexpected `cfg` condition name: `fast`\n = note: add `#[allow(unexpected_cfgs)]`";
        let merge = "CONFLICT (content): Merge conflict in src/box-office.ts";
        for (error, text) in [
            (bound, "E0277 for Decimal: enable the serde feature"),
            (bound, "E0277 in invoice.rs comes from a missing feature"),
            (refused, "ECONNREFUSED on port 5432: start the database"),
            (refused, "connection refused on 5432: start the database"),
            (module, "ModuleNotFoundError yaml: the package is PyYAML"),
            (serial, "40001: try the transaction again"),
            (serial, "could not serialize access: try again"),
            (panic, "a panic on unset tenant_id: export TENANT"),
            (image, "orders was stuck in ImagePullBackOff, the secret was missing"),
            (bucket, "NoSuchBucket for orders: it moved to another region"),
            (depends, "You cannot drop visit-notes directly, the views depend on it"),
            (denied, "The role gets permission denied on invoices each time the table is rebuilt"),
            (port, "vite says port 5544 is already in use: stop the other one"),
        ] {
            assert!(is_about(error, text), "{error}: {text}: {:?}", error_lines(error));
        }
        for (error, text) in [
            (bound, "E0277 for Session: it is not Send"),
            (bound, "Decimal is used in billing"),
            (refused, "ECONNREFUSED on port 6379: start Redis"),
            (module, "ModuleNotFoundError redis: install the extra"),
            (serial, "40002 is another code"),
            (serial, "an error is not found"),
            (image, "billing was stuck in ImagePullBackOff, the secret was missing"),
            (depends, "Metrics of visit-notes go into the same folder"),
            (port, "port 7000 is already in use by another program"),
            (lint, "`unexpected_cfgs` about feature trip_legs: declare it"),
            (merge, "release/box-office is protected: open a request and let the bot merge"),
            ("Exit code 1", "exit code 1 comes from the linter"),
            ("all is well", "all is well"),
        ] {
            assert!(!is_about(error, text), "{error}: {text}: {:?}", error_lines(error));
        }
    }

    #[test]
    fn lines_that_tell_most_come_first() {
        let lines = error_lines(
            "error: test failed, to rerun pass `-p x`\n\u{1b}[31merror\u{1b}[0m: no such flag `--bad-flag`\nE0433 here",
        );
        let names: Vec<_> = lines.iter().map(|line| (line.name(), line.query())).collect();
        assert_eq!(names[0].0, "E0433");
        assert!(lines.len() == 2 && names[1].1.contains("flag"), "{names:?}");
        for hostile in ["\u{1b}", "'", "error: `", "\u{0}error\n", "E0277 ", "größer/error:"] {
            assert!(error_lines(&hostile.repeat(200_000)).len() <= MOST_LINES);
        }
    }
}
