//! Messages with their whole content in `data`, since version 2.

use rusqlite::Row;
use serde::Deserialize;

use super::super::blocks::{COMMON, typed};
use super::super::field::{Field, parse};
use super::super::records::{UNKNOWN, UNREADABLE, join, trimmed};
use super::super::sqlite::{Database, bytes, label, limited, line, number, text, time};
use super::super::{ReadError, Role, Skipped, Turn};
use super::answers::CallState;
use super::reader::{MessageTime, OpenCodeReader};

/// Adds the messages that changed.
pub fn read(database: &Database, reader: &mut OpenCodeReader) -> Result<(), ReadError> {
    let columns =
        database.require("session_message", &["id", "session_id", "type", "data", "time_created", "time_updated"])?;
    let session = if database.columns("session_v2")?.is_empty() { "session" } else { "session_v2" };
    let of_session = database.require(session, &["id", "directory"])?;
    let order = if columns.contains("seq") { "seq" } else { "time_created, id" };
    // Before `session_v2` it was a view of the older tables, with identifiers of its own.
    let is_view = session == "session" && !database.columns("message")?.is_empty();
    let own = if is_view { "AND session_id NOT IN (SELECT session_id FROM message)" } else { "" };
    let changed = database.numbers(
        &format!("SELECT rowid FROM session_message WHERE time_updated >= ?1 {own} ORDER BY session_id, {order}"),
        [reader.from],
    )?;
    let parent = if of_session.contains("parent_id") { "s.parent_id" } else { "NULL" };
    let message = format!(
        "SELECT m.id, m.session_id, m.time_created, m.time_updated, {}, s.directory, {parent}, m.type
            FROM session_message m LEFT JOIN {session} s ON s.id = m.session_id WHERE m.rowid = ?1",
        limited("m.data")
    );
    for row in changed {
        database.each(&message, [row], |message| add(message, line(row), reader))?;
    }
    Ok(())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionMessage<'a> {
    /// Text of the user.
    #[serde(borrow)]
    text: Field<'a>,
    /// Content of the agent.
    content: Field<'a, OpenCodeBlock<'a>>,
    /// Summary of a compaction.
    summary: Field<'a>,
    model: Field<'a, OpenCodeModel<'a>>,
    time: Field<'a, MessageTime<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenCodeBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    text: Field<'a>,
    synthetic: Field<'a>,
    ignored: Field<'a>,
    name: Field<'a>,
    state: Field<'a, CallState<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenCodeModel<'a> {
    #[serde(borrow)]
    id: Field<'a>,
}

fn add(row: &Row<'_>, line: u64, reader: &mut OpenCodeReader) -> Result<(), ReadError> {
    let mut skipped = Skipped::default();
    let (Some(id), Some(session)) = (label(row, 0)?, label(row, 1)?) else {
        reader.batch.skipped.count(UNREADABLE);
        return Ok(());
    };
    let mut mended = Vec::new();
    let message = bytes(row, 4)?.and_then(|data| parse::<SessionMessage>(data, &mut mended));
    let kind = text(row, 7)?;
    let changed = number(row, 3)?.unwrap_or_default();
    let Some(message) = message else {
        skipped.count(UNREADABLE);
        reader.add(&id, changed, None, skipped);
        return Ok(());
    };
    let mut answers = Vec::new();
    let said = said(kind.as_deref(), &message, &mut answers, &mut skipped);
    let role = said.as_ref().map_or(Role::Assistant, |(role, _)| *role);
    let at = message.time.object().and_then(|time| time.created.time());
    let turn = Turn {
        id,
        at: at.and_then(time).or(number(row, 2)?.and_then(time)),
        cwd: label(row, 5)?,
        model: message.model.object().and_then(|model| model.id.owned()).filter(|_| role == Role::Assistant),
        subagent: text(row, 6)?.map(|_| session.clone()),
        ..Turn::new(session, role, String::new(), (line, line))
    };
    reader.add_both([said.map(|(_, text)| text), join(answers)], changed, turn, skipped);
    Ok(())
}

/// The role and the text of a message.
fn said(
    kind: Option<&str>,
    message: &SessionMessage<'_>,
    answers: &mut Vec<String>,
    skipped: &mut Skipped,
) -> Option<(Role, String)> {
    let taken = match kind {
        Some("user") => message
            .text
            .text()
            .and_then(|text| typed(text, &COMMON, skipped))
            .map(|text| (Role::User, text))
            .ok_or("no text"),
        Some("compaction") => {
            message.summary.text().and_then(trimmed).map(|text| (Role::Summary, text)).ok_or("no text")
        }
        Some("assistant") => {
            let blocks = message.content.elements().iter().filter_map(Field::object);
            // Whatever is passed over in a block has its own reason.
            return join(blocks.filter_map(|block| prose(block, answers, skipped))).map(|text| (Role::Assistant, text));
        }
        Some("synthetic" | "system") => Err("system text"),
        Some("shell") => Err("tool output"),
        Some("agent-switched" | "model-switched" | "location-switched" | "idle") => Err("setting"),
        _ => Err(UNKNOWN),
    };
    taken.map_err(|reason| skipped.count(reason)).ok()
}

/// The prose of the agent in a block.
fn prose(block: &OpenCodeBlock<'_>, answers: &mut Vec<String>, skipped: &mut Skipped) -> Option<String> {
    let taken = match block.kind.text() {
        Some("text") if block.synthetic.is_true() || block.ignored.is_true() => Err("system text"),
        Some("text") => block.text.text().and_then(trimmed).ok_or("no text"),
        Some("tool") => match block.state.object().and_then(|state| state.said(block.name.text())) {
            Some(answer) => {
                answers.push(answer);
                return None;
            }
            None => Err("tool output"),
        },
        Some("reasoning") => Err("thinking"),
        _ => Err(UNKNOWN),
    };
    taken.map_err(|reason| skipped.count(reason)).ok()
}
