//! Codex 0.150, its schemas of hooks of November 2026: what Claude Code says, with a `transcript_path` that may be null. An
//! unknown key of a JSON answer fails the hook, and so does text that begins like JSON and is none: plain text is safe.

use serde_json::Value;

use super::{Call, Event, HookFormat};

pub(super) struct Codex;

impl HookFormat for Codex {
    fn read(&self, event: Event, input: &Value) -> Call {
        Call::like_claude(event, input)
    }

    fn write(&self, event: Event, text: &str) -> Option<String> {
        matches!(event, Event::Prompt | Event::Start).then(|| text.to_owned())
    }
}
