//! Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl`, and `archived_sessions/`.
//!
//! After some days Codex compresses a file to `.jsonl.zst`. The session and the line identify a turn, so both files have
//! the same turns. Texts of the agent stand twice, as a message and as an event: what comes first is taken. A fork begins
//! with a copy of the session that it continues, and that is skipped.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::clean::clean;
use super::field::{Field, label, parse};
use super::jsonl::Lines;
use super::records::{Content, UNKNOWN, UNREADABLE, for_each_line, hash, is_uuid, join, read_compressed, texts};
use super::{Batch, Cursor, Format, ReadError, Role, Turn};
use crate::foreign::Foreign;
use crate::machine::Machine;

/// Reads transcripts of Codex CLI.
pub struct Codex;

/// Beginnings of texts that stand as the user's and were not typed.
const NOT_TYPED: [&str; 10] = [
    "<environment_context>",
    "<permissions instructions>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<skill>",
    "<image ",
    "</image>",
];
/// What an IDE puts before that which was typed.
const REQUEST: &str = "## My request for Codex:";
/// How many texts of the agent wait for their double.
const MAX_SAID: usize = 64;
/// Codex writes a copy at once: what comes later than this is new, in milliseconds.
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

fn read_lines(path: &Path, lines: &mut Lines<State>, batch: &mut Batch) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.trim_end_matches(".zst").trim_end_matches(".jsonl");
    let of_name = stem.len().checked_sub(36).and_then(|start| stem.get(start..)).filter(|id| is_uuid(id));
    for_each_line(lines, batch, |state, batch, line, bytes| {
        let mut mended = Vec::new();
        let Some(record) = parse::<Record>(bytes, &mut mended) else {
            return batch.skipped.count(UNREADABLE);
        };
        if state.session.is_empty() {
            let meta = record.payload.object().filter(|_| record.kind.text() == Some("session_meta"));
            let id = of_name.or_else(|| meta?.id.text()).unwrap_or(stem);
            state.session = label(id);
        }
        take(&record, state, batch, line);
    })
}

/// What is remembered of the lines before.
#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Of this file.
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
    /// Texts of the agent since the last prompt whose double is still to come.
    said: Vec<Said>,
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
struct Said {
    hash: u64,
    by_event: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Record<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    timestamp: Field<'a>,
    payload: Field<'a, Payload<'a>>,
}

