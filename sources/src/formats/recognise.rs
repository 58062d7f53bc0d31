//! The format of a file, by its first records: outside an agent's own folder, its name says little.

use std::io::{BufReader, Read as _};

use memchr::memmem;
use serde::Deserialize;

use super::field::{Field, parse};
use super::records::unpacked;
use super::sqlite::Database;
use super::{aider, export, specstory};
use crate::foreign::Foreign;

/// Bytes and lines at the beginning that are looked at; more bytes, if the first record is longer.
const HEAD: [u64; 2] = [64 << 10, 2 << 20];
const LINES: usize = 40;
/// Endings of files that may be transcripts.
const ENDINGS: [&str; 10] = ["md", "jsonl", "json", "zip", "zst", "db", "sqlite", "sqlite3", "vscdb", "ndjson"];
/// How a database begins.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// The tables of databases, with a column that tells.
const TABLES: [(&str, &str, &str); 9] = [
    ("cursorDiskKV", "value", "cursor"),
    ("transcript_events", "event_json", "openclaw"),
    ("session_message", "data", "opencode"),
    ("part", "message_id", "opencode"),
    ("messages", "content_json", "goose"),
    ("messages", "parts", "crush"),
    ("threads", "data_type", "zed"),
    ("conversations_v2", "value", "kiro"),
    ("conversations", "value", "kiro"),
];
/// Types of Codex' lines, and of Claude Code's beside messages.
const OF_CODEX: [&str; 5] = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
const OF_CLAUDE: [&str; 8] =
    ["user", "assistant", "attachment", "system", "summary", "progress", "queue-operation", "file-history-snapshot"];

/// Kinds of the lines of Kiro's CLI.
const OF_KIRO: [&str; 3] = ["Prompt", "AssistantMessage", "ToolResults"];

/// The name of the format whose records a file begins with; `None` if they are of no format, or cannot be read.
pub fn recognise(file: Foreign<'_>) -> Option<&'static str> {
    let ending = file.path.extension()?.to_str()?;
    if !ENDINGS.contains(&ending) {
        return None;
    }
    HEAD.into_iter().find_map(|most| by_head(file, ending, most))
}

/// The format by at most `most` bytes at the beginning.
fn by_head(file: Foreign<'_>, ending: &str, most: u64) -> Option<&'static str> {
    let mut head = Vec::new();
    // One that is longer is read up to there.
    file.open(u64::MAX).ok()?.take(most).read_to_end(&mut head).ok()?;
    if head.starts_with(SQLITE) {
        return of_database(file);
    }
    if ending == "zst" {
        let mut plain = Vec::new();
        // What is cut off is broken, and what is before it is enough.
        let _broken = unpacked(BufReader::new(&*head))?.take(most).read_to_end(&mut plain);
        head = plain;
    }
    if ending == "zip" {
        head = export::head_of_archive(file, most)?;
    }
    if ending == "md" {
        return of_history(&String::from_utf8_lossy(&head));
    }
    let export = if ["json", "zip"].contains(&ending) { of_export(&head) } else { None };
    export.or_else(|| of_lines(&head))
}

/// The program whose history it is.
fn of_history(head: &str) -> Option<&'static str> {
    match () {
        () if specstory::is_history(head) => Some("specstory"),
        () if aider::is_history(head) => Some("aider"),
        () => None,
    }
}

/// The service whose list of conversations, or whose conversation, it is.
fn of_export(head: &[u8]) -> Option<&'static str> {
    let has = |name: &str| memmem::find(head, name.as_bytes()).is_some();
    let begin = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    let is_list = begin.strip_prefix(b"[").is_some_and(|list| list.trim_ascii_start().starts_with(b"{"));
    match is_list || begin.starts_with(b"{") {
        true if has("\"chat_messages\"") && has("\"sender\"") => Some("claude-ai"),
        true if has("\"requests\"") && has("\"responderUsername\"") => Some("vscode-chat"),
        true if has("\"say\"") && has("\"ts\"") => Some("cline"),
        true if has("\"updated_at\"") && has("\"origin\"") && has("\"sessionId\"") => Some("cline"),
        true if has("\"zed\":\"context\"") || has("\"zed\": \"context\"") => Some("zed-text"),
        // It began as Continue did, and has what the agent does elsewhere.
        true if has("\"sessionId\"") && has("\"history\"") && has("\"executionId\"") => Some("kiro-ide"),
        true if has("\"sessionId\"") && has("\"workspaceDirectory\"") && has("\"history\"") => Some("continue"),
        true if has("\"messages\"") && has("\"id\":\"T-") || has("\"id\": \"T-") => Some("amp"),
        true if has("\"mapping\"") && has("\"content_type\"") => Some("chatgpt"),
        _ => None,
    }
}

