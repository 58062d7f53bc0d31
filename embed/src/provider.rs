//! Which provider embeds: its address, its model, its key, its limits.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::jobs::JobTerms;

/// The protocol that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The protocol of OpenAI, and of compatible servers: LM Studio, vLLM, LiteLLM, Voyage, Jina.
    OpenAi,
    /// The protocol of Gemini.
    Gemini,
    /// The protocol of Ollama.
    Ollama,
    /// The protocol of Cohere.
    Cohere,
}

impl Protocol {
    /// The address of its own service.
    pub fn default_url(self) -> &'static str {
        match self {
            Protocol::OpenAi => "https://api.openai.com/v1",
            Protocol::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            Protocol::Ollama => "http://localhost:11434",
            Protocol::Cohere => "https://api.cohere.com/v2",
        }
    }

    /// The model where none is named.
    pub fn default_model(self) -> &'static str {
        match self {
            Protocol::OpenAi => "text-embedding-3-small",
            Protocol::Gemini => "gemini-embedding-001",
            Protocol::Ollama => "nomic-embed-text",
            Protocol::Cohere => "embed-v4.0",
        }
    }
}

/// A key. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Secret(key.into())
    }

    /// The key itself, to send it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Extra fields of a request.
pub type Fields = Map<String, Value>;

/// The settings of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteSettings {
    /// Its name: `openai`, `ollama`.
    pub name: String,
    /// Its protocol.
    pub protocol: Protocol,
    /// Its address, without the last part of the path.
    pub url: String,
    /// Its model.
    pub model: String,
    /// Its key, where there is one.
    pub key: Option<Secret>,
    /// Where a missing key can be put, for an error; `None` where none is needed.
    pub key_from: Option<String>,
    /// Headers of every request.
    pub headers: BTreeMap<String, Secret>,
    /// Numbers per vector to request; `None` leaves it to the model.
    pub dimensions: Option<usize>,
    /// Prefix of a query; `None` is the one that the model is known to need.
    pub query_prefix: Option<String>,
    /// Prefix of a text that is stored; `None` is the one that the model is known to need.
    pub document_prefix: Option<String>,
    /// Fields of requests for queries; `None` are those that the model is known to need.
    pub query_fields: Option<Fields>,
    /// Fields of requests for texts that are stored; `None` are those that the model is known to need.
    pub document_fields: Option<Fields>,
    /// Tokens of a text that the model reads; the rest is cut. `None` is the known limit of the model.
    pub max_tokens: Option<usize>,
    /// Most texts in a request; `None` is the most that the protocol allows.
    pub batch: Option<usize>,
    /// Longest time that a request may take; `None` is 60 s, or 5 minutes for a provider on this machine.
    pub timeout: Option<Duration>,
    /// Longest time that a search waits for the vector of its query.
    pub query_timeout: Duration,
    /// Whether the key may be sent unencrypted over the network.
    pub allow_http: bool,
    /// The cache of embeddings, so that no text is embedded, or paid, twice.
    pub cache: Option<CacheSettings>,
    /// When texts go into batch jobs, where the provider takes them.
    pub jobs: JobTerms,
}

/// The cache file of a provider's embeddings, and its maximum size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheSettings {
    /// The file.
    pub file: PathBuf,
    /// Maximum number of embeddings; the least recently used ones beyond it are dropped.
    pub max_entries: usize,
}

/// How long a search waits for a provider.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);

impl RemoteSettings {
    /// The provider with its usual address and model.
    pub fn new(name: impl Into<String>, protocol: Protocol) -> Self {
        RemoteSettings {
            name: name.into(),
            protocol,
            url: protocol.default_url().to_owned(),
            model: protocol.default_model().to_owned(),
            key: None,
            key_from: None,
            headers: BTreeMap::new(),
            dimensions: None,
            query_prefix: None,
            document_prefix: None,
            query_fields: None,
            document_fields: None,
            max_tokens: None,
            batch: None,
            timeout: None,
            query_timeout: QUERY_TIMEOUT,
            allow_http: false,
            cache: None,
            jobs: JobTerms::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let mut settings = RemoteSettings::new("openai", Protocol::OpenAi);
        settings.key = Some(Secret::new("very-private"));
        settings.headers.insert("x-team".into(), Secret::new("also-private"));
        let shown = format!("{settings:?} {:#?}", crate::ModelSource::Remote(Box::new(settings.clone())));
        assert!(!shown.contains("private") && shown.contains("[secret]"), "{shown}");
    }
}
