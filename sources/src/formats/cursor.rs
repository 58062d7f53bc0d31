//! Cursor: its CLI writes `~/.cursor/projects/<slug>/agent-transcripts/<id>/<id>.jsonl`, its IDE `state.vscdb`.
//!
//! Lines of the CLI have neither identifiers nor times: the session and the line identify a turn.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::clean::without;
use super::field::{Field, parse};
use super::jsonl::Lines;
use super::records::{Content, UNKNOWN, UNREADABLE, for_each_line, join, texts, trimmed, typed, why_skipped};
use super::{Batch, Format, ReadError, Role, Skipped, Turn};
use crate::foreign::Foreign;
use crate::machine::Machine;

mod ide;

/// Reads transcripts of Cursor.
pub struct CursorAgent;

/// The file name of the IDE's database.
const DATABASE: &str = "state.vscdb";
/// Marks of the CLI around a prompt.
const QUERY: (&str, &str) = ("<user_query>", "</user_query>");
/// Blocks that the CLI adds where nothing is marked as typed.
const ADDED: [&str; 8] = [
    "user_info", "git_status", "project_layout", "rules", "agent_skills", "open_and_recently_viewed_files",
    "attached_files", "timestamp",
];

impl Format for CursorAgent {
    fn name(&self) -> &'static str {
        "cursor"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let storage = "Cursor/User/globalStorage";
        vec![
            machine.path("CURSOR_CONFIG_DIR", ".cursor").join("projects"),
            machine.path("XDG_CONFIG_HOME", ".config").join(storage),
            machine.home().join("Library/Application Support").join(storage),
            machine.path("APPDATA", "AppData/Roaming").join(storage),
        ]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let is_below = |folder: &str| path.iter().any(|part| part == folder);
        let is_lines = path.extension().is_some_and(|extension| extension == "jsonl");
        (is_lines && is_below("agent-transcripts")) || path.ends_with(Path::new("globalStorage").join(DATABASE))
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&super::Cursor>) -> Result<Batch, ReadError> {
        let mut batch = Batch::default();
        if file.path.extension().is_some_and(|extension| extension == "vscdb") {
            ide::read(file, since, &mut batch)?;
        } else {
            read_lines(file, since, &mut batch)?;
        }
        Ok(batch)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CursorRecord<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    role: Field<'a>,
    message: Field<'a, CursorMessage<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CursorMessage<'a> {
    #[serde(borrow)]
    content: Content<'a>,
}

fn read_lines(file: Foreign<'_>, since: Option<&super::Cursor>, batch: &mut Batch) -> Result<(), ReadError> {
    let path = file.path;
    let id = path.file_stem().unwrap_or_default().to_string_lossy();
    let parent = path.parent().filter(|folder| folder.ends_with("subagents")).and_then(Path::parent);
    let session = parent.and_then(Path::file_name).map_or(id.clone(), |name| name.to_string_lossy());
    for_each_line(&mut Lines::<()>::open(file, since)?, batch, |(), batch, line, bytes| {
        let mut mended = Vec::new();
        let Some(record) = parse::<CursorRecord>(bytes, &mut mended) else {
            return batch.skipped.count(UNREADABLE);
        };
        let role = match record.role.text() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("tool") => return batch.skipped.count("tool output"),
            Some("system") => return batch.skipped.count("system text"),
            Some(_) => return batch.skipped.count("unknown role"),
            None if record.kind.text() == Some("turn_ended") => return batch.skipped.count("setting"),
            None => return batch.skipped.count(UNKNOWN),
        };
        match said(role, &record, &mut batch.skipped) {
            Ok(text) => batch.turns.push(Turn {
                id: format!("{id}:{line}"),
                subagent: parent.map(|_| id.to_string()),
                ..Turn::new(session.to_string(), role, text, (line, line))
            }),
            Err(reason) => batch.skipped.count(reason),
        }
    })?;
    Ok(())
}

/// The text of a message.
fn said(role: Role, record: &CursorRecord<'_>, skipped: &mut Skipped) -> Result<String, &'static str> {
    let content = &record.message.object().ok_or("no text")?.content;
    if role == Role::User {
        let text = join(typed(content, skipped)).ok_or_else(|| why_skipped(content))?;
        return unwrapped(text).ok_or("wrapper");
    }
    join(texts(content)).ok_or_else(|| why_skipped(content))
}

/// The part of a text that a person typed.
fn unwrapped(mut text: String) -> Option<String> {
    let mut queries = Vec::new();
    let mut rest = &*text;
    while let Some((_, after)) = rest.split_once(QUERY.0) {
        let (query, after) = after.split_once(QUERY.1).unwrap_or((after, ""));
        queries.extend(trimmed(query));
        rest = after;
    }
    if text.contains(QUERY.0) {
        return join(queries);
    }
    for block in ADDED {
        let (open, close) = (format!("<{block}>"), format!("</{block}>"));
        // What is never closed is a mention.
        if text.contains(&close) {
            text = without(&text, &open, &close);
        }
    }
    trimmed(&text)
}

#[cfg(test)]
mod tests;
