//! Gemini CLI: a log of edits, in which a later line can replace or take back an earlier one.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::writing::{formatted, id, line, time};
use crate::sessions::{LEFT_OUT, Session, SessionTurn};

pub(super) fn path(session: &Session) -> String {
    let project = session.cwd.rsplit('/').next().unwrap_or_default();
    let short = session.id.get(..8).unwrap_or_default();
    let began = formatted(session.started, "%Y-%m-%dT%H-%M");
    format!(".gemini/tmp/{project}/chats/session-{began}-{short}.jsonl")
}

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    line(
        out,
        &json!({"sessionId": session.id, "projectHash": LEFT_OUT, "startTime": time(session.started),
        "lastUpdated": time(session.ended()), "kind": "main", "directories": [session.cwd]}),
    )?;
    let context = format!("<session_context>\n{LEFT_OUT}\n</session_context>");
    line(out, &typed(id(session, 0, 20), session.started, &context))?;
    line(
        out,
        &json!({"id": id(session, 0, 21), "timestamp": time(session.started), "type": "info",
        "content": LEFT_OUT}),
    )?;
    for (place, turn) in session.turns.iter().enumerate() {
        if !turn.is_user {
            line(out, &answered(session, place, turn))?;
            continue;
        }
        if place % 14 == 6 {
            // A prompt and its answer that were taken back.
            line(out, &typed(id(session, place, 22), turn.at - 20, LEFT_OUT))?;
            line(
                out,
                &json!({"id": id(session, place, 23), "timestamp": time(turn.at - 10), "type": "gemini",
                "content": LEFT_OUT, "model": session.model}),
            )?;
            line(out, &json!({"$rewindTo": id(session, place, 22)}))?;
        }
        if place % 10 == 2 {
            line(out, &typed(id(session, place, 0), turn.at - 5, LEFT_OUT))?;
        }
        line(out, &typed(id(session, place, 0), turn.at, &turn.text))?;
    }
    line(out, &json!({"$set": {"summary": session.title}}))
}

fn typed(id: String, at: i64, text: &str) -> Value {
    json!({"id": id, "timestamp": time(at), "type": "user", "content": [{"text": text}]})
}

fn answered(session: &Session, place: usize, turn: &SessionTurn) -> Value {
    let thoughts: Vec<Value> = (turn.thinking.iter())
        .map(|thinking| json!({"subject": "Plan", "description": thinking, "timestamp": time(turn.at - 1_500)}))
        .collect();
    let calls: Vec<Value> = (turn.tools.iter().enumerate())
        .map(|(number, tool)| {
            json!({"id": format!("call-{place}-{number}"), "name": tool.name, "args": {"command": tool.input},
                "result": [{"functionResponse": {"response": {"output": tool.output}}}], "status": "success"})
        })
        .collect();
    json!({"id": id(session, place, 0), "timestamp": time(turn.at), "type": "gemini", "content": turn.text,
        "thoughts": thoughts, "toolCalls": calls, "tokens": {"input": 900, "output": 40}, "model": session.model})
}
