//! Goose.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::writing::{formatted, id, quoted};
use crate::sessions::{LEFT_OUT, Session};

pub(super) const SCHEMA: &str = "\
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', \
session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, \
role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL);
";

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let date = |at: i64| formatted(at, "'%Y-%m-%d %H:%M:%S'");
    let (own, name, folder) = (quoted(&session.id), quoted(&session.title), quoted(&session.cwd));
    let (began, ended) = (date(session.started), date(session.ended()));
    writeln!(
        out,
        "INSERT INTO sessions (id, name, session_type, working_dir, created_at, updated_at) VALUES ({own}, {name}, \
         'user', {folder}, {began}, {ended});"
    )?;
    for (place, turn) in session.turns.iter().enumerate() {
        let mut add = |number: usize, role: &str, content: Value| {
            let (message, content) = (id(session, place, number), quoted(&content.to_string()));
            let at = turn.at / 1_000;
            writeln!(
                out,
                "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp) VALUES \
                 ('{message}', {own}, '{role}', {content}, {at});"
            )
        };
        for (number, tool) in turn.tools.iter().enumerate() {
            let call = format!("call_{place}_{number}");
            let request = json!({"name": tool.name, "arguments": {"command": tool.input, "note": LEFT_OUT}});
            add(
                2 + 2 * number,
                "assistant",
                json!([{"type": "toolRequest", "id": call,
                "toolCall": {"status": "success", "value": request}}]),
            )?;
            let printed = json!([{"type": "text", "text": tool.output}]);
            add(
                3 + 2 * number,
                "user",
                json!([{"type": "toolResponse", "id": call,
                "toolResult": {"status": "success", "value": printed}}]),
            )?;
        }
        let text = json!({"type": "text", "text": turn.text});
        match &turn.thinking {
            Some(thinking) => add(0, "assistant", json!([{"type": "thinking", "thinking": thinking}, text]))?,
            None => add(0, if turn.is_user { "user" } else { "assistant" }, json!([text]))?,
        }
    }
    Ok(())
}
