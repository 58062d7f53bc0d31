//! Plain `message` lines.

use std::io::{self, Write};

use serde_json::json;

use super::writing::{id, line, time};
use crate::sessions::{LEFT_OUT, Session};

pub(super) fn path(session: &Session) -> String {
    format!(".gimli/sessions/{}.jsonl", session.id)
}

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    line(out, &json!({"type": "session", "id": session.id, "cwd": session.cwd, "note": LEFT_OUT}))?;
    for (place, turn) in session.turns.iter().enumerate() {
        let mut message = |number: usize, role: &str, text: &str| {
            line(
                out,
                &json!({"type": "message", "id": id(session, place, number), "timestamp": time(turn.at),
                "message": {"role": role, "content": text}}),
            )
        };
        for (number, tool) in turn.tools.iter().enumerate() {
            message(2 + number, "tool", &tool.output)?;
        }
        message(0, if turn.is_user { "user" } else { "assistant" }, &turn.text)?;
    }
    Ok(())
}
