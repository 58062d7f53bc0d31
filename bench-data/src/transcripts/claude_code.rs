//! Claude Code.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::writing::{TURNS_A_SUMMARY, id, line, slug, time};
use crate::sessions::{LEFT_OUT, Session, SessionTurn};

pub(super) fn path(session: &Session) -> String {
    format!(".claude/projects/{}/{}.jsonl", slug(&session.cwd), session.id)
}

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut records = Records { session, out, parent: None };
    line(records.out, &json!({"type": "mode", "mode": "normal", "sessionId": session.id, "note": LEFT_OUT}))?;
    records.add(
        "user",
        0,
        20,
        session.started,
        json!({"isMeta": true, "message": {"role": "user",
        "content": format!("Caveat: the messages below were made by the user {LEFT_OUT}")}}),
    )?;
    for (place, turn) in session.turns.iter().enumerate() {
        if place > 0 && place.is_multiple_of(TURNS_A_SUMMARY) {
            records.compacted(place, turn)?;
        }
        if turn.is_user { records.typed(place, turn) } else { records.answered(place, turn) }?;
    }
    line(records.out, &json!({"type": "last-prompt", "lastPrompt": LEFT_OUT, "sessionId": session.id}))?;
    line(records.out, &json!({"type": "summary", "summary": session.title, "leafUuid": records.parent}))
}

struct Records<'a> {
    session: &'a Session,
    out: &'a mut dyn Write,
    parent: Option<String>,
}

impl Records<'_> {
    /// Writes a record with the fields that all have, and its own.
    fn add(&mut self, kind: &str, place: usize, number: usize, at: i64, own: Value) -> io::Result<()> {
        let uuid = id(self.session, place, number);
        let mut record = json!({
            "parentUuid": self.parent, "isSidechain": false, "userType": "external", "cwd": self.session.cwd,
            "sessionId": self.session.id, "version": "2.1.312", "gitBranch": self.session.branch, "type": kind,
            "uuid": uuid, "timestamp": time(at),
        });
        if let (Some(record), Value::Object(own)) = (record.as_object_mut(), own) {
            record.extend(own);
        }
        self.parent = Some(uuid);
        line(self.out, &record)
    }

    fn typed(&mut self, place: usize, turn: &SessionTurn) -> io::Result<()> {
        let text = &turn.text;
        // What is typed while the agent works is queued, and also repeated.
        if place % 22 == 12 {
            let repeat = format!("{text} {LEFT_OUT}");
            line(
                self.out,
                &json!({"type": "queue-operation", "operation": "enqueue", "content": repeat,
                "timestamp": time(turn.at), "sessionId": self.session.id}),
            )?;
            let attachment = json!({"type": "queued_command", "prompt": text, "commandMode": "prompt",
                "origin": {"kind": "human"}});
            return self.add("attachment", place, 0, turn.at, json!({"attachment": attachment}));
        }
        if place % 10 == 4 {
            line(
                self.out,
                &json!({"type": "file-history-snapshot", "messageId": id(self.session, place, 0),
                "snapshot": {"trackedFileBackups": {LEFT_OUT: {}}}, "isSnapshotUpdate": false}),
            )?;
            self.add(
                "user",
                place,
                21,
                turn.at,
                json!({"message": {"role": "user",
                "content": format!("<bash-stdout>{LEFT_OUT}</bash-stdout>")}}),
            )?;
        }
        let content = match place % 6 {
            2 => json!([{"type": "text", "text": text},
                {"type": "text", "text": format!("<system-reminder>\n{LEFT_OUT}\n</system-reminder>")}]),
            4 => json!(format!("{text}\n\n<system-reminder>\n{LEFT_OUT}\n</system-reminder>")),
            _ => json!(text),
        };
        self.add("user", place, 0, turn.at, json!({"message": {"role": "user", "content": content}}))
    }

    fn answered(&mut self, place: usize, turn: &SessionTurn) -> io::Result<()> {
        // The parts of a message are written as they come, with one id of the message.
        let message = |content: Value, stop: Value| {
            let id = format!("msg_{}", id(self.session, place, 9));
            json!({"requestId": format!("req_{place}"), "message": {"id": id, "type": "message", "role": "assistant",
                "model": self.session.model, "content": [content], "stop_reason": stop,
                "usage": {"input_tokens": 900 + place, "output_tokens": 40}}})
        };
        let thinking = turn.thinking.as_ref().map(|thinking| {
            message(json!({"type": "thinking", "thinking": thinking, "signature": LEFT_OUT}), Value::Null)
        });
        let calls: Vec<(String, Value)> = (turn.tools.iter().enumerate())
            .map(|(number, tool)| {
                let call = format!("toolu_{place}_{number}");
                let input = json!({"command": tool.input, "description": LEFT_OUT});
                let content = json!({"type": "tool_use", "id": call, "name": tool.name, "input": input});
                (call, message(content, json!("tool_use")))
            })
            .collect();
        let text = message(json!({"type": "text", "text": turn.text}), json!("end_turn"));
        if let Some(thinking) = thinking {
            self.add("assistant", place, 1, turn.at - 1_500, thinking)?;
        }
        for (number, ((call, record), tool)) in calls.into_iter().zip(&turn.tools).enumerate() {
            self.add("assistant", place, 2 + 2 * number, turn.at - 1_000, record)?;
            let result = json!({"type": "tool_result", "tool_use_id": call, "content": tool.output, "is_error": false});
            self.add(
                "user",
                place,
                3 + 2 * number,
                turn.at - 900,
                json!({"toolUseResult": {"stdout": LEFT_OUT},
                "message": {"role": "user", "content": [result]}}),
            )?;
        }
        self.add("assistant", place, 0, turn.at, text)
    }

    fn compacted(&mut self, place: usize, turn: &SessionTurn) -> io::Result<()> {
        let boundary = json!({"subtype": "compact_boundary", "content": LEFT_OUT, "isMeta": false});
        self.add("system", place, 22, turn.at - 1_800, boundary)?;
        let text = "This session is being continued from a previous conversation that ran out of context. Up to here \
                    the build was repaired.";
        self.add(
            "user",
            place,
            23,
            turn.at - 1_700,
            json!({"isCompactSummary": true,
            "message": {"role": "user", "content": text}}),
        )
    }
}
