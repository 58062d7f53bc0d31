//! Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl`, and `archived_sessions/`.
//!
//! Until September 2025 a line is the item itself, without a time, and the first line is the session. Since, a line has the item
//! as its payload.
//!
//! After some days Codex compresses a file to `.jsonl.zst`. The session and the line identify a turn, so both files have the same
//! turns. Texts of the agent occur twice, as a message and as an event: the first one is taken. A fork begins with a copy of the
//! session that it continues, and that is skipped. Answers of a person to questions of a tool are kept.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::record::{CodexRecord, Payload};
use super::field::{Field, label, parse};
use super::jsonl::Lines;
use super::records::{
    self, ParsedTurn, UNKNOWN, UNREADABLE, for_each_line, hash, is_uuid, join, read_compressed, texts, trimmed,
};
use super::{Batch, Cursor, Format, ReadError, Role, Skipped, Turn};
use crate::foreign::Foreign;
use crate::machine::Machine;

mod plan;
mod questions;
mod record;

/// Reads transcripts of Codex CLI.
pub struct Codex;

/// Beginnings of texts that have the role of the user and were not typed.
const NOT_TYPED: [&str; 11] = [
    ENVIRONMENT, "<user_action>", "<permissions instructions>", "<user_instructions>", "# AGENTS.md instructions",
    "<turn_aborted>", "<subagent_notification>", "<user_shell_command>", "<skill>", "<image ", "</image>",
];
/// The heading that an IDE puts before a prompt, and the beginnings of its text before that.
const REQUEST: &str = "## My request for Codex:";
const CONTEXT: [&str; 2] = ["# Context from my IDE setup", "# Files mentioned by the user"];
/// The mark of the working folder, if nothing else says it.
const ENVIRONMENT: &str = "<environment_context>";
/// How many texts of the agent wait for their duplicate.
const MAX_SAID: usize = 64;
/// Codex writes a copy at once: lines that come later than this are new, in milliseconds.
const COPYING: i64 = 2000;

impl Format for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let home = machine.path("CODEX_HOME", ".codex");
        vec![home.join("sessions"), home.join("archived_sessions")]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let path = file.path;
        let mut batch = Batch::default();
        if path.extension().is_some_and(|extension| extension == "zst") {
            read_compressed(file, since, &mut batch, |lines, batch| read_lines(path, lines, batch))?;
        } else {
            read_lines(path, &mut Lines::open(file, since)?, &mut batch)?;
        }
        Ok(batch)
    }
}

fn read_lines(path: &Path, lines: &mut Lines<CodexState>, batch: &mut Batch) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.trim_end_matches(".zst").trim_end_matches(".jsonl");
    let of_name = stem.len().checked_sub(36).and_then(|start| stem.get(start..)).filter(|id| is_uuid(id));
    for_each_line(lines, batch, |state, batch, line, bytes| {
        let mut mended = Vec::new();
        let Some(record) = parse::<CodexRecord>(bytes, &mut mended) else {
            return batch.skipped.count(UNREADABLE);
        };
        if state.session.is_empty() {
            let meta = record.payload.object().filter(|_| record.kind.text() == Some("session_meta"));
            let id = of_name.or_else(|| meta?.id.text()).unwrap_or(stem);
            state.session = label(id);
        }
        let number = match record.ordinal {
            Field::Number(number) => number,
            _ => i64::try_from(line).unwrap_or(i64::MAX) - 1,
        };
        if state.meta.is_some() && state.own_from.is_some_and(|own| number < own) {
            return batch.skipped.count(COPY);
        }
        if matches!(record.payload, Field::Nothing)
            && let Some(item) = parse::<Payload>(bytes, &mut Vec::new())
        {
            return take_bare(&record, &item, state, batch, line);
        }
        take(&record, state, batch, line);
    })
}

/// The reason for turns of another session.
const COPY: &str = "copy of another session";

