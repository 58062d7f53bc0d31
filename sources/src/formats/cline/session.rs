//! Sessions of Cline since version 4: messages with blocks, as they are sent to the model.

use std::path::Path;

use serde::{Deserialize, Deserializer};

use super::super::blocks::{COMMON, Marks, typed};
use super::super::field::{Field, label, parse};
use super::super::object::{JoinedText, KeptMessage, WholeSession, objects, session_name};
use super::super::records::{join, trimmed};
use super::super::{Batch, Role};
use crate::foreign::Foreign;

/// How the file of a session ends.
pub const ENDING: &str = ".messages.json";
/// The largest description of a session that is read, in bytes.
const MAX_MANIFEST: u64 = 1 << 20;
/// The tool that asks the person.
const QUESTION: &str = "ask_question";
/// How a result begins that refuses a call, and what stands around the reason.
const DENIED: [&str; 2] = ["The user denied this edit.", "User denied the tool execution"];
const REASON: [&str; 2] = ["<feedback>\n", "\n</feedback>"];
/// The element around what a person types.
const INPUT: [&str; 2] = ["<user_input", "</user_input>"];
/// Prompts that the program sends by itself.
const OF_PROGRAM: [&str; 3] =
    ["[TASK RESUMPTION]", "<hook_context", "The user approved switching to act mode. Continue"];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct StoredSession<'a> {
    #[serde(borrow)]
    session_id: Field<'a>,
    agent: Field<'a>,
    origin: Field<'a, StoredOrigin<'a>>,
    messages: Field<'a, StoredMessage>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct StoredOrigin<'a> {
    #[serde(borrow)]
    parent_thread_id: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Manifest<'a> {
    #[serde(borrow)]
    cwd: Field<'a>,
    metadata: Field<'a, Titled<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Titled<'a> {
    #[serde(borrow)]
    title: Field<'a>,
}

/// Adds the turns of a session. False if it is none.
pub fn read(file: Foreign<'_>, bytes: &[u8], batch: &mut Batch) -> bool {
    let mut mended = Vec::new();
    let Some(stored) = parse::<StoredSession<'_>>(bytes, &mut mended) else { return false };
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let own = session_name(&stored.session_id).unwrap_or_else(|| name.trim_end_matches(ENDING).to_owned());
    let is_lead = matches!(stored.agent.text(), None | Some("lead"));
    let parent = stored.origin.object().and_then(|origin| session_name(&origin.parent_thread_id));
    let (title, cwd) = manifest(file).unwrap_or_default();
    let session = WholeSession {
        id: parent.filter(|_| !is_lead).unwrap_or_else(|| own.clone()),
        title: title.filter(|_| is_lead),
        cwd,
        subagent: (!is_lead).then_some(own),
        row: None,
    };
    session.push(objects(stored.messages).map(|message| message.0), batch);
    true
}

/// The title and the working folder, by the description that has the name of its folder.
fn manifest(file: Foreign<'_>) -> Option<(Option<String>, Option<String>)> {
    let folder = file.path.parent()?;
    let path = folder.join(Path::new(folder.file_name()?)).with_added_extension("json");
    let bytes = Foreign { path: &path, ..file }.open(MAX_MANIFEST).ok()?.read_all().ok()?;
    let mut mended = Vec::new();
    let manifest: Manifest<'_> = parse(&bytes, &mut mended)?;
    let title = manifest.metadata.object().and_then(|of| trimmed(&label(without_wrapper(of.title.text()?))));
    Some((title, manifest.cwd.owned()))
}

struct StoredMessage(KeptMessage);

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Sent<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    role: Field<'a>,
    ts: Field<'a>,
    content: Field<'a, SentBlock<'a>>,
    model_info: Field<'a, SentBy<'a>>,
    metadata: Field<'a, SentFor<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentBy<'a> {
    #[serde(borrow)]
    id: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SentFor<'a> {
    #[serde(borrow)]
    kind: Field<'a>,
    summary: Field<'a>,
    display_role: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    text: Field<'a>,
    name: Field<'a>,
    input: Field<'a, Asking<'a>>,
    content: JoinedText,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Asking<'a> {
    #[serde(borrow)]
    question: Field<'a>,
}

impl<'de> Deserialize<'de> for StoredMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let sent = Sent::deserialize(deserializer)?;
        let mut kept = KeptMessage {
            id: sent.id.owned(),
            at: sent.ts.time(),
            model: sent.model_info.object().and_then(|model| model.id.owned()),
            ..KeptMessage::default()
        };
        take(&sent, &mut kept);
        Ok(StoredMessage(kept))
    }
}