fn of_database(file: Foreign<'_>) -> Option<&'static str> {
    let database = Database::open(file).ok()?;
    let has = |table: &str, column: &str| database.columns(table).is_ok_and(|columns| columns.contains(column));
    TABLES.iter().find(|(table, column, _)| has(table, column)).map(|(_, _, format)| *format)
}

/// The fields of a record that tell its format.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Shape<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    id: Field<'a>,
    role: Field<'a>,
    content: Field<'a>,
    message: Field<'a, MessageShape<'a>>,
    payload: Field<'a>,
    system_payload: Field<'a>,
    #[serde(rename = "kind")]
    entry: Field<'a>,
    data: Field<'a>,
    timestamp: Field<'a>,
    created: Field<'a>,
    uuid: Field<'a>,
    session_id: Field<'a>,
    leaf_uuid: Field<'a>,
    message_id: Field<'a>,
    start_time: Field<'a>,
    chat_session_id: Field<'a>,
    execution_id: Field<'a>,
    actions: Field<'a>,
    chat: Field<'a>,
    project_hash: Field<'a>,
    #[serde(rename = "working_dir")]
    working_dir: Field<'a>,
    #[serde(rename = "record_type")]
    record_type: Field<'a>,
    #[serde(rename = "$set")]
    set: Field<'a>,
    v: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageShape<'a> {
    #[serde(borrow)]
    parts: Field<'a>,
}

/// A format, and whether no other has such a record.
type Guess = (&'static str, bool);

fn of_lines(head: &[u8]) -> Option<&'static str> {
    let mut lines = head.split(|&byte| byte == b'\n').take(LINES).filter(|line| !line.trim_ascii().is_empty());
    let mut first = None;
    for line in lines.by_ref() {
        let mut mended = Vec::new();
        match parse::<Shape>(line, &mut mended).and_then(|shape| of_record(&shape, line)) {
            Some((format, true)) => return Some(format),
            Some(guess) => first = first.or(Some(guess)),
            None => {}
        }
    }
    // The one object of an older version has many lines, or a longer one.
    let has = |name: &str| memmem::find(head, name.as_bytes()).is_some();
    let is_object = head.trim_ascii_start().starts_with(b"{") && has("\"sessionId\"") && has("\"messages\"");
    first.map(|(format, _)| format).or_else(|| is_object.then_some("gemini"))
}

