//! Hooks: commands that a client runs at certain moments, with JSON on stdin. What they print becomes part of the
//! conversation. No format is a contract: whatever is missing or of another type counts as absent.
//!
//! | row | file | job |
//! |---|---|---|
//! | 0 | `call.rs` | [`Event`], [`Action`] and [`Call`]: what a client says, in one form; what its file does |
//! | 0 | `typed.rs` | what a person typed |
//! | 1 | `before.rs` | what a person said before a message, by the transcript of its session |
//! | 1 | `formats.rs` | the formats of one client each |

mod before;
mod call;
mod formats;
mod typed;

use serde_json::Value;

pub use before::said_before;
use call::HookFormat;
pub use call::{Action, Call, Event, UnknownEvent};

use crate::Client;

/// The clients with hooks.
pub const CLIENTS: [Client; 6] =
    [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::Cursor, Client::Opencode, Client::Cline];

fn format(client: Client) -> Option<&'static dyn HookFormat> {
    Some(match client {
        Client::ClaudeCode => &formats::ClaudeCode,
        Client::Codex => &formats::Codex,
        Client::Gemini => &formats::Gemini,
        Client::Cursor => &formats::Cursor,
        Client::Opencode => &formats::Opencode,
        Client::Cline => &formats::Cline,
        _ => return None,
    })
}

/// Reads the call of a client from the JSON on stdin; `None` if the client has no hooks.
pub fn read(client: Client, event: Event, input: &Value) -> Option<Call> {
    Some(format(client)?.read(event, input).checked())
}

