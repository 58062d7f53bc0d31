//! The names in a line of an error or of a memory: codes, exceptions, files, ports, identifiers.

use std::collections::BTreeSet;

use super::lists::{
    BEFORE_LINTS, BEFORE_NUMBERS, BEFORE_REASONS, CAPITALS, ERRNOS, GENERIC, GENERIC_NAMES, IN_PATHS, SCHEMES,
    STANDARDS,
};
use super::named_file::is_telling;
use crate::keywords::has_code;
use crate::recall::words::has;

/// Words in quotes that may be names.
const MOST_QUOTED: usize = 4;
/// Ends of what stands before a code in quotes.
const AFTER_CODE: [&str; 4] = ["code: ", "code\":", "code\": ", "code="];
/// Codes of a line, and exceptions.
const MOST_CODES: usize = 4;
/// Fewer capitals are an abbreviation.
const LEAST_CAPITALS: usize = 7;
/// A line with as many words in capitals has no code by that.
const MANY_IN_CAPITALS: usize = 2;
/// Longest end of the name of a file.
const LONGEST_END: usize = 8;
/// Length of `0x80070005`: a result of Windows. Other lengths are addresses.
const RESULT_CHARS: usize = 10;
/// Length of an SQLSTATE: `42P01`.
const STATE_CHARS: usize = 5;
/// Length of a code of OpenSSL: `0A00010B`.
const OPENSSL_CHARS: usize = 8;
/// Quotes inside quotes that are looked into.
const MOST_NESTED: usize = 3;
/// After the name of a host, a shorter number may be a line.
const LONG_PORT: usize = 4;
/// A shorter name is an abbreviation.
const LEAST_CHARS: usize = 3;

/// The codes of a line: `E0277`, `TS2345`, `ENOENT`, `BILL-1042`, `ERR_MODULE_NOT_FOUND`, `WRONGTYPE`, `40001` after `SQLSTATE`, and the
/// names of its exceptions, without their packages.
pub fn codes(line: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    // In quotes, it is a name: `table "AUDIT_OLD"`, but `code: "ERR_X"`.
    let is_quoted = |word: &str| {
        let quoted = line.split_once(word).and_then(|(before, _)| before.strip_suffix(['"', '\'', '`', '\u{201c}']));
        quoted.is_some_and(|before| !AFTER_CODE.iter().any(|end| before.to_lowercase().ends_with(end)))
    };
    let is_loud = |word: &str| {
        word.len() >= LEAST_CAPITALS
            && !is_quoted(word)
            && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
            && !has(CAPITALS, word)
    };
    let may_be_loud = line.split(|c: char| !is_part(c)).filter(|word| is_loud(word)).count() < MANY_IN_CAPITALS;
    let mut found = Vec::new();
    let mut before = "";
    for marked in line.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()) {
        let word = marked.trim_matches('-');
        let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let letters = &word[..word.len() - digits.len()];
        let (number, least) = digits.strip_prefix('-').map_or((digits, 3), |number| (number, 2));
        let is_number = number.len() >= least && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_code = match letters.len() {
            _ if has(BEFORE_LINTS, before) => word.contains('_'),
            0 => is_number_code(word, before),
            1..=8 if is_number => !has(STANDARDS, letters),
            1 if marked.starts_with("-W") => word.contains('-'),
            _ => has(ERRNOS, word) || may_be_loud && is_loud(word) || word.starts_with("ERR_"),
        };
        if is_code && !found.contains(&word) && found.len() < MOST_CODES {
            found.push(word);
        }
        before = word;
    }
    found.extend(exceptions(line).into_iter().chain(rule(line)));
    found
}

/// Whether a word that begins with a digit is a code after the word before it.
fn is_number_code(word: &str, before: &str) -> bool {
    let before = before.to_ascii_lowercase();
    let is_long = |length: usize, is_digit: fn(u8) -> bool| word.len() == length && word.bytes().all(is_digit);
    let is_result = word.len() == RESULT_CHARS && word.starts_with("0x");
    let is_state =
        before == "sqlstate" && is_long(STATE_CHARS, |byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let is_openssl =
        before == "error" && is_long(OPENSSL_CHARS, |byte| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte));
    let least = if before == "errno" { 1 } else { 3 };
    let is_number = (least..=5).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    is_result || is_state || is_openssl || is_number && has(BEFORE_NUMBERS, &before)
}

