//! Cursor's CLI, which writes no times.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::writing::{line, slug};
use crate::sessions::{LEFT_OUT, Session};

pub(super) fn path(session: &Session) -> String {
    let (project, id) = (slug(session.cwd.trim_start_matches('/')), &session.id);
    format!(".cursor/projects/{project}/agent-transcripts/{id}/{id}.jsonl")
}

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    for (place, turn) in session.turns.iter().enumerate() {
        let role = if turn.is_user { "user" } else { "assistant" };
        let mut add = |content: Value| line(out, &json!({"role": role, "message": {"content": content}}));
        if turn.is_user {
            let query = format!("<user_query>\n{}\n</user_query>", turn.text);
            let info = format!("<user_info>\n{LEFT_OUT}\n</user_info>\n\n");
            let text = if place == 0 { info + &query } else { query };
            add(json!([{"type": "text", "text": text}]))?;
            continue;
        }
        for tool in &turn.tools {
            let input = json!({"command": tool.input, "explanation": LEFT_OUT});
            add(json!([{"type": "tool_use", "name": tool.name, "input": input}]))?;
        }
        add(json!([{"type": "text", "text": turn.text}]))?;
    }
    Ok(())
}
