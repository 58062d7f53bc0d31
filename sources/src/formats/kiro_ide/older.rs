//! Sessions of Kiro's IDE before 2026, below `globalStorage/kiro.kiroagent` of the editor.
//!
//! A session file has the person's messages (`workspace-sessions/<workspace>/<session>.json`). The agent's answers to each message
//! are in an execution file (`<hash>/<hash>/<execution>`). The first versions wrote a `.chat` file for each step
//! (`<hash>/<name>.chat`), with the whole dialogue as it was sent to the model.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer};

use super::super::Batch;
use super::super::Role;
use super::super::blocks::{COMMON, Marks, typed};
use super::super::editors::folder_of;
use super::super::field::{Field, label, parse};
use super::super::object::{JoinedText, KeptMessage, WholeSession, objects, session_name};
use super::super::records::{MAX_ID, trimmed};
use crate::foreign::Foreign;

/// The folder of the extension, that of sessions, and the list of all of a workspace.
pub const AGENT: &str = "kiro.kiroagent";
const SESSIONS: &str = "workspace-sessions";
const LIST: &str = "sessions.json";
/// The largest list that is read, in bytes.
const MAX_LIST: u64 = 8 << 20;
/// Workspaces among which that of a session is looked for.
const MAX_WORKSPACES: usize = 10_000;
/// The text of a session instead of an answer, and the agent's answers to the instructions of the first versions.
const PLACEHOLDER: &str = "On it.";
const TO_INSTRUCTIONS: [&str; 2] = ["I will follow these instructions.", "Understood."];
/// Marks of what the program puts around a prompt.
const MARKS: [Marks; 6] = [
    COMMON[0],
    COMMON[1],
    COMMON[2],
    ("<EnvironmentContext", "</EnvironmentContext>"),
    ("<steering-reminder", "</steering-reminder>"),
    ("<user-rule", "</user-rule>"),
];
/// How its instructions begin.
const INSTRUCTIONS: [&str; 3] = ["<identity>", "Follow these instructions", "## Included Rules"];

/// Whether a file is one of these, by its path.
pub fn is_transcript(path: &Path) -> bool {
    let above = |levels: usize| path.ancestors().nth(levels).and_then(Path::file_name).unwrap_or_default();
    match path.extension().and_then(|end| end.to_str()) {
        Some("json") => above(2) == SESSIONS && !path.ends_with(LIST),
        Some("chat") => above(2) == AGENT,
        Some(_) => false,
        None => above(3) == AGENT && above(2) != SESSIONS && is_hash(&above(2).to_string_lossy()),
    }
}

