//! The parsers of foreign files, and the shapes that each may meet.

use std::collections::HashSet;
use std::convert::Infallible;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{NewSource, Scope, SourceKind};
use memorist_ingest::project;
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sources::chunks::chunk;
use memorist_ingest::sources::discover::discover;
use memorist_ingest::sources::foreign::{Deadline, Foreign, Root, lone};
use memorist_ingest::sources::formats::{self, Skipped};
use memorist_ingest::sources::machine::Machine;
use memorist_ingest::sources::moving::{self, System};
use memorist_ingest::sources::notes::open;
use memorist_ingest::sources::tokens::Estimate;
use memorist_ingest::sources::walk::{Options, walk};
use memorist_ingest::sync::{SyncOptions, Syncer};

use super::texts::{self, Shape};
use super::{databases, pdfs, special};

/// The input that a parser expects.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Lines,
    Json,
    Packed,
    Archive,
    History,
    Note,
    /// Notes that are also saved.
    Synced,
    SyncedLines,
    Patterns,
    Database,
    Pdf,
    Small,
}

/// Something that reads a foreign file.
#[derive(Clone, Copy)]
pub struct Parser {
    pub name: &'static str,
    /// The path of that file, in the folder that is read.
    pub file: &'static str,
    kind: Kind,
    /// Reads the folder, or the file.
    pub read: fn(&Path, &Path),
}

const fn parser(name: &'static str, file: &'static str, kind: Kind, read: fn(&Path, &Path)) -> Parser {
    Parser { name, file, kind, read }
}

/// Parsers that meet files of gigabytes: a reader of lines, of a whole file, of a store, and of notes.
const LARGE: [&str; 7] =
    ["codex", "gemini, an object", "chatgpt", "chatgpt, an archive", "aider", "mem0, an export", "Markdown"];

