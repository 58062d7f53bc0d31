//! Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, subagents in `<session>/subagents/agent-<id>.jsonl`.
//!
//! Prompts that were typed while the agent worked are in attachments. A message of the agent is spread over several lines, each
//! with its own `uuid`. The lines of a subagent have the session of the agent that started it. Words of a person in results of
//! tools, and the plans of the agent, are in `answers.rs`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::blocks::{COMMON, Marks};
use super::clean::is_of_program;
use super::field::{Field, parse};
use super::jsonl::Lines;
use super::records::{self, Content, ParsedTurn, UNKNOWN, UNREADABLE, for_each_line, join, texts, why_skipped};
use super::{Batch, Cursor, Format, ReadError, Role, Skipped, Turn};
use crate::foreign::Foreign;
use crate::machine::Machine;

mod answers;

/// Reads transcripts of Claude Code.
pub struct ClaudeCode;

/// The blocks that it and editors put before and behind what is typed.
const ADDED: [Marks; 7] = [
    COMMON[0],
    COMMON[1],
    COMMON[2],
    ("<ide_opened_file", "</ide_opened_file>"),
    ("<ide_selection", "</ide_selection>"),
    ("<ide_diagnostics", "</ide_diagnostics>"),
    ("<user-prompt-submit-hook", "</user-prompt-submit-hook>"),
];
/// Texts that stand as the user's when a key has stopped the agent.
const STOPPED: [&str; 2] = ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];
/// The names of transcripts that the program has with itself, to sum up a session or to suggest a prompt.
const OF_ITSELF: [&str; 2] = ["agent-acompact-", "agent-aprompt_suggestion-"];
/// The model of lines that the program itself writes, such as errors of the network.
const NO_MODEL: &str = "<synthetic>";