/// The fields of all payloads that are read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    id: Field<'a>,
    cwd: Field<'a>,
    model: Field<'a>,
    git: Field<'a, Git<'a>>,
    source: Field<'a, Source<'a>>,
    parent_thread_id: Field<'a>,
    turn_id: Field<'a>,
    role: Field<'a>,
    content: Content<'a>,
    message: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Git<'a> {
    #[serde(borrow)]
    branch: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Source<'a> {
    #[serde(borrow)]
    subagent: Field<'a, Subagent<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Subagent<'a> {
    #[serde(borrow)]
    thread_spawn: Field<'a, Spawn<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spawn<'a> {
    #[serde(borrow)]
    parent_thread_id: Field<'a>,
}

fn take(record: &Record<'_>, state: &mut State, batch: &mut Batch, line: u64) {
    let Some(payload) = record.payload.object() else {
        return batch.skipped.count(UNKNOWN);
    };
    if record.kind.text() == Some("session_meta") {
        return session(payload, record.timestamp.time(), state);
    }
    if state.is_copy(payload, record.timestamp.time()) {
        return batch.skipped.count("copy of another session");
    }
    let taken = match (record.kind.text(), payload.kind.text()) {
        (Some("turn_context"), _) => return turn_context(payload, state),
        (Some("compacted"), _) => {
            payload.message.text().and_then(clean).map(|text| (Role::Summary, text)).ok_or("no text")
        }
        (Some("response_item"), Some("message")) => message(payload, state),
        (Some("response_item"), Some("reasoning")) | (Some("event_msg"), Some("agent_reasoning")) => Err("thinking"),
        (Some("response_item"), Some(kind)) if kind.ends_with("_output") => Err("tool output"),
        (Some("response_item"), Some(kind)) if kind.ends_with("_call") => Err("tool call"),
        (Some("response_item"), Some("ghost_snapshot")) => Err("snapshot"),
        (Some("response_item"), _) => return batch.skipped.count(UNKNOWN),
        (Some("event_msg"), Some("agent_message")) => event(payload, state),
        (Some("event_msg"), Some("user_message")) => Err("said twice"),
        (Some("event_msg"), _) => Err("event"),
        _ => return batch.skipped.count(UNKNOWN),
    };
    match taken {
        Ok((role, text)) => batch.turns.push(state.turn(role, text, record.timestamp.time(), line)),
        Err(reason) => batch.skipped.count(reason),
    }
}

fn session(meta: &Payload<'_>, at: Option<i64>, state: &mut State) {
    let id = meta.id.owned();
    if state.meta.is_some() && state.meta != id {
        state.copy.get_or_insert(Copying { since: at, has_turns: false });
        return;
    }
    state.meta = id;
    let subagent = meta.source.object().map(|source| &source.subagent);
    let spawn = subagent.and_then(|subagent| subagent.object()?.thread_spawn.object());
    let parent = meta.parent_thread_id.owned().or_else(|| spawn?.parent_thread_id.owned());
    state.parent = parent.or(state.parent.take());
    state.is_subagent |= state.parent.is_some() || subagent.is_some_and(|subagent| !matches!(subagent, Field::Nothing));
    state.cwd = meta.cwd.owned().or(state.cwd.take());
    state.branch = meta.git.object().and_then(|git| git.branch.owned()).or(state.branch.take());
}

fn turn_context(context: &Payload<'_>, state: &mut State) {
    state.cwd = context.cwd.owned().or(state.cwd.take());
    state.model = context.model.owned().or(state.model.take());
}

/// A turn's role and text, or why there is none.
type Taken = Result<(Role, String), &'static str>;

fn message(message: &Payload<'_>, state: &mut State) -> Taken {
    match message.role.text() {
        Some("user") => {
            let typed = join(texts(&message.content).filter_map(|text| typed(&text)));
            let typed = typed.ok_or(if texts(&message.content).next().is_some() { "not typed" } else { "no text" })?;
            state.said.clear();
            Ok((Role::User, typed))
        }
        Some("assistant") => {
            let texts: Vec<_> = texts(&message.content).collect();
            if texts.is_empty() {
                return Err("no text");
            }
            if state.said_before(&texts, false) { Err("said twice") } else { Ok((Role::Assistant, texts.join("\n\n"))) }
        }
        _ => Err("system text"),
    }
}

fn event(event: &Payload<'_>, state: &mut State) -> Taken {
    let text = [event.message.text().and_then(clean).ok_or("no text")?];
    if state.said_before(&text, true) {
        return Err("said twice");
    }
    let [text] = text;
    Ok((Role::Assistant, text))
}

/// What a person typed of a text.
fn typed(text: &str) -> Option<String> {
    if NOT_TYPED.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    match text.match_indices(REQUEST).find(|(at, _)| *at == 0 || text[..*at].ends_with('\n')) {
        Some((at, _)) => clean(&text[at + REQUEST.len()..]),
        None => Some(text.to_owned()),
    }
}

impl State {
    fn turn(&self, role: Role, text: String, at: Option<i64>, line: u64) -> Turn {
        Turn {
            id: format!("{}:{line}", self.session),
            session: self.parent.as_ref().unwrap_or(&self.session).clone(),
            role,
            text,
            at,
            cwd: self.cwd.clone(),
            branch: self.branch.clone(),
            model: self.model.clone().filter(|_| role == Role::Assistant),
            subagent: self.is_subagent.then(|| self.session.clone()),
            lines: (line, line),
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
        let said = |text: &String, by_event| Said { hash: hash(&[text]), by_event };
        let doubles: Vec<_> = texts.iter().map(|text| said(text, !by_event)).collect();
        if doubles.iter().all(|double| self.said.contains(double)) {
            for double in doubles {
                if let Some(at) = self.said.iter().position(|said| *said == double) {
                    self.said.remove(at);
                }
            }
            return true;
        }
        self.said.extend(texts.iter().map(|text| said(text, by_event)));
        self.said.drain(..self.said.len().saturating_sub(MAX_SAID));
        false
    }
}

/// Whether an identifier is a UUID of version 7, which begins with its time.
fn has_time(id: &str) -> bool {
    is_uuid(id) && id.as_bytes().get(14) == Some(&b'7')
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::super::corpus;
    use super::*;

    #[test]
    fn the_corpus_says_what_it_should() {
        corpus::check_all(&Codex);
    }

    #[test]
    fn a_file_that_grows_says_the_same() {
        corpus::check_pieces(&Codex);
    }

    #[test]
    fn a_broken_file_is_read() {
        corpus::check_mutations(&Codex);
    }

    #[test]
    fn transcripts_are_known_by_their_path() {
        let machine = Machine::new("/h", []);
        let sessions = [
            "/h/.codex/sessions/2026/11/02/rollout-2026-11-02T09-00-00-u.jsonl",
            "/h/.codex/sessions/2026/11/02/rollout-2026-11-02T09-00-00-u.jsonl.zst",
            "/h/.codex/archived_sessions/rollout-2026-11-02T09-00-00-u.jsonl",
        ];
        let others = [
            "/h/.codex/history.jsonl",
            "/h/.codex/state_5.sqlite",
            "/h/.codex/sessions/2026/11/02/rollout-2026-11-02T09-00-00-u.jsonl.zst.tmp",
            "/h/.codex/sessions/2026/11/02/notes.jsonl",
        ];
        assert_eq!(corpus::transcripts(&Codex, &machine, &[&sessions[..], &others].concat()), sessions);
        let moved = Machine::new("/h", [("CODEX_HOME", "/c")]);
        assert_eq!(Codex.places(&moved), [PathBuf::from("/c/sessions"), PathBuf::from("/c/archived_sessions")]);
    }

    #[test]
    fn a_compressed_file_has_the_same_turns() {
        let folder = tempfile::tempdir().unwrap();
        for plain in corpus::files(&Codex) {
            let path = folder.path().join(format!("{}.zst", plain.file_name().unwrap().to_str().unwrap()));
            let compressed = compress_to_vec(File::open(&plain).unwrap(), CompressionLevel::Fastest);
            std::fs::write(&path, &compressed).unwrap();
            let expected = Codex.read(&plain, None).unwrap();
            let batch = Codex.read(&path, None).unwrap();
            assert_eq!((&batch.turns, batch.whole), (&expected.turns, true));
            let again = Codex.read(&path, Some(&batch.cursor)).unwrap();
            assert_eq!(again, Batch { cursor: batch.cursor, ..Batch::default() });

            std::fs::write(&path, &compressed[..compressed.len() / 2]).unwrap();
            let torn = Codex.read(&path, Some(&again.cursor)).unwrap();
            assert!(expected.turns.starts_with(&torn.turns) && torn.turns.len() < expected.turns.len());
            assert_eq!((torn.whole, torn.cursor), (false, Cursor::default()));
        }
        let path = folder.path().join("rollout-a.jsonl.zst");
        std::fs::write(&path, "no frame").unwrap();
        assert_eq!(Codex.read(&path, None).unwrap().skipped.0[UNREADABLE], 1);
    }

    #[test]
    fn a_long_folder_is_not_copied_into_each_turn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout-a.jsonl");
        let long = "f".repeat(1 << 20);
        let meta = format!(
            "{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{long}\",\"parent_thread_id\":\"{long}\",\"cwd\":\"{long}\"}}}}\n"
        );
        let turn =
            "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":\"hi\"}}\n";
        std::fs::write(&path, meta + &turn.repeat(3)).unwrap();
        let turns = Codex.read(&path, None).unwrap().turns;
        assert_eq!(turns.len(), 3);
        assert!(turns.iter().all(|turn| turn.size() < 32 << 10), "{:?}", turns.iter().map(Turn::size).max());
    }

    #[test]
    fn the_last_line_of_a_compressed_file_may_lack_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout-a.jsonl.zst");
        let line = br#"{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}"#;
        std::fs::write(&path, compress_to_vec(&line[..], CompressionLevel::Fastest)).unwrap();
        assert_eq!(Codex.read(&path, None).unwrap().turns.len(), 1);
    }

    #[test]
    fn a_broken_compressed_file_is_read() {
        let file = [0, 1, 2]
            .map(|part| format!("{{\"type\":\"event_msg\",\"payload\":{{\"a\":{part}}}}}\n").repeat(40))
            .concat();
        corpus::check_mutations_of(
            &Codex,
            "rollout-a.jsonl.zst",
            &compress_to_vec(file.as_bytes(), CompressionLevel::Fastest),
        );
    }
}