/// The rule that a linter or a type checker names at the end of a line: `[arg-type]`, `no-unused-vars`.
fn rule(line: &str) -> Option<&str> {
    let last = line.split_whitespace().next_back()?;
    let inner = last.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    let is_listed = line.split([' ', ':']).next().is_some_and(|first| first.bytes().all(|byte| byte.is_ascii_digit()));
    let is_word = |word: &&str| {
        word.contains('-') && word.bytes().all(|byte| byte.is_ascii_lowercase() || b"-/@".contains(&byte))
    };
    inner.or_else(|| is_listed.then_some(last)).filter(is_word)
}

/// Whether a text has a code. One without digits is a word that may be another in small letters.
pub fn has_exactly(text: &str, code: &str) -> bool {
    has_code(text, code) && (code.bytes().any(|byte| byte.is_ascii_digit()) || text.contains(code))
}

/// The names of the exceptions in a line, without their packages, and of other reasons that are written as such.
fn exceptions(line: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let mut before = "";
    for part in line.split(|c: char| !(c.is_alphanumeric() || "_.:=\\".contains(c))).filter(|part| !part.is_empty()) {
        let whole = part.trim_matches(['.', ':', '=', '\\']);
        let name = whole.rsplit(['.', ':', '=', '\\']).next().unwrap_or(whole);
        let is_word = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let ends = ["Error", "Exception", "Warning", "BackOff"].iter();
        let is_ending = ends.clone().any(|end| name.len() > end.len() + 1 && name.ends_with(end));
        let is_error = ["Err", "Failed", "Invalid"].iter().any(|begin| {
            name.strip_prefix(begin).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        });
        // `psycopg.errors.UndefinedTable: …`
        let is_packaged = part.ends_with(':') && name.len() < whole.len() && has_hump(name);
        // `Reason: NoSuchKey`, `An error occurred (NoSuchBucket) when calling …`
        let is_after =
            |begin: &str| line.contains(&format!("{begin} {name}")) && has(BEFORE_REASONS, &begin.to_ascii_lowercase());
        let is_reason = has_hump(name) && (is_after(before) || line.contains(&format!("occurred ({name})")));
        if is_word
            && (is_ending || is_error || is_packaged || is_reason)
            && !found.contains(&name)
            && found.len() < MOST_CODES
        {
            found.push(name);
        }
        before = part;
    }
    found
}

/// Whether a capital follows a small letter.
fn has_hump(word: &str) -> bool {
    word.as_bytes().windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase())
}

/// The names in quotes of a line, in lower case: of a path its end, and nothing of a sentence.
pub fn quoted_names(line: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let plain = line.replace("\\\"", "'").replace(['‘', '’'], "'").replace(['“', '”'], "\"");
    add_quoted(&plain, MOST_NESTED, &mut names);
    names.retain(|name| {
        name.chars().count() >= LEAST_CHARS
            && name.starts_with(|c: char| c.is_alphabetic() || "_.".contains(c))
            && !has(GENERIC, name)
            && !has(GENERIC_NAMES, name)
    });
    names
}

fn add_quoted(line: &str, nested: usize, names: &mut BTreeSet<String>) {
    let mut opened: Option<(usize, char)> = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match opened {
            Some((start, end)) if c == end => {
                let inner = &line[start..at];
                let count = inner.split_whitespace().count();
                // A key of JSON is no name.
                let is_key = c == '"' && line[at + 1..].starts_with(':');
                if count <= MOST_QUOTED && !is_key {
                    let is_page = inner
                        .split_once("://")
                        .is_some_and(|(scheme, rest)| has(SCHEMES, scheme) && !rest.contains('/'));
                    let whole = inner.rsplit(['/', '\\']).next().filter(|_| !is_page).unwrap_or_default();
                    let whole = whole.split_once('@').map_or(whole, |(name, _)| name);
                    let parts = whole.split(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)));
                    // Of several words, those that look like names.
                    let is_name = |part: &&str| count == 1 || part.contains(|c: char| c.is_uppercase() || c == '_');
                    names.extend(parts.filter(is_name).map(|part| part.trim_matches(['-', '_', '.']).to_lowercase()));
                }
                if count > 1 && nested > 0 {
                    add_quoted(inner, nested - 1, names);
                }
                opened = None;
            }
            None if matches!(c, '`' | '"' | '\'') && !before.is_alphanumeric() => opened = Some((at + c.len_utf8(), c)),
            _ => {}
        }
        before = c;
    }
}

