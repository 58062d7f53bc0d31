//! OpenClaw: `~/.openclaw/agents/<agent>/sessions/<id>.jsonl` until 2026.7, and `agent/openclaw-agent.sqlite` since.
//!
//! Both have the same events. An event is identified by its own identifier and time, so what is left of the older files,
//! and what a fork copies, are the same turns. `.jsonl.reset.<time>` and `.jsonl.deleted.<time>` are history, too.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::clean::clean;
use super::field::{Field, parse};
use super::jsonl::Lines;
use super::records::{
    Content, UNREADABLE, count_unknown, for_each_line, hash, is_uuid, join, read_compressed, texts, why_skipped,
};
use super::sqlite::time;
use super::{Batch, Cursor, Format, ReadError, Role, Turn};
use crate::machine::Machine;

mod database;
mod wrappers;

/// Reads transcripts of OpenClaw.
pub struct OpenClaw;

/// The file name of an agent's database.
const DATABASE: &str = "openclaw-agent.sqlite";
/// What stands between a session and a time in the file names of its history.
const HISTORY: [&str; 2] = [".jsonl.reset.", ".jsonl.deleted."];

impl Format for OpenClaw {
    fn name(&self) -> &'static str {
        "openclaw"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        vec![machine.path("OPENCLAW_STATE_DIR", ".openclaw").join("agents")]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let is_snapshot = [".checkpoint.", ".trajectory.", ".bak"].iter().any(|part| name.contains(part));
        let is_time = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || b"TZ.:-".contains(&byte));
        let mut of_history = HISTORY.iter().filter_map(|part| name.split_once(part));
        let is_history = of_history.any(|(_, rest)| is_time(rest.trim_end_matches(".zst")));
        let is_session = name.ends_with(".jsonl") || is_history;
        (folder == "agent" && name == DATABASE) || (folder == "sessions" && is_session && !is_snapshot)
    }

    fn read(&self, path: &Path, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let mut batch = Batch::default();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("sqlite") => database::read(path, since, &mut batch)?,
            Some("zst") => read_compressed(path, since, &mut batch, |lines, batch| read_lines(path, lines, batch))?,
            _ => read_lines(path, &mut Lines::open(path, since)?, &mut batch)?,
        }
        Ok(batch)
    }
}

fn read_lines(path: &Path, lines: &mut Lines<Session>, batch: &mut Batch) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.find(".jsonl").map_or(&*name, |end| &name[..end]);
    for_each_line(lines, batch, |session, batch, line, bytes| {
        if session.id.is_empty() {
            stem.clone_into(&mut session.id);
        }
        take(bytes, session, batch, line, None);
    })
}

/// What is known of a session when one of its events is read.
#[derive(Default, Serialize, Deserialize)]
struct Session {
    id: String,
    cwd: Option<String>,
    #[serde(default)]
    is_subagent: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    id: Field<'a>,
    timestamp: Field<'a>,
    cwd: Field<'a>,
    name: Field<'a>,
    summary: Field<'a>,
    message: Field<'a, Message<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    content: Content<'a>,
    model: Field<'a>,
    timestamp: Field<'a>,
    provenance: Field<'a, Provenance<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Provenance<'a> {
    #[serde(borrow)]
    kind: Field<'a>,
}

/// Takes an event of a session, with the number of its line or row and the time when that was written.
fn take(bytes: &[u8], session: &mut Session, batch: &mut Batch, line: u64, written: Option<i64>) {
    let mut mended = Vec::new();
    let Some(event) = parse::<Event>(bytes, &mut mended) else {
        return batch.skipped.count(UNREADABLE);
    };
    let message = event.message.object();
    let taken = match event.kind.text() {
        Some("session") => {
            if let Some(id) = event.id.text() {
                id.clone_into(&mut session.id);
            }
            session.cwd = event.cwd.owned();
            return;
        }
        Some("session_info") => {
            if let Some(title) = event.name.text().and_then(clean) {
                batch.titles.insert(session.id.clone(), title);
            }
            return;
        }
        Some("message") => message.map_or(Err("no text"), said),
        Some("compaction" | "branch_summary") => {
            event.summary.text().and_then(clean).map(|text| (Role::Summary, text)).ok_or("no text")
        }
        Some("model_change" | "thinking_level_change" | "custom" | "custom_message" | "label") => Err("setting"),
        kind => return count_unknown(&mut batch.skipped, kind),
    };
    let (role, text) = match taken {
        Ok(taken) => taken,
        Err(reason) => return batch.skipped.count(reason),
    };
    let at = event.timestamp.time().or_else(|| message?.timestamp.time()).and_then(time);
    batch.turns.push(Turn {
        id: identify(&event, &session.id, at, &text),
        session: session.id.clone(),
        role,
        text,
        at: at.or(written),
        cwd: session.cwd.clone(),
        branch: None,
        model: message.and_then(|message| message.model.owned()).filter(|_| role == Role::Assistant),
        subagent: session.is_subagent.then(|| session.id.clone()),
        lines: (line, line),
    });
}

/// An event's identifier may be short, and then only the time makes it one of its kind.
fn identify(event: &Event<'_>, session: &str, at: Option<i64>, text: &str) -> String {
    match (event.id.text(), at) {
        (Some(id), _) if is_uuid(id) => id.to_owned(),
        (Some(id), Some(at)) => format!("{id}@{at}"),
        (Some(id), None) => format!("{session}:{id}"),
        (None, at) => format!("{session}#{:016x}", hash(&[text, &at.unwrap_or_default().to_string()])),
    }
}

/// What somebody said in a message.
fn said(message: &Message<'_>) -> Result<(Role, String), &'static str> {
    let role = match message.role.text() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("toolResult" | "bashExecution") => return Err("tool output"),
        Some("system" | "developer" | "custom") => return Err("system text"),
        _ => return Err("unknown role"),
    };
    let of = message.provenance.object().and_then(|provenance| provenance.kind.text());
    match of.filter(|_| role == Role::User) {
        Some("inter_session") => return Err("another session's message"),
        Some("internal_system") => return Err("system text"),
        _ => (),
    }
    let text = join(texts(&message.content)).ok_or_else(|| why_skipped(&message.content))?;
    Ok((role, wrappers::unwrap(role, &text)?))
}

#[cfg(test)]
mod tests;
