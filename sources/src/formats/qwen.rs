//! Qwen Code: `~/.qwen/projects/<folder>/chats/<session>.jsonl`, subagents in `subagents/<session>/agent-<id>.jsonl` there.
//!
//! A line has a message as Gemini's interface has it.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::blocks::{COMMON, typed};
use super::field::{Field, parse};
use super::jsonl::Lines;
use super::object::{JoinedText, session_name};
use super::records::{UNKNOWN, UNREADABLE, for_each_line, join, trimmed, turn_id};
use super::{Batch, Cursor, Format, ReadError, Role, Skipped, Turn};
use crate::foreign::Foreign;
use crate::machine::Machine;

/// Reads transcripts of Qwen Code.
pub struct QwenCode;

/// Where what a person typed ends and the files begin that it mentions.
const FILES: &str = "--- Content from referenced files ---";
/// The tools that ask the person and that show a plan, and how the answers begin.
const QUESTION: &str = "ask_user_question";
const PLAN: &str = "exit_plan_mode";
const ANSWERED: &str = "User has provided the following answers:";
/// An element that every summary has.
const SUMMARY: &str = "<state_snapshot>";

impl Format for QwenCode {
    fn name(&self) -> &'static str {
        "qwen-code"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        vec![machine.path("QWEN_RUNTIME_DIR", ".qwen").join("projects")]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let is_in = |folder: Option<&Path>, name: &str| folder.is_some_and(|folder| folder.ends_with(name));
        let folder = path.parent();
        let is_chat = is_in(folder, "chats") || is_in(folder.and_then(Path::parent), "chats");
        path.extension().is_some_and(|end| end == "jsonl")
            && (is_chat || is_in(folder.and_then(Path::parent), "subagents"))
    }

    fn ids_are_of_files(&self) -> bool {
        true
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let mut batch = Batch::default();
        for_each_line(&mut Lines::<()>::open(file, since)?, &mut batch, |(), batch, line, bytes| {
            let mut mended = Vec::new();
            match parse::<ChatRecord<'_>>(bytes, &mut mended) {
                Some(record) => take(&record, file.path, batch, line),
                None => batch.skipped.count(UNREADABLE),
            }
        })?;
        Ok(batch)
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ChatRecord<'a> {
    #[serde(borrow)]
    uuid: Field<'a>,
    session_id: Field<'a>,
    timestamp: Field<'a>,
    #[serde(rename = "type")]
    kind: Field<'a>,
    subtype: Field<'a>,
    cwd: Field<'a>,
    git_branch: Field<'a>,
    model: Field<'a>,
    agent_id: Field<'a>,
    message: Field<'a, ChatContent<'a>>,
    system_payload: Field<'a, SystemPayload<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatContent<'a> {
    #[serde(borrow)]
    parts: Field<'a, ChatPart<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ChatPart<'a> {
    #[serde(borrow)]
    text: Field<'a>,
    thought: Field<'a>,
    function_call: Field<'a, Call<'a>>,
    function_response: Field<'a, Response<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    name: Field<'a>,
    args: Field<'a, CallArgs<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallArgs<'a> {
    #[serde(borrow)]
    plan: Field<'a>,
    questions: JoinedText,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    #[serde(borrow)]
    name: Field<'a>,
    response: Field<'a, ToolResponse<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolResponse<'a> {
    #[serde(borrow)]
    output: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SystemPayload<'a> {
    /// The words that a person typed, if the message has more.
    #[serde(borrow)]
    display_text: Field<'a>,
    compressed_history: Field<'a, Compressed>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Compressed {
    parts: JoinedText,
}

fn take(record: &ChatRecord<'_>, path: &Path, batch: &mut Batch, line: u64) {
    let none = ChatContent::default();
    let parts = record.message.object().unwrap_or(&none).parts.elements();
    let parts: Vec<_> = parts.iter().filter_map(Field::object).collect();
    let said = match (record.kind.text(), record.subtype.text()) {
        (Some("user"), None | Some("mid_turn_user_message" | "agent_launch_prompt")) => {
            user(record, &parts, &mut batch.skipped).map(|text| (Role::User, text))
        }
        (Some("user"), Some(_)) => Err("not typed"),
        (Some("assistant"), _) => agent(&parts).map(|text| (Role::Assistant, text)),
        (Some("tool_result"), _) => answers(&parts).map(|text| (Role::User, text)),
        (Some("system"), Some("chat_compression")) => summary(record).map(|text| (Role::Summary, text)),
        (Some("system"), _) => Err("event"),
        _ => Err(UNKNOWN),
    };
    let (role, text) = match said {
        Ok(said) => said,
        Err(reason) => return batch.skipped.count(reason),
    };
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let session = session_name(&record.session_id).unwrap_or_else(stem);
    batch.turns.push(Turn {
        id: record.uuid.text().map_or_else(|| format!("{session}#{line}"), |id| turn_id(&session, id)),
        at: record.timestamp.time(),
        cwd: record.cwd.owned(),
        branch: record.git_branch.owned(),
        model: record.model.owned().filter(|_| role == Role::Assistant),
        subagent: record.agent_id.owned(),
        ..Turn::new(session, role, text, (line, line))
    });
}

/// The words that a person typed, without the files that they mention.
fn user(record: &ChatRecord<'_>, parts: &[&ChatPart<'_>], skipped: &mut Skipped) -> Result<String, &'static str> {
    let shown = record.system_payload.object().and_then(|payload| payload.display_text.text());
    let sent = parts.iter().filter_map(|part| part.text.text()).take_while(|text| !text.trim().starts_with(FILES));
    let texts: Vec<_> = shown.map_or_else(|| sent.collect(), |shown| vec![shown]);
    join(texts.into_iter().filter_map(|text| typed(text, &COMMON, skipped))).ok_or("no text")
}

/// The words of the agent: also the questions and the plan that it gives to a tool.
fn agent(parts: &[&ChatPart<'_>]) -> Result<String, &'static str> {
    let said = parts.iter().filter(|part| !part.thought.is_true()).filter_map(|part| {
        let Some(call) = part.function_call.object() else { return trimmed(part.text.text()?) };
        let args = call.args.object()?;
        match call.name.text() {
            Some(QUESTION) => args.questions.0.clone(),
            Some(PLAN) => trimmed(args.plan.text()?),
            _ => None,
        }
    });
    let is_call = || parts.iter().any(|part| part.function_call.object().is_some());
    let is_thought = || parts.iter().any(|part| part.thought.is_true());
    join(said).ok_or_else(|| match () {
        () if is_call() => "tool call",
        () if is_thought() => "thinking",
        () => "no text",
    })
}

/// A person's answers to the questions of a tool.
fn answers(parts: &[&ChatPart<'_>]) -> Result<String, &'static str> {
    let answers = parts.iter().filter_map(|part| {
        let result = part.function_response.object().filter(|result| result.name.text() == Some(QUESTION))?;
        trimmed(result.response.object()?.output.text()?.strip_prefix(ANSWERED)?)
    });
    join(answers).ok_or("tool output")
}

/// The summary that a compressed history begins with.
fn summary(record: &ChatRecord<'_>) -> Result<String, &'static str> {
    let history = record.system_payload.object().map(|payload| payload.compressed_history.elements());
    let first = history.and_then(|history| history.first()?.object()?.parts.0.clone());
    first.filter(|text| text.contains(SUMMARY)).ok_or("event")
}

#[cfg(test)]
mod tests {
    use super::super::corpus;
    use super::*;

    #[test]
    fn transcripts_are_known_by_their_path() {
        let machine = Machine::new("/h", []);
        let chats = [
            "/h/.qwen/projects/-w-atlas/chats/S.jsonl",
            "/h/.qwen/projects/-w-atlas/chats/archive/S.jsonl",
            "/h/.qwen/projects/-w-atlas/subagents/S/agent-explore-1.jsonl",
        ];
        let others =
            ["/h/.qwen/projects/-w-atlas/chats/S.json", "/h/.qwen/projects/-w-atlas/S.jsonl", "/h/.qwen/x.jsonl"];
        assert_eq!(corpus::transcripts(&QwenCode, &machine, &[&chats[..], &others].concat()), chats);
        let moved = Machine::new("/h", [("QWEN_RUNTIME_DIR", "/m")]);
        assert_eq!(QwenCode.places(&moved), [PathBuf::from("/m/projects")]);
    }
}
