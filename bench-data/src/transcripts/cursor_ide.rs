//! Cursor's IDE: keys and values.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::writing::{id, quoted, time};
use crate::sessions::{LEFT_OUT, Session};

pub(super) const SCHEMA: &str =
    "CREATE TABLE IF NOT EXISTS cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);\n";

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut headers = Vec::new();
    let mut bubble = |place: usize, number: usize, kind: u8, at: i64, own: Value| {
        let id = id(session, place, number);
        let mut value = json!({"_v": 3, "type": kind, "bubbleId": id, "createdAt": time(at), "context": LEFT_OUT});
        if let (Some(value), Value::Object(own)) = (value.as_object_mut(), own) {
            value.extend(own);
        }
        insert(out, &format!("bubbleId:{}:{id}", session.id), &value)?;
        headers.push(json!({"bubbleId": id, "type": kind}));
        io::Result::Ok(())
    };
    for (place, turn) in session.turns.iter().enumerate() {
        if let Some(thinking) = &turn.thinking {
            bubble(place, 1, 2, turn.at - 1_500, json!({"text": "", "thinking": {"text": thinking}}))?;
        }
        for (number, tool) in turn.tools.iter().enumerate() {
            let call = json!({"name": tool.name, "rawArgs": tool.input, "result": tool.output, "status": "completed"});
            bubble(place, 2 + number, 2, turn.at - 1_000, json!({"text": "", "toolFormerData": call}))?;
        }
        let kind = if turn.is_user { 1 } else { 2 };
        bubble(place, 0, kind, turn.at, json!({"text": turn.text}))?;
    }
    let composer = json!({"_v": 10, "composerId": session.id, "name": session.title, "createdAt": session.started,
        "lastUpdatedAt": session.ended(), "fullConversationHeadersOnly": headers});
    insert(out, &format!("composerData:{}", session.id), &composer)?;
    insert(out, &format!("checkpointId:{}", session.id), &json!({"files": [LEFT_OUT]}))
}

fn insert(out: &mut dyn Write, key: &str, value: &Value) -> io::Result<()> {
    writeln!(out, "INSERT INTO cursorDiskKV VALUES ({}, {});", quoted(key), quoted(&value.to_string()))
}
