//! The line end of a text.

/// The one that it uses; that of Unix if it has none.
pub fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
