//! The call of a hook by a client.

use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use memorist_sources::machine::drive_first;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::typed::typed;

/// Longest name of a session, in bytes. Clients use ids of a few dozen letters.
const LONGEST_SESSION: usize = 512;
/// Longest path, in bytes.
const LONGEST_PATH: usize = 4_096;

/// When a client runs a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// A person has sent a message.
    Prompt,
    /// A session starts, is resumed, or continues after its context was lost.
    Start,
    /// The agent has finished a turn.
    Stop,
    End,
    /// The context of the session is about to be compacted.
    Compact,
    /// The agent is about to change a file or to run a command.
    Before,
    /// A command has failed.
    Failed,
}

/// An action that an agent is about to do, or one that has failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It changes this file.
    Edit(PathBuf),
    /// It runs this line in a shell.
    Run(String),
    /// A command failed with this text.
    Failed(String),
}

/// A name that no event has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown event {0:?}; use one of {names}", names = Event::ALL.map(Event::name).join(", "))]
pub struct UnknownEvent(String);

impl Event {
    pub const ALL: [Event; 7] =
        [Event::Prompt, Event::Start, Event::Stop, Event::End, Event::Compact, Event::Before, Event::Failed];

    /// Whether it is about an action of the agent.
    pub const fn is_of_action(self) -> bool {
        matches!(self, Event::Before | Event::Failed)
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Event::Prompt => "prompt",
            Event::Start => "start",
            Event::Stop => "stop",
            Event::End => "end",
            Event::Compact => "compact",
            Event::Before => "before",
            Event::Failed => "failed",
        }
    }
}

impl FromStr for Event {
    type Err = UnknownEvent;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Event::ALL.into_iter().find(|event| event.name() == name).ok_or_else(|| UnknownEvent(name.to_owned()))
    }
}

/// A call of a hook, in one form for all clients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// The message that a person typed.
    pub message: Option<String>,
    pub cwd: Option<PathBuf>,
    pub session: Option<String>,
    /// Where the client writes the transcript of the session. The client's claim is not verified here.
    pub transcript: Option<PathBuf>,
    /// Whether the session has lost, or is about to lose, what it was given before.
    pub lost_context: bool,
    /// Whether the session continues with what it was given before.
    pub resumed: bool,
    /// The action of the agent that the event is about.
    pub action: Option<Action>,
}

impl Call {
    /// Reads a call in the format of Claude Code, which other clients follow.
    pub(super) fn like_claude(event: Event, input: &Value) -> Self {
        let source = input["source"].as_str();
        Call {
            // What a subagent is given, no person has typed.
            message: text(&input["prompt"]).filter(|_| input["agent_id"].as_str().is_none()),
            cwd: path(&input["cwd"]),
            session: text(&input["session_id"]),
            transcript: path(&input["transcript_path"]),
            lost_context: event == Event::Compact || matches!(source, Some("clear" | "compact")),
            resumed: event == Event::Start && source == Some("resume"),
            action: None,
        }
    }

    /// The call without invalid values, and with only what a person typed in its message.
    pub(super) fn checked(self) -> Self {
        Call {
            message: self.message.as_deref().and_then(typed),
            cwd: self.cwd.filter(|path| is_plain(path)),
            session: self.session.filter(|session| (1..=LONGEST_SESSION).contains(&session.len())),
            transcript: self.transcript.filter(|path| is_plain(path) && path.file_name().is_some()),
            action: self.action.filter(|action| !matches!(action, Action::Edit(path) if !is_plain(path))),
            ..self
        }
    }
}

/// The formats of input and output for the hooks of a client.
pub(super) trait HookFormat: Sync {
    /// Reads a call from the JSON on stdin.
    fn read(&self, event: Event, input: &Value) -> Call;

    /// Returns the output that adds `text` to the conversation; `None` if the client takes nothing at this event.
    fn write(&self, event: Event, text: &str) -> Option<String>;
}

/// A text for the conversation, as Claude Code takes it and those who follow it.
pub(super) fn additional_context(event_name: &str, text: &str) -> String {
    json!({ "hookSpecificOutput": { "hookEventName": event_name, "additionalContext": text } }).to_string()
}

pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// A path. Cursor on Windows writes it as in an address.
pub(super) fn path(value: &Value) -> Option<PathBuf> {
    value.as_str().map(|path| PathBuf::from(if cfg!(windows) { drive_first(path) } else { path }))
}

/// Whether a path is absolute and leads where it seems to.
fn is_plain(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    path.is_absolute()
        && text.len() <= LONGEST_PATH
        && !text.contains(&0)
        && !path.components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_found_by_its_name_alone() {
        for event in Event::ALL {
            assert_eq!(event.name().parse(), Ok(event));
        }
        let refused = "launch".parse::<Event>().unwrap_err().to_string();
        assert!(refused.contains("\"launch\"") && refused.contains("compact"), "{refused}");
    }
}
