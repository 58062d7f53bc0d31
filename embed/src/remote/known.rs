//! Known properties of models: limits, prefixes, prices.

use serde_json::{Value, json};

use crate::provider::{Fields, Protocol};

/// The known properties of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Known {
    /// A part of its name, in lower case.
    name: &'static str,
    /// Numbers of its vectors, where they are not requested.
    pub dims: Option<usize>,
    /// Tokens that it reads.
    pub max_tokens: usize,
    /// Prefix of a query.
    pub query_prefix: &'static str,
    /// Prefix of a text that is stored.
    pub document_prefix: &'static str,
    /// List price of a million tokens in dollars.
    pub price: Option<f64>,
}

const fn known(name: &'static str, dims: Option<usize>, max_tokens: usize) -> Known {
    Known { name, dims, max_tokens, query_prefix: "", document_prefix: "", price: None }
}

const fn prefixed(known: Known, query_prefix: &'static str, document_prefix: &'static str) -> Known {
    Known { query_prefix, document_prefix, ..known }
}

const fn priced(known: Known, price: f64) -> Known {
    Known { price: Some(price), ..known }
}

/// The query prefix of the first retrieval models, which many kept.
const REPRESENT: &str = "Represent this sentence for searching relevant passages: ";
/// Assumed for unknown models: nearly all read this many tokens.
const UNKNOWN: Known = known("", None, 512);

/// Where one name contains another, the longer one is first.
const MODELS: [Known; 22] = [
    priced(known("text-embedding-3-small", Some(1536), 8_191), 0.02),
    priced(known("text-embedding-3-large", Some(3072), 8_191), 0.13),
    priced(known("text-embedding-ada-002", Some(1536), 8_191), 0.10),
    priced(known("gemini-embedding-001", Some(3072), 2_048), 0.15),
    prefixed(known("gemini-embedding-2", None, 8_192), "task: search result | query: ", "title: none | text: "),
    prefixed(known("embeddinggemma", Some(768), 2_048), "task: search result | query: ", "title: none | text: "),
    prefixed(known("nomic-embed-text", Some(768), 2_048), "search_query: ", "search_document: "),
    prefixed(known("mxbai-embed-large", Some(1024), 512), REPRESENT, ""),
    prefixed(known("snowflake-arctic-embed2", Some(1024), 8_192), "query: ", ""),
    prefixed(known("snowflake-arctic-embed-l-v2", Some(1024), 8_192), "query: ", ""),
    prefixed(known("snowflake-arctic-embed", None, 512), REPRESENT, ""),
    known("bge-m3", Some(1024), 8_192),
    prefixed(known("bge-small-en", Some(384), 512), REPRESENT, ""),
    prefixed(known("bge-base-en", Some(768), 512), REPRESENT, ""),
    prefixed(known("bge-large-en", Some(1024), 512), REPRESENT, ""),
    prefixed(known("e5-mistral", None, 4_096), "Instruct: Retrieve passages that answer the query\nQuery: ", ""),
    prefixed(known("e5-", None, 512), "query: ", "passage: "),
    prefixed(known("qwen3-embedding", None, 8_192), "Instruct: Retrieve passages that answer the query\nQuery: ", ""),
    known("all-minilm", Some(384), 256),
    priced(known("embed-v4.0", Some(1536), 8_000), 0.12),
    known("voyage-", None, 16_000),
    known("jina-embeddings-", None, 8_192),
];

impl Known {
    /// Returns the properties of `model`, whatever precedes and follows its name.
    pub fn of(model: &str) -> Known {
        let model = model.to_lowercase();
        MODELS.into_iter().find(|known| model.contains(known.name)).unwrap_or(UNKNOWN)
    }

    /// Fields of requests for queries, and for texts that are stored.
    pub fn fields(&self, protocol: Protocol) -> [Fields; 2] {
        let both = |name: &str, [query, document]: [&str; 2]| {
            [query, document].map(|value| Fields::from_iter([(name.to_owned(), json!(value))]))
        };
        match (protocol, self.name) {
            (Protocol::OpenAi, "voyage-") => both("input_type", ["query", "document"]),
            (Protocol::OpenAi, "jina-embeddings-") => both("task", ["retrieval.query", "retrieval.passage"]),
            (Protocol::Gemini, "gemini-embedding-001") => both("taskType", ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"]),
            (Protocol::Cohere, _) => both("input_type", ["search_query", "search_document"]),
            _ => <[Fields; 2]>::default(),
        }
    }

    /// The field that requests a number of dimensions.
    pub fn dimensions_field(&self, protocol: Protocol, dimensions: usize) -> (String, Value) {
        let name = match (protocol, self.name) {
            (Protocol::Gemini, _) => "outputDimensionality",
            (Protocol::Cohere, _) | (Protocol::OpenAi, "voyage-") => "output_dimension",
            _ => "dimensions",
        };
        (name.to_owned(), json!(dimensions))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_any_of_its_names() {
        for name in [
            "nomic-embed-text", "nomic-ai/nomic-embed-text-v1.5", "text-embedding-nomic-embed-text-v1.5",
            "nomic-embed-text:latest",
        ] {
            assert_eq!(Known::of(name).query_prefix, "search_query: ", "{name}");
        }
        assert_eq!(Known::of("intfloat/multilingual-e5-large").document_prefix, "passage: ");
        assert!(Known::of("intfloat/e5-mistral-7b-instruct").document_prefix.is_empty());
        assert_eq!(Known::of("BAAI/bge-M3").query_prefix, "");
        assert_eq!(Known::of("gemini-embedding-2-preview").document_prefix, "title: none | text: ");
        assert_eq!(Known::of("my-own"), UNKNOWN);
    }

    #[test]
    fn each_side_has_its_fields() {
        let [query, document] = Known::of("gemini-embedding-001").fields(Protocol::Gemini);
        assert_eq!(
            (query["taskType"].as_str(), document["taskType"].as_str()),
            (Some("RETRIEVAL_QUERY"), Some("RETRIEVAL_DOCUMENT"))
        );
        assert!(Known::of("gemini-embedding-2").fields(Protocol::Gemini)[0].is_empty(), "it ignores task types");
        assert_eq!(Known::of("voyage-3.5").fields(Protocol::OpenAi)[1]["input_type"], "document");
        assert_eq!(Known::of("jina-embeddings-v3").fields(Protocol::OpenAi)[0]["task"], "retrieval.query");
        assert_eq!(Known::of("voyage-3.5").dimensions_field(Protocol::OpenAi, 9).0, "output_dimension");
    }
}
