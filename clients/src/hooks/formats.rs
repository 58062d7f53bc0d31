//! The formats of one client each.

use serde_json::{Value, json};

use super::call::{Action, Call, Event, HookFormat, additional_context, path, text};

/// Claude Code 2.1.312, its documentation of hooks of November 2026. Whatever is neither plain text nor this object is
/// dropped; a text beyond 10,000 characters is moved to a file.
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

/// Codex 0.150, its schemas of hooks of November 2026: what Claude Code says, with a `transcript_path` that may be null. An
/// unknown key of a JSON answer fails the hook, and so does text that begins like JSON and is none: plain text is safe.
pub(super) struct Codex;

impl HookFormat for Codex {
    fn read(&self, event: Event, input: &Value) -> Call {
        Call::like_claude(event, input)
    }

    fn write(&self, event: Event, text: &str) -> Option<String> {
        matches!(event, Event::Prompt | Event::Start).then(|| text.to_owned())
    }
}

/// Gemini CLI 0.26 and later, its reference of hooks of November 2026: stdout is this object or empty, never text.
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

/// Cursor, its documentation of hooks of November 2026. It takes a text when a session starts: the command line does, the
/// editor did not in 3.12. A hook for a message can only let it pass or stop it, so nothing is said there.
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

/// opencode runs plugins, not commands. Ours (November 2026) runs `memorist hook opencode EVENT` with
/// `{"session": "…", "cwd": "/…", "message": "…"}` on stdin, `message` with the event `prompt` only. What is printed is the
/// text itself, which the plugin adds to the message or the system prompt; nothing printed is nothing to add.
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

/// Cline 3.36 and later, its reference of hooks of November 2026: `TaskStart` and `TaskResume` are starts, `TaskComplete`
/// and `TaskCancel` ends. Without an answer it goes on.
pub(super) struct Cline;

impl HookFormat for Cline {
    fn read(&self, event: Event, input: &Value) -> Call {
        Call {
            message: text(&input["userPromptSubmit"]["prompt"]),
            cwd: path(&input["workspaceRoots"][0]),
            session: text(&input["taskId"]),
            // It names none.
            transcript: None,
            lost_context: event == Event::Compact,
            resumed: input["hookName"] == "TaskResume",
            action: None,
        }
    }

    fn write(&self, event: Event, text: &str) -> Option<String> {
        let takes = matches!(event, Event::Prompt | Event::Start);
        takes.then(|| json!({ "cancel": false, "contextModification": text }).to_string())
    }
}
