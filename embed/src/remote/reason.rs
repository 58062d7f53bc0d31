//! Why a provider refuses, in our own words. Its texts are not shown: they may repeat an embedded text, or a part of the key, in
//! whatever encoding.

/// Words in lowercase, and the meaning of an error's message that has one of them.
const SIGNS: &[(&[&str], &str)] = &[
    (
        &["too large", "too long", "context length", "maximum context", "physical batch size"],
        "a text is too long for it",
    ),
    (&["dimension"], "it is about `dimensions`"),
    (&["try pulling"], "model not found; it may have to be pulled first"),
    (&["rate limit", "too many requests", "slow down"], "too many requests"),
    (&["overloaded", "capacity"], "it is overloaded"),
    (&["out of memory"], "it is out of memory"),
    (&["loading model", "model is loading"], "its model is being loaded"),
    (&["model"], "the message is about the model"),
];

/// Words that the codes and states of providers are made of.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "access", "api", "authentication", "bad", "batch", "billing", "cancelled", "cancelling", "completed", "content",
    "context", "deadline", "denied", "duplicate", "empty", "ended", "error", "exceeded", "exhausted", "expired", "failed",
    "file", "finalizing", "found", "hard", "in", "input", "insufficient", "internal", "invalid", "json", "key", "large",
    "length", "limit", "line", "long", "many", "mismatch", "missing", "model", "not", "parameter", "pending", "permission",
    "progress", "quota", "rate", "reached", "request", "requests", "resource", "running", "server", "service", "size",
    "string", "succeeded", "token", "tokens", "too", "unavailable", "unsupported", "url", "validating", "value",
];

/// Returns the meaning of an error's message, if it has one of these words.
pub(super) fn about(message: &str) -> Option<&'static str> {
    let message = message.to_lowercase();
    SIGNS.iter().find(|(signs, _)| signs.iter().any(|sign| message.contains(sign))).map(|(_, about)| *about)
}

/// Whether the message says that texts are too long. llama-server says so with status 500.
pub(super) fn is_about_size(message: &str) -> bool {
    about(message) == Some(SIGNS[0].1)
}

/// A code or a state of a provider, if it is made of known words alone.
pub(super) fn known(code: &str) -> Option<&str> {
    let is_known = |word: &str| WORDS.contains(&word.to_ascii_lowercase().as_str());
    (!code.is_empty() && code.split(['_', '-', ' ']).all(is_known)).then_some(code)
}

/// Why an answer is not the JSON that is expected. The message of the library would show a part of it.
pub(super) fn unreadable(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Data => "it is JSON of another shape",
        serde_json::error::Category::Eof => "it ends too early",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "it is not JSON",
    };
    format!("{what} (line {}, column {})", error.line(), error.column())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_reason_is_one_of_ours() {
        assert_eq!(about("Input Too Long: my diary"), Some("a text is too long for it"));
        assert_eq!(
            about("model \"x\" not found, try pulling it first").map(|about| about.contains("pulled")),
            Some(true)
        );
        for text in ["my diary", "Not Found", "User not found.", "error while uploading"] {
            assert_eq!(about(text), None, "{text}");
        }
        for code in ["batch_expired", "too_long", "in_progress", "RESOURCE_EXHAUSTED"] {
            assert_eq!(known(code), Some(code));
        }
        for text in ["", "A-KEY-FOR-TESTS", "612d6b6579", "my diary", "too_long_x"] {
            assert_eq!(known(text), None, "{text}");
        }
    }

    #[test]
    fn json_errors_quote_no_content() {
        let said = |text: &str| unreadable(&serde_json::from_str::<Vec<u8>>(text).unwrap_err());
        assert_eq!(said("\"a-key\""), "it is JSON of another shape (line 1, column 7)");
        assert!(said("[1,").starts_with("it ends too early") && said("<a>").starts_with("it is not JSON"));
        assert!(serde_json::from_str::<Value>("[1]").is_ok());
    }
}
