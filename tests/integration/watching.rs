//! A server reads files that change, says what it saves in the daily log, and ends at once all the same.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::types::{NewSource, Scope, SourceKind};
use serde_json::{Value, json};

use crate::support::{document, memorist};

/// Longer than anything takes, however busy the machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server on pipes, after its handshake. It is killed when it is dropped.
struct WatchServer {
    process: Child,
    /// Until its client goes away.
    requests: Option<ChildStdin>,
    responses: BufReader<ChildStdout>,
    id: u64,
}

impl WatchServer {
    fn start(store: &Path, home: &Path, arguments: &[&str]) -> Self {
        WatchServer::run(memorist(store, &[&["serve"], arguments].concat()), home)
    }

    fn run(mut command: Command, home: &Path) -> Self {
        command.env("HOME", home).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (requests, responses) = (process.stdin.take(), process.stdout.take().unwrap());
        let mut server = WatchServer { process, requests, responses: BufReader::new(responses), id: 0 };
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        server.ask("initialize", &params);
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.requests.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params }));
        let mut line = String::new();
        self.responses.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    fn wait_for(&mut self, query: &str, text: &str) {
        let began = Instant::now();
        loop {
            let answer = self.call("memory_search", &json!({ "query": query })).to_string();
            if answer.contains(text) {
                return;
            }
            assert!(began.elapsed() < TIMEOUT, "{answer}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// How long it takes to end after its client has gone.
    fn end(mut self) -> Duration {
        drop(self.requests.take());
        let began = Instant::now();
        while self.process.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < TIMEOUT, "it does not end");
            thread::sleep(Duration::from_millis(5));
        }
        began.elapsed()
    }
}

impl Drop for WatchServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn add_source(store: &Path, folder: &Path) {
    let path = folder.to_str().unwrap().to_owned();
    let source = NewSource { kind: SourceKind::Notes, path, format: None, globs: Vec::new(), scope: Scope::default() };
    Engine::open(store, Config::without_model()).unwrap().add_source(&source).unwrap();
}

/// F10, F14, Q19.
#[test]
fn a_server_finds_what_is_edited_and_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (store, files) = (folder.path().join("store"), folder.path().join("files"));
    fs::create_dir_all(&store).unwrap();
    fs::create_dir_all(&files).unwrap();
    let settings = |sync: &str| {
        fs::write(store.join("memorist.toml"), format!("model = \"none\"\n[sync]\n{sync}")).unwrap();
    };
    fs::write(files.join("a.md"), "The zebra sleeps at noon.\n").unwrap();
    add_source(&store, &files);
    settings("enabled = false\n");
    let mut server = WatchServer::start(&store, folder.path(), &[]);
    thread::sleep(Duration::from_secs(2));
    let answer = server.call("memory_search", &json!({ "query": "zebra" })).to_string();
    assert!(!answer.contains("sleeps at noon"), "{answer}");
    drop(server);
    settings("watch_debounce_ms = 50\n");
    let mut server = WatchServer::start(&store, folder.path(), &[]);
    server.wait_for("zebra", "sleeps at noon");
    fs::write(files.join("a.md"), "The giraffe eats at dawn.\n").unwrap();
    server.wait_for("giraffe", "eats at dawn");
    fs::write(files.join("b.md"), "The heron wades at dusk.\n").unwrap();
    server.wait_for("heron", "wades at dusk");
    let took = server.end();
    assert!(took < Duration::from_secs(3), "{took:?}");
}

/// F5: a machine that watches too much already, where it lets its limits be lowered.
#[test]
fn files_are_polled_if_the_system_cannot_watch_more() {
    for limit in ["max_inotify_instances=0", "max_inotify_watches=1"] {
        let folder = tempfile::tempdir().unwrap();
        let (store, files) = (folder.path().join("store"), folder.path().join("files"));
        fs::create_dir_all(&store).unwrap();
        fs::create_dir_all(files.join("deep")).unwrap();
        let settings = "model = \"none\"\n[sync]\npoll_interval_ms = 100\nrescan_minutes = 0\non_search = false\n";
        fs::write(store.join("memorist.toml"), settings).unwrap();
        fs::write(files.join("a.md"), "The zebra sleeps at noon.\n").unwrap();
        fs::write(files.join("deep/b.md"), "The heron wades at dusk.\n").unwrap();
        add_source(&store, &files);
        let (name, value) = limit.split_once('=').unwrap();
        let lower = format!("echo {value} > /proc/sys/user/{name} || exit 90");
        let unshared = |script: &str| {
            let mut command = Command::new("unshare");
            command.args(["-r", "sh", "-c", script]);
            command
        };
        if !unshared(&lower).output().is_ok_and(|tried| tried.status.success()) {
            eprintln!("no limit can be lowered here: {limit} is not tried");
            return;
        }
        let mut command = unshared(&format!("{lower}; exec \"$0\" \"$@\""));
        let serve = memorist(&store, &["serve"]);
        command.arg(serve.get_program()).args(serve.get_args());
        let mut server = WatchServer::run(command, folder.path());
        server.wait_for("zebra", "sleeps at noon");
        thread::sleep(Duration::from_millis(500));
        for (word, text) in [("giraffe", "eats at dawn"), ("otter", "dives at noon")] {
            fs::write(files.join("deep/b.md"), format!("The {word} {text}.\n")).unwrap();
            server.wait_for(word, text);
        }
        assert!(server.end() < Duration::from_secs(3));
    }
}

