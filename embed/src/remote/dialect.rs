//! What differs between the protocols of providers.

use serde_json::Value;

use crate::provider::Fields;

/// How a provider is asked, and how it answers.
pub(super) trait Dialect: Send + Sync {
    /// What a request may have.
    fn limits(&self) -> Limits;

    /// The header with the key: its name, and what precedes the key.
    fn key_header(&self) -> (&'static str, &'static str);

    /// The operation, which follows the address.
    fn operation(&self, model: &str) -> String;

    /// The body of a request for these texts. `fields` belong to it.
    fn body(&self, model: &str, texts: &[&str], fields: &Fields) -> Value;

    /// The vectors of an answer, in the order of the texts. Says what is wrong with it.
    fn vectors(&self, body: &[u8], count: usize) -> Result<Vec<Numbers>, String>;

    /// Whether an error of the server is about the texts after all.
    fn is_about_texts(&self, status: u16, message: &str) -> bool {
        status >= 500 && is_about_size(message)
    }

    /// A question for how many tokens the model reads, and the answer's number.
    fn window_request(&self, _model: &str) -> Option<(&'static str, Value)> {
        None
    }

    /// How many tokens the model reads, by the answer to that question.
    fn window(&self, _body: &[u8]) -> Option<usize> {
        None
    }
}

/// Whether a message says that texts are too long. llama-server says so with status 500.
pub(super) fn is_about_size(message: &str) -> bool {
    const SIGNS: [&str; 5] = ["too large", "too long", "context length", "maximum context", "physical batch size"];
    let message = message.to_lowercase();
    SIGNS.iter().any(|sign| message.contains(sign))
}

/// Numbers of a vector as they came: what is no number is null.
pub(super) type Numbers = Vec<Option<f32>>;

/// What one request may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Texts.
    pub texts: usize,
    /// Tokens of all texts.
    pub tokens: usize,
    /// Whether only one request is sent at a time.
    pub one_by_one: bool,
}
