//! Cursor, its documentation of hooks of November 2026. It takes a text when a session starts: the command line does, the
//! editor did not in 3.12. A hook for a message can only let it pass or stop it, so nothing is said there.

use serde_json::{Value, json};

use super::call::{path, text};
use super::{Call, Event, HookFormat};

pub(super) struct Cursor;

impl HookFormat for Cursor {
    fn read(&self, event: Event, input: &Value) -> Call {
        Call {
            message: text(&input["prompt"]),
            cwd: path(&input["workspace_roots"][0]),
            session: text(&input["conversation_id"]).or_else(|| text(&input["session_id"])),
            transcript: path(&input["transcript_path"]),
            lost_context: event == Event::Compact,
            resumed: false,
            action: None,
        }
    }

    fn write(&self, event: Event, text: &str) -> Option<String> {
        (event == Event::Start).then(|| json!({ "additional_context": text }).to_string())
    }
}
