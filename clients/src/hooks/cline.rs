//! Cline 3.36 and later, its reference of hooks of November 2026: `TaskStart` and `TaskResume` are starts, `TaskComplete`
//! and `TaskCancel` ends. Without an answer it goes on.

use serde_json::{Value, json};

use super::call::{path, text};
use super::{Call, Event, HookFormat};

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
