//! A note's blocks: headings, paragraphs, lists, fences.
//!
//! | file | job |
//! |---|---|
//! | `block` | `Outline`: what a reader finds in a note |
//! | `decode` | the text of a file, whatever it is encoded in |
//! | `data` | what says nothing: images as text, drawings |
//! | `open` | the text of a note's file that is cut, by the kind of the file |
//! | `mdx`, `canvas` | the text of files that have more than prose |
//! | `front_matter` | title, tags and other properties of YAML and TOML before a note |
//! | `kind` | how a note is written, by the ending of its name |
//! | `inline` | properties within a note of Obsidian |
//! | `markdown`, `org`, `asciidoc`, `plain` | one reader a kind |

mod asciidoc;
mod block;
mod canvas;
#[cfg(test)]
mod corpus;
mod data;
mod decode;
mod front_matter;
mod inline;
mod kind;
mod markdown;
mod mdx;
mod open;
mod org;
mod plain;

pub(crate) use block::{BlockKind, NoteBlock, Outline};
pub use kind::{ENDINGS, NoteKind, kind_of};
pub use open::{NoteText, open};

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
        NoteKind::AsciiDoc => asciidoc::read(text),
    }
}