fn of_record(shape: &Shape<'_>, line: &[u8]) -> Option<Guess> {
    fn has<T>(field: &Field<'_, T>) -> bool {
        !matches!(field, Field::Nothing)
    }
    fn is_object<T>(field: &Field<'_, T>) -> bool {
        matches!(field, Field::Object(_))
    }
    let is_of_qwen = has(&shape.system_payload) || shape.message.object().is_some_and(|message| has(&message.parts));
    Some(match shape.kind.text() {
        Some(kind) if OF_CODEX.contains(&kind) && is_object(&shape.payload) => ("codex", true),
        Some("user" | "gemini") if has(&shape.id) && has(&shape.content) && !has(&shape.message) => ("gemini", true),
        Some("user" | "assistant" | "tool_result" | "system") if is_of_qwen => ("qwen-code", true),
        Some(kind) if OF_CLAUDE.contains(&kind) => {
            let of_claude = [&shape.uuid, &shape.session_id, &shape.leaf_uuid, &shape.message_id];
            ("claude-code", of_claude.into_iter().any(has))
        }
        Some("session.start" | "user.message" | "assistant.message") if is_object(&shape.data) => ("copilot", true),
        Some("session") if has(&shape.id) => ("openclaw", false),
        // It may be null.
        Some("message") if is_object(&shape.message) && memmem::find(line, b"\"parentId\"").is_some() => {
            ("openclaw", true)
        }
        Some("message") if has(&shape.role) => ("gimli", true),
        Some("message") if is_object(&shape.message) => ("gimli", false),
        Some(_) => return None,
        None if is_object(&shape.data) && shape.entry.text().is_some_and(|kind| OF_KIRO.contains(&kind)) => {
            ("kiro", true)
        }
        None if has(&shape.chat_session_id) && has(&shape.actions) => ("kiro-ide", true),
        None if has(&shape.execution_id) && has(&shape.chat) => ("kiro-ide", true),
        None if is_object(&shape.payload) && has(&shape.id) => ("kiro-ide", true),
        None if is_object(&shape.v) && memmem::find(line, b"\"requests\"").is_some() => ("vscode-chat", true),
        None if has(&shape.record_type) => ("codex", true),
        None if is_object(&shape.set) || has(&shape.project_hash) || has(&shape.start_time) => ("gemini", true),
        None if has(&shape.working_dir) => ("goose", true),
        None if has(&shape.role) && is_object(&shape.message) => ("cursor", false),
        None if has(&shape.role) && has(&shape.content) && has(&shape.created) => ("goose", false),
        None if has(&shape.role) && has(&shape.content) => ("gimli", false),
        // The first line of a bare rollout.
        None if has(&shape.id) && has(&shape.timestamp) && !has(&shape.message) => ("codex", false),
        None => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::foreign::{Deadline, Root};
    use crate::formats::{all, by_name, corpus, databases};

    fn of(path: &Path) -> Option<&'static str> {
        let (root, deadline) = (Root::around(path).unwrap(), Deadline::default());
        recognise(Foreign { root: &root, path, deadline: &deadline })
    }

    /// 44.2: every file of the corpus is known by its records, whatever it is called.
    #[test]
    fn a_file_is_known_by_its_records() {
        let folder = tempfile::tempdir().unwrap();
        let mut count = 0;
        for format in all() {
            for file in corpus::files(*format).into_iter().chain(cursor_files(format.name())) {
                let ending = file.extension().and_then(|ending| ending.to_str());
                let ending = ending.filter(|ending| ["json", "md"].contains(ending)).unwrap_or("jsonl");
                let copy = folder.path().join(format!("export {count}.{ending}"));
                fs::copy(&file, &copy).unwrap();
                assert_eq!(of(&copy), Some(format.name()), "{file:?}");
                count += 1;
            }
        }
        assert!(count > 15, "{count}");
        for (name, script, _) in databases::SCRIPTS {
            let made = databases::make(by_name(name).unwrap(), script, "export.db");
            assert_eq!(of(&made.path), Some(name), "{script}");
        }
    }

    fn cursor_files(name: &str) -> Vec<std::path::PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/cursor/projects");
        let file = folder.join("home-u-p/agent-transcripts/c1/c1.jsonl");
        if name == "cursor" { vec![file] } else { Vec::new() }
    }

    /// 44.2: other files are of no agent.
    #[test]
    fn other_files_are_of_no_agent() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("package.json", "{\"name\":\"x\",\"version\":\"1\",\"type\":\"module\"}"),
            ("log.jsonl", "{\"level\":\"info\",\"msg\":\"started\",\"time\":7}\n"),
            ("a.jsonl", "no JSON\n[1]\n"),
            ("a.json", ""),
            ("a.db", "SQLite format 3\0 and no more"),
            ("a.jsonl.zst", "no frame"),
            ("a.txt", "{\"type\":\"session_meta\",\"payload\":{}}\n"),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            assert_eq!(of(&path), None, "{name}");
        }
    }
}
