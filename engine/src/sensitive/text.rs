//! Finds and redacts secrets in a text.

use memorist_secrets::{redact, scan};

/// The first finding.
pub(super) fn in_text(text: &str) -> Option<&'static str> {
    scan(text).first().map(|finding| finding.what)
}

/// The text with each finding replaced by `[redacted: ...]`.
pub(super) fn redacted(text: &str) -> String {
    redact(text).into_owned()
}
