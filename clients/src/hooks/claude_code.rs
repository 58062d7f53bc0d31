//! Claude Code 2.1.312, its documentation of hooks of November 2026. Whatever is neither plain text nor this object is
//! dropped; a text beyond 10,000 characters is moved to a file.

use serde_json::Value;

use super::call::additional_context;
use super::{Call, Event, Format};

pub(super) struct ClaudeCode;

impl Format for ClaudeCode {
    fn read(&self, event: Event, input: &Value) -> Call {
        Call::like_claude(event, input)
    }

    fn write(&self, event: Event, text: &str) -> Option<String> {
        let name = match event {
            Event::Prompt => "UserPromptSubmit",
            Event::Start => "SessionStart",
            Event::Stop | Event::End | Event::Compact => return None,
        };
        Some(additional_context(name, text))
    }
}
