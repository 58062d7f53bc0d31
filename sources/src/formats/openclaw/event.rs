//! An event of a session, which the files and the database have in the same form.

use serde::{Deserialize, Serialize};

use super::super::field::{Field, parse};
use super::super::records::{Content, UNKNOWN, UNREADABLE, hash, is_uuid, join, texts, trimmed, typed, why_skipped};
use super::super::sqlite::time;
use super::super::{Batch, Role, Skipped, Turn};
use super::wrappers::unwrap;

/// Properties of a session, known when one of its events is read.
#[derive(Default, Serialize, Deserialize)]
pub struct OpenClawSession {
    pub id: String,
    pub cwd: Option<String>,
    #[serde(default)]
    pub is_subagent: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    id: Field<'a>,
    timestamp: Field<'a>,
    cwd: Field<'a>,
    summary: Field<'a>,
    message: Field<'a, OpenClawMessage<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenClawMessage<'a> {
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
pub fn take(bytes: &[u8], session: &mut OpenClawSession, batch: &mut Batch, line: u64, written: Option<i64>) {
    let mut mended = Vec::new();
    let Some(event) = parse::<Event>(bytes, &mut mended) else {
        return batch.skipped.count(UNREADABLE);
    };
    let message = event.message.object();
    let taken = match event.kind.text() {
        Some("session") => {
            if let Some(id) = event.id.owned() {
                session.id = id;
            }
            session.cwd = event.cwd.owned();
            return;
        }
        Some("message") => message.map_or(Err("no text"), |message| said(message, &mut batch.skipped)),
        Some("compaction" | "branch_summary") => {
            event.summary.text().and_then(trimmed).map(|text| (Role::Summary, text)).ok_or("no text")
        }
        Some("model_change" | "thinking_level_change" | "session_info" | "custom" | "custom_message" | "label") => {
            Err("setting")
        }
        _ => return batch.skipped.count(UNKNOWN),
    };
    let (role, text) = match taken {
        Ok(taken) => taken,
        Err(reason) => return batch.skipped.count(reason),
    };
    let at = event.timestamp.time().or_else(|| message?.timestamp.time()).and_then(time);
    batch.turns.push(Turn {
        id: identify(&event, &session.id, at, &text),
        at: at.or(written),
        cwd: session.cwd.clone(),
        model: message.and_then(|message| message.model.owned()).filter(|_| role == Role::Assistant),
        subagent: session.is_subagent.then(|| session.id.clone()),
        ..Turn::new(session.id.clone(), role, text, (line, line))
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

/// The role and the text of a message.
fn said(message: &OpenClawMessage<'_>, skipped: &mut Skipped) -> Result<(Role, String), &'static str> {
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
    let text = match role {
        Role::User => join(typed(&message.content, skipped)),
        _ => join(texts(&message.content)),
    };
    let text = text.ok_or_else(|| why_skipped(&message.content))?;
    Ok((role, unwrap(role, &text, skipped)?))
}
