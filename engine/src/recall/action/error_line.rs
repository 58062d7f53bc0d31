//! The lines of an error that tell most, and whether a text is about one of them.

use std::collections::BTreeSet;

use super::lists::{BEFORE_NUMBERS, CAPITALS, ERRNOS, GENERIC, GENERIC_NAMES, NOISE, NOISE_WITHOUT_CODE, STANDARDS};
use super::named_file::is_telling;
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
/// A line with fewer significant words says too little, and a text with fewer of them is about another.
const LEAST_WORDS: usize = 2;
/// Fewest words that a text shares with a line that is about nothing particular.
const LEAST_ALONE: usize = 3;
/// A line with more to say tells no more.
const MOST_SAID: usize = 6;
/// A text with a code is more surely about the line than one with words in a row, and that more than one with most of its words.
const BY_CODE: usize = 2_000;
const BY_ROW: usize = 1_000;
/// Letters that two forms of a word share at their beginning.
const LEAST_STEM: usize = 5;
/// Letters of the endings of such forms.
const MOST_ENDING: usize = 4;
/// Words in quotes that may be names.
const MOST_QUOTED: usize = 4;
/// Codes of a line.
const MOST_CODES: usize = 4;
/// Fewer capitals are an abbreviation.
const LEAST_CAPITALS: usize = 7;
/// Longest end of the name of a file.
const LONGEST_END: usize = 5;

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
}

/// The lines of an error that tell most: at most three.
pub fn error_lines(error: &str) -> Vec<ErrorLine> {
    let error = without_colours(&error[error.ceil_char_boundary(error.len().saturating_sub(MOST_BYTES))..]);
    let lines: Vec<&str> = error.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut all: Vec<(u8, usize, ErrorLine)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let line = &line[..line.floor_char_boundary(LONGEST_LINE)];
        let weight = weight(line);
        // A panic says why on the next line, and a compiler where.
        let follows = |next: &&&str| line.contains("panicked at") || next.starts_with("-->");
        let next = lines.get(at + 1).filter(follows).copied().unwrap_or_default();
        let read = ErrorLine::read(line, &next[..next.floor_char_boundary(LONGEST_LINE)]);
        let says = read.about.len() + read.significant.len() + read.codes.len();
        let says_enough = says >= LEAST_WORDS || !read.codes.is_empty();
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
    fn read(line: &str, next: &str) -> Self {
        let exception = exception(line);
        let own_codes = codes(line);
        let is_code_generic = own_codes.iter().all(|code| has(ERRNOS, code));
        let codes: Vec<String> = own_codes.into_iter().chain(exception).map(str::to_owned).collect();
        // A panic has the name of its thread in quotes.
        let mut about = if line.contains("panicked at") { quoted_names(next) } else { quoted_names(line) };
        about.extend([line, next].into_iter().flat_map(names));
        let is_new = |name: &str| !codes.iter().any(|code| code.eq_ignore_ascii_case(name));
        about.retain(|name| !has(GENERIC_NAMES, name) && is_new(name));
        let next_words = if next.starts_with("-->") { "" } else { next };
        let words = [line, next_words].map(words).concat();
        let mut significant = significant_words(&words.join(" "));
        significant.retain(|word| !has(GENERIC, word) && is_new(word));
        ErrorLine { codes, is_code_generic, about, words, significant }
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
        if mentioned == 0 && !self.about.is_empty() {
            return None;
        }
        let is_sure = mentioned > 0 || !self.is_code_generic && self.significant.len() >= LEAST_WORDS;
        if is_sure && self.codes.iter().any(|code| has_exactly(text, code)) {
            return Some(BY_CODE + mentioned);
        }
        let said = words(text);
        if self.has_row_of(&said) {
            return Some(BY_ROW + mentioned);
        }
        let mut own: Vec<&String> = Vec::new();
        for word in self.significant.difference(&self.about) {
            if !own.iter().any(|other| are_forms(other, word)) {
                own.push(word);
            }
        }
        let shared: Vec<&&String> = own.iter().filter(|word| said.iter().any(|said| are_forms(word, said))).collect();
        let share = shared.len() as f64 / own.len().max(1) as f64;
        let is_about = match mentioned {
            0 => shared.len() >= LEAST_ALONE && share >= SHARE && shared.iter().any(|word| is_rare(word)),
            1 => shared.len() >= LEAST_WORDS || !shared.is_empty() && share >= SHARE_BESIDE,
            _ => true,
        };
        is_about.then_some(10 * mentioned + shared.len())
    }

    /// Whether a text has some words of the line in a row: four, or three with something that the line is about, or all of a shorter line.
    fn has_row_of(&self, said: &[String]) -> bool {
        let has = |row: &[String]| {
            let is_same = |other: &[String]| row.iter().zip(other).all(|(one, other)| are_forms(one, other));
            said.windows(row.len()).any(is_same)
        };
        let significant = |row: &[String]| row.iter().filter(|word| self.significant.contains(*word)).count();
        // Beside its name, words that every text has say nothing.
        let has_about = |row: &[String]| {
            let says = row.iter().filter(|word| !self.about.contains(*word) && significant_words(word).contains(*word));
            row.iter().any(|word| self.about.contains(word)) && says.count() > 0
        };
        let short = (IN_A_ROW - 1).min(self.words.len());
        self.words.windows(IN_A_ROW).any(|row| significant(row) >= LEAST_WORDS && has(row))
            || short >= LEAST_WORDS && self.words.windows(short).any(|row| has_about(row) && has(row))
    }
}

