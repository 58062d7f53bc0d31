//! Sessions, messages and their parts, each with JSON in `data`.

use rusqlite::Row;
use serde::Deserialize;

use super::super::blocks::{COMMON, typed};
use super::super::field::{Field, parse};
use super::super::records::{UNKNOWN, UNREADABLE, join, trimmed};
use super::super::sqlite::{Database, bytes, label, limited, line, number, text, time};
use super::super::{ReadError, Role, Skipped, Turn};
use super::answers::{CallState, QUESTION, REJECTED};
use super::reader::{MessageTime, OpenCodeReader};

/// Adds the messages that changed, or a part of them.
pub fn read(database: &Database, reader: &mut OpenCodeReader) -> Result<(), ReadError> {
    database.require("session", &["id", "directory"])?;
    database.require("message", &["id", "session_id", "data", "time_created", "time_updated"])?;
    database.require("part", &["id", "message_id", "data", "time_updated"])?;
    let changed = database.numbers(
        "SELECT rowid FROM message WHERE time_updated >= ?1
            OR id IN (SELECT message_id FROM part WHERE time_updated >= ?1)
            ORDER BY session_id, time_created, id",
        [reader.from],
    )?;
    let parent = if database.columns("session")?.contains("parent_id") { "s.parent_id" } else { "NULL" };
    let message = format!(
        "SELECT m.id, m.session_id, m.time_created, m.time_updated, {}, s.directory, {parent}
            FROM message m LEFT JOIN session s ON s.id = m.session_id WHERE m.rowid = ?1",
        limited("m.data")
    );
    // What a tool printed is left where it is, unless a person may have said something.
    let is_printed = format!(
        "substr(data, 1, 15) = '{{\"type\":\"tool\",' AND instr(data, '\"tool\":\"{QUESTION}\"') = 0 AND instr(data, '{REJECTED}') = 0"
    );
    let parts = format!(
        "SELECT time_updated, CASE WHEN {is_printed} THEN '{{\"type\":\"tool\"}}' ELSE {} END
            FROM part WHERE message_id = ?1 ORDER BY id",
        limited("data")
    );
    for row in changed {
        database.each(&message, [row], |message| add(database, message, &parts, line(row), reader))?;
    }
    Ok(())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenCodeMessage<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(rename = "modelID")]
    model: Field<'a>,
    /// True for a summary of the messages before. The user's messages have an object.
    summary: Field<'a>,
    time: Field<'a, MessageTime<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenCodePart<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    text: Field<'a>,
    /// Whether opencode wrote it, for the model.
    synthetic: Field<'a>,
    /// Whether a plugin wrote it, for the person.
    ignored: Field<'a>,
    tool: Field<'a>,
    state: Field<'a, CallState<'a>>,
}

fn add(
    database: &Database,
    row: &Row<'_>,
    parts: &str,
    line: u64,
    reader: &mut OpenCodeReader,
) -> Result<(), ReadError> {
    let mut skipped = Skipped::default();
    let (Some(id), Some(session)) = (label(row, 0)?, label(row, 1)?) else {
        reader.batch.skipped.count(UNREADABLE);
        return Ok(());
    };
    let mut mended = Vec::new();
    let message = bytes(row, 4)?.and_then(|data| parse::<OpenCodeMessage>(data, &mut mended));
    let is_typed = message.as_ref().is_some_and(|message| message.role.text() == Some("user"));
    let mut changed = number(row, 3)?.unwrap_or_default();
    let (mut texts, mut answers) = (Vec::new(), Vec::new());
    database.each(parts, [&id], |part| {
        changed = changed.max(number(part, 0)?.unwrap_or_default());
        texts.extend(said(bytes(part, 1)?.unwrap_or_default(), is_typed, &mut answers, &mut skipped));
        Ok(())
    })?;
    let role = match message.as_ref().map(|message| message.role.text()) {
        Some(Some("user")) => Some(Role::User),
        Some(Some("assistant")) => Some(Role::Assistant),
        None => {
            skipped.count(UNREADABLE);
            None
        }
        Some(_) => {
            skipped.count(UNKNOWN);
            None
        }
    };
    let (Some(role), Some(message)) = (role, message) else {
        reader.add(&id, changed, None, skipped);
        return Ok(());
    };
    let is_summary = role == Role::Assistant && message.summary.is_true();
    let at = message.time.object().and_then(|time| time.created.time());
    let turn = Turn {
        id,
        at: at.and_then(time).or(number(row, 2)?.and_then(time)),
        cwd: label(row, 5)?,
        model: message.model.owned().filter(|_| role == Role::Assistant),
        subagent: text(row, 6)?.map(|_| session.clone()),
        ..Turn::new(session, if is_summary { Role::Summary } else { role }, String::new(), (line, line))
    };
    reader.add_both([join(texts), join(answers)], changed, turn, skipped);
    Ok(())
}

/// The text of a part, of a person's message or of the agent's.
fn said(data: &[u8], is_typed: bool, answers: &mut Vec<String>, skipped: &mut Skipped) -> Option<String> {
    let mut mended = Vec::new();
    let Some(part) = parse::<OpenCodePart>(data, &mut mended) else {
        skipped.count(UNREADABLE);
        return None;
    };
    let taken = match part.kind.text() {
        Some("text") if part.synthetic.is_true() || part.ignored.is_true() => Err("system text"),
        Some("text") if is_typed => part.text.text().and_then(|text| typed(text, &COMMON, skipped)).ok_or("no text"),
        Some("text") => part.text.text().and_then(trimmed).ok_or("no text"),
        Some("tool") => match part.state.object().and_then(|state| state.said(part.tool.text())) {
            Some(answer) => {
                answers.push(answer);
                return None;
            }
            None => Err("tool output"),
        },
        Some("reasoning") => Err("thinking"),
        Some("file") => Err("file"),
        Some("step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "retry" | "compaction" | "subtask") => {
            Err("setting")
        }
        _ => Err(UNKNOWN),
    };
    taken.map_err(|reason| skipped.count(reason)).ok()
}
