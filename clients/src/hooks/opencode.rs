//! opencode runs plugins, not commands. Ours (November 2026) runs `memorist hook opencode EVENT` with
//! `{"session": "…", "cwd": "/…", "message": "…"}` on stdin, `message` with the event `prompt` only. What is printed is the
//! text itself, which the plugin adds to the message or the system prompt; nothing printed is nothing to add.

use serde_json::Value;

use super::call::{path, text};
use super::{Call, Event, HookFormat};

pub(super) struct Opencode;

impl HookFormat for Opencode {
    fn read(&self, event: Event, input: &Value) -> Call {
        Call {
            message: text(&input["message"]),
            cwd: path(&input["cwd"]),
            session: text(&input["session"]),
            // Its sessions are in a database, which has no path here.
            transcript: None,
            lost_context: event == Event::Compact,
            resumed: false,
            action: None,
        }
    }

    fn write(&self, event: Event, text: &str) -> Option<String> {
        matches!(event, Event::Prompt | Event::Start).then(|| text.to_owned())
    }
}
