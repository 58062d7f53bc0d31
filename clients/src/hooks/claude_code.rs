//! Claude Code 2.1.312, its documentation of hooks of November 2026. Whatever is neither plain text nor this object is
//! dropped; a text beyond 10,000 characters is moved to a file.

use serde_json::Value;

use super::call::{additional_context, path, text};
use super::{Action, Call, Event, HookFormat};

pub(super) struct ClaudeCode;

impl HookFormat for ClaudeCode {
    fn read(&self, event: Event, input: &Value) -> Call {
        Call { action: action(event, input), ..Call::like_claude(event, input) }
    }

    fn write(&self, event: Event, text: &str) -> Option<String> {
        let name = match event {
            Event::Prompt => "UserPromptSubmit",
            Event::Start => "SessionStart",
            // Beside the context, a decision would allow the call or deny it: there is none.
            Event::Before => "PreToolUse",
            Event::Failed => "PostToolUseFailure",
            Event::Stop | Event::End | Event::Compact => return None,
        };
        Some(additional_context(name, text))
    }
}

/// A call of a tool, by the types of its SDK. `None` for tools that change and run nothing, and for a command that a person
/// interrupted.
fn action(event: Event, input: &Value) -> Option<Action> {
    let arguments = &input["tool_input"];
    match (event, input["tool_name"].as_str()?) {
        (Event::Before, "Edit" | "MultiEdit" | "Write") => path(&arguments["file_path"]).map(Action::Edit),
        (Event::Before, "NotebookEdit") => path(&arguments["notebook_path"]).map(Action::Edit),
        (Event::Before, "Bash") => text(&arguments["command"]).map(Action::Run),
        (Event::Failed, "Bash") if input["is_interrupt"] != true => text(&input["error"]).map(Action::Failed),
        _ => None,
    }
}
