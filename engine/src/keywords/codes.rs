//! The codes of a text: what stands for one thing and is written in one way, such as `HRB-31`, `src/main.rs`, `user_id` or `E4242`.
//!
//! An ordinary compound ("read-only", "and/or") is no code, and neither is a number, a date or a time of day.

use super::analysis::{is_identifier_char, significant_count, trim};
use super::folding::normalise;

/// Fewer characters are no code.
const LEAST_CHARS: usize = 3;
/// Codes of a text that are looked for.
const MOST_CODES: usize = 8;

/// The codes of a text as they are written, each once, in their order.
pub fn codes(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for chunk in text.split(|c: char| !is_identifier_char(c)) {
        let chunk = trim(chunk);
        if is_code(chunk) && !found.contains(&chunk) {
            found.push(chunk);
        }
    }
    found.truncate(MOST_CODES);
    found
}

/// Whether a text has codes, and no significant word beside them.
pub fn has_only_codes(text: &str) -> bool {
    let codes = codes(text);
    !codes.is_empty()
        && significant_count(&codes.iter().fold(text.to_owned(), |rest, code| rest.replace(code, " "))) == 0
}

fn is_code(chunk: &str) -> bool {
    if !chunk.is_ascii() || chunk.len() < LEAST_CHARS || !chunk.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    let has_digit = chunk.bytes().any(|byte| byte.is_ascii_digit());
    if has_digit {
        return !is_quantity(chunk);
    }
    let parts: Vec<&str> = chunk.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    let is_path = parts.len() > 2 || parts.len() == 2 && parts[1].contains('.');
    let is_file = chunk.split('.').count() > 1 && chunk.split('.').all(|part| part.len() > 1);
    is_path || is_file || chunk.contains("::") || chunk.contains('_') || chunk.contains('@') || is_in_camel_case(chunk)
}

/// Whether it is a number with a unit or an ordinal, a date or a time: `10am`, `3rd`, `16GB`, `2026-11-14T10:00Z`.
fn is_quantity(chunk: &str) -> bool {
    let number = chunk.trim_start_matches(|c: char| c.is_ascii_digit() || ".,:-/$%".contains(c));
    number.len() < chunk.len() && number.bytes().all(|byte| byte.is_ascii_alphabetic())
        || chunk.as_bytes().iter().filter(|byte| byte.is_ascii_alphabetic()).all(|byte| b"TZ".contains(byte))
}

/// `getUserById`, but neither `GraphQL` nor `McAllister`, which are names.
fn is_in_camel_case(chunk: &str) -> bool {
    let is_word = chunk.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_word
        && chunk.starts_with(|c: char| c.is_ascii_lowercase())
        && chunk.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Whether a text has a code as a whole: not as a part of a longer one with more digits, as `HRB-3` is of `HRB-31`.
pub fn has_code(text: &str, code: &str) -> bool {
    let (text, code) = (normalise(text), normalise(code));
    text.match_indices(&*code).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + code.len()..].chars().next();
        [before, after].into_iter().flatten().all(|c| !c.is_alphanumeric() && c != '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_codes_but_words_dates_and_amounts_are_not() {
        for (text, expected) in [
            ("What was HRB-31 about?", vec!["HRB-31"]),
            ("see `src/main.rs:42` and README.md.", vec!["src/main.rs:42", "README.md"]),
            ("call getUserById(user_id) or std::fs", vec!["getUserById", "user_id", "std::fs"]),
            ("E4242, v1.2.3; ops@example.org", vec!["E4242", "v1.2.3", "ops@example.org"]),
            ("a read-only and/or well-known GraphQL API, e.g. at 10am on the 3rd", vec![]),
            ("2026-11-14, 14:30, 2026-11-14T10:00:00Z, 16GB, 50% of $5, i.e. 3.5", vec![]),
            ("数据库 e4242 在", vec!["e4242"]),
        ] {
            assert_eq!(codes(text), expected, "{text}");
        }
        assert_eq!(codes(&"a1b2 c3d4 ".repeat(1_000_000)), ["a1b2", "c3d4"]);
    }

    #[test]
    fn a_text_of_codes_has_no_other_word() {
        assert!(has_only_codes("what is HRB-31?") && has_only_codes("E4242 a_b"));
        assert!(!has_only_codes("HRB-31 result") && !has_only_codes("what is it?"));
    }

    #[test]
    fn a_code_is_found_whole() {
        for text in ["HRB-31", "bug hrb-31: x", "(HRB-31)", "/HRB-31/"] {
            assert!(has_code(text, "HRB-31"), "{text}");
        }
        for text in ["HRB-310", "AHRB-31", "HRB-3", "hrb_31", ""] {
            assert!(!has_code(text, "HRB-31"), "{text}");
        }
    }
}
