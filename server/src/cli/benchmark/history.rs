//! The form into which every benchmark is read.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::Path;

use jiff::civil::DateTime;
use memorist_durable::open_plain;

use crate::exit::Failure;

/// A history, and the questions about it. Each has a store of its own, as the benchmarks have it.
#[derive(Debug, Default, PartialEq)]
pub struct ChatHistory {
    pub sessions: Vec<Session>,
    pub questions: Vec<Question>,
}

impl ChatHistory {
    /// How many turns it has.
    pub fn turns(&self) -> usize {
        self.sessions.iter().map(|session| session.turns.len()).sum()
    }
}

#[derive(Debug, Default, PartialEq)]
pub struct Session {
    pub id: String,
    pub date: Option<DateTime>,
    pub turns: Vec<Turn>,
}

#[derive(Debug, PartialEq)]
pub struct Turn {
    /// Unique in its history.
    pub id: String,
    pub text: String,
}

#[derive(Debug, Default, PartialEq)]
pub struct Question {
    pub text: String,
    /// The benchmark's name for its type.
    pub kind: String,
    /// When it is asked.
    pub date: Option<DateTime>,
    /// The turns that answer it; none: the benchmark names no evidence.
    pub turns: BTreeSet<String>,
    /// The sessions that answer it, if they are not those of the turns.
    pub sessions: BTreeSet<String>,
}

/// The JSON of a file.
pub fn parsed<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, Failure> {
    let opened = open_plain(file).map_err(|error| Failure::file(file, &error))?;
    serde_json::from_reader(BufReader::new(opened))
        .map_err(|error| Failure::input(format!("{}: {error}", file.display())))
}

/// A turn without a text says nothing.
pub fn turn(id: String, text: &str) -> Option<Turn> {
    let text = text.trim();
    (!text.is_empty()).then(|| Turn { id, text: text.to_owned() })
}
