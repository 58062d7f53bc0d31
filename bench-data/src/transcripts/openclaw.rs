//! OpenClaw: JSONL, and the same events in SQLite.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::writing::{TURNS_A_SUMMARY, id, line, quoted, time};
use crate::sessions::{LEFT_OUT, Session, SessionTurn};

pub(super) const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS session_windows (session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL, \
previous_session_id TEXT, reason TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, \
event_zstd BLOB, created_at INTEGER NOT NULL, PRIMARY KEY (session_id, seq));
";

pub(super) fn path(session: &Session) -> String {
    format!(".openclaw/agents/main/sessions/{}.jsonl", session.id)
}

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    events(session, &mut |_, event| line(out, &event))
}

pub(super) fn write_sql(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let (session_id, began, ended) = (quoted(&session.id), session.started, session.ended());
    writeln!(
        out,
        "INSERT INTO session_windows VALUES ({session_id}, 'agent:main:main', NULL, NULL, {began}, {ended});"
    )?;
    let mut seq = 0;
    events(session, &mut |at, event| {
        seq += 1;
        let event = quoted(&event.to_string());
        writeln!(out, "INSERT INTO transcript_events VALUES ({session_id}, {seq}, {event}, NULL, {at});")
    })
}

/// Gives each event with its time.
fn events(session: &Session, out: &mut dyn FnMut(i64, Value) -> io::Result<()>) -> io::Result<()> {
    out(
        session.started,
        json!({"type": "session", "version": 3, "id": session.id, "timestamp": time(session.started),
        "cwd": session.cwd}),
    )?;
    let mut events = Events { session, out, parent: None };
    events.add("model_change", 0, 20, session.started, "modelId", json!(session.model))?;
    events.add("custom", 0, 21, session.started, "data", json!({"note": LEFT_OUT}))?;
    for (place, turn) in session.turns.iter().enumerate() {
        if place > 0 && place.is_multiple_of(TURNS_A_SUMMARY) {
            let summary = json!("Up to here the build was repaired.");
            events.add("compaction", place, 22, turn.at - 1_800, "summary", summary)?;
        }
        if turn.is_user {
            let content = json!([{"type": "text", "text": turn.text}]);
            events.message(place, 0, turn.at, json!({"role": "user", "content": content}))?;
        } else {
            events.answered(place, turn)?;
        }
    }
    Ok(())
}

struct Events<'a> {
    session: &'a Session,
    out: &'a mut dyn FnMut(i64, Value) -> io::Result<()>,
    parent: Option<String>,
}

impl Events<'_> {
    fn add(&mut self, kind: &str, place: usize, number: usize, at: i64, field: &str, own: Value) -> io::Result<()> {
        let id = id(self.session, place, number);
        let event = json!({"type": kind, "id": id, "parentId": self.parent, "timestamp": time(at), field: own});
        self.parent = Some(id);
        (self.out)(at, event)
    }

    fn message(&mut self, place: usize, number: usize, at: i64, message: Value) -> io::Result<()> {
        self.add("message", place, number, at, "message", message)
    }

    fn answered(&mut self, place: usize, turn: &SessionTurn) -> io::Result<()> {
        let model = self.session.model;
        for (number, tool) in turn.tools.iter().enumerate() {
            let call = format!("call_{place}_{number}");
            let content = json!([{"type": "toolCall", "id": call, "name": tool.name,
                "arguments": {"command": tool.input, "note": LEFT_OUT}}]);
            let asked = json!({"role": "assistant", "content": content, "model": model, "stopReason": "toolUse"});
            self.message(place, 2 + 2 * number, turn.at - 1_000, asked)?;
            let content = json!([{"type": "text", "text": tool.output}]);
            let printed = json!({"role": "toolResult", "toolCallId": call, "toolName": tool.name, "content": content});
            self.message(place, 3 + 2 * number, turn.at - 900, printed)?;
        }
        let thinking = turn.thinking.iter().map(|thinking| json!({"type": "thinking", "thinking": thinking}));
        let content: Vec<Value> = thinking.chain([json!({"type": "text", "text": turn.text})]).collect();
        let answer = json!({"role": "assistant", "content": content, "model": model, "stopReason": "stop"});
        self.message(place, 0, turn.at, answer)
    }
}
