//! Continue: `~/.continue/sessions/<session>.json`.
//!
//! Its messages have no times: those of a session are from when it began, which the list of sessions says.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};

use super::blocks::{COMMON, typed};
use super::editors::folder_of;
use super::field::{Field, label, parse};
use super::object::{JoinedText, KeptMessage, WholeSession, objects, read_object, session_name};
use super::records::{MAX_ID, join, trimmed};
use super::{Batch, Cursor, Format, ReadError, Role};
use crate::foreign::Foreign;
use crate::machine::Machine;

/// Reads sessions of Continue.
pub struct Continue;

/// The list of all sessions, and the most that is read of it, in bytes.
const LIST: &str = "sessions.json";
const MAX_LIST: u64 = 8 << 20;
/// The tool that asks the person, and how the answer begins.
const QUESTION: &str = "AskQuestion";
const ANSWERED: [&str; 3] = ["User selected option", "User provided custom answer:", "User answered:"];

impl Format for Continue {
    fn name(&self) -> &'static str {
        "continue"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        vec![machine.path("CONTINUE_GLOBAL_DIR", ".continue").join("sessions")]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let is_json = path.extension().is_some_and(|end| end == "json");
        is_json && !path.ends_with(LIST) && path.parent().is_some_and(|folder| folder.ends_with("sessions"))
    }

    fn takes_back(&self) -> bool {
        true
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        read_object(file, since, |bytes, batch| read(file, bytes, batch))
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SavedSession<'a> {
    #[serde(borrow)]
    session_id: Field<'a>,
    title: Field<'a>,
    workspace_directory: Field<'a>,
    chat_model_title: Field<'a>,
    history: Field<'a, SavedMessage>,
}

fn read(file: Foreign<'_>, bytes: &[u8], batch: &mut Batch) -> bool {
    let mut mended = Vec::new();
    let Some(saved) = parse::<SavedSession<'_>>(bytes, &mut mended) else { return false };
    let stem = || file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let id = session_name(&saved.session_id).unwrap_or_else(stem);
    let at = begun(file, &id);
    let model = saved.chat_model_title.owned().filter(|model| model.len() <= MAX_ID);
    let session = WholeSession {
        id,
        title: saved.title.text().and_then(|title| trimmed(&label(title))),
        cwd: saved.workspace_directory.text().and_then(folder_of),
        ..WholeSession::default()
    };
    let messages = objects(saved.history).map(|message| KeptMessage { at, model: model.clone(), ..message.0 });
    session.push(messages, batch);
    true
}

/// When a session began, by the list of all sessions.
fn begun(file: Foreign<'_>, id: &str) -> Option<i64> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Listing<'a> {
        #[serde(borrow)]
        session_id: Field<'a>,
        date_created: Field<'a>,
    }
    let path = file.path.with_file_name(LIST);
    let bytes = Foreign { path: &path, ..file }.open(MAX_LIST).ok()?.read_all().ok()?;
    let mut mended = Vec::new();
    let list: Field<'_, Listing<'_>> = parse(&bytes, &mut mended)?;
    let session = objects(list).find(|session| session.session_id.text() == Some(id))?;
    // Milliseconds as a text; in older versions a date.
    session.date_created.text().and_then(|text| text.parse().ok()).or(session.date_created.time())
}

struct SavedMessage(KeptMessage);

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HistoryItem<'a> {
    #[serde(borrow)]
    message: Field<'a, HistoryMessage<'a>>,
    tool_call_states: Dialogue,
    conversation_summary: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HistoryMessage<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    content: JoinedText,
}

impl<'de> Deserialize<'de> for SavedMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let item = HistoryItem::deserialize(deserializer)?;
        let mut kept = KeptMessage::default();
        let none = HistoryMessage::default();
        let message = item.message.object().unwrap_or(&none);
        let content = message.content.0.as_deref();
        match message.role.text() {
            Some("user") => {
                let said = content.and_then(|text| typed(text, &COMMON, &mut kept.skipped));
                kept.add(Role::User, said.ok_or("no text"));
            }
            Some("assistant") => {
                let Dialogue { asked, answered, is_call } = item.tool_call_states;
                let said = join(content.and_then(trimmed).into_iter().chain(asked));
                kept.add(Role::Assistant, said.ok_or(if is_call { "tool call" } else { "no text" }));
                answered.into_iter().for_each(|answer| kept.add(Role::User, Ok(answer)));
            }
            Some("thinking") => kept.skipped.count("thinking"),
            Some("tool") => kept.skipped.count("tool output"),
            Some("system") => kept.skipped.count("system text"),
            _ => kept.skipped.count("unknown role"),
        }
        if let Some(summary) = item.conversation_summary.text().and_then(trimmed) {
            kept.add(Role::Summary, Ok(summary));
        }
        Ok(SavedMessage(kept))
    }
}

/// The questions of the agent to the person by a tool, and the answers.
#[derive(Default)]
struct Dialogue {
    asked: Vec<String>,
    answered: Vec<String>,
    /// Whether a tool was called.
    is_call: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolState<'a> {
    #[serde(borrow)]
    tool_call: Field<'a, StateCall<'a>>,
    parsed_args: JoinedText,
    output: JoinedText,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StateCall<'a> {
    #[serde(borrow)]
    function: Field<'a, ToolName<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolName<'a> {
    #[serde(borrow)]
    name: Field<'a>,
}

impl<'de> Deserialize<'de> for Dialogue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let states = Field::<'de, ToolState<'de>>::deserialize(deserializer)?;
        let mut dialogue = Dialogue::default();
        for state in objects(states) {
            dialogue.is_call = true;
            let name = state.tool_call.object().and_then(|call| call.function.object()?.name.text());
            if name == Some(QUESTION) {
                dialogue.asked.extend(state.parsed_args.0);
                let output = state.output.0.unwrap_or_default();
                let answer = ANSWERED.iter().find_map(|start| output.strip_prefix(start));
                dialogue.answered.extend(
                    answer
                        .and_then(|answer| answer.split_once('"'))
                        .and_then(|(_, rest)| trimmed(rest.strip_suffix('"').unwrap_or(rest))),
                );
            }
        }
        Ok(dialogue)
    }
}

#[cfg(test)]
mod tests {
    use super::super::corpus;
    use super::*;

    #[test]
    fn sessions_are_known_by_their_path() {
        let machine = Machine::new("/h", []);
        let sessions = ["/h/.continue/sessions/7f1a0001-0000-4000-8000-000000000001.json"];
        let others =
            ["/h/.continue/sessions/sessions.json", "/h/.continue/config.json", "/h/.continue/sessions/x/a.json"];
        assert_eq!(corpus::transcripts(&Continue, &machine, &[&sessions[..], &others].concat()), sessions);
        let moved = Machine::new("/h", [("CONTINUE_GLOBAL_DIR", "/m")]);
        assert_eq!(Continue.places(&moved), [PathBuf::from("/m/sessions")]);
    }
}