/// Returns the output by which a client adds `text` to the conversation; `None` if it takes nothing at this event.
pub fn write(client: Client, event: Event, text: &str) -> Option<String> {
    format(client)?.write(event, text)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;

    const TEXT: &str = "<memorist-recall>\n#1 fact: \"the\" harbour\n</memorist-recall>";

    fn of(client: Client, event: Event, input: &Value) -> Call {
        read(client, event, input).unwrap()
    }

    /// The input with paths of this system: on Windows as Cursor writes them.
    fn of_system(input: &Value) -> Value {
        let drive = if cfg!(windows) { "\"/C:/" } else { "\"/" };
        serde_json::from_str(&input.to_string().replace("\"/", drive)).unwrap()
    }

    fn at(path: &str) -> PathBuf {
        PathBuf::from(if cfg!(windows) { format!("C:{path}") } else { path.to_owned() })
    }

    /// The input that each client sends when a person has typed a message.
    #[test]
    fn a_message_of_each_client_is_understood() {
        let claude = json!({
            "session_id": "S", "transcript_path": "/home/ana/.claude/projects/-p/S.jsonl", "cwd": "/p",
            "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": "Where is the key?",
        });
        let codex = json!({
            "session_id": "S", "turn_id": "t1", "transcript_path": null, "cwd": "/p", "model": "gpt-x",
            "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": "Where is the key?",
        });
        let gemini = json!({
            "session_id": "S", "transcript_path": "/home/ana/.gemini/tmp/p/chats/session-1.jsonl", "cwd": "/p",
            "hook_event_name": "BeforeAgent", "timestamp": "2026-11-02T09:00:00Z", "prompt": "Where is the key?",
        });
        let cursor = json!({
            "conversation_id": "S", "generation_id": "g", "hook_event_name": "beforeSubmitPrompt",
            "workspace_roots": ["/p", "/q"], "prompt": "Where is the key?", "attachments": [],
        });
        let opencode = json!({ "session": "S", "cwd": "/p", "message": "Where is the key?" });
        let cline = json!({
            "clineVersion": "3.40.0", "hookName": "UserPromptSubmit", "timestamp": "1", "taskId": "S",
            "workspaceRoots": ["/p"], "userId": "u", "userPromptSubmit": { "prompt": "Where is the key?", "attachments": [] },
        });
        for (client, input) in CLIENTS.into_iter().zip([claude, codex, gemini, cursor, opencode, cline]) {
            let call = of(client, Event::Prompt, &of_system(&input));
            let found = (call.message.as_deref(), call.session.as_deref(), call.cwd);
            assert_eq!(found, (Some("Where is the key?"), Some("S"), Some(at("/p"))), "{client}");
            let has_transcript = matches!(client, Client::ClaudeCode | Client::Gemini);
            assert_eq!((call.transcript.is_some(), call.lost_context), (has_transcript, false), "{client}");
        }
    }

    #[test]
    fn each_client_gets_its_own_format() {
        let json_of = |client, event| -> Value { serde_json::from_str(&write(client, event, TEXT).unwrap()).unwrap() };
        let named = |name: &str| json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": TEXT } });
        for (client, event, name) in [
            (Client::ClaudeCode, Event::Prompt, "UserPromptSubmit"),
            (Client::ClaudeCode, Event::Start, "SessionStart"),
            (Client::ClaudeCode, Event::Before, "PreToolUse"),
            (Client::ClaudeCode, Event::Failed, "PostToolUseFailure"),
            (Client::Gemini, Event::Prompt, "BeforeAgent"),
            (Client::Gemini, Event::Start, "SessionStart"),
        ] {
            assert_eq!(json_of(client, event), named(name), "{client} {event:?}");
        }
        for event in [Event::Prompt, Event::Start] {
            assert_eq!(write(Client::Codex, event, TEXT).as_deref(), Some(TEXT), "text that is no JSON");
            assert_eq!(write(Client::Opencode, event, TEXT).as_deref(), Some(TEXT));
            assert_eq!(json_of(Client::Cline, event), json!({ "cancel": false, "contextModification": TEXT }));
        }
        assert_eq!(json_of(Client::Cursor, Event::Start), json!({ "additional_context": TEXT }));
        assert_eq!(write(Client::Cursor, Event::Prompt, TEXT), None, "it takes nothing there");
        for client in CLIENTS {
            for event in [Event::Stop, Event::End, Event::Compact] {
                assert_eq!(write(client, event, TEXT), None, "{client} {event:?}");
            }
            for event in [Event::Before, Event::Failed] {
                assert_eq!(write(client, event, TEXT).is_some(), client == Client::ClaudeCode, "{client} {event:?}");
            }
        }
        assert_eq!(write(Client::Zed, Event::Prompt, TEXT), None);
        assert_eq!(read(Client::Zed, Event::Prompt, &json!({})), None);
    }

    /// Claude Code's calls of tools, by the types of its SDK.
    #[test]
    fn an_action_of_claude_code_is_understood() {
        let call = |event, tool: &str, arguments: Value, more: Value| {
            let mut input = json!({ "session_id": "S", "transcript_path": "/home/ana/.claude/projects/-p/S.jsonl",
                "cwd": "/p", "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_use_id": "toolu_1", "tool_input": arguments, "unknown": { "field": [1] } });
            input.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
            read(Client::ClaudeCode, event, &of_system(&input)).unwrap().action
        };
        let before = |tool: &str, arguments: Value| call(Event::Before, tool, arguments, Value::Null);
        let file = json!({ "file_path": "/p/src/a.rs", "old_string": "a", "new_string": "b" });
        for tool in ["Edit", "MultiEdit", "Write"] {
            assert_eq!(before(tool, file.clone()), Some(Action::Edit(at("/p/src/a.rs"))), "{tool}");
        }
        let notebook = json!({ "notebook_path": "/p/a.ipynb" });
        assert_eq!(before("NotebookEdit", notebook), Some(Action::Edit(at("/p/a.ipynb"))));
        let bash = json!({ "command": "cargo test", "description": "Tests" });
        assert_eq!(before("Bash", bash.clone()), Some(Action::Run("cargo test".into())));
        let failed = |more| call(Event::Failed, "Bash", bash.clone(), more);
        let error = json!({ "error": "Exit code 101", "is_interrupt": false });
        assert_eq!(failed(error), Some(Action::Failed("Exit code 101".into())));
        assert_eq!(failed(json!({ "error": "Interrupted", "is_interrupt": true })), None);
        assert_eq!(failed(json!({ "error": { "text": "x" } })), None);
        for (tool, arguments) in [
            ("Read", file),
            ("Bash", json!({ "command": 7 })),
            ("Edit", json!({ "file_path": "relative.rs" })),
            ("Edit", json!({ "file_path": "/p/../etc/passwd" })),
            ("Write", json!(["x"])),
            ("", Value::Null),
        ] {
            assert_eq!(before(tool, arguments.clone()), None, "{tool} {arguments}");
        }
    }

    #[test]
    fn text_that_no_person_typed_is_no_message() {
        let claude = |prompt: &str| json!({ "prompt": prompt, "session_id": "S" });
        let silent = |input: &Value| of(Client::ClaudeCode, Event::Prompt, input).message.is_none();
        for prompt in [
            "<task-notification>done</task-notification>",
            "  <system-reminder>be careful</system-reminder>\n",
            "<local-command-stdout>x</local-command-stdout>",
            "Caveat: the messages below",
            "<command-name>/compact</command-name><command-args></command-args>",
            "/compact",
            "/model opus",
            "/plugin:do it",
            "<memorist-recall>\n#1 fact: old\n</memorist-recall>",
            " \n ",
            "",
        ] {
            assert!(silent(&claude(prompt)), "{prompt:?}");
        }
        let mut subagent = claude("Where is the key?");
        assert!(!silent(&subagent));
        subagent["agent_id"] = json!("a1");
        assert!(silent(&subagent));
        let typed = |prompt: &str| of(Client::ClaudeCode, Event::Prompt, &claude(prompt)).message;
        assert_eq!(typed("/etc/hosts is wrong").as_deref(), Some("/etc/hosts is wrong"), "a path is no command");
        let wrapped =
            "<system-reminder>y</system-reminder><memorist-recall>old</memorist-recall>\nWhy?<system-reminder>x";
        assert_eq!(typed(wrapped).as_deref(), Some("Why?"));
    }

    #[test]
    fn a_session_that_has_lost_its_context_is_known() {
        for (source, lost) in [("startup", false), ("resume", false), ("clear", true), ("compact", true)] {
            let input = json!({ "session_id": "S", "source": source, "hook_event_name": "SessionStart" });
            for client in [Client::ClaudeCode, Client::Codex, Client::Gemini] {
                let call = of(client, Event::Start, &input);
                assert_eq!((call.lost_context, call.resumed), (lost, source == "resume"), "{client} {source}");
            }
        }
        for client in CLIENTS {
            assert!(of(client, Event::Compact, &json!({})).lost_context, "{client}");
        }
    }

    #[test]
    fn a_start_says_where_it_is() {
        let cursor = json!({
            "session_id": "S", "conversation_id": "C", "is_background_agent": false, "workspace_roots": ["/p"],
            "transcript_path": "/home/ana/.cursor/projects/p/agent-transcripts/C/C.jsonl",
        });
        let call = of(Client::Cursor, Event::Start, &of_system(&cursor));
        assert_eq!((call.session.as_deref(), call.cwd), (Some("C"), Some(at("/p"))));
        assert!(call.transcript.unwrap().ends_with("C.jsonl"));
        let cline = json!({ "taskId": "T", "workspaceRoots": ["/p"], "taskStart": { "taskMetadata": {} } });
        let call = of(Client::Cline, Event::Start, &cline);
        assert_eq!((call.session.as_deref(), call.resumed), (Some("T"), false));
        assert!(of(Client::Cline, Event::Start, &json!({ "hookName": "TaskResume" })).resumed);
    }

    #[test]
    fn invalid_values_and_paths_count_as_absent() {
        let odd = json!({
            "session_id": 7, "transcript_path": ["x"], "cwd": "relative", "prompt": { "a": 1 }, "workspace_roots": "x",
            "conversation_id": null, "userPromptSubmit": [], "session": "", "message": 3, "agent_id": {},
        });
        for input in [odd, json!([]), json!("text"), Value::Null] {
            for client in CLIENTS {
                assert_eq!(of(client, Event::Prompt, &input), Call::default(), "{client} {input}");
            }
        }
        for path in ["../up.jsonl", "/home/../etc/passwd", "/a\u{0}b", "", "/"] {
            let call = of(Client::ClaudeCode, Event::Stop, &json!({ "transcript_path": path }));
            assert_eq!(call.transcript, None, "{path:?}");
        }
        let long = "x".repeat(2_000);
        assert_eq!(of(Client::ClaudeCode, Event::Stop, &json!({ "session_id": long })).session, None);
    }
}
