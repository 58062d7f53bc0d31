//! `connect` and `disconnect`, through the binary: what they print, what a kill or a full disk leaves, and that the command
//! which they register is one that starts the server. Every client's formats are tested in `clients/`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use memorist_durable::is_temporary;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{document, text};

const CODEX: &str = "# mine\r\nmodel = 'x'\r\n\r\n[mcp_servers.other]\r\ncommand = 'y'\r\n";
const CURSOR: &str = "{\n   \"mcpServers\": { \"a\": { \"command\": \"a\" } } // last\n}";
const GOOSE: &str = "extensions:\n    developer:\n        enabled: true # yes\n";

/// A home folder with three clients.
struct ClientHome(TempDir);

impl ClientHome {
    fn new() -> Self {
        let home = ClientHome(tempfile::tempdir().unwrap());
        for (path, content) in
            [(".codex/config.toml", CODEX), (".cursor/mcp.json", CURSOR), (".config/goose/config.yaml", GOOSE)]
        {
            fs::create_dir_all(home.path(path).parent().unwrap()).unwrap();
            fs::write(home.path(path), content).unwrap();
        }
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if ["MEMORIST_", "XDG_", "CODEX_", "CLAUDE_", "OPENCLAW_", "COPILOT_"]
                .iter()
                .any(|start| name.starts_with(start))
            {
                command.env_remove(&*name);
            }
        }
        command.args(arguments).env("HOME", self.path("")).env("PATH", "/usr/bin:/bin").current_dir(self.path(""));
        // These tests are about settings: no model is fetched.
        command.env("MEMORIST_MODEL", "none").stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_memorist").as_ref(), arguments).output().unwrap()
    }

    /// Copies in the making, in all folders.
    fn temporary(&self) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.path("")]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if is_temporary(&entry.file_name()) {
                    found.push(entry.path());
                } else if entry.path().is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        found
    }

    /// The files of the clients. Files that a killed process left do not count.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut files, mut folders) = (BTreeMap::new(), vec![self.path("")]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if entry.file_name() == "memorist" || is_temporary(&entry.file_name()) {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        files
    }
}

#[test]
fn connect_writes_client_files_and_disconnect_restores_them() {
    let home = ClientHome::new();
    let before = home.files();
    let planned = home.run(&["connect", "--dry-run", "--json"]);
    assert_eq!(planned.status.code(), Some(0), "{}", text(&planned.stderr));
    let planned = document(&planned);
    assert!(planned["dryRun"] == true && home.files() == before, "a dry run changes nothing");
    assert!(!home.path(".config/memorist").exists(), "not even here");
    let changes = |document: &Value, client: &str| {
        let all = document["clients"].as_array().unwrap();
        let entry = all.iter().find(|entry| entry["client"] == client).unwrap();
        (!entry["found"].is_null(), entry["changes"].as_array().unwrap().len())
    };
    assert_eq!(changes(&planned, "codex"), (true, 2));
    assert_eq!(changes(&planned, "zed"), (false, 0));
    let shown = home.run(&["connect", "--dry-run"]);
    let shown = text(&shown.stdout);
    assert!(
        shown.contains("+[mcp_servers.memorist]") && shown.contains("not found on this machine: claude-code"),
        "{shown}"
    );

    let silent = home.run(&["connect"]);
    assert_eq!(silent.status.code(), Some(2), "nobody was there to ask");
    assert!(text(&silent.stderr).contains("--yes") && home.files() == before, "{}", text(&silent.stderr));

    let connected = home.run(&["connect", "--yes"]);
    assert_eq!(connected.status.code(), Some(0), "{}", text(&connected.stdout));
    assert!(text(&connected.stdout).contains("Codex: connected, in 2 files\n  now: start it, and trust the hooks"));
    let with = home.files();
    let again = home.run(&["connect", "--yes"]);
    assert!(text(&again.stdout).contains("Codex: connected already") && home.files() == with);
    // Nothing is left to ask for, and a model that is not there stops nothing.
    let mut bare = home.command(env!("CARGO_BIN_EXE_memorist").as_ref(), &["connect"]);
    let bare = bare.env_remove("MEMORIST_MODEL").output().unwrap();
    assert!(bare.status.success() && text(&bare.stderr).contains("no model was downloaded"), "{bare:?}");
    let doctor = document(&home.run(&["doctor", "--json"]));
    let stands = |client: &str| {
        let all = doctor["clients"].as_array().unwrap();
        all.iter()
            .find(|entry| entry["client"] == client)
            .map(|entry| (entry["registered"].clone(), entry["hooked"].clone()))
    };
    assert_eq!(stands("codex"), Some((json!("yes"), json!("yes"))), "{doctor}");
    assert_eq!(stands("goose"), Some((json!("yes"), Value::Null)), "{doctor}");
    assert_eq!(stands("zed"), None);

    let disconnected = document(&home.run(&["disconnect", "--yes", "--json"]));
    assert_eq!(changes(&disconnected, "cursor"), (true, 2));
    assert!(home.files() == before, "byte for byte");
    let nothing = home.run(&["disconnect", "--yes"]);
    assert!(
        nothing.status.success() && text(&nothing.stdout).contains("nothing to remove"),
        "{}",
        text(&nothing.stdout)
    );
}

