//! Differences between the protocols of providers.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::reason::{is_about_size, unreadable};
use crate::provider::Fields;

/// How a provider is asked, and how it answers.
pub(super) trait Dialect: Send + Sync {
    /// Limits of a request.
    fn limits(&self) -> Limits;

    /// The header with the key: its name, and what precedes the key.
    fn key_header(&self) -> (&'static str, &'static str);

    /// The operation, which follows the address.
    fn operation(&self, model: &str) -> String;

    /// The body of a request for these texts. `fields` belong to it.
    fn body(&self, model: &str, texts: &[&str], fields: &Fields) -> Value;

    /// The vectors of an answer, in the order of the texts. An error says why it is invalid.
    fn vectors(&self, body: &[u8], count: usize) -> Result<Vec<Numbers>, String>;

    /// Whether an error of the server is about the texts after all.
    fn is_about_texts(&self, status: u16, message: &str) -> bool {
        status >= 500 && is_about_size(message)
    }

    /// The request for the context length of the model: its operation and its body.
    fn window_request(&self, _model: &str) -> Option<(&'static str, Value)> {
        None
    }

    /// The context length of the model in tokens, by the answer to that request.
    fn window(&self, _body: &[u8]) -> Option<usize> {
        None
    }
}

/// Numbers of a vector as they came; other values are null. Empty where there is no vector.
pub(super) type Numbers = Vec<Option<f32>>;

/// Reads an answer, also one with NaN and Infinity, which some servers write though JSON has none: they become null.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    let parsed = serde_json::from_slice(body).or_else(|_| serde_json::from_slice(&without_nan(body)));
    parsed.map_err(|error| unreadable(&error))
}

fn without_nan(body: &[u8]) -> Vec<u8> {
    const WORDS: [&[u8]; 3] = [b"NaN", b"-Infinity", b"Infinity"];
    let mut written = Vec::with_capacity(body.len());
    let (mut rest, mut is_text) = (body, false);
    while let [first, ..] = rest {
        let word = WORDS.iter().find(|word| !is_text && rest.starts_with(word));
        let length = match (word, first) {
            (Some(word), _) => word.len(),
            (None, b'\\') => rest.len().min(2),
            _ => 1,
        };
        is_text ^= *first == b'"';
        written.extend_from_slice(if word.is_some() { b"null" } else { &rest[..length] });
        rest = &rest[length..];
    }
    written
}

/// The limits of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Texts.
    pub texts: usize,
    /// Tokens of all texts.
    pub tokens: usize,
    /// Whether only one request is sent at a time.
    pub one_by_one: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_lacks_become_null() {
        let body = br#"{"say\"": "a \"NaN\" \\", "numbers": [1, NaN, -Infinity, Infinity, -2]}"#;
        let read: Value = parse(body).unwrap();
        assert_eq!(read["say\""], "a \"NaN\" \\");
        assert_eq!(read["numbers"], serde_json::json!([1, null, null, null, -2]));
        assert_eq!(parse::<Vec<Numbers>>(b"[[1, NaN], []]"), Ok(vec![vec![Some(1.0), None], Vec::new()]));
        for wrong in ["", "NaNo", "[NaN", "\\", "\"NaN"] {
            assert!(parse::<Value>(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
