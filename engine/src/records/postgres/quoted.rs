//! Texts and names as SQL has them, where a statement has no parameters.

/// A text.
pub(crate) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The name of a role or a table.
pub(super) fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    #[test]
    fn quotes_end_neither_a_text_nor_a_name() {
        assert_eq!(super::text("it's"), "'it''s'");
        assert_eq!(super::name("a\"b"), "\"a\"\"b\"");
    }
}
