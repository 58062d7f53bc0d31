//! The texts of a purge, and whether they occur in a text or in the bytes of a file.

use std::collections::BTreeSet;
use std::io::{self, Read};

use aho_corasick::AhoCorasick;
use serde_json::Value;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::body::{Field, Shape};

/// A text as it may be stored: in any normalisation, plain or within JSON.
pub struct PurgeText {
    forms: BTreeSet<String>,
    composed: String,
}

impl PurgeText {
    /// A text in all its forms.
    pub fn new(text: &str) -> Self {
        let composed: String = text.nfc().collect();
        PurgeText { forms: BTreeSet::from([text.to_owned(), composed.clone(), text.nfd().collect()]), composed }
    }

    /// Whether it occurs in a text.
    pub fn is_in(&self, text: &str) -> bool {
        // A text that is stored half composed, half decomposed, has none of the forms.
        self.is_in_as_it_is(text) || (!is_nfc(text) && text.nfc().collect::<String>().contains(&self.composed))
    }

    /// Whether one of its forms occurs in a text.
    pub(in crate::records) fn is_in_as_it_is(&self, text: &str) -> bool {
        self.forms.iter().any(|form| text.contains(form.as_str()))
    }

    /// Whether it occurs in JSON: in a text, a number or a name that somebody gave. JSON syntax, the names of `fields`
    /// and their choices are memorist's own, and many records share them: a text that matches one of them must not remove
    /// all of these records.
    pub(in crate::records) fn is_in_json(&self, json: &str, fields: &[Field]) -> bool {
        match serde_json::from_str(json) {
            Ok(Value::Object(members)) => {
                members.iter().any(|(name, value)| match fields.iter().find(|field| field.name == name) {
                    Some(field) => !is_ours(field.shape) && self.is_in_value(value),
                    None => self.is_in(name) || self.is_in_value(value),
                })
            }
            Ok(value) => self.is_in_value(&value),
            // What is no JSON is a text.
            Err(_) => self.is_in(json),
        }
    }

    /// Whether it occurs in a member of a JSON object; the other members are memorist's own.
    pub(in crate::records) fn is_in_member(&self, json: &str, name: &str) -> bool {
        match serde_json::from_str::<Value>(json) {
            Ok(value) => value.get(name).is_some_and(|value| self.is_in_value(value)),
            Err(_) => self.is_in(json),
        }
    }

    fn is_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_in(text),
            Value::Array(values) => values.iter().any(|value| self.is_in_value(value)),
            Value::Object(fields) => fields.iter().any(|(name, value)| self.is_in(name) || self.is_in_value(value)),
            Value::Number(number) => self.is_in(&number.to_string()),
            Value::Null | Value::Bool(_) => false,
        }
    }
}

/// Whether the values of such a field are memorist's own: fixed words, counts, ids of records.
fn is_ours(shape: Shape) -> bool {
    match shape {
        Shape::Choice { .. } | Shape::Flag { .. } | Shape::Count { .. } | Shape::Record | Shape::Time => true,
        Shape::Label
        | Shape::Text
        | Shape::Labels
        | Shape::People
        | Shape::Object
        | Shape::Structure
        | Shape::Metadata => false,
    }
}

/// Bytes of a piece of a text.
const PIECE: usize = 16;
/// Maximum number of bytes to look for: the automaton takes some fifty times as much memory.
const MOST_BYTES: usize = 256 << 10;

/// Texts that no file of the database should hold any more.
///
/// A long text is looked for in pieces of 16 bytes, because SQLite may have left part of it: any 31 bytes of it in a row
/// are found. A short one, of less than 32 bytes, is looked for as a whole. Bytes that merely resemble a text may be
/// taken for it; that costs time and nothing else.
#[derive(Debug, Default)]
pub struct PurgePatterns {
    pieces: BTreeSet<Vec<u8>>,
    bytes: usize,
    is_unknown: bool,
}

impl PurgePatterns {
    /// The patterns of another purge, whose texts are not known here.
    pub fn unknown() -> Self {
        PurgePatterns { is_unknown: true, ..PurgePatterns::default() }
    }

    /// The patterns of the text of a purge, in each form in which it may be stored.
    pub(in crate::records) fn of(purged: &PurgeText) -> Self {
        let mut patterns = PurgePatterns::default();
        for form in &purged.forms {
            patterns.add(form);
            let json = Value::from(form.as_str()).to_string();
            patterns.add(json.trim_matches('"'));
        }
        patterns
    }

    /// Looks for this text too.
    pub(in crate::records) fn add(&mut self, text: &str) {
        if self.is_unknown || text.is_empty() {
            return;
        }
        let length = if text.len() < 2 * PIECE { text.len() } else { PIECE };
        for piece in text.as_bytes().chunks_exact(length) {
            if self.pieces.insert(piece.to_owned()) {
                self.bytes += piece.len();
            }
        }
        if self.bytes > MOST_BYTES {
            *self = PurgePatterns::unknown();
        }
    }

