//! A note's blocks: headings, paragraphs, lists, fences.
//!
//! | file | job |
//! |---|---|
//! | `block` | `Outline`: what a reader finds in a note |
//! | `decode` | the text of a file, whatever it is encoded in |
//! | `data` | what says nothing: images as text, drawings |
//! | `front_matter` | title, tags and other properties of YAML and TOML before a note |
//! | `markdown`, `org`, `plain` | one reader a kind |

mod block;
mod data;
mod decode;
mod front_matter;
mod markdown;
mod org;
mod plain;

use std::path::Path;

pub(crate) use block::{Block, BlockKind, Outline};
pub use data::without_data;
pub use decode::{Decoded, decode};

/// How a note is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// Markdown.
    Markdown,
    /// Paragraphs, with empty lines between them.
    Text,
    /// Org mode of Emacs.
    Org,
}

/// The kind, by the ending of the name: text if it is no other.
pub fn kind_of(path: &Path) -> NoteKind {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    match ending.to_str() {
        Some("md" | "markdown" | "mdown" | "mkd" | "mdx") => NoteKind::Markdown,
        Some("org") => NoteKind::Org,
        _ => NoteKind::Text,
    }
}

/// Marks of Markdown that are parsed. Each may take a hundred bytes of memory.
const MAX_MARKS: usize = 2 << 20;

/// Whether a text has so many marks that it is not read as Markdown: it is a file that has this name by chance.
pub(crate) fn has_too_many_marks(text: &str) -> bool {
    text.bytes().filter(|byte| byte.is_ascii_punctuation() || *byte == b'\n').take(MAX_MARKS + 1).count() > MAX_MARKS
}

/// Finds the blocks of a note.
pub(crate) fn read(text: &str, kind: NoteKind) -> Outline {
    match kind {
        NoteKind::Markdown if has_too_many_marks(text) => plain::read(text),
        NoteKind::Markdown => markdown::read(text),
        NoteKind::Text => plain::read(text),
        NoteKind::Org => org::read(text),
    }
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
            ("a.txt", NoteKind::Text),
            ("README", NoteKind::Text),
        ] {
            assert_eq!(kind_of(Path::new(name)), kind, "{name}");
        }
    }
}
