//! Results of the store, as far as the screen shows them.

use memorist_engine::types::{Kind, Record, RecordId};

use crate::cli::format;
use crate::cli::links::{self, LinkSummary};
use crate::wire::Entry;

/// A memory in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub id: RecordId,
    /// 0 to 1; `None` in a listing, and of what was found by parts of words.
    pub relevance: Option<f64>,
    pub kind: Kind,
    /// The beginning of its text, on one line.
    pub line: String,
    /// Its owner.
    pub project: Option<String>,
}

impl Row {
    pub fn new(record: &Record, relevance: Option<f64>) -> Self {
        Row {
            id: record.id,
            relevance,
            kind: record.kind,
            line: links::line(&record.content),
            project: record.scope.project.as_deref().map(format::one_line),
        }
    }

    /// Adds why it has this rank, where its relevance does not explain it.
    pub fn because(self, why: Option<String>) -> Self {
        let line = match why {
            Some(why) => format!("({why}) {}", self.line),
            None => self.line,
        };
        Row { line, ..self }
    }
}

/// How memories were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// No query: the newest.
    Listing,
    /// By vectors and keywords.
    Meaning,
    /// By keywords only.
    Words,
    /// By substring.
    Parts,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOutput {
    /// Best first.
    pub rows: Vec<Row>,
    /// Remarks on the search.
    pub remarks: Vec<String>,
    /// Whether there may be more than are shown.
    pub more: bool,
    /// How they were found.
    pub by: By,
    /// Whether the model was not in memory.
    pub cold: bool,
    /// Microseconds it took.
    pub micros: u64,
    pub warnings: Vec<String>,
}

/// A memory, for reading.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The memory itself.
    pub entry: Entry,
    pub links: Vec<LinkSummary>,
}
