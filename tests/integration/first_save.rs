//! The first save of a session gets the hints that later ones get, and the handshake does not wait for the model.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use memorist_engine::progress::NoProgress;
use memorist_engine::types::NewRecord;
use serde_json::{Value, json};

use crate::meaning::{engine_with_model, model_cache};
use crate::support::{memorist, words_only};

/// Longer than a handshake takes in a debug build on a busy machine.
const HANDSHAKE: Duration = Duration::from_secs(1);

/// A text of the store, and a first save that is near it or contradicts it, in other words.
const PAIRS: [(&str, &str); 3] = [
    ("We deploy to production every Tuesday morning", "Production deploys now happen on Thursdays"),
    ("The staging database runs on PostgreSQL 15", "Staging moved its database to PostgreSQL 17"),
    ("Marta prefers tea over coffee", "Marta no longer drinks tea, she has switched to coffee"),
];

struct PipeServer {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl PipeServer {
    fn start(store: &Path) -> Self {
        let cache = model_cache();
        let arguments = ["serve", "--profile", "full", "--cache", cache.to_str().unwrap()];
        let mut command = memorist(store, &arguments);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (requests, answers) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        PipeServer { process, requests, answers }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.requests, "{message}").unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// How long the handshake takes, from its first byte.
    fn greet(&mut self) -> Duration {
        let began = Instant::now();
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        self.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        assert!(self.answer()["result"]["serverInfo"].is_object());
        let took = began.elapsed();
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        took
    }

    fn save(&mut self, content: &str) -> Value {
        let params = json!({ "name": "memory_add", "arguments": { "content": content } });
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
        self.answer()["result"]["structuredContent"].clone()
    }
}

impl Drop for PipeServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_first_save_of_a_session_names_what_it_may_replace() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let engine = engine_with_model(&store);
    let ids = PAIRS.map(|(old, _)| engine.add(&NewRecord::new(old)).unwrap().id.get());
    engine.embed_pending(&NoProgress).unwrap();
    engine.close();
    fs::write(store.join("memorist.toml"), "").unwrap();
    for (id, (_, new)) in ids.into_iter().zip(PAIRS) {
        // Loading may take too long while other tests compute.
        let mut answers = ["", " as of today", " from this week on"].iter().map(|more| {
            let mut server = PipeServer::start(&store);
            let handshake = server.greet();
            assert!(handshake < HANDSHAKE, "{handshake:?}");
            server.save(&format!("{new}{more}"))
        });
        let saved = answers.find(|saved| saved["embedding"] == "ready").expect("the model was waited for");
        let named = saved["suggestions"].as_array().unwrap();
        assert!(named.iter().any(|one| one["id"] == id), "{new}: {saved}");
    }
}

/// Nothing is fetched for it, and the save waits for no model that is not on this machine.
#[test]
fn without_a_model_on_this_machine_a_first_save_waits_for_none() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    words_only().open(&store).unwrap().close();
    fs::write(store.join("memorist.toml"), "download = false\n").unwrap();
    let cache = folder.path().join("empty");
    let arguments = ["serve", "--profile", "full", "--cache", cache.to_str().unwrap()];
    let mut command = memorist(&store, &arguments);
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (requests, answers) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
    let mut server = PipeServer { process, requests, answers };
    server.greet();
    let saved = server.save("Production deploys happen on Thursdays");
    assert_eq!((&saved["created"], &saved["embedding"]), (&json!(true), &json!("pending")), "{saved}");
    assert!(!cache.exists() || fs::read_dir(&cache).unwrap().next().is_none(), "something was fetched");
}