/// F1, F2, F4: the profile of the system that has one, and others only if a folder is named.
/// F5, F10: it is read without being added.
#[test]
fn a_server_of_mudpuppy_reads_its_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let (store, home) = (folder.path().join("store"), folder.path().join("home"));
    fs::create_dir_all(&home).unwrap();
    drop(memorist(&store, &[])); // writes the settings
    let workspace = home.join(".mudpuppy/workspace");
    let mut server = WatchServer::start(&store, &home, &["--profile", "mudpuppy"]);
    server.call("memory_add", &json!({ "content": "a zebra crossed the road" }));
    let until = Instant::now() + TIMEOUT;
    while !workspace.is_dir() {
        assert!(Instant::now() < until, "the workspace is not created");
        thread::sleep(Duration::from_millis(20));
    }
    fs::write(workspace.join("people.md"), "Ben keeps a walrus.\n").unwrap();
    fs::create_dir_all(workspace.join("memory")).unwrap();
    fs::write(workspace.join("memory/plans.md"), "Ben plans a walrus house.\n").unwrap();
    let found = |server: &mut WatchServer, query: &str| {
        let found = server.call("memory_search", &json!({ "query": query }));
        found["result"]["structuredContent"]["results"].as_array().map_or(0, Vec::len)
    };
    while found(&mut server, "walrus") < 2 {
        assert!(Instant::now() < until, "the notes are not read");
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(found(&mut server, "zebra"), 1, "the memory alone, not its line of the daily log");
    server.end();
    let sources = memorist(&store, &["source", "list", "--json"]).env("HOME", &home).output().unwrap();
    assert_eq!(document(&sources)["sources"].as_array().map(Vec::len), Some(1));

    let other = folder.path().join("other");
    drop(memorist(&other, &[]));
    fs::write(other.join("memorist.toml"), "model = \"none\"\n[sync]\nauto_index = false\n").unwrap();
    let mut server = WatchServer::start(&other, &home, &["--profile", "mudpuppy"]);
    server.call("memory_add", &json!({ "content": "a walrus" }));
    server.end();
    let sources = memorist(&other, &["source", "list", "--json"]).env("HOME", &home).output().unwrap();
    assert_eq!(document(&sources)["sources"].as_array().map(Vec::len), Some(0));
}

#[test]
fn saved_memories_are_written_to_the_daily_log() {
    let folder = tempfile::tempdir().unwrap();
    let (store, home) = (folder.path().join("store"), folder.path().join("home"));
    fs::create_dir_all(&home).unwrap();
    let lines = |folder: &Path| -> Vec<String> {
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let texts = files.map(|file| fs::read_to_string(file.path()).unwrap());
        texts.flat_map(|text| text.lines().skip(2).map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let own = home.join(".mudpuppy/workspace/memory");
    drop(memorist(&store, &[])); // writes the settings
    let mut server = WatchServer::start(&store, &home, &["--profile", "full"]);
    server.call("memory_add", &json!({ "content": "not logged" }));
    server.end();
    assert!(!own.exists());
    let mut server = WatchServer::start(&store, &home, &["--profile", "mudpuppy"]);
    for _ in 0..2 {
        server.call("memory_add", &json!({ "content": "dark\nmode", "entryType": "preference" }));
    }
    server.call("memory_add", &json!({ "content": "from a file", "source": "file-index" }));
    server.end();
    let logged = lines(&own);
    assert!(logged.len() == 1 && logged[0].ends_with("** [preference] (manual) dark mode"), "{logged:?}");
    let named = folder.path().join("log");
    let settings = format!("model = \"none\"\n[sync]\ndaily_log = {:?}\n", named.to_str().unwrap());
    fs::write(store.join("memorist.toml"), settings).unwrap();
    assert!(memorist(&store, &["add", "by command"]).env("HOME", &home).output().unwrap().status.success());
    let mut server = WatchServer::start(&store, &home, &["--profile", "mudpuppy"]);
    server.call("memory_add", &json!({ "content": "by a tool" }));
    server.end();
    let logged = lines(&named);
    assert!(logged.len() == 2 && logged[0].ends_with("by command") && logged[1].ends_with("by a tool"), "{logged:?}");
    assert_eq!(lines(&own).len(), 1);
    fs::write(store.join("memorist.toml"), "model = \"none\"\n[sync]\ndaily_log = \"memory\"\n").unwrap();
    let refused = memorist(&store, &["add", "x"]).output().unwrap();
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && why.contains("[sync]") && why.contains("daily_log"), "{why}");
}
