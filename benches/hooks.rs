//! Latency of a hook, from the start of its process to its end, as a client waits for it.
//!
//! The program itself, on a store of the bench corpus whose vectors are of the default model: by itself (cold: each process
//! opens the store and loads the model), by words alone, and with a running server. The files are in the page cache. Needs
//! the model (`memorist setup`).
//! Run: `cargo bench --bench hooks`

mod common;

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::Corpus;
use memorist_engine::config::Config;
use memorist_engine::embed::ModelHost;
use serde_json::{Value, json};

const RUNS: usize = 200;

fn memorist(store: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memorist"));
    command
        .args(arguments)
        .arg("--store")
        .arg(store)
        .stderr(Stdio::null())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// Runs a hook, and returns whether it said anything.
fn hook(store: &Path, event: &str, options: &[&str], input: &Value) -> bool {
    let mut child = memorist(store, &[&["hook", "claude-code", event], options].concat()).spawn().expect("memorist");
    // A hook that has ended does not read.
    let _ = child.stdin.take().expect("its stdin").write_all(input.to_string().as_bytes());
    let output = child.wait_with_output().expect("its end");
    assert!(output.status.success(), "{output:?}");
    !output.stdout.is_empty()
}

/// Times hooks, each in a session of its own.
fn measure(what: &str, store: &Path, event: &str, options: &[&str], message: impl Fn(usize) -> String) {
    let input = |at: usize| {
        let session = format!("{what} {at} {:?}", Instant::now());
        let message = message(at);
        let file = json!({ "file_path": format!("/src/{}.rs", message.replace(' ', "_")) });
        json!({ "session_id": session, "cwd": "/", "prompt": message, "source": "startup", "tool_name": "Edit", "tool_input": file })
    };
    for at in 0..5 {
        hook(store, event, options, &input(at));
    }
    let mut said = 0;
    let mut timed = |at| {
        let input = input(at);
        let started = Instant::now();
        said += usize::from(hook(store, event, options, &input));
        started.elapsed()
    };
    let times = (0..RUNS).map(&mut timed).collect();
    common::report(&format!("{what} ({said} of {RUNS} said something)"), times);
}

/// A running server of the store.
struct Server(Child);

impl Server {
    fn start(store: &Path) -> Self {
        let server = Server(memorist(store, &["serve"]).spawn().expect("a server"));
        while !store.join("hooks/socket").exists() {
            thread::sleep(Duration::from_millis(10));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn main() {
    let host = ModelHost::new(&Config::default().model).expect("settings");
    let corpus = Corpus::new(common::count());
    let identity = host.identity().expect("the default model: run `memorist setup`").clone();
    let store = common::store_of_model(&corpus, identity);
    let question = |at: usize| corpus.queries[at % corpus.queries.len()].0.clone();
    let none = ["--model", "none"];
    measure("a message, by itself, by meaning and words", &store, "prompt", &[], question);
    measure("a message, by itself, by words alone", &store, "prompt", &none, question);
    measure("\"ok\", by itself", &store, "prompt", &[], |_| "ok".into());
    measure("a start, by itself", &store, "start", &[], |_| String::new());
    measure("an edit, by itself", &store, "before", &none, question);
    measure("a stop", &store, "stop", &[], |_| String::new());
    let server = Server::start(&store);
    measure("a message, with a server", &store, "prompt", &[], question);
    measure("\"ok\", with a server", &store, "prompt", &[], |_| "ok".into());
    measure("an edit, with a server", &store, "before", &[], question);
    measure("a start, with a server", &store, "start", &[], |_| String::new());
    drop(server);
}
