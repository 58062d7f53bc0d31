//! No saved, typed or named text reaches a terminal as control characters: every command, as text and as JSON, on
//! stdout and on stderr.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use memorist_engine::types::{Kind, Link, LinkKind, NewRecord, Scope, Viewer};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{memorist, words_only};

/// Sets the clipboard, clears the screen (twice), changes the text direction, hides, deletes, and overwrites the line.
const HOSTILE: &str = "keel \u{1b}]52;c;ZXZpbA==\u{7} \u{1b}[2J\u{9b}2J \u{202e}\u{2066}\u{200f} \u{200b}\u{e0041}\u{feff}\u{7f}\u{8}\rlog";

/// Commands that need a terminal, the real model or a client. Their output is escaped in the same way, or tested
/// separately.
const ELSEWHERE: [&str; 5] = ["setup", "browse", "serve", "demo", "help"];

fn is_hostile(character: char) -> bool {
    let turns = ['\u{202e}', '\u{2066}', '\u{200f}', '\u{200b}', '\u{e0041}', '\u{feff}'];
    (character.is_control() && character != '\n' && character != '\t') || turns.contains(&character)
}

fn assert_harmless(arguments: &[&str], stream: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let found: Vec<_> = text.chars().filter(|character| is_hostile(*character)).collect();
    assert!(found.is_empty(), "{arguments:?} prints {found:?} on {stream}: {text:?}");
}

/// A store in a folder with such a name, with such texts everywhere.
struct TerminalWorld {
    above: TempDir,
}

impl TerminalWorld {
    fn new() -> Self {
        let world = TerminalWorld { above: tempfile::tempdir().unwrap() };
        fs::create_dir(world.store()).unwrap();
        let engine = words_only().open(&world.store()).unwrap();
        let record = |number: u32| NewRecord {
            source: format!("source {HOSTILE}"),
            context: Some(format!("context {HOSTILE}")),
            tags: vec!["tag\u{202e}\u{200b}".into()],
            scope: Scope { project: Some("atlas\u{202e}\u{feff}".into()), agent: Some("ann\u{2066}".into()) },
            ..NewRecord::new(format!("number {number} {HOSTILE}"))
        };
        for number in 1..=3 {
            engine.add(&record(number)).unwrap();
        }
        let contact = json!({ "name": format!("Ana {HOSTILE}"), "role": format!("designer {HOSTILE}") });
        engine.add(&NewRecord::of_body(Kind::Contact, contact).unwrap()).unwrap();
        for (from, kind, to) in [(2, LinkKind::Supersedes, 1), (3, LinkKind::Caused, 2)] {
            engine.viewed_by(&Viewer::OWNER).link(Link { from: from.into(), kind, to: to.into() }).unwrap();
        }
        engine.close();
        world
    }

    fn store(&self) -> PathBuf {
        self.above.path().join("st\u{1b}]0;title\u{7}\u{202e}ore")
    }

    fn file(&self, content: &str) -> String {
        let path = self.above.path().join("f\u{1b}[2J\u{202e}ile");
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let output = memorist(&self.store(), arguments).stdin(Stdio::null()).output().unwrap();
        assert_harmless(arguments, "stdout", &output.stdout);
        assert_harmless(arguments, "stderr", &output.stderr);
        output
    }
}

