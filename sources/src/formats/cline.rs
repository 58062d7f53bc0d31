//! Cline, Roo Code and Kilo Code, extensions of VS Code: `globalStorage/<extension>/tasks/<task>/ui_messages.json`. Since
//! version 4, Cline keeps `sessions/<session>/<session>.messages.json` in `~/.cline/data`.
//!
//! `ui_messages.json` has what was shown: each message is something that is said, or asked. What the model was sent is
//! in `api_conversation_history.json` beside it, of which the working folder alone is taken.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde::{Deserialize, Deserializer};

use super::blocks::{COMMON, typed};
use super::editors::user_folders;
use super::field::{Field, label, parse};
use super::object::{KeptMessage, WholeSession, objects, read_object};
use super::records::{UNKNOWN, trimmed};
use super::{Batch, Cursor, Format, ReadError, Role};
use crate::foreign::Foreign;
use crate::machine::Machine;

mod session;

/// Reads transcripts of Cline and of those that began as copies of it.
pub struct Cline;

/// The extensions, by the names of their folders.
const EXTENSIONS: [&str; 3] = ["saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"];
/// The file of a task.
const TASK: &str = "ui_messages.json";
/// The end of a result after which files are different.
const CHANGED: &str = "HAS_CHANGES";
/// The words before the working folder in the first message to the model, and those behind it.
const FOLDERS: [&str; 2] = ["# Current Working Directory (", "# Current Workspace Directory ("];
const FILES: &str = ") Files";
/// Bytes in which the working folder is looked for, and those that it may have.
const HEAD: u64 = 1 << 20;
const MAX_FOLDER: usize = 4 << 10;

impl Format for Cline {
    fn name(&self) -> &'static str {
        "cline"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let of_user = |user: PathBuf| EXTENSIONS.map(|name| user.join("globalStorage").join(name).join("tasks"));
        let data = machine.path("CLINE_DATA_DIR", ".cline/data");
        let own = [data.join("tasks"), data.join("sessions"), machine.home().join(".kilocode/cli/global/tasks")];
        user_folders(machine).flat_map(of_user).chain(own).collect()
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let folder = path.parent().and_then(Path::parent).and_then(Path::file_name).unwrap_or_default();
        match folder == "tasks" {
            true => path.ends_with(TASK),
            false => folder == "sessions" && path.to_string_lossy().ends_with(session::ENDING),
        }
    }

    fn takes_back(&self) -> bool {
        true
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        read_object(file, since, |bytes, batch| match bytes.trim_ascii_start().starts_with(b"[") {
            true => read_task(file, bytes, batch),
            false => session::read(file, bytes, batch),
        })
    }
}

fn read_task(file: Foreign<'_>, bytes: &[u8], batch: &mut Batch) -> bool {
    let mut mended = Vec::new();
    let Some(messages) = parse::<Field<'_, TaskMessage>>(bytes, &mut mended) else { return false };
    let mut messages: Vec<_> = objects(messages).collect();
    // A task begins with what the person wants, which older versions write like a text of the agent.
    if let Some(TaskMessage { is_text: true, kept }) = messages.first_mut() {
        kept.said.iter_mut().for_each(|(role, _)| *role = Role::User);
    }
    let name = match file.path.ends_with(TASK) {
        true => file.path.parent().and_then(Path::file_name),
        false => file.path.file_stem(),
    };
    let id = name.unwrap_or_default().to_string_lossy().into_owned();
    let session = WholeSession { id, cwd: folder(file), ..WholeSession::default() };
    session.push(messages.into_iter().map(|message| message.kept), batch);
    true
}

