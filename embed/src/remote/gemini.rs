//! The protocol of Gemini.

use serde::Deserialize;
use serde_json::{Value, json};

use super::dialect::{Dialect, Limits, Numbers, parse};
use crate::provider::Fields;

/// Gemini.
pub(super) struct Gemini;

#[derive(Deserialize)]
struct GeminiAnswer {
    embeddings: Vec<Option<GeminiEmbedding>>,
}

#[derive(Deserialize)]
struct GeminiEmbedding {
    values: Option<Numbers>,
}

pub(super) fn path(model: &str) -> String {
    if model.starts_with("models/") { model.to_owned() } else { format!("models/{model}") }
}

impl Dialect for Gemini {
    fn limits(&self) -> Limits {
        Limits { texts: 100, tokens: 100_000, one_by_one: false }
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-goog-api-key", "")
    }

    fn operation(&self, model: &str) -> String {
        format!("{}:batchEmbedContents", path(model))
    }

    fn body(&self, model: &str, texts: &[&str], fields: &Fields) -> Value {
        // A text each: several parts of one content become one vector.
        let request = |text: &&str| {
            let mut request = json!({ "model": path(model), "content": { "parts": [{ "text": text }] } });
            request.as_object_mut().expect("an object").extend(fields.clone());
            request
        };
        json!({ "requests": texts.iter().map(request).collect::<Vec<_>>() })
    }

    fn vectors(&self, body: &[u8], count: usize) -> Result<Vec<Numbers>, String> {
        let GeminiAnswer { embeddings } = parse(body)?;
        match embeddings.len() == count {
            true => {
                Ok(embeddings.into_iter().map(|embedding| embedding?.values).map(Option::unwrap_or_default).collect())
            }
            false => Err(format!("it has {} vectors for {count} texts", embeddings.len())),
        }
    }
}
