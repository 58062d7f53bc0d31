//! GitHub Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl`, in older versions `<session>.jsonl` there.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::blocks::{self, COMMON};
use super::field::{Field, parse};
use super::jsonl::Lines;
use super::records::{UNKNOWN, UNREADABLE, for_each_line, trimmed, turn_id};
use super::{Batch, Cursor, Format, ReadError, Role, Skipped, Turn};
use crate::foreign::Foreign;
use crate::machine::Machine;

/// Reads transcripts of GitHub Copilot CLI.
pub struct Copilot;

impl Format for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        vec![machine.path("COPILOT_HOME", ".copilot").join("session-state")]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let is_state = |folder: Option<&Path>| folder.is_some_and(|folder| folder.ends_with("session-state"));
        let folder = path.parent();
        match path.extension().is_some_and(|extension| extension == "jsonl") {
            true if path.ends_with("events.jsonl") => is_state(folder.and_then(Path::parent)),
            true => is_state(folder),
            false => false,
        }
    }

    fn ids_are_of_files(&self) -> bool {
        true
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let mut batch = Batch::default();
        for_each_line(&mut Lines::<SessionState>::open(file, since)?, &mut batch, |session, batch, line, bytes| {
            let mut mended = Vec::new();
            match parse::<SessionEvent>(bytes, &mut mended) {
                Some(event) => take(&event, file.path, session, batch, line),
                None => batch.skipped.count(UNREADABLE),
            }
        })?;
        Ok(batch)
    }
}

/// State of a session when one of its events is read.
#[derive(Default, Serialize, Deserialize)]
struct SessionState {
    id: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
    model: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SessionEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    id: Field<'a>,
    timestamp: Field<'a>,
    agent_id: Field<'a>,
    data: Field<'a, EventData<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EventData<'a> {
    #[serde(borrow)]
    session_id: Field<'a>,
    context: Field<'a, Context<'a>>,
    /// The model at the beginning, and another one from here on.
    selected_model: Field<'a>,
    new_model: Field<'a>,
    /// The one that answered.
    model: Field<'a>,
    content: Field<'a>,
    /// The program's part that wrote what stands as the user's.
    source: Field<'a>,
    tool_requests: Field<'a>,
    parent_tool_call_id: Field<'a>,
    summary_content: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Context<'a> {
    #[serde(borrow)]
    cwd: Field<'a>,
    branch: Field<'a>,
}

fn take(event: &SessionEvent<'_>, path: &Path, session: &mut SessionState, batch: &mut Batch, line: u64) {
    let none = EventData::default();
    let data = event.data.object().unwrap_or(&none);
    let said = match event.kind.text() {
        Some("session.start" | "session.resume" | "session.model_change") => {
            begin(data, session);
            return;
        }
        Some("user.message") => typed(data, &mut batch.skipped).map(|text| (Role::User, text)),
        Some("assistant.message") => {
            let why = if data.tool_requests.elements().is_empty() { "no text" } else { "tool call" };
            data.content.text().and_then(trimmed).map(|text| (Role::Assistant, text)).ok_or(why)
        }
        Some("session.compaction_complete") => {
            data.summary_content.text().and_then(trimmed).map(|text| (Role::Summary, text)).ok_or("no text")
        }
        Some("system.message") => Err("system text"),
        Some("assistant.reasoning") => Err("thinking"),
        Some(kind) if kind.starts_with("tool.") => Err("tool output"),
        Some(kind)
            if ["session.", "assistant.", "hook.", "skill.", "subagent."].iter().any(|of| kind.starts_with(of)) =>
        {
            Err("event")
        }
        _ => Err(UNKNOWN),
    };
    let (role, text) = match said {
        Ok(said) => said,
        Err(reason) => return batch.skipped.count(reason),
    };
    let name = session.id.clone().unwrap_or_else(|| by_path(path));
    batch.turns.push(Turn {
        id: event.id.text().map_or_else(|| format!("{name}#{line}"), |id| turn_id(&name, id)),
        at: event.timestamp.time(),
        cwd: session.cwd.clone(),
        branch: session.branch.clone(),
        model: data.model.owned().or_else(|| session.model.clone()).filter(|_| role == Role::Assistant),
        subagent: event.agent_id.owned().or_else(|| data.parent_tool_call_id.owned()),
        ..Turn::new(name, role, text, (line, line))
    });
}

/// Begins a session: its name and its folder, from here on.
fn begin(data: &EventData<'_>, session: &mut SessionState) {
    let keep = |known: &mut Option<String>, new: Option<String>| *known = new.or(known.take());
    keep(&mut session.id, data.session_id.owned());
    keep(&mut session.model, data.selected_model.owned().or_else(|| data.new_model.owned()));
    if let Some(context) = data.context.object() {
        keep(&mut session.cwd, context.cwd.owned());
        keep(&mut session.branch, context.branch.owned());
    }
}

/// Typed by a person: the program sends it with more around it, which is another field.
fn typed(data: &EventData<'_>, skipped: &mut Skipped) -> Result<String, &'static str> {
    match data.source.text() {
        Some(source) if source == "system" || source.starts_with("skill-") => Err("system text"),
        _ => data.content.text().and_then(|text| blocks::typed(text, &COMMON, skipped)).ok_or("no text"),
    }
}

/// The session whose file it is.
fn by_path(path: &Path) -> String {
    let name = if path.ends_with("events.jsonl") { path.parent().and_then(Path::file_name) } else { path.file_stem() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{corpus, first_folder};
    use super::*;
    use crate::foreign::{Deadline, Root};

    #[test]
    fn its_first_folder_is_that_of_the_context() {
        let path = &corpus::files(&Copilot)[0];
        let (root, deadline) = (Root::around(path).unwrap(), Deadline::default());
        let file = Foreign { root: &root, path, deadline: &deadline };
        assert_eq!(first_folder(file).as_deref(), Some("/w/atlas"));
    }

    #[test]
    fn transcripts_are_known_by_their_path() {
        let machine = Machine::new("/h", []);
        let sessions = ["/h/.copilot/session-state/S/events.jsonl", "/h/.copilot/session-state/S.jsonl"];
        let others = [
            "/h/.copilot/logs/S.jsonl",
            "/h/.copilot/session-state/S/workspace.yaml",
            "/h/.copilot/session-state/S/files/a.jsonl",
            "/h/.copilot/session-state/S/files/events.jsonl",
        ];
        assert_eq!(corpus::transcripts(&Copilot, &machine, &[&sessions[..], &others].concat()), sessions);
        let moved = Machine::new("/h", [("COPILOT_HOME", "/m")]);
        assert_eq!(Copilot.places(&moved), [PathBuf::from("/m/session-state")]);
    }
}