struct TaskMessage {
    /// Whether it is a text as the agent writes them.
    is_text: bool,
    kept: KeptMessage,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Shown<'a> {
    #[serde(borrow)]
    ts: Field<'a>,
    say: Field<'a>,
    ask: Field<'a>,
    text: Field<'a>,
    model_info: Field<'a, OfModel<'a>>,
    context_condense: Field<'a, Condensed<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct OfModel<'a> {
    #[serde(borrow)]
    model_id: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Condensed<'a> {
    #[serde(borrow)]
    summary: Field<'a>,
}

/// A question or a plan, and the answer if it is one of those that were offered.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Offer<'a> {
    #[serde(borrow)]
    question: Field<'a>,
    response: Field<'a>,
    selected: Field<'a>,
}

impl<'de> Deserialize<'de> for TaskMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let shown = Shown::deserialize(deserializer)?;
        let mut kept = KeptMessage {
            id: shown.ts.time().map(|at| at.to_string()),
            at: shown.ts.time(),
            model: shown.model_info.object().and_then(|model| model.model_id.owned()),
            ..KeptMessage::default()
        };
        take(&shown, &mut kept);
        Ok(TaskMessage { is_text: shown.say.text() == Some("text"), kept })
    }
}

fn take(shown: &Shown<'_>, kept: &mut KeptMessage) {
    let text = || shown.text.text().and_then(trimmed).ok_or("no text");
    match shown.say.text().or(shown.ask.text()) {
        Some("task" | "user_feedback") => {
            let said = shown.text.text().and_then(|text| typed(text, &COMMON, &mut kept.skipped));
            kept.add(Role::User, said.ok_or("no text"));
        }
        Some("text" | "new_task") => kept.add(Role::Assistant, text()),
        Some("completion_result" | "plan_completion_result") => {
            let result = shown.text.text().map(|text| text.strip_suffix(CHANGED).unwrap_or(text));
            kept.add(Role::Assistant, result.and_then(trimmed).ok_or("no text"));
        }
        Some("followup" | "plan_mode_respond" | "plan_mode_response") => {
            let mut mended = Vec::new();
            let said = shown.text.text().unwrap_or_default();
            let offer = parse::<Offer<'_>>(said.as_bytes(), &mut mended).unwrap_or_default();
            // Older versions have the text alone.
            let asked = offer.question.text().or(offer.response.text()).unwrap_or(said);
            kept.add(Role::Assistant, trimmed(asked).ok_or("no text"));
            if let Some(answer) = offer.selected.text().and_then(trimmed) {
                kept.add(Role::User, Ok(answer));
            }
        }
        Some("condense" | "summarize_task") => kept.add(Role::Summary, text()),
        Some("condense_context") => {
            let summary = shown.context_condense.object().and_then(|condensed| trimmed(condensed.summary.text()?));
            kept.add(Role::Summary, summary.ok_or("event"));
        }
        Some("reasoning") => kept.skipped.count("thinking"),
        Some("command_output" | "mcp_server_response" | "browser_action_result" | "codebase_search_result") => {
            kept.skipped.count("tool output");
        }
        Some("tool" | "command" | "use_mcp_server" | "browser_action" | "browser_action_launch") => {
            kept.skipped.count("tool call");
        }
        Some(_) => kept.skipped.count("event"),
        None => kept.skipped.count(UNKNOWN),
    }
}

/// The working folder, which the model is told with the first message.
fn folder(file: Foreign<'_>) -> Option<String> {
    let history = file.path.with_file_name("api_conversation_history.json");
    let mut head = Vec::new();
    Foreign { path: &history, ..file }.open(u64::MAX).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    FOLDERS.iter().find_map(|mark| {
        let rest = &head[memmem::find(&head, mark.as_bytes())? + mark.len()..];
        let end = memmem::find(&rest[..rest.len().min(MAX_FOLDER)], FILES.as_bytes())?;
        let path: String = serde_json::from_slice(&[b"\"", &rest[..end], b"\""].concat()).ok()?;
        // Where several folders are open, a name stands there instead.
        (path.starts_with('/') || path.get(1..).is_some_and(|path| path.starts_with(":/"))).then(|| label(&path))
    })
}

#[cfg(test)]
mod tests;