#[cfg(unix)]
#[test]
fn doctor_reads_codex_trust_without_starting_client_programs() {
    use std::os::unix::fs::PermissionsExt;

    let home = ClientHome::new();
    assert!(home.run(&["connect", "codex", "--yes"]).status.success());
    // This one would leave a file.
    let (started, codex) = (home.path("started"), home.path("bin/codex"));
    fs::create_dir(home.path("bin")).unwrap();
    fs::write(&codex, format!("#!/bin/sh\ntouch '{}'\n", started.display())).unwrap();
    fs::set_permissions(&codex, fs::Permissions::from_mode(0o755)).unwrap();
    let doctor = |options: &[&str]| {
        let mut command = home.command(env!("CARGO_BIN_EXE_memorist").as_ref(), &["doctor"]);
        command.args(options).env("PATH", format!("{}:/usr/bin:/bin", home.path("bin").display())).output().unwrap()
    };
    let report = document(&doctor(&["--json"]));
    let stands = report["clients"].as_array().unwrap().iter().find(|entry| entry["client"] == "codex").unwrap();
    assert_eq!(stands["trusted"], false, "{stands}");
    assert!(stands["problems"][0]["wayOut"].as_str().unwrap().contains("/hooks"), "{stands}");

    let mut config = fs::read_to_string(home.path(".codex/config.toml")).unwrap();
    for event in ["user_prompt_submit", "session_start", "stop", "pre_compact", "session_end"] {
        let key = format!("{}:{event}:0:0", home.path(".codex/hooks.json").display());
        config += &format!("\n[hooks.state.'{key}']\ntrusted_hash = 'sha256:1'\n");
    }
    fs::write(home.path(".codex/config.toml"), config).unwrap();
    let shown = doctor(&[]);
    let shown = text(&shown.stdout);
    assert!(shown.contains("hooked and trusted (/hooks in Codex shows whether as they are now)"), "{shown}");
    assert!(!started.exists());
}