/// State that is kept from the lines before.
#[derive(Default, Serialize, Deserialize)]
struct CodexState {
    /// The session of this file.
    session: String,
    /// Its identifier in the first line. A line with another one begins a copy of that session.
    meta: Option<String>,
    /// The session that started this one, if it is a subagent.
    parent: Option<String>,
    is_subagent: bool,
    cwd: Option<String>,
    branch: Option<String>,
    model: Option<String>,
    copy: Option<Copying>,
    /// The first item of a subagent's own, if it begins with those of the session that started it.
    own_from: Option<i64>,
    /// When the session began, for lines without a time.
    began: Option<i64>,
    /// The call that asks the person.
    asked: Option<String>,
    /// Texts of the agent since the last prompt whose duplicate is still to come.
    said: Vec<SeenText>,
}

/// The lines that are a copy of another session.
#[derive(Serialize, Deserialize)]
struct Copying {
    since: Option<i64>,
    /// Whether its turns have identifiers that say when they began.
    has_turns: bool,
}

/// A text, by its hash.
#[derive(PartialEq, Serialize, Deserialize)]
struct SeenText {
    hash: u64,
    by_event: bool,
}

fn take(record: &CodexRecord<'_>, state: &mut CodexState, batch: &mut Batch, line: u64) {
    let Some(payload) = record.payload.object() else {
        return batch.skipped.count(UNKNOWN);
    };
    if record.kind.text() == Some("session_meta") {
        return session(payload, record.timestamp.time(), state);
    }
    if state.is_copy(payload, record.timestamp.time()) {
        return batch.skipped.count(COPY);
    }
    take_item(record.kind.text(), payload, record.timestamp.time(), state, batch, line);
}

/// Takes a line that is the item itself, of an older version.
fn take_bare(record: &CodexRecord<'_>, item: &Payload<'_>, state: &mut CodexState, batch: &mut Batch, line: u64) {
    match (item.kind.text(), item.record_type.text()) {
        (None, Some(_)) => batch.skipped.count("setting"),
        (None, None) if state.meta.is_none() && item.id.text().is_some() => {
            state.began = record.timestamp.time();
            session(item, state.began, state);
        }
        (Some(_), _) => {
            take_item(Some("response_item"), item, record.timestamp.time().or(state.began), state, batch, line)
        }
        _ => batch.skipped.count(UNKNOWN),
    }
}

fn take_item(
    kind: Option<&str>,
    payload: &Payload<'_>,
    at: Option<i64>,
    state: &mut CodexState,
    batch: &mut Batch,
    line: u64,
) {
    let taken = match (kind, payload.kind.text()) {
        (Some("turn_context"), _) => return turn_context(payload, state),
        (Some("compacted"), _) => {
            payload.message.text().and_then(trimmed).map(|text| (Role::Summary, text)).ok_or("no text")
        }
        (Some("response_item"), Some("message")) => message(payload, state, &mut batch.skipped),
        (Some("response_item"), Some("reasoning")) | (Some("event_msg"), Some("agent_reasoning")) => Err("thinking"),
        (Some("response_item"), Some(kind)) if kind.ends_with("_output") => answer(payload, state),
        (Some("response_item"), Some(kind)) if kind.ends_with("_call") => question(payload, state),
        (Some("response_item"), Some("ghost_snapshot")) => Err("snapshot"),
        (Some("response_item"), _) => return batch.skipped.count(UNKNOWN),
        (Some("event_msg"), Some("agent_message")) => event(payload, state),
        (Some("event_msg"), Some("user_message")) => Err("said twice"),
        (Some("event_msg"), _) => Err("event"),
        _ => return batch.skipped.count(UNKNOWN),
    };
    match taken {
        Ok((role, text)) => batch.turns.push(state.turn(role, text, at, line)),
        Err(reason) => batch.skipped.count(reason),
    }
}

