//! Goose: `~/.local/share/goose/sessions/sessions.db` since 1.10, and `<session>.jsonl` before.
//!
//! Goose writes all messages of a session again when it compacts one, and it imported the older files. Rows get new numbers
//! by that, so a message is identified by its second, its role and its text.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use super::field::{Field, parse};
use super::jsonl::Lines;
use super::records::{Content, UNREADABLE, for_each_line, hash, join, texts, typed, why_skipped};
use super::sqlite::{Database, bytes, cursor, label, limited, line, milliseconds, number, place, text, time};
use super::{Batch, Cursor, Format, ReadError, Role, Skipped, Turn};
use crate::foreign::Foreign;
use crate::machine::Machine;

/// Reads transcripts of Goose.
pub struct Goose;

/// The beginning of the agent's text that Goose puts behind a summary.
const GO_ON: &str = "Your context was compacted";
/// The type of sessions in which Goose names others.
const HIDDEN: &str = "hidden";

impl Format for Goose {
    fn name(&self) -> &'static str {
        "goose"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        vec![
            machine.path("XDG_DATA_HOME", ".local/share").join("goose/sessions"),
            machine.path("GOOSE_PATH_ROOT", ".local/share/goose").join("data/sessions"),
            machine.path("APPDATA", "AppData/Roaming").join("Block/goose/data/sessions"),
        ]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        folder == "sessions" && (name == "sessions.db" || name.ends_with(".jsonl"))
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let mut batch = Batch::default();
        if file.path.extension().is_some_and(|extension| extension == "db") {
            read_database(file, since, &mut batch)?;
        } else {
            read_lines(file, since, &mut batch)?;
        }
        Ok(batch)
    }
}

/// How far a database was read.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct GooseCursor {
    /// The number of the last message.
    row: i64,
}

fn read_database(file: Foreign<'_>, since: Option<&Cursor>, batch: &mut Batch) -> Result<(), ReadError> {
    let database = Database::open(file)?;
    let columns = database.require("messages", &["id", "session_id", "role", "content_json", "created_timestamp"])?;
    let of_session = database.require("sessions", &["id", "working_dir"])?;
    let mut place: GooseCursor = place(since);
    let last = database.numbers("SELECT max(id) FROM messages", [])?.pop().unwrap_or_default();
    if last < place.row {
        place = GooseCursor::default();
    }
    let query = format!(
        "SELECT m.id, m.session_id, m.role, {}, m.created_timestamp, {}, s.working_dir, {}
            FROM messages m LEFT JOIN sessions s ON s.id = m.session_id WHERE m.id > ?1 ORDER BY m.id",
        limited("m.content_json"),
        or_null(&columns, "metadata_json"),
        or_null(&of_session, "session_type"),
    );
    database.each(&query, [place.row], |row| {
        match of_row(row, &mut batch.skipped)? {
            Ok(turn) => batch.turns.push(turn),
            Err(reason) => batch.skipped.count(reason),
        }
        Ok(())
    })?;
    place.row = last;
    batch.cursor = cursor(&place);
    Ok(())
}