#[rustfmt::skip] // one a line
pub const ALL: [Parser; 73] = [
    parser("claude-code", "0f8fad5b-d9cb-469f-a165-70867728950e.jsonl", Kind::Lines, |_, file| transcript("claude-code", file)),
    parser("codex", "rollout-a.jsonl", Kind::Lines, |_, file| transcript("codex", file)),
    parser("codex, packed", "rollout-a.jsonl.zst", Kind::Packed, |_, file| transcript("codex", file)),
    parser("gemini", "chats/session-a.jsonl", Kind::Lines, |_, file| transcript("gemini", file)),
    parser("gemini, an object", "chats/session-a.json", Kind::Json, |_, file| transcript("gemini", file)),
    parser("gemini, the project", ".project_root", Kind::Small, gemini_of_project),
    parser("gemini, all projects", "projects.json", Kind::Small, gemini_of_projects),
    parser("openclaw", "sessions/a.jsonl", Kind::Lines, |_, file| transcript("openclaw", file)),
    parser("openclaw, packed", "sessions/a.jsonl.reset.1.zst", Kind::Packed, |_, file| transcript("openclaw", file)),
    parser("openclaw, a database", "openclaw-agent.sqlite", Kind::Database, |_, file| transcript("openclaw", file)),
    parser("opencode", "opencode.db", Kind::Database, |_, file| transcript("opencode", file)),
    parser("goose", "sessions/a.jsonl", Kind::Lines, |_, file| transcript("goose", file)),
    parser("goose, a database", "sessions/sessions.db", Kind::Database, |_, file| transcript("goose", file)),
    parser("cursor", "agent-transcripts/a.jsonl", Kind::Lines, |_, file| transcript("cursor", file)),
    parser("cursor, a database", "globalStorage/state.vscdb", Kind::Database, |_, file| transcript("cursor", file)),
    parser("copilot", "session-state/a.jsonl", Kind::Lines, |_, file| transcript("copilot", file)),
    parser("vscode-chat", "chatSessions/a.jsonl", Kind::Lines, |_, file| transcript("vscode-chat", file)),
    parser("vscode-chat, an object", "chatSessions/a.json", Kind::Json, |_, file| transcript("vscode-chat", file)),
    parser("vscode-chat, the folder", "workspace.json", Kind::Small, vscode_folder),
    parser("cline", "tasks/a/ui_messages.json", Kind::Json, |_, file| transcript("cline", file)),
    parser("cline, a session", "sessions/a/a.messages.json", Kind::Json, |_, file| transcript("cline", file)),
    parser("cline, the folder", "tasks/a/api_conversation_history.json", Kind::Small, cline_folder),
    parser("cline, the description", "sessions/a/a.json", Kind::Small, cline_description),
    parser("qwen-code", "chats/a.jsonl", Kind::Lines, |_, file| transcript("qwen-code", file)),
    parser("continue", "sessions/a.json", Kind::Json, |_, file| transcript("continue", file)),
    parser("continue, all sessions", "sessions/sessions.json", Kind::Small, continue_sessions),
    parser("amp", "threads/T-a.json", Kind::Json, |_, file| transcript("amp", file)),
    parser("crush", ".crush/crush.db", Kind::Database, |_, file| transcript("crush", file)),
    parser("crush, all projects", ".local/share/crush/projects.json", Kind::Small, |folder, _| discover_in(folder, None)),
    parser("zed", "threads/threads.db", Kind::Database, |_, file| transcript("zed", file)),
    parser("kiro", "sessions/cli/a.jsonl", Kind::Lines, |_, file| transcript("kiro", file)),
    parser("kiro, the description", "sessions/cli/a.json", Kind::Small, kiro_description),
    parser("kiro, a database", "kiro-cli/data.sqlite3", Kind::Database, |_, file| transcript("kiro", file)),
    parser("kiro-ide", "sess_a/messages.jsonl", Kind::Lines, |_, file| transcript("kiro-ide", file)),
    parser("kiro-ide, the description", "sess_a/session.json", Kind::Small, kiro_ide_description),
    parser("kiro-ide, a session", "kiro.kiroagent/workspace-sessions/YQ/a.json", Kind::Json, |_, file| transcript("kiro-ide", file)),
    parser("kiro-ide, all sessions", "kiro.kiroagent/workspace-sessions/YQ/sessions.json", Kind::Small, kiro_ide_sessions),
    parser("kiro-ide, an execution", "kiro.kiroagent/a/b/c", Kind::Json, |_, file| transcript("kiro-ide", file)),
    parser("kiro-ide, a dialogue", "kiro.kiroagent/a/b.chat", Kind::Json, |_, file| transcript("kiro-ide", file)),
    parser("zed-text", "conversations/a - 1.zed.json", Kind::Json, |_, file| transcript("zed-text", file)),
    parser("gimli", "sessions/a.jsonl", Kind::Lines, |_, file| transcript("gimli", file)),
    parser("chatgpt", "conversations.json", Kind::Json, |_, file| transcript("chatgpt", file)),
    parser("chatgpt, an archive", "export.zip", Kind::Archive, |_, file| transcript("chatgpt", file)),
    parser("claude-ai", "conversations.json", Kind::Json, |_, file| transcript("claude-ai", file)),
    parser("claude-ai, an archive", "export.zip", Kind::Archive, |_, file| transcript("claude-ai", file)),
    parser("specstory", ".specstory/history/a.md", Kind::History, |_, file| transcript("specstory", file)),
    parser("aider", ".aider.chat.history.md", Kind::History, |_, file| transcript("aider", file)),
    parser("sync of codex", "rollout-a.jsonl", Kind::SyncedLines, |folder, _| sync(folder, Some("codex"))),
    parser("sync of codex, packed", "rollout-a.jsonl.zst", Kind::Packed, |folder, _| sync(folder, Some("codex"))),
    parser("sync of opencode", "opencode.db", Kind::Database, |folder, _| sync(folder, Some("opencode"))),
    parser("sync of notes", "a.md", Kind::Synced, |folder, _| sync(folder, None)),
    parser("Markdown", "a.md", Kind::Note, |_, file| note(file)),
    parser("text", "a.txt", Kind::Note, |_, file| note(file)),
    parser("org", "a.org", Kind::Note, |_, file| note(file)),
    parser("MDX", "a.mdx", Kind::Note, |_, file| note(file)),
    parser("AsciiDoc", "a.adoc", Kind::Note, |_, file| note(file)),
    parser("canvas", "a.canvas", Kind::Json, |_, file| note(file)),
    parser("PDF", "a.pdf", Kind::Pdf, |folder, _| pdf(folder)),
    parser(".gitignore", ".gitignore", Kind::Patterns, |folder, _| walked(folder)),
    parser(".memoristignore", ".memoristignore", Kind::Patterns, |folder, _| walked(folder)),
    parser(".gitignore of a project", "p/.gitignore", Kind::Patterns, discover_in_project),
    parser(".gitignore of basic-memory", ".gitignore", Kind::Patterns, |folder, _| moved("basic-memory", folder)),
    parser(".git", ".git", Kind::Small, |folder, _| drop(project::of_session(folder, None))),
    parser("vaults", ".config/obsidian/obsidian.json", Kind::Small, |folder, _| discover_in(folder, None)),
    parser("mudpuppy", "memory.db", Kind::Database, |folder, _| moved("mudpuppy", folder)),
    parser("memorizer", "memory.db", Kind::Database, |_, file| moved("memorizer", file)),
    parser("krolik", "memory.db", Kind::Database, |_, file| moved("krolik", file)),
    parser("openclaw, an index", "memory/main.sqlite", Kind::Database, |folder, _| moved("openclaw", folder)),
    parser("claude-mem", "claude-mem.db", Kind::Database, |folder, _| moved("claude-mem", folder)),
    parser("mem0, a collection", "collection/a/storage.sqlite", Kind::Database, |folder, _| moved("mem0", folder)),
    parser("mem0, an export", "export.json", Kind::Json, |folder, _| moved("mem0", folder)),
    parser("server-memory", "memory.jsonl", Kind::Json, |folder, _| moved("server-memory", folder)),
    parser("basic-memory", "a.md", Kind::Note, |folder, _| moved("basic-memory", folder)),
];

