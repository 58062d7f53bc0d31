//! The protocol of OpenAI.

use serde::Deserialize;
use serde_json::{Value, json};

use super::dialect::{Dialect, Limits, Numbers, parse};
use crate::provider::Fields;

/// OpenAI, and what is compatible with it.
pub(super) struct OpenAi;

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Vec<OpenAiEmbedding>,
}

#[derive(Deserialize)]
struct OpenAiEmbedding {
    index: Option<usize>,
    embedding: Option<Numbers>,
}

impl Dialect for OpenAi {
    fn limits(&self) -> Limits {
        // 2,048 texts are allowed. Smaller requests answer sooner, lose less when they fail, and suit compatible servers.
        Limits { texts: 256, tokens: 250_000, one_by_one: false }
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    fn operation(&self, _model: &str) -> String {
        "embeddings".to_owned()
    }

    fn body(&self, model: &str, texts: &[&str], fields: &Fields) -> Value {
        let mut body = json!({ "model": model, "input": texts });
        body.as_object_mut().expect("an object").extend(fields.clone());
        body
    }

    fn vectors(&self, body: &[u8], count: usize) -> Result<Vec<Numbers>, String> {
        let OpenAiAnswer { data } = parse(body)?;
        if data.len() != count {
            return Err(format!("it has {} vectors for {count} texts", data.len()));
        }
        let mut ordered: Vec<Option<Numbers>> = vec![None; count];
        for (position, entry) in data.into_iter().enumerate() {
            let index = entry.index.unwrap_or(position);
            match ordered.get_mut(index) {
                Some(place @ None) => *place = Some(entry.embedding.unwrap_or_default()),
                _ => return Err(format!("two vectors have one index, or one is out of range: {index}")),
            }
        }
        Ok(ordered.into_iter().flatten().collect())
    }
}
