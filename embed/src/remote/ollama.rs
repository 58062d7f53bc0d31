//! The protocol of Ollama.

use serde::Deserialize;
use serde_json::{Value, json};

use super::dialect::{Dialect, Limits, Numbers, parse};
use super::reason::is_about_size;
use crate::provider::Fields;

/// Ollama.
pub(super) struct Ollama;

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Option<Numbers>>,
}

impl Dialect for Ollama {
    fn limits(&self) -> Limits {
        // On a processor, so many short texts take a second or two.
        Limits { texts: 32, tokens: 16_384, one_by_one: true }
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    fn operation(&self, _model: &str) -> String {
        "api/embed".to_owned()
    }

    fn body(&self, model: &str, texts: &[&str], fields: &Fields) -> Value {
        let mut body = json!({ "model": model, "input": texts, "truncate": true });
        body.as_object_mut().expect("an object").extend(fields.clone());
        body
    }

    fn vectors(&self, body: &[u8], count: usize) -> Result<Vec<Numbers>, String> {
        let OllamaAnswer { embeddings } = parse(body)?;
        if embeddings.len() != count {
            return Err(format!("it has {} vectors for {count} texts", embeddings.len()));
        }
        Ok(embeddings.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn is_about_texts(&self, status: u16, message: &str) -> bool {
        // `truncate` does not always work; and a text may have a vector that cannot be written as JSON.
        let is_known = || ["EOF", "unsupported value"].iter().any(|sign| message.contains(sign));
        status >= 500 && (is_about_size(message) || is_known())
    }

    fn window_request(&self, model: &str) -> Option<(&'static str, Value)> {
        Some(("api/show", json!({ "model": model })))
    }

    fn window(&self, body: &[u8]) -> Option<usize> {
        let answer: Value = serde_json::from_slice(body).ok()?;
        let info = answer.get("model_info")?.as_object()?;
        let length = info.iter().find(|(name, _)| name.ends_with(".context_length"))?.1.as_u64()?;
        usize::try_from(length).ok().filter(|length| *length > 0)
    }
}
