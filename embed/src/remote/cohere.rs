//! The protocol of Cohere.

use serde::Deserialize;
use serde_json::{Value, json};

use super::dialect::{Dialect, Limits, Numbers, parse};
use crate::provider::Fields;

/// Cohere.
pub(super) struct Cohere;

#[derive(Deserialize)]
struct CohereAnswer {
    embeddings: ByType,
}

#[derive(Deserialize)]
struct ByType {
    float: Vec<Option<Numbers>>,
}

impl Dialect for Cohere {
    fn limits(&self) -> Limits {
        Limits { texts: 96, tokens: 120_000, one_by_one: false }
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    fn operation(&self, _model: &str) -> String {
        "embed".to_owned()
    }

    fn body(&self, model: &str, texts: &[&str], fields: &Fields) -> Value {
        let mut body = json!({ "model": model, "texts": texts, "embedding_types": ["float"] });
        body.as_object_mut().expect("an object").extend(fields.clone());
        body
    }

    fn vectors(&self, body: &[u8], count: usize) -> Result<Vec<Numbers>, String> {
        let CohereAnswer { embeddings: ByType { float } } = parse(body)?;
        if float.len() != count {
            return Err(format!("it has {} vectors for {count} texts", float.len()));
        }
        Ok(float.into_iter().map(Option::unwrap_or_default).collect())
    }
}
