//! The line end of a text.

/// The line end that a text uses; `\n` if it has none.
pub fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