impl Parser {
    /// The shapes that it may meet: a file need not be a regular file of the kind that its name says.
    pub fn shapes(&self) -> Vec<Shape> {
        let own: &[&[Shape]] = match self.kind {
            Kind::Lines => &[&texts::ANY, &texts::LINES],
            Kind::Json => &[&texts::ANY, &texts::LINES, &texts::JSON],
            Kind::Packed => &[&special::PACKED],
            Kind::Archive => &[&texts::ANY, &special::ARCHIVES],
            Kind::History => &[&texts::ANY, &texts::HISTORIES],
            Kind::Note => &[&texts::ANY, &texts::NOTES],
            Kind::Synced => &[&texts::SYNCED],
            Kind::SyncedLines => &[&texts::SYNCED_LINES],
            Kind::Patterns => &[&texts::ANY, &texts::PATTERNS],
            Kind::Database => &[&databases::ALL],
            Kind::Pdf => &[&texts::ANY, &pdfs::ALL],
            Kind::Small => &[&texts::ANY],
        };
        let own = own.iter().flat_map(|shapes| shapes.iter()).filter(|shape| self.has_own_limit(shape.0));
        own.chain(&special::FILES).copied().collect()
    }

    /// Whether it meets a shape that takes long: many parsers share the code that cuts off files of gigabytes.
    fn has_own_limit(&self, shape: &str) -> bool {
        match shape {
            "2 GiB of zeros" | "line without an end" => LARGE.contains(&self.name),
            "a million entities" => self.name == "server-memory",
            "16 GiB of line breaks" => self.name == "codex, packed",
            _ => true,
        }
    }
}

fn transcript(format: &str, file: &Path) {
    let format = formats::by_name(format).unwrap();
    let mut cursor = None;
    while let Ok(batch) = format.read(file, cursor.as_ref())
        && batch.more
    {
        cursor = Some(batch.cursor);
    }
    let _any = formats::last_turns(format, file, 64 << 10);
    if let Ok(root) = Root::around(file) {
        let deadline = Deadline::default();
        let file = Foreign { root: &root, path: file, deadline: &deadline };
        let _any = (formats::recognise(file), formats::first_folder(file));
    }
}

fn gemini_of_project(folder: &Path, _: &Path) {
    gemini(folder);
}

fn gemini_of_projects(folder: &Path, _: &Path) {
    let project = folder.join("tmp/p");
    fs::create_dir_all(&project).unwrap();
    gemini(&project);
}

fn gemini(project: &Path) {
    let chat = project.join("chats/session-a.jsonl");
    fs::create_dir_all(chat.parent().unwrap()).unwrap();
    fs::write(&chat, "{\"id\":\"1\",\"type\":\"user\",\"content\":\"x\"}\n").unwrap();
    assert_eq!(formats::by_name("gemini").unwrap().read(&chat, None).unwrap().turns.len(), 1);
}

