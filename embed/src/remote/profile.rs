//! The settings of a provider, with the known properties of its model.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::address::Address;
use super::cohere::Cohere;
use super::dialect::Dialect;
use super::gemini::Gemini;
use super::known::Known;
use super::ollama::Ollama;
use super::openai::OpenAi;
use crate::error::Result;
use crate::identity::ModelIdentity;
use crate::provider::{Fields, Protocol, RemoteSettings};

/// The purpose of an embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A text that is stored, to be found.
    Document,
    /// A query.
    Query,
}

/// The prefix of a text, and the fields of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    pub prefix: String,
    pub fields: Fields,
}

/// A provider, prepared for requests.
pub(super) struct Profile {
    pub settings: RemoteSettings,
    pub address: Address,
    pub dialect: Box<dyn Dialect>,
    pub known: Known,
    query: Form,
    document: Form,
    sha256: String,
}

impl Profile {
    /// Checks these settings. Fails on an address that may not be used.
    pub fn new(settings: &RemoteSettings) -> Result<Self> {
        let address = Address::of(settings)?;
        let known = Known::of(&settings.model);
        let [query, document] = forms(settings, &known);
        let sha256 = sha256(settings, &address, &query, &document);
        let dialect: Box<dyn Dialect> = match settings.protocol {
            Protocol::OpenAi => Box::new(OpenAi),
            Protocol::Gemini => Box::new(Gemini),
            Protocol::Ollama => Box::new(Ollama),
            Protocol::Cohere => Box::new(Cohere),
        };
        Ok(Profile { settings: settings.clone(), address, dialect, known, query, document, sha256 })
    }

    /// The form in which a text is sent.
    pub fn form(&self, purpose: Purpose) -> &Form {
        match purpose {
            Purpose::Document => &self.document,
            Purpose::Query => &self.query,
        }
    }

    /// Numbers of its vectors, where they are known before the first request.
    pub fn dims(&self) -> Option<usize> {
        self.settings.dimensions.or(self.known.dims)
    }

    /// SHA-256 of everything that its vectors depend on, in hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The identity of its vectors.
    pub fn identity(&self, dims: usize) -> ModelIdentity {
        ModelIdentity {
            name: format!("{} ({})", self.settings.model, self.settings.name),
            weights_sha256: self.sha256.clone(),
            pooling: "provider+l2".to_owned(),
            dims,
        }
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        format!("{} at {}", self.settings.name, self.address.base)
    }
}

fn forms(settings: &RemoteSettings, known: &Known) -> [Form; 2] {
    let [query_fields, document_fields] = known.fields(settings.protocol);
    let form = |prefix: &Option<String>, usual: &str, fields: &Option<Fields>, usual_fields: Fields| {
        let mut fields = fields.clone().unwrap_or(usual_fields);
        if let Some(dimensions) = settings.dimensions {
            let (name, value) = known.dimensions_field(settings.protocol, dimensions);
            fields.entry(name).or_insert(value);
        }
        Form { prefix: prefix.clone().unwrap_or_else(|| usual.to_owned()), fields }
    };
    [
        form(&settings.query_prefix, known.query_prefix, &settings.query_fields, query_fields),
        form(&settings.document_prefix, known.document_prefix, &settings.document_fields, document_fields),
    ]
}

fn sha256(settings: &RemoteSettings, address: &Address, query: &Form, document: &Form) -> String {
    let of = |form: &Form| json!([form.prefix, sorted(&form.fields)]);
    let protocol = format!("{:?}", settings.protocol);
    let described =
        json!([protocol, address.base, address.query, settings.model, settings.dimensions, of(query), of(document)]);
    Sha256::digest(described.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Fields in the order of their names: their order in a file means nothing.
fn sorted(fields: &Fields) -> Value {
    let mut pairs: Vec<_> = fields.iter().collect();
    pairs.sort_by_key(|(name, _)| *name);
    json!(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Secret;

    /// E15.
    #[test]
    fn the_identity_is_what_the_vectors_depend_on() {
        let usual = RemoteSettings::new("openai", Protocol::OpenAi);
        let of = |change: &dyn Fn(&mut RemoteSettings)| {
            let mut settings = usual.clone();
            change(&mut settings);
            Profile::new(&settings).unwrap().sha256().to_owned()
        };
        let same = of(&|_| {});
        assert_eq!(same.len(), 64);
        let no_difference: [&dyn Fn(&mut RemoteSettings); 5] = [
            &|s| s.key = Some(Secret::new("k")),
            &|s| s.timeout = Some(std::time::Duration::from_secs(1)),
            &|s| s.url = "https://API.openai.com/v1/".into(),
            &|s| s.query_prefix = Some(String::new()),
            &|s| s.batch = Some(3),
        ];
        for (at, change) in no_difference.iter().enumerate() {
            assert_eq!(of(change), same, "{at}");
        }
        let field = |value: i32| Some(Fields::from_iter([("a".into(), json!(value)), ("b".into(), json!(2))]));
        let reversed = Some(Fields::from_iter([("b".into(), json!(2)), ("a".into(), json!(1))]));
        assert_eq!(of(&|s| s.query_fields = field(1)), of(&|s| s.query_fields = reversed.clone()));
        let differences: [&dyn Fn(&mut RemoteSettings); 8] = [
            &|_| {},
            &|s| s.url = "https://other.example/v1".into(),
            &|s| s.model = "text-embedding-3-large".into(),
            &|s| s.dimensions = Some(256),
            &|s| s.query_prefix = Some("query: ".into()),
            &|s| s.document_prefix = Some("query: ".into()),
            &|s| s.query_fields = field(1),
            &|s| s.document_fields = field(1),
        ];
        let all: std::collections::BTreeSet<String> = differences.iter().map(|change| of(change)).collect();
        assert_eq!(all.len(), differences.len());
    }
}