fn commands() -> BTreeSet<String> {
    let help = Command::new(env!("CARGO_BIN_EXE_memorist")).arg("help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A description may continue in indented lines.
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn no_command_prints_what_a_terminal_obeys() {
    let world = TerminalWorld::new();
    let lines =
        format!("{{\"content\": {}}}\n{{\"cont{HOSTILE}\nnot JSON {HOSTILE}\n", json!(format!("new {HOSTILE}")));
    let file = world.file(&lines);
    let backup = world.above.path().join("back\u{1b}[2Jup");
    let (backup, absent) = (backup.to_str().unwrap(), "/no/such/\u{1b}[2J\u{202e}file");
    let said = format!("keel {HOSTILE}");
    let twin = format!("keel  {HOSTILE}");
    let notes = world.above.path().join("no\u{1b}[2Jtes");
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("a\u{202e}.md"), format!("# {HOSTILE}\n\nThe rudder {HOSTILE}.\n")).unwrap();
    let notes = notes.to_str().unwrap();
    let pages = world.above.path().join("ma\u{1b}[2Jn");
    let (pages, below_a_file) = (pages.to_str().unwrap(), format!("{file}/\u{1b}[2J"));
    // So that the explorer ends.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().port().to_string();
    // Each with its exit code, and whether hostile text is in its output.
    let table: Vec<(Vec<&str>, i32, bool)> = vec![
        (vec!["add", &said, "--source", HOSTILE, "--tag", "t\u{202e}"], 0, false),
        (vec!["add", &said, "--kind", HOSTILE], 2, true),
        (vec!["search", "keel"], 0, true),
        (vec!["search", "keel", "--explain", "-vv"], 0, true),
        (vec!["search", &said, "--cursor", HOSTILE], 2, false),
        (vec!["search", "keel", "--project", HOSTILE], 0, false),
        (vec!["get", "1"], 0, true),
        (vec!["get", "4"], 0, true),
        (vec!["get", HOSTILE], 2, true),
        (vec!["list"], 0, true),
        (vec!["update", "3", "--content", &said, "--reason", HOSTILE], 0, false),
        (vec!["history", "3"], 0, true),
        (vec!["rollback", "3", "1", "--reason", HOSTILE], 0, false),
        (vec!["undo", "3"], 0, true),
        (vec!["undo", "99"], 4, false),
        (vec!["link", "1", "related", "3"], 0, false),
        (vec!["link", "1", HOSTILE, "3"], 2, true),
        (vec!["unlink", "1", "related", "3"], 0, false),
        (vec!["chain", "3"], 0, true),
        (vec!["outdated"], 0, true),
        (vec!["digest"], 0, false),
        (vec!["stats"], 0, false),
        (vec!["search-log"], 0, true),
        (vec!["recall", "what do we know about the keel of number 1?"], 0, false),
        (vec!["source", "add", notes], 0, true),
        (vec!["source", "list"], 0, true),
        (vec!["source", "add", absent], 6, true),
        (vec!["source", "add", notes, "--format", HOSTILE], 2, false),
        (vec!["source", "remove", HOSTILE], 4, false),
        (vec!["sync", "--force"], 0, true),
        (vec!["search", "rudder"], 0, true),
        (vec!["sync-with", HOSTILE], 6, true),
        (vec!["sync-with", "--forget", HOSTILE], 4, true),
        (vec!["import", &file], 2, false),
        (vec!["import", absent], 6, true),
        (vec!["export", "-"], 0, false),
        (vec!["export", absent], 6, true),
        (vec!["move", absent, absent], 3, true),
        (vec!["backup", backup], 0, true),
        (vec!["restore", absent], 3, true),
        (vec!["rebuild"], 0, false),
        (vec!["backfill"], 5, false),
        (vec!["backfill", "--limit", HOSTILE], 2, true),
        (vec!["backfill", "--cancel"], 5, false),
        (vec!["backfill", "--cancel", "--limit", HOSTILE], 2, true),
        (vec!["reembed"], 2, false),
        (vec!["doctor"], 0, false),
        (vec!["team", "status"], 2, false),
        (vec!["team", "token", "revoke", HOSTILE], 2, true),
        (vec!["team", "member", HOSTILE], 2, true),
        (vec!["connect", HOSTILE], 2, true),
        (vec!["disconnect", HOSTILE], 2, true),
        (vec!["bench"], 3, false),
        (vec!["add", &twin], 0, false),
        (vec!["tidy"], 0, true),
        (vec!["tidy", "--apply", &file, "--yes"], 2, true),
        (vec!["tidy", "--undo", HOSTILE], 2, false),
        (vec!["purge", "--text", HOSTILE], 2, false),
        (vec!["purge", "--yes", "--text", "no such text"], 0, false),
        (vec!["delete", "2"], 0, false),
        (vec!["hook", HOSTILE, "prompt"], 0, false),
        (vec!["hook", "codex", HOSTILE], 0, false),
        (vec!["hook", HOSTILE], 0, false),
        (vec!["explore", "--port", HOSTILE], 2, true),
        (vec!["explore", "--no-open", "--port", &taken], 6, false),
        (vec!["completions", "bash"], 0, false),
        (vec!["completions", HOSTILE], 2, true),
        (vec!["man", pages], 0, true),
        (vec!["man", &below_a_file], 6, true),
        (vec![HOSTILE], 2, true),
    ];
    let covered: BTreeSet<_> = table.iter().map(|(arguments, ..)| arguments[0].to_owned()).collect();
    let missing: Vec<_> =
        commands().into_iter().filter(|name| !covered.contains(name) && !ELSEWHERE.contains(&name.as_str())).collect();
    assert!(missing.is_empty() && covered.len() > 20, "without a row: {missing:?}");
    for (arguments, code, is_shown) in table {
        let output = world.run(&arguments);
        let shown = [output.stdout, output.stderr].concat();
        let shown = String::from_utf8_lossy(&shown);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {shown}");
        assert!(!is_shown || shown.contains("<U+"), "{arguments:?} shows nothing of it: {shown}");
    }
    for arguments in [
        vec!["search", "keel", "--json"],
        vec!["get", "1", "--json"],
        vec!["list", "--json"],
        vec!["chain", "3", "--json"],
        vec!["history", "3", "--json"],
        vec!["digest", "--json"],
        vec!["import", absent, "--json"],
        vec!["get", HOSTILE, "--json"],
    ] {
        serde_json::from_slice::<Value>(&world.run(&arguments).stdout).unwrap();
    }
    let entry: Value = serde_json::from_slice(&world.run(&["get", "1", "--json"]).stdout).unwrap();
    assert_eq!(entry["entry"]["content"], format!("number 1 {HOSTILE}"), "as JSON, it is what was saved");
}

/// A file contains what was saved, and stdout is equivalent.
#[test]
fn an_export_to_stdout_is_the_same_to_a_parser() {
    let world = TerminalWorld::new();
    let file = world.above.path().join("export.jsonl");
    world.run(&["export", file.to_str().unwrap()]);
    let output = world.run(&["export"]);
    let parsed = |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    let written = fs::read_to_string(&file).unwrap();
    assert_eq!(parsed(std::str::from_utf8(&output.stdout).unwrap()), parsed(&written));
    assert!(written.contains('\u{202e}'));
}
