//! opencode: a message has parts.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::writing::quoted;
use crate::sessions::{LEFT_OUT, Session, SessionTurn};

pub(super) const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, directory TEXT NOT NULL, title TEXT NOT NULL, \
time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, \
time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, \
time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
";

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let own = format!("ses_{}", session.id);
    let (directory, title) = (quoted(&session.cwd), quoted(&session.title));
    let (began, ended) = (session.started, session.ended());
    writeln!(out, "INSERT INTO session VALUES ('{own}', {directory}, {title}, {began}, {ended});")?;
    for (place, turn) in session.turns.iter().enumerate() {
        let at = turn.at;
        // Ids are in the order of time.
        let message = format!("msg_{at:013}_{place:06}_{}", session.id);
        let role = if turn.is_user { "user" } else { "assistant" };
        let data = json!({"role": role, "modelID": session.model, "time": {"created": at},
            "path": {"cwd": session.cwd}, "system": [LEFT_OUT]});
        let data = quoted(&data.to_string());
        writeln!(out, "INSERT INTO message VALUES ('{message}', '{own}', {at}, {at}, {data});")?;
        for (number, part) in parts(turn, place).iter().enumerate() {
            let id = format!("prt_{at:013}_{place:06}_{number:02}_{}", session.id);
            let data = quoted(&part.to_string());
            writeln!(out, "INSERT INTO part VALUES ('{id}', '{message}', '{own}', {at}, {at}, {data});")?;
        }
    }
    Ok(())
}

fn parts(turn: &SessionTurn, place: usize) -> Vec<Value> {
    let text = json!({"type": "text", "text": turn.text});
    if turn.is_user {
        let synthetic = json!({"type": "text", "synthetic": true, "text": format!("Called the tool: {LEFT_OUT}")});
        return if place % 6 == 2 { vec![text, synthetic] } else { vec![text] };
    }
    let thinking = turn.thinking.iter().map(|thinking| json!({"type": "reasoning", "text": thinking}));
    let tools = turn.tools.iter().map(|tool| {
        json!({"type": "tool", "tool": tool.name,
            "state": {"status": "completed", "input": {"command": tool.input}, "output": tool.output}})
    });
    [json!({"type": "step-start", "snapshot": LEFT_OUT})]
        .into_iter()
        .chain(thinking)
        .chain(tools)
        .chain([text])
        .collect()
}
