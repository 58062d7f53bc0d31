//! Gemini CLI 0.26 and later, its reference of hooks of November 2026: stdout is this object or empty, never text.

use serde_json::Value;

use super::call::additional_context;
use super::{Call, Event, HookFormat};

pub(super) struct Gemini;

impl HookFormat for Gemini {
    fn read(&self, event: Event, input: &Value) -> Call {
        Call::like_claude(event, input)
    }

    fn write(&self, event: Event, text: &str) -> Option<String> {
        let name = match event {
            Event::Prompt => "BeforeAgent",
            Event::Start => "SessionStart",
            _ => return None,
        };
        Some(additional_context(name, text))
    }
}
