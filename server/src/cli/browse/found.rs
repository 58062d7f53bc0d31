//! What the store answers, as far as the screen shows it.

use memorist_engine::types::{Kind, Record, RecordId};

use crate::cli::format;

/// Characters of a text that a list can show of it: more than a terminal is wide.
const LINE_CHARS: usize = 400;

/// A memory in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its id.
    pub id: RecordId,
    /// 0 to 1; none in a listing.
    pub score: Option<f64>,
    /// What it is about.
    pub kind: Kind,
    /// The beginning of its text, on one line.
    pub line: String,
    /// Whose it is.
    pub project: Option<String>,
}

impl Row {
    /// The row of `record`.
    pub fn new(record: &Record, score: Option<f64>) -> Self {
        Row {
            id: record.id,
            score,
            kind: record.kind,
            line: line(&record.content),
            project: record.scope.project.as_deref().map(format::one_line),
        }
    }
}

/// The beginning of a text, on one line.
pub fn line(text: &str) -> String {
    let beginning = text.trim_start();
    let end = beginning.char_indices().nth(LINE_CHARS).map_or(beginning.len(), |(at, _)| at);
    format::one_line(&beginning[..end])
}

/// How memories were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Nothing was asked for: the first ones.
    Listing,
    /// By meaning and by word.
    Meaning,
    /// By words alone.
    Words,
    /// By parts of words.
    Parts,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Best first.
    pub rows: Vec<Row>,
    /// Whether there may be more than are shown.
    pub more: bool,
    /// How they were found.
    pub by: By,
    /// Whether the model was not in memory.
    pub cold: bool,
    /// Microseconds it took.
    pub micros: u64,
    /// What one should know about it.
    pub warnings: Vec<String>,
}

/// A memory, to be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// The memory itself.
    pub record: Record,
    /// What it is linked with.
    pub links: Vec<LinkLine>,
}

/// A link of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkLine {
    /// The memory at its other end.
    pub id: RecordId,
    /// What the link says, and the beginning of the text at its other end.
    pub label: String,
    /// Which way it points.
    pub direction: Direction,
}

/// Which way a link points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the worker makes them as soon as the engine has links"))]
pub enum Direction {
    /// From the memory that is read.
    Out,
    /// To it.
    In,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_the_beginning_of_a_text_of_any_length_on_one_line() {
        assert_eq!(line("  \n a\tb\u{1b}[2J\nc "), "a b [2J c");
        assert_eq!(line(&"ü".repeat(1_000)).chars().count(), LINE_CHARS);
    }
}