fn is_hash(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A session, an execution or a dialogue: the lists say which.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Saved<'a> {
    #[serde(borrow)]
    session_id: Field<'a>,
    title: Field<'a>,
    workspace_directory: Field<'a>,
    selected_model: Field<'a>,
    history: Field<'a, RememberedMessage>,
    chat_session_id: Field<'a>,
    execution_id: Field<'a>,
    start_time: Field<'a>,
    actions: Field<'a, ExecutionAction>,
    metadata: Field<'a, ChatMetadata<'a>>,
    chat: Field<'a, SentMessage>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ChatMetadata<'a> {
    #[serde(borrow)]
    model_id: Field<'a>,
    workflow_id: Field<'a>,
    start_time: Field<'a>,
}

/// Adds the turns of a file. False if it is none of these.
pub fn read(file: Foreign<'_>, bytes: &[u8], batch: &mut Batch) -> bool {
    let mut mended = Vec::new();
    let Some(saved) = parse::<Saved<'_>>(bytes, &mut mended) else { return false };
    let stem = label(&file.path.file_stem().unwrap_or_default().to_string_lossy());
    match (&saved.history, &saved.actions, &saved.chat) {
        (Field::List(_), ..) => session(file, saved, stem, batch),
        (_, Field::List(_), _) => execution(file, saved, stem, batch),
        (.., Field::List(_)) => dialogue(saved, stem, batch),
        // Other files of the extension have no turns.
        _ => {}
    }
    true
}

fn session(file: Foreign<'_>, saved: Saved<'_>, stem: String, batch: &mut Batch) {
    let id = session_name(&saved.session_id).unwrap_or(stem);
    let listed = listed(file, &id);
    let folder = file.path.parent().and_then(Path::file_name).and_then(|name| workspace(&name.to_string_lossy()));
    let model = saved.selected_model.owned().filter(|model| model.len() <= MAX_ID);
    let own = saved.workspace_directory.text().and_then(folder_of);
    let whole = WholeSession {
        title: saved.title.text().and_then(|title| trimmed(&label(title))).or(listed.title),
        cwd: own.or(listed.cwd).or(folder),
        id,
        ..WholeSession::default()
    };
    let at = listed.at;
    let said = objects(saved.history).map(|RememberedMessage(kept)| KeptMessage { at, model: model.clone(), ..kept });
    whole.push(said, batch);
}

fn execution(file: Foreign<'_>, saved: Saved<'_>, stem: String, batch: &mut Batch) {
    let name = saved.execution_id.owned().filter(|id| id.len() <= MAX_ID).unwrap_or(stem);
    let id = session_name(&saved.chat_session_id).unwrap_or_else(|| name.clone());
    let begun = saved.start_time.time();
    let whole = WholeSession { cwd: workspace_of(file.path, &id), id, ..WholeSession::default() };
    let said = objects(saved.actions).zip(1..).map(|(ExecutionAction(kept), number)| KeptMessage {
        id: Some(format!("{name}:{number}")),
        at: kept.at.or(begun),
        ..kept
    });
    whole.push(said, batch);
}

fn dialogue(saved: Saved<'_>, stem: String, batch: &mut Batch) {
    let none = ChatMetadata::default();
    let metadata = saved.metadata.object().unwrap_or(&none);
    let id = session_name(&metadata.workflow_id).or_else(|| session_name(&saved.execution_id)).unwrap_or(stem);
    let (at, model) = (metadata.start_time.time(), metadata.model_id.owned().filter(|model| model.len() <= MAX_ID));
    let said = objects(saved.chat).map(|SentMessage(kept)| KeptMessage { at, model: model.clone(), ..kept });
    WholeSession { id, ..WholeSession::default() }.push(said, batch);
}

/// The facts of a session in the list of its workspace.
#[derive(Default)]
struct ListedSession {
    title: Option<String>,
    cwd: Option<String>,
    at: Option<i64>,
}

fn listed(file: Foreign<'_>, id: &str) -> ListedSession {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct WorkspaceListing<'a> {
        #[serde(borrow)]
        session_id: Field<'a>,
        title: Field<'a>,
        date_created: Field<'a>,
        workspace_directory: Field<'a>,
    }
    let path = file.path.with_file_name(LIST);
    let bytes = Foreign { path: &path, ..file }.open(MAX_LIST).and_then(|mut file| file.read_all());
    let (bytes, mut mended) = (bytes.unwrap_or_default(), Vec::new());
    let list = parse::<Field<'_, WorkspaceListing<'_>>>(&bytes, &mut mended).unwrap_or_default();
    let Some(one) = objects(list).find(|one| one.session_id.text() == Some(id)) else {
        return ListedSession::default();
    };
    ListedSession {
        title: one.title.text().and_then(|title| trimmed(&label(title))),
        cwd: one.workspace_directory.text().and_then(folder_of),
        // Milliseconds as a text, or a date.
        at: one.date_created.text().and_then(|text| text.parse().ok()).or(one.date_created.time()),
    }
}

/// The folder that the name of a workspace's folder encodes.
fn workspace(name: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(name.trim_end_matches('=')).ok()?;
    String::from_utf8(bytes).ok().and_then(|path| folder_of(&path))
}

/// The folder of the session to which an execution belongs, by the workspace that has such a session.
fn workspace_of(path: &Path, session: &str) -> Option<String> {
    let is_plain = session.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    let agent = path.ancestors().find(|folder| folder.ends_with(AGENT)).filter(|_| is_plain)?;
    let name = format!("{session}.json");
    let workspaces = fs::read_dir(agent.join(SESSIONS)).ok()?.take(MAX_WORKSPACES).flatten();
    let found = workspaces.into_iter().find(|folder| folder.path().join(&name).symlink_metadata().is_ok());
    found.and_then(|folder| workspace(&folder.file_name().to_string_lossy()))
}

/// A message of a session.
struct RememberedMessage(KeptMessage);

impl<'de> Deserialize<'de> for RememberedMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Item<'a> {
            #[serde(borrow)]
            message: Field<'a, ItemMessage<'a>>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct ItemMessage<'a> {
            #[serde(borrow)]
            id: Field<'a>,
            role: Field<'a>,
            content: JoinedText,
        }
        let item = Item::deserialize(deserializer)?;
        let none = ItemMessage::default();
        let message = item.message.object().unwrap_or(&none);
        let content = message.content.0.as_deref();
        let mut kept = KeptMessage { id: message.id.owned(), ..KeptMessage::default() };
        match message.role.text() {
            Some("user") => add_typed(content, &mut kept),
            Some("assistant") if content.map(str::trim) == Some(PLACEHOLDER) => kept.skipped.count("placeholder"),
            Some("assistant") => kept.add(Role::Assistant, content.and_then(trimmed).ok_or("no text")),
            Some("tool") => kept.skipped.count("tool output"),
            _ => kept.skipped.count("unknown role"),
        }
        Ok(RememberedMessage(kept))
    }
}