impl Format for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        vec![machine.path("CLAUDE_CONFIG_DIR", ".claude").join("projects")]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let within = |name: &str| path.iter().any(|part| part == name);
        let is_agent = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"));
        path.extension().is_some_and(|extension| extension == "jsonl")
            && !self.is_other(path)
            && (is_agent || !within("subagents"))
    }

    fn is_other(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.iter().any(|part| part == "tool-results") || OF_ITSELF.iter().any(|start| name.starts_with(start))
    }

    fn main(&self, path: &Path) -> Option<PathBuf> {
        let session = path.ancestors().find(|folder| folder.ends_with("subagents"))?.parent()?;
        Some(session.with_file_name(format!("{}.jsonl", session.file_name()?.to_str()?)))
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let transcript = Transcript::at(file.path);
        let mut batch = Batch::default();
        for_each_line(&mut Lines::<()>::open(file, since)?, &mut batch, |(), batch, line, bytes| {
            let mut mended = Vec::new();
            match parse(bytes, &mut mended) {
                Some(record) => transcript.take(&record, bytes, batch, line),
                None => batch.skipped.count(UNREADABLE),
            }
        })?;
        Ok(batch)
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeCodeRecord<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    subtype: Field<'a>,
    uuid: Field<'a>,
    session_id: Field<'a>,
    timestamp: Field<'a>,
    cwd: Field<'a>,
    git_branch: Field<'a>,
    agent_id: Field<'a>,
    is_sidechain: Field<'a>,
    is_meta: Field<'a>,
    is_compact_summary: Field<'a>,
    message: Field<'a, ClaudeCodeMessage<'a>>,
    attachment: Field<'a, Attachment<'a>>,
    content: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeCodeMessage<'a> {
    #[serde(borrow)]
    content: Content<'a>,
    model: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    prompt: Content<'a>,
    command_mode: Field<'a>,
    is_meta: Field<'a>,
    origin: Field<'a, Origin<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Origin<'a> {
    #[serde(borrow)]
    kind: Field<'a>,
}

/// The names in the path of a file.
struct Transcript {
    stem: String,
    session: String,
    agent: Option<String>,
}

impl Transcript {
    fn at(path: &Path) -> Self {
        let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stem = name(path);
        let agent = stem.strip_prefix("agent-").map(str::to_owned);
        let folder = path.ancestors().find(|folder| folder.ends_with("subagents")).and_then(Path::parent);
        Transcript { session: folder.map_or_else(|| stem.clone(), name), stem, agent }
    }

    fn take(&self, record: &ClaudeCodeRecord<'_>, bytes: &[u8], batch: &mut Batch, line: u64) {
        let taken = match record.kind.text() {
            Some("user") => user(record, bytes, &mut batch.skipped),
            Some("assistant") => assistant(record, bytes),
            Some("attachment") => queued(record, &mut batch.skipped),
            Some("system") if record.subtype.text() == Some("local_command") => {
                record.content.text().and_then(command).map(|text| (Role::User, text)).ok_or("system")
            }
            Some("custom-title" | "agent-name" | "ai-title" | "summary") => Err("title"),
            Some("system") => Err("system"),
            Some("queue-operation") => Err("queue-operation"),
            Some("progress") => Err("progress"),
            Some("mode" | "permission-mode") => Err("mode"),
            Some("last-prompt") => Err("last-prompt"),
            Some("pr-link") => Err("pr-link"),
            Some(kind) if kind.starts_with("file-history-") => Err("file-history"),
            _ => return batch.skipped.count(UNKNOWN),
        };
        match taken {
            Ok((role, text)) => batch.turns.push(self.turn(record, role, text, line)),
            Err(reason) => batch.skipped.count(reason),
        }
    }

    fn turn(&self, record: &ClaudeCodeRecord<'_>, role: Role, text: String, line: u64) -> Turn {
        // Older versions wrote the lines of subagents among the others, and not whose they are.
        let sidechain = || record.is_sidechain.is_true().then(|| "sidechain".to_owned());
        Turn {
            id: record.uuid.owned().unwrap_or_else(|| format!("{}#{line}", self.stem)),
            at: record.timestamp.time(),
            cwd: record.cwd.owned(),
            branch: record.git_branch.owned(),
            model: record.message.object().and_then(|message| message.model.owned()),
            subagent: record.agent_id.owned().or_else(|| self.agent.clone()).or_else(sidechain),
            ..Turn::new(record.session_id.owned().unwrap_or_else(|| self.session.clone()), role, text, (line, line))
        }
    }
}

fn user(record: &ClaudeCodeRecord<'_>, bytes: &[u8], skipped: &mut Skipped) -> ParsedTurn {
    let message = record.message.object().ok_or("no text")?;
    if record.is_compact_summary.is_true() {
        return join(texts(&message.content)).map(|text| (Role::Summary, text)).ok_or("no text");
    }
    match (typed(&message.content, record.is_meta.is_true(), skipped), answers::said(bytes)) {
        (Ok((role, typed)), Some(said)) => Ok((role, format!("{said}\n\n{typed}"))),
        (Err(_), Some(said)) => Ok((Role::User, said)),
        (typed, None) => typed,
    }
}

fn assistant(record: &ClaudeCodeRecord<'_>, bytes: &[u8]) -> ParsedTurn {
    let message = record.message.object().ok_or("no text")?;
    if message.model.text() == Some(NO_MODEL) {
        return Err("not of the model");
    }
    let said = texts(&message.content).chain(answers::plan(bytes));
    join(said).map(|text| (Role::Assistant, text)).ok_or_else(|| why_skipped(&message.content))
}

/// A prompt that was typed while the agent worked.
fn queued(record: &ClaudeCodeRecord<'_>, skipped: &mut Skipped) -> ParsedTurn {
    let attachment = record.attachment.object().ok_or("attachment")?;
    let by_person = match &attachment.origin {
        Field::Nothing => true,
        origin => origin.object().is_some_and(|origin| origin.kind.text() == Some("human")),
    };
    let is_prompt = attachment.command_mode.text() == Some("prompt");
    if attachment.kind.text() != Some("queued_command") || !is_prompt || !by_person {
        return Err("attachment");
    }
    typed(&attachment.prompt, record.is_meta.is_true() || attachment.is_meta.is_true(), skipped)
}

/// The text of a content that a person typed.
fn typed(content: &Content<'_>, is_meta: bool, skipped: &mut Skipped) -> ParsedTurn {
    if is_meta {
        return Err("meta");
    }
    let mut not_typed = false;
    let typed = records::typed_among(content, &ADDED, skipped).filter_map(|text| {
        let begins = is_of_program(&text) || STOPPED.contains(&&*text);
        not_typed |= begins;
        if begins { None } else { Some(command(&text).unwrap_or(text)) }
    });
    match join(typed) {
        Some(text) => Ok((Role::User, text)),
        None if not_typed => Err("not typed"),
        None => Err(why_skipped(content)),
    }
}

/// The slash command as it was typed, if the text is one.
fn command(text: &str) -> Option<String> {
    if !text.trim_start().starts_with("<command-") {
        return None;
    }
    let within = |open: &str, close: &str| {
        let (_, rest) = text.split_once(open)?;
        Some(rest.split_once(close).map_or(rest, |(inner, _)| inner).trim())
    };
    let name = within("<command-name>", "</command-name>").filter(|name| !name.is_empty())?;
    let arguments = within("<command-args>", "</command-args>").unwrap_or_default();
    Some(format!("{name} {arguments}").trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::corpus;
    use super::*;

    #[test]
    fn transcripts_are_known_by_their_path() {
        let machine = Machine::new("/h", []);
        let sessions = [
            "/h/.claude/projects/-p/S.jsonl",
            "/h/.claude/projects/-p/agent-a1.jsonl",
            "/h/.claude/projects/-p/S/subagents/agent-a1.jsonl",
            "/h/.claude/projects/-p/S/subagents/workflows/w/agent-a2.jsonl",
        ];
        let others = [
            "/h/.claude/history.jsonl",
            "/h/.claude/projects/-p/memory/MEMORY.md",
            "/h/.claude/projects/-p/sessions-index.json",
            "/h/.claude/projects/-p/S/subagents/agent-a1.meta.json",
            "/h/.claude/projects/-p/S/subagents/workflows/w/journal.jsonl",
            "/h/.claude/projects/-p/S/tool-results/x.jsonl",
            "/h/.claude/projects/-p/S/subagents/agent-acompact-1f2e.jsonl",
            "/h/.claude/projects/-p/agent-aprompt_suggestion-1f2e.jsonl",
        ];
        assert_eq!(corpus::transcripts(&ClaudeCode, &machine, &[&sessions[..], &others].concat()), sessions);
        let moved = Machine::new("/h", [("CLAUDE_CONFIG_DIR", "/c")]);
        assert_eq!(ClaudeCode.places(&moved), [PathBuf::from("/c/projects")]);
    }
}
