//! Codex CLI.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::writing::{TURNS_A_SUMMARY, formatted, line, time};
use crate::sessions::{LEFT_OUT, Session, SessionTurn};

pub(super) fn path(session: &Session) -> String {
    let name = formatted(session.started, "%Y/%m/%d/rollout-%Y-%m-%dT%H-%M-%S");
    format!(".codex/sessions/{name}-{}.jsonl", session.id)
}

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut add = |at: i64, kind: &str, payload: Value| {
        line(out, &json!({"timestamp": time(at), "type": kind, "payload": payload}))
    };
    add(
        session.started,
        "session_meta",
        json!({"id": session.id, "timestamp": time(session.started),
        "cwd": session.cwd, "originator": "codex_cli_rs", "cli_version": "0.150.0", "source": "cli",
        "instructions": LEFT_OUT,
        "git": {"branch": session.branch, "commit_hash": "ab12", "repository_url": "git@example.org:ada/code"}}),
    )?;
    let preface = [
        ("developer", "<permissions instructions>"),
        ("user", "# AGENTS.md instructions for /home/ada"),
        ("user", "<environment_context>"),
    ];
    for (role, beginning) in preface {
        let text = format!("{beginning}\n{LEFT_OUT}");
        add(session.started, "response_item", message(role, "input_text", &text))?;
    }
    for (place, turn) in session.turns.iter().enumerate() {
        if place > 0 && place.is_multiple_of(TURNS_A_SUMMARY) {
            add(turn.at - 1_800, "compacted", json!({"message": "Summary: up to here the build was repaired."}))?;
        }
        if turn.is_user {
            typed(session, place, turn, &mut add)?;
        } else {
            answered(place, turn, &mut add)?;
        }
    }
    Ok(())
}

type Add<'a> = dyn FnMut(i64, &str, Value) -> io::Result<()> + 'a;

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn typed(session: &Session, place: usize, turn: &SessionTurn, add: &mut Add) -> io::Result<()> {
    add(
        turn.at - 10,
        "turn_context",
        json!({"turn_id": format!("t{place}"), "cwd": session.cwd,
        "model": session.model, "approval_policy": "on-request", "summary": LEFT_OUT}),
    )?;
    let text = &turn.text;
    let text = match place % 18 {
        8 => format!("# Context from my IDE setup:\n\n## Active file: {LEFT_OUT}\n\n## My request for Codex:\n{text}"),
        _ => text.clone(),
    };
    add(turn.at, "response_item", message("user", "input_text", &text))?;
    add(turn.at, "event_msg", json!({"type": "user_message", "message": text, "images": [], "kind": LEFT_OUT}))
}

fn answered(place: usize, turn: &SessionTurn, add: &mut Add) -> io::Result<()> {
    if let Some(thinking) = &turn.thinking {
        add(turn.at - 1_500, "event_msg", json!({"type": "agent_reasoning", "text": thinking}))?;
        add(
            turn.at - 1_500,
            "response_item",
            json!({"type": "reasoning",
            "summary": [{"type": "summary_text", "text": thinking}], "encrypted_content": LEFT_OUT}),
        )?;
    }
    for (number, tool) in turn.tools.iter().enumerate() {
        let call = format!("call_{place}_{number}");
        let arguments = json!({"command": ["bash", "-lc", tool.input], "justification": LEFT_OUT}).to_string();
        add(
            turn.at - 1_000,
            "response_item",
            json!({"type": "function_call", "name": tool.name, "arguments": arguments, "call_id": call}),
        )?;
        add(
            turn.at - 900,
            "response_item",
            json!({"type": "function_call_output", "call_id": call, "output": tool.output}),
        )?;
        add(turn.at - 800, "event_msg", json!({"type": "token_count", "info": LEFT_OUT}))?;
    }
    add(turn.at, "event_msg", json!({"type": "agent_message", "message": turn.text}))?;
    add(turn.at, "response_item", message("assistant", "output_text", &turn.text))
}
