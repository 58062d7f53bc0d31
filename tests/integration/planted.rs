//! 39.6 and 39.7: a text that comes in by commands, hooks, settings and files of an import, as a user runs them. Purged, it is in no
//! file that the product writes; if it is a secret, it never was. Tools are tested in `server/src/mcp/planted.rs`, what is read of
//! files in `ingest/tests/planted.rs`.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{document, memorist, text};

/// Occurs in nothing else.
const MARKER: &str = "xqzvkestrel";

/// A token as a program gives it out.
fn secret() -> String {
    ["ghp", "_Zk3mQx9LpB7vZk3mQx9LpB7vZk3mQx9LpB7v"].concat()
}

/// A store, a daily log, and a home folder.
struct HomeShell {
    folder: TempDir,
}

impl HomeShell {
    fn new() -> Self {
        let shell = HomeShell { folder: TempDir::new().expect("a temporary folder") };
        for name in ["store", "home", "work"] {
            fs::create_dir(shell.path(name)).expect("a folder");
        }
        let settings = format!("model = \"none\"\n[sync]\ndaily_log = {:?}\n", shell.path("log"));
        fs::write(shell.path("store/memorist.toml"), settings).expect("settings");
        shell
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("a folder").join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = memorist(&self.path("store"), arguments);
        command.env("HOME", self.path("home")).env("XDG_CONFIG_HOME", self.path("home/.config"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("runs")
    }

    fn succeeds(&self, arguments: &[&str]) {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    }

    fn purge(&self, arguments: &[&str]) -> Value {
        document(&self.run(&[&["purge", "--yes", "--json"], arguments].concat()))
    }

    fn hook(&self, client: &str, event: &str, said: &Value) {
        let mut hook = self.command(&["hook", client, event]);
        hook.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = hook.spawn().expect("runs");
        child.stdin.take().expect("a pipe").write_all(said.to_string().as_bytes()).expect("is read");
        assert!(child.wait().expect("ends").success());
    }

    /// The files that the product has written in which a text occurs.
    fn found(&self, text: &str) -> Vec<PathBuf> {
        let folders = ["store", "log", "home"].map(|name| self.path(name));
        let found = Command::new("grep").args(["-rliaF", "--", text]).args(folders).output().expect("grep runs");
        String::from_utf8_lossy(&found.stdout).lines().map(PathBuf::from).collect()
    }

    /// Gives a text to every option that takes one. Whatever refuses it may.
    fn plant(&self, text: &str) {
        let body = json!({ "likes": text, "also": [{ "deep": text }] }).to_string();
        let (tagged, in_text) = (format!("{text} tag"), format!("one {text} and another"));
        for (number, option) in
            ["--source", "--context", "--tag", "--session", "--agent", "--project"].iter().enumerate()
        {
            self.run(&["add", &format!("number {number} of the harbour"), option, text]);
            self.run(&["update", "1", option, text, "--content", &format!("changed {number}")]);
            self.run(&["search", "harbour", option, text]);
            self.run(&["list", option, text]);
        }
        for arguments in [
            &["add", &in_text][..],
            &["add", "--kind", "profile", "--body", &body],
            &["add", "deleted", "--tag", &tagged],
            &["update", "1", "--content", &in_text],
            &["update", "1", "--add-tag", text],
            &["update", "1", "--content", "for a reason", "--reason", &in_text],
            &["rollback", "1", "1", "--reason", &in_text],
            &["search", text],
            &["search", &in_text, "--project", text],
            &["recall", &in_text],
            &["digest", "--project", text],
            &["chain", text],
            &["delete", "3"],
        ] {
            self.run(arguments);
        }
        self.import(text);
        self.source(text);
        for client in ["claude-code", "codex", "gemini", "cursor", "opencode", "cline"] {
            for event in ["prompt", "start", "stop", "compact", "end"] {
                self.hook(client, event, &self.said(text));
            }
        }
    }

    /// A file of an import with a text in each field.
    fn import(&self, text: &str) {
        let place = json!({ "origin": "0".repeat(32), "path": format!("/{text}/a.md"), "firstLine": 1, "lastLine": 2 });
        let fields = [
            ("content", json!(text)),
            ("context", json!(text)),
            ("source", json!(text)),
            ("tags", json!([text])),
            ("project", json!(text)),
            ("agent", json!(text)),
            ("session", json!(text)),
            ("body", json!({ "likes": text })),
            ("place", place),
            ("versions", json!([{ "version": 1, "content": text, "reason": text, "at": 1_700_000_000_000_i64 }])),
        ];
        for (number, (name, value)) in fields.iter().enumerate() {
            let kind = if *name == "body" { "profile" } else { "fact" };
            let mut line = json!({ "content": format!("imported {number}"), "entryType": kind });
            line[*name] = value.clone();
            let file = self.path("work").join(format!("{number}.jsonl"));
            fs::write(&file, format!("{line}\n")).expect("a file");
            self.run(&["import", file.to_str().expect("a path")]);
        }
    }

    /// A folder of that name, added as a source, and one whose files have it.
    fn source(&self, text: &str) {
        for name in [text, "notes"] {
            let folder = self.path("work").join(name);
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("a.md"), format!("# {text}\n\nbody\n")).expect("a note");
            self.run(&["source", "add", folder.to_str().expect("a path"), "--glob", &format!("{text}*.md")]);
        }
    }

    /// The input of a client's hook, whatever it names its fields.
    fn said(&self, text: &str) -> Value {
        let folder = self.path("work").join(text);
        let transcript = folder.join("a.jsonl");
        json!({
            "session_id": text, "conversation_id": text, "sessionID": text, "taskId": text, "prompt": text, "message": text,
            "cwd": folder, "transcript_path": transcript, "workspace_roots": [folder], "source": text, "model": text,
            "last_assistant_message": text, "userPromptSubmit": { "prompt": text }, "hook_event_name": text,
        })
    }
}

/// 39.6
#[test]
fn purge_erases_input_of_commands_and_hooks_everywhere() {
    let shell = HomeShell::new();
    shell.plant(MARKER);
    // A hook of another version left a path that is no UTF-8.
    let noted = shell.path("store/hooks/transcripts");
    fs::create_dir_all(noted.parent().expect("a folder")).expect("a folder");
    fs::write(&noted, [b"\"/home/\xff/", MARKER.as_bytes(), b"\"\n\"/home/other\"\n"].concat()).expect("a file");
    let found = shell.found(MARKER);
    assert!(found.len() > 2 && found.iter().any(|file| file.starts_with(shell.path("log"))), "{found:?}");
    // What a person writes into the log is theirs.
    let day = fs::read_dir(shell.path("log")).expect("a log").next().expect("a day").expect("a file").path();
    let mut theirs = fs::OpenOptions::new().append(true).open(&day).expect("a day");
    writeln!(theirs, "my own {MARKER}").expect("writes");
    let purged = shell.purge(&["--text", MARKER]);
    assert!(purged["complete"] == true && purged["records"].as_i64() > Some(10), "{purged}");
    let settings = shell.path("store/memorist.toml");
    assert_eq!(purged["remainingFiles"], json!([settings, day]));
    assert_eq!(fs::read_to_string(&day).expect("a day").matches(MARKER).count(), 1);
    assert_eq!(fs::read_to_string(&noted).expect("is UTF-8 now"), "\"/home/other\"\n");
    let stays = purged["stays"].to_string();
    for name in ["the name of a project", "the name of an agent", "the path of a source", "a glob of a source"] {
        assert!(stays.contains(name), "{name}: {stays}");
    }
    // The user does what the answer says.
    fs::write(&day, "").expect("a day");
    let listed = document(&shell.run(&["list", "--json", "--limit", "1000", "--project", "*", "--agent", "*"]));
    let named = |entry: &&Value| entry["project"] == MARKER || entry["agent"] == MARKER;
    let entries = listed["results"].as_array().expect("memories").iter();
    let ids: Vec<String> = entries.filter(named).map(|entry| entry["id"].to_string()).collect();
    shell.purge(&ids.iter().map(String::as_str).collect::<Vec<_>>());
    for source in ["1", "2"] {
        shell.succeeds(&["source", "remove", source]);
    }
    let purged = shell.purge(&["--text", MARKER]);
    assert_eq!((&purged["remainingFiles"], purged.get("stays")), (&json!([settings]), None));
    assert_eq!(shell.found(MARKER), Vec::<PathBuf>::new());
}

/// 39.7
#[test]
fn no_secret_that_commands_and_hooks_were_given_is_kept() {
    for setting in ["reject", "redact"] {
        let (shell, secret) = (HomeShell::new(), secret());
        let settings = shell.path("store/memorist.toml");
        let before = fs::read_to_string(&settings).expect("settings");
        fs::write(&settings, format!("secrets = {setting:?}\n{before}")).expect("settings");
        shell.plant(&secret);
        assert_eq!(shell.found(&secret), Vec::<PathBuf>::new(), "{setting}");
        let export = shell.path("home/all.jsonl");
        shell.succeeds(&["export", export.to_str().expect("a path"), "--project", "*", "--agent", "*"]);
        // Refused, nothing is saved.
        let lines = fs::read_to_string(&export).expect("a file").lines().count();
        assert!(setting == "reject" || lines > 10, "{setting}: {lines}");
        assert_eq!(shell.found(&secret), Vec::<PathBuf>::new(), "{setting}");
    }
}