/// How much a line tells: nothing at 0.
fn weight(line: &str) -> u8 {
    let lower = line.to_lowercase();
    let has_one = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match () {
        () if has_one(NOISE) || has_one(NOISE_WITHOUT_CODE) && codes(line).is_empty() => 0,
        () if !codes(line).is_empty() => 5,
        () if exception(line).is_some() => 4,
        () if has_one(&["error", "panicked", "fatal"]) => 3,
        () if has_one(&["failed", "denied", "refused", "not found", "no such", "cannot", "timed out"]) => 2,
        // All that a failed command says may be why.
        () => 1,
    }
}

/// The codes of a line: `E0277`, `TS2345`, `ENOENT`, `BILL-1042`, `ERR_MODULE_NOT_FOUND`, `WRONGTYPE`, `40001` after `SQLSTATE`.
fn codes(line: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_loud = |word: &str| {
        word.len() >= LEAST_CAPITALS
            && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
            && !has(CAPITALS, word)
    };
    // A line that is written in capitals has no code by that.
    let may_be_loud = line.split(|c: char| !is_part(c)).filter(|word| is_loud(word)).count() < LEAST_WORDS;
    let mut found = Vec::new();
    let mut before = "";
    for word in line.split(|c: char| !is_part(c)).map(|word| word.trim_matches('-')).filter(|word| !word.is_empty()) {
        let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let letters = &word[..word.len() - digits.len()];
        let (number, least) = digits.strip_prefix('-').map_or((digits, 3), |number| (number, 2));
        let is_number = number.len() >= least && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_code = match letters.len() {
            0 => is_number && number.len() <= 5 && has(BEFORE_NUMBERS, &before.to_ascii_lowercase()),
            1..=8 if is_number => !has(STANDARDS, letters),
            _ => has(ERRNOS, word) || may_be_loud && is_loud(word) || word.starts_with("ERR_"),
        };
        if is_code && !found.contains(&word) && found.len() < MOST_CODES {
            found.push(word);
        }
        before = word;
    }
    found
}

/// Whether a text has a code. One without digits is a word that may be another in small letters.
fn has_exactly(text: &str, code: &str) -> bool {
    has_code(text, code) && (code.bytes().any(|byte| byte.is_ascii_digit()) || text.contains(code))
}

/// The name of an exception in a line, without its package.
fn exception(line: &str) -> Option<&str> {
    line.split_whitespace().find_map(|word| {
        let whole = word.trim_matches(|c: char| c.is_ascii_punctuation() && c != '_');
        let name = whole.rsplit(['.', ':']).next().unwrap_or(whole);
        let begins = name.starts_with(|c: char| c.is_ascii_uppercase());
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let ends = ["Error", "Exception"].iter().any(|end| name.len() > end.len() + 1 && name.ends_with(end));
        // `psycopg.errors.UndefinedTable: …`
        let is_packaged = word.ends_with(':') && name.len() < whole.len() && has_hump(name);
        (begins && is_word && (ends || is_packaged)).then_some(name)
    })
}