fn vscode_folder(folder: &Path, _: &Path) {
    let chat = folder.join("chatSessions/a.json");
    fs::create_dir_all(chat.parent().unwrap()).unwrap();
    fs::write(&chat, "{\"requests\":[{\"message\":{\"text\":\"x\"}}]}").unwrap();
    assert_eq!(formats::by_name("vscode-chat").unwrap().read(&chat, None).unwrap().turns.len(), 1);
}

fn cline_folder(_: &Path, history: &Path) {
    beside("cline", &history.with_file_name("ui_messages.json"), r#"[{"say":"text","text":"x"}]"#);
}

fn cline_description(_: &Path, description: &Path) {
    let session = r#"{"sessionId":"a","messages":[{"role":"user","content":"x"}]}"#;
    beside("cline", &description.with_file_name("a.messages.json"), session);
}

fn continue_sessions(_: &Path, list: &Path) {
    let session = r#"{"sessionId":"a","history":[{"message":{"role":"user","content":"x"}}]}"#;
    beside("continue", &list.with_file_name("a.json"), session);
}

fn kiro_description(_: &Path, description: &Path) {
    let line = r#"{"kind":"Prompt","data":{"content":[{"kind":"text","data":"x"}]}}"#;
    beside("kiro", &description.with_extension("jsonl"), &format!("{line}\n"));
}

fn kiro_ide_description(_: &Path, description: &Path) {
    let line = r#"{"id":"a","payload":{"type":"user","content":"x"}}"#;
    beside("kiro-ide", &description.with_file_name("messages.jsonl"), &format!("{line}\n"));
}

fn kiro_ide_sessions(_: &Path, list: &Path) {
    let session = r#"{"sessionId":"a","history":[{"message":{"role":"user","content":"x"}}]}"#;
    beside("kiro-ide", &list.with_file_name("a.json"), session);
}

/// Reads a transcript beside the file that says more of it.
fn beside(format: &str, path: &Path, transcript: &str) {
    fs::write(path, transcript).unwrap();
    assert_eq!(formats::by_name(format).unwrap().read(path, None).unwrap().turns.len(), 1);
}

/// Cuts a note into chunks.
fn note(file: &Path) {
    let Ok(bytes) = lone(file, SyncSettings::default().max_file_bytes) else { return };
    let Some(open) = open(file, &bytes) else { return };
    let limits = SyncSettings::default().limits();
    chunk(&open.text, open.kind, &limits, &Estimate, &HashSet::new());
}

/// Lists the notes below a folder.
fn walked(folder: &Path) {
    walk(&Options::new(folder), &mut Skipped::default(), &mut |_| ControlFlow::Continue(())).unwrap();
}

/// Reads a folder into a store, as the commands do.
fn sync(folder: &Path, format: Option<&str>) {
    let store = tempfile::tempdir_in(folder.parent().unwrap()).unwrap();
    let engine = Engine::open(store.path(), Config::without_model()).unwrap();
    let (kind, format) = match format {
        Some(format) => (SourceKind::Sessions, Some(format.to_owned())),
        None => (SourceKind::Notes, None),
    };
    let path = folder.to_str().unwrap().to_owned();
    let source = NewSource { kind, path, format, globs: Vec::new(), scope: Scope::default() };
    engine.add_source(&source).unwrap();
    let syncer = Syncer::new(store.path(), SyncSettings::default(), Config::without_model().model);
    // The second looks at what the first left.
    for _ in 0..2 {
        syncer.sync(&engine, &SyncOptions::default(), &NoProgress).unwrap();
    }
}

/// Reads PDFs of a folder, each in a process of its own.
fn pdf(folder: &Path) {
    pdfs::set_reader(Path::new("/dev/null"));
    sync(folder, None);
}

fn moved(system: &str, path: &Path) {
    let system: System = system.parse().unwrap();
    let _any = moving::read::<Infallible>(system, path, &mut |_| Ok(()));
}

fn discover_in_project(folder: &Path, _: &Path) {
    fs::create_dir_all(folder.join("p/.git")).unwrap();
    fs::write(folder.join("p/AGENTS.md"), "text").unwrap();
    discover_in(folder, Some(&folder.join("p")));
}

fn discover_in(home: &Path, working_folder: Option<&Path>) {
    discover(&Machine::new(home, []), working_folder, &mut |_| {});
}