    /// Whether any of the texts is in these bytes. Unknown texts are assumed to be.
    pub(in crate::records) fn is_in(&self, bytes: impl Read) -> io::Result<bool> {
        if self.is_unknown || self.pieces.is_empty() {
            return Ok(self.is_unknown);
        }
        let automaton = AhoCorasick::new(&self.pieces).map_err(io::Error::other)?;
        let found = automaton.try_stream_find_iter(bytes).map_err(io::Error::other)?.next();
        found.transpose().map(|found| found.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::fields;
    use crate::types::Kind;

    #[test]
    fn a_text_is_found_in_every_normalisation_and_in_no_other_case() {
        for text in ["caf\u{e9}", "cafe\u{301}"] {
            let purged = PurgeText::new(text);
            for stored in ["my caf\u{e9}!", "my cafe\u{301}!", "e\u{301}e\u{301} and caf\u{e9}"] {
                assert!(purged.is_in(stored), "{text:?} in {stored:?}");
            }
            assert!(!purged.is_in("my CAF\u{c9}") && !purged.is_in("a cafe"));
        }
        // A letter with two marks, of which one is composed.
        let purged = PurgeText::new("\u{1e69}a");
        assert!(purged.is_in("\u{1e63}\u{307}a") && purged.is_in("s\u{307}\u{323}a"));
        assert!(PurgeText::new("sser").is_in("a password? no: an assertion; but a passer-by, a lesser one"));
    }

    #[test]
    fn a_text_is_found_within_json() {
        let purged = PurgeText::new("a \"b\"\n\u{e9}");
        let holding = Value::from(vec!["x", "see a \"b\"\ne\u{301}."]).to_string();
        assert!(purged.is_in_json(&holding, &[]) && !purged.is_in(&holding));
        assert!(purged.is_in_json(r#"{"k": [1, {"a \"b\"\n\u00e9": null}]}"#, &[]), "a name, escaped otherwise");
        for number in ["4111111111111112", "-17.25"] {
            assert!(PurgeText::new(number).is_in_json(&format!(r#"{{"card": [{number}]}}"#), &[]), "a number");
        }
        assert!(PurgeText::new("{bro").is_in_json("{broken", &[]), "what is no JSON is a text");
        assert!(!purged.is_in_json(r#"["a b"]"#, &[]));
    }

    #[test]
    fn json_syntax_and_memorist_field_names_match_no_purge_text() {
        let tags = r#"["one","two"]"#;
        for syntax in ["\",\"", "\"", "[", ",", "\\"] {
            assert!(!PurgeText::new(syntax).is_in_json(tags, &[]), "{syntax}");
        }
        let skill = r#"{"name":"a","enabled":true,"trigger_config":{"enabled":"name"},"max_steps":10,"plan":7}"#;
        let is_in = |text: &str| PurgeText::new(text).is_in_json(skill, fields(Kind::Skill));
        assert!(["max_steps", "trigger", "10", "true", "\":"].iter().all(|ours| !is_in(ours)));
        assert!(["a", "enabled", "name", "plan", "7"].iter().all(|theirs| is_in(theirs)), "within, or of no field");
        let contact = r#"{"name":"a","type":"personal"}"#;
        assert!(!PurgeText::new("personal").is_in_json(contact, fields(Kind::Contact)));
        assert!(PurgeText::new("type").is_in_json(contact, fields(Kind::Profile)), "its names are its writer's");
    }

    #[test]
    fn a_long_text_is_recognised_by_a_part_of_it() {
        let long: String = (0..10).map(|n| format!("distinct{n} ")).collect();
        let mut patterns = PurgePatterns::default();
        patterns.add(&long);
        patterns.add("short one");
        for at in 0..long.len() - 31 {
            assert!(patterns.is_in(&long.as_bytes()[at..at + 31]).unwrap(), "{at}");
        }
        assert!(!patterns.is_in(&long.as_bytes()[..15]).unwrap());
        assert!(patterns.is_in(&b"..short one.."[..]).unwrap());
        assert!(!patterns.is_in(&b"short on"[..]).unwrap());
        assert!(!PurgePatterns::default().is_in(&b"no patterns"[..]).unwrap());
    }

    #[test]
    fn too_many_patterns_are_assumed_to_be_present() {
        let numbers = |up_to: usize| (0..up_to).map(|n| format!("{n:016}")).collect::<String>();
        for (text, is_too_much) in [(numbers(MOST_BYTES / 16 - 1), false), (numbers(MOST_BYTES / 16 + 1), true)] {
            let mut patterns = PurgePatterns::default();
            patterns.add(&text);
            patterns.add("more");
            assert_eq!(patterns.is_in(&b""[..]).unwrap(), is_too_much);
        }
        assert!(PurgePatterns::unknown().is_in(&b""[..]).unwrap());
    }
}
