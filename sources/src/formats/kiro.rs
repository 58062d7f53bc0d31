//! Kiro's CLI: `~/.kiro/sessions/cli/<session>.jsonl`, and before that the database of Amazon Q Developer CLI, as which it
//! began: `~/.local/share/kiro-cli/data.sqlite3`, `~/.local/share/amazon-q/data.sqlite3`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::blocks::{COMMON, typed};
use super::field::{Field, parse};
use super::jsonl::Lines;
use super::records::{MAX_ID, UNKNOWN, UNREADABLE, for_each_line, join, trimmed, turn_id};
use super::{Batch, Cursor, Format, ReadError, Role, Skipped, Turn};
use crate::foreign::Foreign;
use crate::machine::Machine;

mod database;

/// Reads sessions of Kiro's CLI.
pub struct Kiro;

/// The largest description of a session that is read, in bytes: it has the tools of the session as well.
const MAX_DESCRIPTION: u64 = 8 << 20;

impl Format for Kiro {
    fn name(&self) -> &'static str {
        "kiro"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let data = [
            machine.path("XDG_DATA_HOME", ".local/share"),
            machine.home().join("Library/Application Support"),
            machine.path("LOCALAPPDATA", "AppData/Local"),
        ];
        let databases = data.iter().flat_map(|folder| ["kiro-cli", "amazon-q"].map(|name| folder.join(name)));
        let databases = databases.map(|folder| folder.join("data.sqlite3"));
        std::iter::once(machine.path("KIRO_HOME", ".kiro").join("sessions/cli")).chain(databases).collect()
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let is_lines = path.extension().is_some_and(|end| end == "jsonl");
        path.ends_with("data.sqlite3")
            || is_lines && path.parent().is_some_and(|folder| folder.ends_with("sessions/cli"))
    }

    fn ids_are_of_files(&self) -> bool {
        true
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        if file.path.extension().is_some_and(|end| end == "sqlite3" || end == "db") {
            return database::read(file, since);
        }
        let mut batch = Batch::default();
        let mut lines = Lines::<LinesState>::open(file, since)?;
        if lines.from_start() {
            lines.state().cwd = folder(file);
        }
        for_each_line(&mut lines, &mut batch, |state, batch, line, bytes| {
            let mut mended = Vec::new();
            match parse::<Entry<'_>>(bytes, &mut mended) {
                Some(entry) => take(&entry, file.path, state, batch, line),
                None => batch.skipped.count(UNREADABLE),
            }
        })?;
        Ok(batch)
    }
}

/// The state of a session after the lines before.
#[derive(Default, Serialize, Deserialize)]
struct LinesState {
    cwd: Option<String>,
    /// When the person said something last: the agent's messages have no time.
    at: Option<i64>,
}

/// The working folder, by the description beside the lines.
fn folder(file: Foreign<'_>) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Description<'a> {
        #[serde(borrow)]
        cwd: Field<'a>,
    }
    let path = file.path.with_extension("json");
    let bytes = Foreign { path: &path, ..file }.open(MAX_DESCRIPTION).ok()?.read_all().ok()?;
    let mut mended = Vec::new();
    parse::<Description<'_>>(&bytes, &mut mended)?.cwd.owned()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry<'a> {
    #[serde(borrow)]
    kind: Field<'a>,
    data: Field<'a, EntryData<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EntryData<'a> {
    #[serde(borrow)]
    message_id: Field<'a>,
    content: Field<'a, EntryPart<'a>>,
    meta: Field<'a, EntryMeta<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EntryPart<'a> {
    #[serde(borrow)]
    kind: Field<'a>,
    data: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EntryMeta<'a> {
    #[serde(borrow)]
    timestamp: Field<'a>,
}

fn take(entry: &Entry<'_>, path: &Path, state: &mut LinesState, batch: &mut Batch, line: u64) {
    let none = EntryData::default();
    let data = entry.data.object().unwrap_or(&none);
    let role = match entry.kind.text() {
        Some("Prompt") => Role::User,
        Some("AssistantMessage") => Role::Assistant,
        Some("ToolResults") => return batch.skipped.count("tool output"),
        Some("Clear" | "Compaction") => return batch.skipped.count("event"),
        _ => return batch.skipped.count(UNKNOWN),
    };
    if role == Role::User {
        state.at = data.meta.object().and_then(|meta| meta.timestamp.time_of_seconds());
    }
    let Some(text) = said(data, role, &mut batch.skipped) else { return };
    let session = path.file_stem().unwrap_or_default().to_string_lossy();
    let session = session.chars().take(MAX_ID).collect::<String>();
    batch.turns.push(Turn {
        id: data.message_id.text().map_or_else(|| format!("{session}#{line}"), |id| turn_id(&session, id)),
        at: state.at,
        cwd: state.cwd.clone(),
        ..Turn::new(session, role, text, (line, line))
    });
}

/// The texts of a message; its other parts are counted.
fn said(data: &EntryData<'_>, role: Role, skipped: &mut Skipped) -> Option<String> {
    let mut texts = Vec::new();
    for part in data.content.elements().iter().filter_map(Field::object) {
        let said = match part.kind.text() {
            Some("text") if role == Role::User => {
                part.data.text().and_then(|text| typed(text, &COMMON, skipped)).ok_or("no text")
            }
            Some("text") => part.data.text().and_then(trimmed).ok_or("no text"),
            Some("toolUse") => Err("tool call"),
            Some("thinking") => Err("thinking"),
            Some("image") => Err("image"),
            _ => Err(UNKNOWN),
        };
        match said {
            Ok(text) => texts.push(text),
            Err(reason) => skipped.count(reason),
        }
    }
    join(texts)
}

#[cfg(test)]
mod tests;
