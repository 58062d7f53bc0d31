//! What is found in a text, and the text without it.

use crate::secrets::{redact, scan};

/// What is found first.
pub(super) fn in_text(text: &str) -> Option<&'static str> {
    scan(text).first().map(|finding| finding.what)
}

/// The text with `[redacted: ...]` in place of what is found.
pub(super) fn redacted(text: &str) -> String {
    redact(text).into_owned()
}