/// The names of a line that need no quotes, in lower case: of files, ports and what has `_` or a hump inside.
pub fn names(line: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut before = "";
    for word in line.split_whitespace() {
        let is_after_port = std::mem::replace(&mut before, word).trim_end_matches(':').eq_ignore_ascii_case("port");
        let word = word
            .rsplit("%2f")
            .next()
            .unwrap_or(word)
            .trim_matches(|c: char| c.is_ascii_punctuation() && !"_/.".contains(c))
            .trim_end_matches('.');
        let is_page = word
            .split_once("://")
            .is_some_and(|(scheme, rest)| has(SCHEMES, scheme) && !rest.trim_end_matches('/').contains('/'));
        let name = if is_page { "" } else { word.rsplit(['/', '\\']).next().unwrap_or(word) };
        let file = name.split([':', '(', ')', ',']).next().unwrap_or(name);
        names.extend(Some(word).filter(|word| is_after_port && is_port(word)).map(str::to_owned));
        names.extend(port(word, file).map(str::to_owned));
        if is_telling(file) && is_file_name(file) {
            names.insert(file.to_lowercase());
        }
        let named = if !is_page && name.bytes().all(|byte| byte.is_ascii_digit()) { word } else { name };
        for part in named.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            let is_joined = part.trim_matches('_').contains('_');
            if (has_hump(part) || is_joined) && !part.ends_with("Error") && !part.ends_with("Exception") {
                names.insert(part.trim_matches('_').to_lowercase());
            }
        }
    }
    names
}

/// The port of an address in a word: `localhost:5432`, `:::3000`, `port=80`.
fn port<'a>(word: &'a str, file: &str) -> Option<&'a str> {
    let (host, port) = word.split_once("//").map_or(word, |(_, rest)| rest).rsplit_once([':', '='])?;
    let port = port.split(['/', ')', ',']).next()?;
    let is_address = host.is_empty()
        || host.ends_with([':', ']', '*'])
        || host.starts_with("localhost")
        || host.ends_with("port")
        || port.len() >= LONG_PORT && !host.contains(['.', '/']) && is_host(host)
        || host.starts_with(|c: char| c.is_ascii_digit()) && host.contains('.')
        || host.contains('.') && !is_file_name(file);
    (is_address && is_port(port)).then_some(port)
}

/// The ends of the paths and the values in a text, in lower case: `/ecs/invoices`, `@acme/cart`, `:app`, `topic=orders`.
pub fn path_names(line: &str) -> BTreeSet<String> {
    let ends = line.split_whitespace().filter_map(|word| {
        let word =
            word.trim_matches(|c: char| c.is_ascii_punctuation() && !"/@:".contains(c)).trim_end_matches([':', '/']);
        let is_address = word.split_once("://").is_some_and(|(scheme, _)| has(SCHEMES, scheme));
        let has_path = word.trim_start_matches('/').contains('/') || word.starts_with(['/', '@', ':']);
        let is_value = !word.starts_with('-') && word.contains('=');
        (!is_address && (has_path || is_value))
            .then(|| word.rsplit(['/', '@', ':', '=']).next().unwrap_or(word).to_lowercase())
    });
    let is_name = |name: &String| {
        name.len() >= LEAST_CHARS
            && name.starts_with(char::is_alphabetic)
            && !has(IN_PATHS, name)
            && !has(GENERIC, name)
    };
    ends.filter(is_name).collect()
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

/// Whether it is written as the name of a host: `db`, `web-1`.
fn is_host(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_port(text: &str) -> bool {
    (3..=5).contains(&text.len()) && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}