fn session(meta: &Payload<'_>, at: Option<i64>, state: &mut CodexState) {
    let id = meta.id.owned();
    if state.meta.is_some() && state.meta != id {
        state.copy.get_or_insert(Copying { since: at, has_turns: false });
        return;
    }
    state.meta = id;
    let base = meta.history_base.object().map(|base| &base.end_ordinal_exclusive);
    if let (Field::Number(own), _) | (_, Some(Field::Number(own))) = (&meta.subagent_history_start_ordinal, base) {
        state.own_from = Some(*own);
    }
    let subagent = meta.source.object().map(|source| &source.subagent);
    let spawn = subagent.and_then(|subagent| subagent.object()?.thread_spawn.object());
    let parent = meta.parent_thread_id.owned().or_else(|| spawn?.parent_thread_id.owned());
    state.parent = parent.or(state.parent.take());
    state.is_subagent |= state.parent.is_some() || subagent.is_some_and(|subagent| !matches!(subagent, Field::Nothing));
    state.cwd = meta.cwd.owned().or(state.cwd.take());
    state.branch = meta.git.object().and_then(|git| git.branch.owned()).or(state.branch.take());
}

fn turn_context(context: &Payload<'_>, state: &mut CodexState) {
    state.cwd = context.cwd.owned().or(state.cwd.take());
    state.model = context.model.owned().or(state.model.take());
}

fn message(message: &Payload<'_>, state: &mut CodexState, skipped: &mut Skipped) -> ParsedTurn {
    match message.role.text() {
        Some("user") => {
            if state.cwd.is_none() {
                state.cwd = texts(&message.content).find_map(|text| folder(&text));
            }
            let typed = join(records::typed(&message.content, skipped).filter_map(|text| typed(&text)));
            let typed = typed.ok_or(if texts(&message.content).next().is_some() { "not typed" } else { "no text" })?;
            state.said.clear();
            Ok((Role::User, typed))
        }
        Some("assistant") => {
            let texts: Vec<_> = texts(&message.content).collect();
            if texts.is_empty() {
                return Err("no text");
            }
            if let [text] = texts.as_slice()
                && let Some(with_plan) = plan::of(text)
            {
                return Ok((Role::Assistant, planned(text, with_plan, state).ok_or("said twice")?));
            }
            if state.said_before(&texts, false) { Err("said twice") } else { Ok((Role::Assistant, texts.join("\n\n"))) }
        }
        _ => Err("system text"),
    }
}

/// The new part of a message with a plan: its event may have had the rest, or all of it.
fn planned(text: &str, with_plan: plan::WithPlan, state: &mut CodexState) -> Option<String> {
    let [without, bare] = with_plan.of_event;
    let by_event = |text: &str| SeenText { hash: hash(&[text]), by_event: true };
    if state.forget(&by_event(text)) || state.forget(&by_event(&bare)) {
        return None;
    }
    if !without.is_empty() && state.forget(&by_event(&without)) {
        return Some(with_plan.plan);
    }
    for form in [text, &without, &bare] {
        state.wait(&[form.to_owned()], false);
    }
    Some(text.to_owned())
}

/// A question of the agent.
fn question(call: &Payload<'_>, state: &mut CodexState) -> ParsedTurn {
    if call.name.text() != Some(questions::TOOL) {
        return Err("tool call");
    }
    state.asked = call.call_id.owned();
    call.arguments.text().and_then(questions::asked).map(|text| (Role::Assistant, text)).ok_or("tool call")
}

/// The answer of a person to it.
fn answer(output: &Payload<'_>, state: &mut CodexState) -> ParsedTurn {
    if state.asked.is_none() || state.asked != output.call_id.owned() {
        return Err("tool output");
    }
    state.asked = None;
    output.output.text().and_then(questions::answered).map(|text| (Role::User, text)).ok_or("tool output")
}

