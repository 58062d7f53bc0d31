//! Rows that could be read but are not to be trusted: a file for people, one JSON document a line.
//!
//! `{"id": 17, "version": 2, "problem": "...", "memory": {...}}`: `memory` is a line of an import file, as far as it
//! could be read.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rusqlite::types::Value;
use serde_json::{Map, json};

use super::pages::PageRow;
use super::tables::SalvageTable;
use crate::error::{Error, Result};
use crate::types::{Kind, RecordId, Scope};

/// Writes the lines.
pub(super) struct Doubts {
    out: BufWriter<File>,
    pub(super) lines: u64,
}

impl Doubts {
    /// Opens the file at `path`, which exists and is empty.
    pub(super) fn into_file(path: &Path) -> Result<Self> {
        let file = File::options().write(true).open(path).map_err(|error| Error::io(path, error))?;
        Ok(Doubts { out: BufWriter::new(file), lines: 0 })
    }

    /// Adds a row of `records` or `versions`, of the record `id`, with its problem.
    pub(super) fn add(
        &mut self,
        table: &SalvageTable,
        row: &PageRow,
        id: RecordId,
        scope: Option<&Scope>,
        problem: &str,
    ) -> std::io::Result<()> {
        let text = |name| match table.value(row, name) {
            Value::Text(text) => Some(text.clone()),
            Value::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        };
        let number = |name| match table.value(row, name) {
            Value::Integer(number) => Some(json!(number)),
            Value::Real(number) => Some(json!(number)),
            _ => None,
        };
        let kind = number("kind").and_then(|code| code.as_u64()).and_then(|code| Kind::ALL.get(code as usize));
        let json = |name| text(name).and_then(|json| serde_json::from_str(&json).ok());
        let fields = [
            ("content", Some(text("content").unwrap_or_default().into())),
            ("entryType", kind.map(|kind| json!(kind))),
            ("source", text("source").map(Into::into)),
            ("context", text("context").map(Into::into)),
            ("confidence", number("confidence")),
            ("importance", number("importance")),
            ("tags", json("tags")),
            ("body", json("body")),
            ("session", text("session").map(Into::into)),
            ("turn", number("turn")),
            ("expiresAt", number("expires_at")),
            ("project", scope.map(|scope| json!(scope.project))),
            ("agent", scope.map(|scope| json!(scope.agent))),
        ];
        let memory: Map<_, _> =
            fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        let line = json!({ "id": id, "version": number("version"), "problem": problem, "memory": memory });
        self.lines += 1;
        writeln!(self.out, "{line}")
    }

    /// Hands everything to the operating system.
    pub(super) fn finish(mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