/// Whether a capital follows a small letter.
fn has_hump(word: &str) -> bool {
    word.as_bytes().windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase())
}

/// The names in quotes of a line, in lower case: of a path its end, and nothing of a sentence.
fn quoted_names(line: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut opened: Option<(usize, char)> = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match opened {
            Some((start, end)) if c == end => {
                let inner = &line[start..at];
                let count = inner.split_whitespace().count();
                if count <= MOST_QUOTED {
                    let whole = inner.rsplit(['/', '\\']).next().unwrap_or(inner);
                    let parts = whole.split(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)));
                    // Of several words, those that look like names.
                    let is_name = |part: &&str| count == 1 || part.contains(|c: char| c.is_uppercase() || c == '_');
                    names.extend(parts.filter(is_name).map(|part| part.trim_start_matches('-').to_lowercase()));
                }
                opened = None;
            }
            None if matches!(c, '`' | '"' | '\'') && !before.is_alphanumeric() => opened = Some((at + 1, c)),
            _ => {}
        }
        before = c;
    }
    names.retain(|name| name.chars().count() > 2 && name.starts_with(|c: char| c.is_alphabetic() || "_.".contains(c)));
    names
}

/// The names of a line that need no quotes, in lower case: of files, ports and what has `_` or a hump inside.
fn names(line: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut before = "";
    for word in line.split_whitespace() {
        let is_after_port = std::mem::replace(&mut before, word).eq_ignore_ascii_case("port");
        let word = word
            .rsplit("%2f")
            .next()
            .unwrap_or(word)
            .trim_matches(|c: char| c.is_ascii_punctuation() && !"_/.".contains(c))
            .trim_end_matches('.');
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        let file = name.split([':', '(', ')', ',']).next().unwrap_or(name);
        let host = word.rsplit("//").next().unwrap_or(word);
        names.extend(Some(word).filter(|word| is_after_port && is_port(word)).map(str::to_owned));
        let port = host.split_once(':').map(|(_, port)| port.split(['/', ')']).next().unwrap_or(port));
        let is_host = host.starts_with("localhost")
            || host.starts_with(|c: char| c.is_ascii_digit())
            || host.contains('.') && !is_file_name(file);
        names.extend(port.filter(|port| is_host && is_port(port)).map(str::to_owned));
        if is_telling(file) && is_file_name(file) {
            names.insert(file.to_lowercase());
        }
        let named = if name.bytes().all(|byte| byte.is_ascii_digit()) { word } else { name };
        for part in named.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            let is_joined = part.trim_matches('_').contains('_');
            if (has_hump(part) || is_joined) && !part.ends_with("Error") && !part.ends_with("Exception") {
                names.insert(part.to_lowercase());
            }
        }
    }
    names
}

/// Whether a name has an end as files have it: `retry.rs`.
fn is_file_name(name: &str) -> bool {
    let is_end = |end: &str| {
        (1..=LONGEST_END).contains(&end.len())
            && end.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.starts_with(|c: char| c.is_alphabetic() || "_.".contains(c))
        && name.rsplit_once('.').is_some_and(|(_, end)| is_end(end))
}

fn is_port(text: &str) -> bool {
    (2..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
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
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let longer = one.chars().count().max(other.chars().count());
    one == other || shared >= LEAST_STEM && longer - shared <= MOST_ENDING
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
        for (error, text) in [
            (bound, "E0277 for Decimal: enable the serde feature"),
            (bound, "E0277 in invoice.rs comes from a missing feature"),
            (refused, "ECONNREFUSED on port 5432: start the database"),
            (refused, "connection refused on 5432: start the database"),
            (module, "ModuleNotFoundError yaml: the package is PyYAML"),
            (serial, "40001: try the transaction again"),
            (serial, "could not serialize access: try again"),
            (panic, "a panic on unset tenant_id: export TENANT"),
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