/// The working folder, of a text that tells the agent where it is.
fn folder(text: &str) -> Option<String> {
    let rest = text.strip_prefix(ENVIRONMENT)?;
    let (_, rest) = rest.split_once("<cwd>").or_else(|| rest.split_once("Current working directory: "))?;
    let end = rest.find(['<', '\n']).unwrap_or(rest.len());
    Some(label(rest[..end].trim())).filter(|folder| !folder.is_empty())
}

fn event(event: &Payload<'_>, state: &mut CodexState) -> ParsedTurn {
    let text = [event.message.text().and_then(trimmed).ok_or("no text")?];
    if state.said_before(&text, true) {
        return Err("said twice");
    }
    let [text] = text;
    Ok((Role::Assistant, text))
}

/// The part of a text that a person typed.
fn typed(text: &str) -> Option<String> {
    if NOT_TYPED.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    let has_context = text.starts_with(REQUEST) || CONTEXT.iter().any(|start| text.starts_with(start));
    let mut requests = text.match_indices(REQUEST).filter(|_| has_context);
    match requests.find(|(at, _)| *at == 0 || text[..*at].ends_with('\n')) {
        Some((at, _)) => trimmed(&text[at + REQUEST.len()..]),
        None => Some(text.to_owned()),
    }
}

impl CodexState {
    fn turn(&self, role: Role, text: String, at: Option<i64>, line: u64) -> Turn {
        Turn {
            id: format!("{}:{line}", self.session),
            at,
            cwd: self.cwd.clone(),
            branch: self.branch.clone(),
            model: self.model.clone().filter(|_| role == Role::Assistant),
            subagent: self.is_subagent.then(|| self.session.clone()),
            ..Turn::new(self.parent.as_ref().unwrap_or(&self.session).clone(), role, text, (line, line))
        }
    }

    /// Whether a record belongs to the copy of another session. Identifiers of turns and sessions begin with their time.
    fn is_copy(&mut self, payload: &Payload<'_>, at: Option<i64>) -> bool {
        let Some(copy) = &mut self.copy else { return false };
        let session = self.meta.as_deref().filter(|session| has_time(session));
        let turn = payload.turn_id.text().filter(|turn| has_time(turn)).zip(session);
        let is_new = match turn {
            Some((turn, session)) => turn >= session,
            None => {
                let since = at.zip(copy.since).map(|(at, since)| at.saturating_sub(since));
                !copy.has_turns && since.is_none_or(|since| since > COPYING)
            }
        };
        copy.has_turns |= turn.is_some();
        if is_new {
            self.copy = None;
        }
        !is_new
    }

    /// Whether all these texts were already said by the other kind of record. If not, they wait for it.
    fn said_before(&mut self, texts: &[String], by_event: bool) -> bool {
        let said = |text: &String, by_event| SeenText { hash: hash(&[text]), by_event };
        let doubles: Vec<_> = texts.iter().map(|text| said(text, !by_event)).collect();
        if doubles.iter().all(|double| self.said.contains(double)) {
            for double in &doubles {
                self.forget(double);
            }
            return true;
        }
        self.wait(texts, by_event);
        false
    }

    /// Forgets a text that was waiting for its duplicate. Returns whether there was one.
    fn forget(&mut self, double: &SeenText) -> bool {
        let at = self.said.iter().position(|said| said == double);
        at.map(|at| self.said.remove(at)).is_some()
    }

    /// Has texts wait for their duplicates.
    fn wait(&mut self, texts: &[String], by_event: bool) {
        self.said.extend(texts.iter().map(|text| SeenText { hash: hash(&[text]), by_event }));
        self.said.drain(..self.said.len().saturating_sub(MAX_SAID));
    }
}

/// Whether an identifier is a UUID of version 7, which begins with its time.
fn has_time(id: &str) -> bool {
    is_uuid(id) && id.as_bytes().get(14) == Some(&b'7')
}

#[cfg(test)]
mod tests;