/// A step of an execution.
struct ExecutionAction(KeptMessage);

impl<'de> Deserialize<'de> for ExecutionAction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct ExecutionStep<'a> {
            #[serde(borrow)]
            action_type: Field<'a>,
            emitted_at: Field<'a>,
            output: Field<'a, ExecutionOutput<'a>>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct ExecutionOutput<'a> {
            #[serde(borrow)]
            message: Field<'a>,
        }
        let step = ExecutionStep::deserialize(deserializer)?;
        let mut kept = KeptMessage { at: step.emitted_at.time(), ..KeptMessage::default() };
        match step.action_type.text() {
            Some("say") => {
                let said = step.output.object().and_then(|output| output.message.text()).and_then(trimmed);
                kept.add(Role::Assistant, said.ok_or("no text"));
            }
            Some("displayError") => kept.skipped.count("notice"),
            _ => kept.skipped.count("tool call"),
        }
        Ok(ExecutionAction(kept))
    }
}

/// A message of a dialogue, as it was sent to the model.
struct SentMessage(KeptMessage);

impl<'de> Deserialize<'de> for SentMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct SentFields<'a> {
            #[serde(borrow)]
            role: Field<'a>,
            content: JoinedText,
        }
        let sent = SentFields::deserialize(deserializer)?;
        let content = sent.content.0.as_deref();
        let mut kept = KeptMessage::default();
        match sent.role.text() {
            Some("human") => add_typed(content, &mut kept),
            Some("bot") if content.is_some_and(|text| TO_INSTRUCTIONS.contains(&text.trim())) => {
                kept.skipped.count("placeholder");
            }
            Some("bot") => kept.add(Role::Assistant, content.and_then(trimmed).ok_or("no text")),
            Some("tool") => kept.skipped.count("tool output"),
            _ => kept.skipped.count("unknown role"),
        }
        Ok(SentMessage(kept))
    }
}

/// Adds what a person typed, without what the program puts around it.
fn add_typed(content: Option<&str>, kept: &mut KeptMessage) {
    let said = content.and_then(|text| typed(text, &MARKS, &mut kept.skipped));
    match said {
        Some(text) if INSTRUCTIONS.iter().any(|begin| text.starts_with(begin)) => kept.skipped.count("system text"),
        said => kept.add(Role::User, said.ok_or("no text")),
    }
}