/// The column, if the table has it.
fn or_null(columns: &BTreeSet<String>, name: &'static str) -> &'static str {
    if columns.contains(name) { name } else { "NULL" }
}

/// The turn of a row; else why it has none.
fn of_row(row: &Row<'_>, skipped: &mut Skipped) -> Result<Result<Turn, &'static str>, ReadError> {
    let (mut mended, mut of_metadata) = (Vec::new(), Vec::new());
    let content = bytes(row, 3)?.and_then(|content| parse::<Content>(content, &mut mended));
    let (Some(session), Some(content)) = (label(row, 1)?, content) else {
        return Ok(Err(UNREADABLE));
    };
    let kind = text(row, 7)?;
    if kind.as_deref() == Some(HIDDEN) {
        return Ok(Err("hidden"));
    }
    let metadata =
        bytes(row, 5)?.and_then(|metadata| parse::<GooseMetadata>(metadata, &mut of_metadata)).unwrap_or_default();
    let line = line(number(row, 0)?.unwrap_or_default());
    let turn = turn(&session, text(row, 2)?.as_deref(), number(row, 4)?, &content, &metadata, line, skipped);
    let cwd = label(row, 6)?;
    let subagent = (kind.as_deref() == Some("sub_agent")).then_some(session);
    Ok(turn.map(|turn| Turn { cwd, subagent, ..turn }))
}

/// State that is kept from the lines before.
#[derive(Default, Serialize, Deserialize)]
struct GooseState {
    cwd: Option<String>,
}

/// A message, or the fields of the first line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct GooseRecord<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    created: Field<'a>,
    content: Content<'a>,
    metadata: Field<'a, GooseMetadata<'a>>,
    working_dir: Field<'a>,
}

fn read_lines(file: Foreign<'_>, since: Option<&Cursor>, batch: &mut Batch) -> Result<(), ReadError> {
    let session = file.path.file_stem().unwrap_or_default().to_string_lossy();
    for_each_line(&mut Lines::<GooseState>::open(file, since)?, batch, |state, batch, line, bytes| {
        let mut mended = Vec::new();
        let Some(record) = parse::<GooseRecord>(bytes, &mut mended) else {
            return batch.skipped.count(UNREADABLE);
        };
        if line == 1 && record.role.text().is_none() {
            state.cwd = record.working_dir.owned();
            return;
        }
        let created = match record.created {
            Field::Number(created) => Some(created),
            _ => None,
        };
        let no_metadata = GooseMetadata::default();
        let metadata = record.metadata.object().unwrap_or(&no_metadata);
        match turn(&session, record.role.text(), created, &record.content, metadata, line, &mut batch.skipped) {
            Ok(turn) => batch.turns.push(Turn { cwd: state.cwd.clone(), ..turn }),
            Err(reason) => batch.skipped.count(reason),
        }
    })?;
    Ok(())
}

/// Who sees a message.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GooseMetadata<'a> {
    #[serde(borrow)]
    user_visible: Field<'a>,
    agent_visible: Field<'a>,
}

impl GooseMetadata<'_> {
    /// The role of a text. Texts that the user does not see were written by Goose for the agent.
    fn role(&self, role: Role, text: &str) -> Result<Role, &'static str> {
        let is_hidden = |from: &Field<'_>| matches!(from, Field::Flag(false));
        match (is_hidden(&self.user_visible), is_hidden(&self.agent_visible)) {
            (true, true) => Err("hidden"),
            (true, false) if text.starts_with(GO_ON) => Err("system text"),
            (true, false) => Ok(Role::Summary),
            (false, _) => Ok(role),
        }
    }
}

/// The turn of a message that was created at some second; else why it has none.
fn turn(
    session: &str,
    role: Option<&str>,
    created: Option<i64>,
    content: &Content<'_>,
    metadata: &GooseMetadata<'_>,
    line: u64,
    skipped: &mut Skipped,
) -> Result<Turn, &'static str> {
    let (who, role) = match role {
        Some("user") => ("user", Role::User),
        Some("assistant") => ("assistant", Role::Assistant),
        _ => return Err("unknown role"),
    };
    let text = match role {
        Role::User => join(typed(content, skipped)),
        _ => join(texts(content)),
    };
    let text = text.ok_or_else(|| why_skipped(content))?;
    let role = metadata.role(role, &text)?;
    let at = created.map(milliseconds).and_then(time);
    let hash = hash(&[who, &text]);
    Ok(Turn {
        id: at.map_or_else(|| format!("{session}#{hash:016x}"), |at| format!("{at}-{hash:016x}")),
        at,
        ..Turn::new(session.to_owned(), role, text, (line, line))
    })
}

#[cfg(test)]
mod tests;
