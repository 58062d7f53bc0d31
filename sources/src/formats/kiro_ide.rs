//! Kiro's IDE: `~/.kiro/sessions/<workspace>/sess_<id>/messages.jsonl`, and before that what its extension kept in the
//! folder of the editor (`older`).

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::blocks::{COMMON, typed};
use super::editors::{folder_of, user_folders_of};
use super::field::{Field, label, parse};
use super::jsonl::Lines;
use super::object::{JoinedText, read_object, session_name};
use super::records::{UNKNOWN, UNREADABLE, for_each_line, trimmed, turn_id};
use super::{Batch, Cursor, Format, ReadError, Role, Turn};
use crate::foreign::Foreign;
use crate::machine::Machine;

mod older;

/// Reads sessions of Kiro's IDE.
pub struct KiroIde;

/// The file of a session's lines, and the one beside it that describes the session.
const LINES: &str = "messages.jsonl";
const DESCRIPTION: &str = "session.json";
/// The largest description that is read, in bytes.
const MAX_DESCRIPTION: u64 = 8 << 20;

impl Format for KiroIde {
    fn name(&self) -> &'static str {
        "kiro-ide"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let older = user_folders_of(machine, "Kiro").map(|user| user.join("globalStorage").join(older::AGENT));
        std::iter::once(machine.path("KIRO_HOME", ".kiro").join("sessions")).chain(older).collect()
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        path.ends_with(LINES) && folder.as_encoded_bytes().starts_with(b"sess_") || older::is_transcript(path)
    }

    fn takes_back(&self) -> bool {
        true
    }

    fn ids_are_of_files(&self) -> bool {
        true
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        if file.path.extension().is_none_or(|end| end != "jsonl") {
            return read_object(file, since, |bytes, batch| older::read(file, bytes, batch));
        }
        let mut batch = Batch::default();
        let mut lines = Lines::<IdeSession>::open(file, since)?;
        if lines.from_start() {
            *lines.state() = described(file);
        }
        for_each_line(&mut lines, &mut batch, |state, batch, line, bytes| {
            let mut mended = Vec::new();
            match parse::<IdeEvent<'_>>(bytes, &mut mended) {
                Some(event) => take(&event, state, batch, line),
                None => batch.skipped.count(UNREADABLE),
            }
        })?;
        Ok(batch)
    }
}

/// The facts of a session, which its description has.
#[derive(Default, Serialize, Deserialize)]
struct IdeSession {
    id: String,
    cwd: Option<String>,
    /// Until the first turn has it.
    title: Option<String>,
}

/// The facts in the description beside the lines.
fn described(file: Foreign<'_>) -> IdeSession {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct IdeDescription<'a> {
        #[serde(borrow)]
        id: Field<'a>,
        title: Field<'a>,
        workspace_paths: Field<'a>,
        root_paths: Field<'a>,
    }
    let path = file.path.with_file_name(DESCRIPTION);
    let bytes = Foreign { path: &path, ..file }.open(MAX_DESCRIPTION).and_then(|mut file| file.read_all());
    let (bytes, mut mended) = (bytes.unwrap_or_default(), Vec::new());
    let described = parse::<IdeDescription<'_>>(&bytes, &mut mended).unwrap_or_default();
    let folders = [&described.workspace_paths, &described.root_paths];
    let of_folder = || file.path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    IdeSession {
        id: session_name(&described.id).unwrap_or_else(|| label(&of_folder())),
        cwd: folders.iter().find_map(|list| list.elements().first()?.text()).and_then(folder_of),
        title: described.title.text().and_then(|title| trimmed(&label(title))),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct IdeEvent<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    timestamp: Field<'a>,
    payload: Field<'a, EventPayload<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EventPayload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    content: JoinedText,
    operation_type: Field<'a>,
}

fn take(event: &IdeEvent<'_>, state: &mut IdeSession, batch: &mut Batch, line: u64) {
    let none = EventPayload::default();
    let payload = event.payload.object().unwrap_or(&none);
    let content = payload.content.0.as_deref();
    let (role, text) = match (payload.kind.text(), payload.operation_type.text()) {
        (Some("user"), _) => (Role::User, content.and_then(|text| typed(text, &COMMON, &mut batch.skipped))),
        (Some("assistant"), None | Some("Say" | "Summary")) => (Role::Assistant, content.and_then(trimmed)),
        (Some("assistant"), Some("Reasoning")) => return batch.skipped.count("thinking"),
        (Some("tool_call"), _) => return batch.skipped.count("tool call"),
        (Some("tool_result"), _) => return batch.skipped.count("tool output"),
        (Some("session_start"), _) => return batch.skipped.count("system text"),
        (Some("turn_start" | "turn_end" | "session_end"), _) => return batch.skipped.count("event"),
        _ => return batch.skipped.count(UNKNOWN),
    };
    let Some(text) = text else { return batch.skipped.count("no text") };
    let id = event.id.owned().map_or_else(|| format!("{}#{line}", state.id), |id| turn_id(&state.id, &id));
    batch.turns.push(Turn {
        id,
        title: state.title.take(),
        at: event.timestamp.time(),
        cwd: state.cwd.clone(),
        ..Turn::new(state.id.clone(), role, text, (line, line))
    });
}

#[cfg(test)]
mod tests;
