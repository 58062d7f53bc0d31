//! How a note is written, by the ending of its name.

use std::path::Path;

/// The endings of files that are notes.
pub const ENDINGS: [&str; 9] = ["md", "markdown", "mdx", "txt", "org", "adoc", "asciidoc", "canvas", "pdf"];

/// How a note is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    Markdown,
    /// Paragraphs, with empty lines between them.
    Text,
    /// Org mode of Emacs.
    Org,
    AsciiDoc,
}

/// The kind, by the ending of the name: text if it is no other.
pub fn kind_of(path: &Path) -> NoteKind {
    match ending(path).as_str() {
        "md" | "markdown" | "mdown" | "mkd" | "mdx" => NoteKind::Markdown,
        "org" => NoteKind::Org,
        "adoc" | "asciidoc" => NoteKind::AsciiDoc,
        _ => NoteKind::Text,
    }
}

/// The ending of a file's name, in small letters.
pub(super) fn ending(path: &Path) -> String {
    path.extension().map_or_else(String::new, |ending| ending.to_string_lossy().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_the_kind() {
        for (name, kind) in [
            ("a.md", NoteKind::Markdown),
            ("A.MARKDOWN", NoteKind::Markdown),
            ("a.org", NoteKind::Org),
            ("a.adoc", NoteKind::AsciiDoc),
            ("a.mdx", NoteKind::Markdown),
            ("a.canvas", NoteKind::Text),
            ("a.txt", NoteKind::Text),
            ("README", NoteKind::Text),
        ] {
            assert_eq!(kind_of(Path::new(name)), kind, "{name}");
        }
    }
}