fn take(sent: &Sent<'_>, kept: &mut KeptMessage) {
    let none = SentFor::default();
    let of = sent.metadata.object().unwrap_or(&none);
    if of.kind.text() == Some("compaction_summary") {
        return kept.add(Role::Summary, of.summary.text().and_then(trimmed).ok_or("no text"));
    }
    let role = match sent.role.text() {
        _ if of.display_role.text().is_some_and(|role| role != "user") => return kept.skipped.count("system text"),
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return kept.skipped.count("unknown role"),
    };
    let mut texts = Vec::new();
    for block in sent.content.elements() {
        let said = match block {
            Field::Object(block) => of_block(block, role, kept),
            text => of_text(text.text().unwrap_or_default(), role, kept),
        };
        match said {
            Ok(text) => texts.push(text),
            Err(reason) => kept.skipped.count(reason),
        }
    }
    kept.said.extend(join(texts).map(|text| (role, text)));
}

fn of_block(block: &SentBlock<'_>, role: Role, kept: &mut KeptMessage) -> Result<String, &'static str> {
    let is_question = block.name.text() == Some(QUESTION);
    match block.kind.text() {
        Some("text") => of_text(block.text.text().unwrap_or_default(), role, kept),
        Some("tool_use") if is_question => {
            block.input.object().and_then(|input| trimmed(input.question.text()?)).ok_or("tool call")
        }
        Some("tool_use") => Err("tool call"),
        Some("tool_result") => of_result(block.content.0.as_deref().unwrap_or_default(), is_question),
        Some("thinking" | "redacted_thinking") => Err("thinking"),
        Some("image" | "media") => Err("image"),
        Some("file") => Err("file"),
        _ => Err("no text"),
    }
}

fn of_text(text: &str, role: Role, kept: &mut KeptMessage) -> Result<String, &'static str> {
    const MARKS: [Marks; 4] = [COMMON[0], COMMON[1], COMMON[2], ("<mode_notice", "</mode_notice>")];
    if role == Role::Assistant {
        return trimmed(text).ok_or("no text");
    }
    let mut unwrapped = |text: &str| typed(without_wrapper(text), &MARKS, &mut kept.skipped);
    // What the program adds stands before the wrapper, or in it.
    let said = unwrapped(text).and_then(|text| unwrapped(&text)).ok_or("no text")?;
    if OF_PROGRAM.iter().any(|start| said.starts_with(start)) { Err("system text") } else { Ok(said) }
}

/// A text without the element around it.
fn without_wrapper(text: &str) -> &str {
    let inner = text.trim().strip_prefix(INPUT[0]).and_then(|rest| rest.split_once('>'));
    inner.map_or(text, |(_, inner)| inner.rsplit_once(INPUT[1]).map_or(inner, |(inner, _)| inner))
}

/// The words of a person in the result of a tool: the answer to a question, or why a call is refused.
fn of_result(content: &str, is_question: bool) -> Result<String, &'static str> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Refusal<'a> {
        #[serde(borrow)]
        error: Field<'a>,
    }
    let mut mended = Vec::new();
    let refusal: Refusal<'_> = parse(content.as_bytes(), &mut mended).unwrap_or_default();
    let error = refusal.error.text();
    match error.filter(|error| DENIED.iter().any(|start| error.starts_with(start))) {
        Some(denied) => {
            let reason = denied.split_once(REASON[0]).and_then(|(_, rest)| rest.rsplit_once(REASON[1]));
            reason.and_then(|(reason, _)| trimmed(reason)).ok_or("tool output")
        }
        None if is_question && error.is_none() => trimmed(content).ok_or("tool output"),
        None => Err("tool output"),
    }
}