/// As a client would: with the words of its settings, and nothing else.
#[test]
fn registered_commands_start_the_server_and_answer_hooks() {
    let home = ClientHome::new();
    let store = home.path("a store");
    let added = home.run(&["add", "The harbour office opens at seven", "--store", store.to_str().unwrap()]);
    assert!(added.status.success(), "{}", text(&added.stderr));
    let options = ["--model", "none", "--cache", "c", "--project", "harbour"];
    let connected = [&["connect", "cursor", "--yes", "--store", "a store", "--profile", "full"], &options[..]].concat();
    let mut connected = home.command(env!("CARGO_BIN_EXE_memorist").as_ref(), &connected);
    let connected = connected.env("MEMORIST_AGENT", "shell").output().unwrap();
    assert!(connected.status.success(), "{}", text(&connected.stderr));
    let read = |path: &str| -> Value {
        let text = fs::read_to_string(home.path(path)).unwrap();
        serde_json::from_str(text.replace("// last", "").trim()).unwrap()
    };
    let server = &read(".cursor/mcp.json")["mcpServers"]["memorist"];
    let cache = home.path("c");
    assert_eq!(
        server["args"],
        json!([
            "serve", "--profile", "full", "--store", store, "--cache", cache, "--model", "none", "--project", "harbour"
        ]),
        "what the environment says is not for other processes"
    );
    let words: Vec<&str> = server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let program = PathBuf::from(server["command"].as_str().unwrap());
    let mut process = home.command(&program, &words);
    let mut process = process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let client = json!({ "name": "cursor", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    process.stdin.as_mut().unwrap().write_all(format!("{hello}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["result"]["serverInfo"]["name"], "memorist");
    drop(process.stdin.take());
    process.wait().unwrap();

    let hook = read(".cursor/hooks.json")["hooks"]["sessionStart"][0]["command"].as_str().unwrap().to_owned();
    let said = json!({ "conversation_id": "S", "workspace_roots": [home.path("")] });
    let ran = home.command("/bin/sh".as_ref(), &["-c", &format!("echo '{said}' | {hook}")]).output().unwrap();
    assert!(ran.status.success() && ran.stderr.is_empty(), "{hook}: {}", text(&ran.stderr));
}

/// At every step, the next command finds a whole state: it goes on, or gives everything back. An update, too.
#[test]
fn a_connect_that_is_killed_anywhere_can_be_undone() {
    let mut ends = 0;
    for (step, is_update) in [("file written", false), ("file renamed", false), ("file renamed", true)] {
        for times in 1..40 {
            let home = ClientHome::new();
            let before = home.files();
            if is_update {
                assert!(home.run(&["connect", "--yes"]).status.success());
            }
            let arguments = ["connect", "--yes", "--store", "elsewhere"];
            let mut command = home.command(env!("CARGO_BIN_EXE_memorist").as_ref(), &arguments);
            let output = command.env("MEMORIST_CRASH_AT", format!("{step}:{times}")).output().unwrap();
            if output.status.success() {
                ends += 1;
                break;
            }
            assert_eq!(output.status.code(), None, "it was killed: {}", text(&output.stderr));
            if times % 2 == 0 {
                let again = home.run(&arguments);
                assert!(again.status.success(), "{step} {times}: {}", text(&again.stdout));
                let hooks = fs::read_to_string(home.path(".codex/hooks.json")).unwrap();
                assert_eq!(hooks.matches(" hook codex ").count(), 5, "each once: {hooks}");
                assert_eq!(hooks.matches("--store").count(), 5, "none is an older one: {hooks}");
            }
            let undone = home.run(&["disconnect", "--yes"]);
            assert!(undone.status.success(), "{step} {times}: {}", text(&undone.stdout));
            assert!(home.files() == before, "{step} {times} {is_update}");
            assert_eq!(home.temporary(), Vec::<PathBuf>::new(), "{step} {times} {is_update}");
        }
    }
    assert_eq!(ends, 3, "each step was passed");
}

/// A limit on the size of files, in place of a full disk.
#[cfg(unix)]
#[test]
fn a_disk_that_is_full_changes_nothing() {
    let home = ClientHome::new();
    let before = home.files();
    let limited = |word: &str| {
        let script = format!("trap '' XFSZ; ulimit -f 0; exec '{}' {word} --yes", env!("CARGO_BIN_EXE_memorist"));
        home.command("/bin/sh".as_ref(), &["-c", &script]).output().unwrap()
    };
    let refused = limited("connect");
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(text(&refused.stdout).contains("cannot be written"), "{}", text(&refused.stdout));
    assert!(home.files() == before);
    assert!(home.run(&["connect", "--yes"]).status.success());
    let with = home.files();
    let refused = limited("disconnect");
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stdout));
    assert!(home.run(&["disconnect", "--yes"]).status.success());
    assert!(with != before && home.files() == before);
}

#[test]
fn connect_names_missing_clients_and_unreadable_files() {
    let home = ClientHome::new();
    fs::write(home.path(".cursor/mcp.json"), "{ \"mcpServers\": ").unwrap();
    let output = home.run(&["connect", "cursor", "zed", "--yes"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("NOT CHANGED") && said.contains("fix: mend the file"), "{said}");
    assert!(said.contains("not found on this machine: zed"), "{said}");
    assert_eq!(fs::read_to_string(home.path(".cursor/mcp.json")).unwrap(), "{ \"mcpServers\": ");
    let doctor = home.run(&["doctor"]);
    assert!(doctor.status.success(), "the store is sound: {}", text(&doctor.stderr));
    assert!(text(&doctor.stdout).contains("PROBLEM in"), "{}", text(&doctor.stdout));
    let unknown = home.run(&["connect", "emacs"]);
    assert!(
        unknown.status.code() == Some(2) && text(&unknown.stderr).contains("lm-studio"),
        "{}",
        text(&unknown.stderr)
    );
}

/// The plugins of this repository: their versions are that of the program, and their commands are among its own.
#[test]
fn the_plugins_run_commands_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| -> Value {
        let text = fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let claude = read(".claude-plugin/marketplace.json");
    let codex = read(".agents/plugins/marketplace.json");
    let (claude, codex) = (&claude["plugins"][0], &codex["plugins"][0]);
    assert_eq!(claude["source"], codex["source"]["path"], "one folder is the plugin of both");
    let folder = claude["source"].as_str().unwrap().trim_start_matches("./");
    let manifests = [".claude-plugin", ".codex-plugin"].map(|name| read(&format!("{folder}/{name}/plugin.json")));
    for manifest in manifests.iter().chain([claude]) {
        assert_eq!(manifest["name"], "memorist");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"), "{manifest}");
    }
    for key in ["skills", "mcpServers", "hooks"] {
        let path = manifests[1][key].as_str().unwrap();
        assert!(root.join(folder).join(path).exists(), "{path}");
    }
    let server = read(&format!("{folder}/.mcp.json"))["mcpServers"]["memorist"].clone();
    assert_eq!(server, json!({ "command": "memorist", "args": ["serve"] }));
    let home = ClientHome::new();
    for (file, client, count) in [("hooks.json", "claude-code", 7), ("codex-hooks.json", "codex", 5)] {
        let hooks = read(&format!("{folder}/hooks/{file}"))["hooks"].clone();
        assert_eq!(hooks.as_object().unwrap().len(), count);
        for hook in hooks.as_object().unwrap().values() {
            let line = hook[0]["hooks"][0]["command"].as_str().unwrap();
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(words[..3], ["memorist", "hook", client], "{line}");
            let ran = home.run(&words[1..]);
            assert!(ran.status.success() && !text(&ran.stderr).contains("unknown"), "{line}: {}", text(&ran.stderr));
        }
    }
    // Those of actions are the hooks that `connect` writes, but for the path of the program.
    fs::create_dir_all(home.path(".claude")).unwrap();
    let connected = home.run(&["connect", "claude-code", "--yes", "--no-model"]);
    assert!(connected.status.success(), "{}", text(&connected.stderr));
    let written: Value =
        serde_json::from_str(&fs::read_to_string(home.path(".claude/settings.json")).unwrap()).unwrap();
    let plugin = read(&format!("{folder}/hooks/hooks.json"));
    for event in ["PreToolUse", "PostToolUseFailure"] {
        let (written, plugin) = (&written["hooks"][event][0], &plugin["hooks"][event][0]);
        assert_eq!(
            (&written["matcher"], &written["hooks"][0]["timeout"]),
            (&plugin["matcher"], &plugin["hooks"][0]["timeout"])
        );
    }
}
