//! The links of a memory, for people.

use memorist_engine::types::{Direction, LinkKind, RecordId, Viewer};
use memorist_engine::{Engine, Result};

use super::{format, table};
use crate::wire::Step;

/// Maximum characters of a text on a line: more than the width of a terminal.
const LINE_CHARS: usize = 400;

/// A link of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkSummary {
    /// The memory at its other end.
    pub id: RecordId,
    /// Its kind, in words.
    pub says: &'static str,
    /// The beginning of the text at its other end.
    pub line: String,
}

/// These links, with the beginnings of the texts at their other ends. A link whose end is gone is omitted.
pub fn lines(engine: &Engine, viewer: &Viewer, links: &[Step]) -> Result<Vec<LinkSummary>> {
    let mut lines = Vec::with_capacity(links.len());
    for link in links {
        if let Some(record) = engine.viewed_by(viewer).get(link.id.into())? {
            let says = says(link.link_type, link.direction);
            lines.push(LinkSummary { id: record.id, says, line: line(&record.content) });
        }
    }
    Ok(lines)
}

/// The kind of a link in words, seen along it or against it.
pub fn says(kind: LinkKind, direction: Direction) -> &'static str {
    match (kind, direction == Direction::Backward) {
        (LinkKind::Caused, false) => "→ caused",
        (LinkKind::Caused, true) => "← caused by",
        (LinkKind::Related, false) => "→ related to",
        (LinkKind::Related, true) => "← related to",
        (LinkKind::Supersedes, false) => "→ supersedes",
        (LinkKind::Supersedes, true) => "← superseded by",
        (LinkKind::Implements, false) => "→ implements",
        (LinkKind::Implements, true) => "← implemented by",
        (LinkKind::Contradicts, false) => "→ contradicts",
        (LinkKind::Contradicts, true) => "← contradicted by",
    }
}

/// The links as a table.
pub fn text(links: &[LinkSummary]) -> String {
    let mut table = table::table(&["link", "id", "memory"]);
    for link in links {
        table::add_row(&mut table, vec![link.says.to_owned(), link.id.to_string(), link.line.clone()]);
    }
    table::align_right(&mut table, &[1]);
    table.trim_fmt()
}

/// The beginning of a text, on one line.
pub fn line(text: &str) -> String {
    let beginning = text.trim_start();
    let end = beginning.char_indices().nth(LINE_CHARS).map_or(beginning.len(), |(at, _)| at);
    format::one_line(&beginning[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_the_beginning_of_a_text_of_any_length() {
        assert_eq!(line("  \n a\tb\u{1b}[2J\nc "), "a b<U+001B>[2J c");
        assert_eq!(line(&"ü".repeat(1_000)).chars().count(), LINE_CHARS);
    }

    #[test]
    fn every_link_is_read_from_both_ends() {
        for kind in LinkKind::ALL {
            let [along, against] = [Direction::Forward, Direction::Backward].map(|way| says(kind, way));
            assert!(along.starts_with("→ ") && against.starts_with("← "), "{along} {against}");
            assert_eq!(along[..8], against[..8].replace('←', "→"), "the same word");
        }
    }
}
