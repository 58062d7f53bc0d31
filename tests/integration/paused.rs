//! A process that is stopped in the middle of its work blocks others for some seconds only: they name the process that
//! they waited for, and operations without a lock continue.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Mode, Purge, Query, Viewer};
use serde_json::{Value, json};

use crate::process::{Answer, Ask, Process, signal};
use crate::support::{Store, hashed, memorist, text};

/// No wait is longer.
const LONGEST: Duration = Duration::from_secs(20);

/// Another process that holds a lock and is stopped, until this is dropped.
pub(crate) struct Paused(Option<Process>);

impl Paused {
    pub(crate) fn holding(store: &Path, ask: &Ask) -> Self {
        let mut process = Process::start(store);
        assert_eq!(process.ask(ask), Some(Answer::Holds));
        signal("STOP", process.id());
        Paused(Some(process))
    }

    fn id(&self) -> u32 {
        self.0.as_ref().expect("until it is dropped").id()
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        if let Some(process) = self.0.take() {
            signal("KILL", process.id());
            process.end();
        }
    }
}

/// The error of `call`, which must be returned soon.
fn refusal<T: Send>(call: impl FnOnce() -> memorist_engine::Result<T> + Send) -> String {
    let began = Instant::now();
    let error = call().err().expect("somebody else has the lock").to_string();
    assert!(began.elapsed() < LONGEST, "{error} took {:?}", began.elapsed());
    error
}

/// Ends a command that waits forever.
fn finished(mut child: Child) -> std::process::Output {
    let began = Instant::now();
    while child.try_wait().expect("its state").is_none() {
        if began.elapsed() > LONGEST + Duration::from_secs(5) {
            child.kill().expect("kills");
        }
        thread::sleep(Duration::from_millis(50));
    }
    child.wait_with_output().expect("what it said")
}

#[test]
fn waiting_for_a_paused_process_gives_up_and_names_it() {
    let store = Store::new(hashed());
    let id = store.add("a heron in the reeds");
    store.settle();
    let paused = Paused::holding(store.folder.path(), &Ask::HoldIndexes);
    let named = format!("process {}", paused.id());
    let unsettled = store.add("written while the other sleeps");
    thread::scope(|scope| {
        let engine = &store.engine;
        let waits = [
            scope.spawn(|| refusal(|| engine.rebuild(&NoProgress))),
            scope.spawn(|| refusal(|| engine.flush(&NoProgress))),
        ];
        // The memory is removed; its files are cleaned by the next lock holder.
        let purge = scope
            .spawn(|| engine.viewed_by(&Viewer::OWNER).purge(&Purge::Ids(vec![id]), &NoProgress).expect("it goes"));
        let began = Instant::now();
        let mut command = memorist(store.folder.path(), &["rebuild"]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("memorist");
        let output = finished(command);
        let said = text(&output.stderr);
        assert!(!output.status.success() && began.elapsed() < LONGEST, "{:?}: {said}", began.elapsed());
        assert!(said.contains("waiting for the indexes") && said.contains(&format!("{named} (")), "{said}");
        assert!(said.contains(" since ") && said.contains("is stopped"), "{said}");
        let purged = purge.join().expect("no panic");
        assert!(purged.records == 1 && !purged.complete, "{purged:?}");
        for wait in waits {
            let said = wait.join().expect("a refusal");
            assert!(said.contains(&named) && said.contains(" since ") && said.contains("kill -CONT"), "{said}");
        }
    });
    assert_eq!(store.find(&Query { mode: Mode::Keyword, ..Query::new("sleeps") }), [unsettled], "searches continue");
    drop(paused);
    store.settle();
}

/// A server of the store, spoken to in lines.
struct LineServer {
    child: Child,
    answers: mpsc::Receiver<Value>,
}

impl LineServer {
    fn start(store: &Store) -> Self {
        let mut command = memorist(store.folder.path(), &["serve", "--profile", "full"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("memorist");
        let lines = BufReader::new(child.stdout.take().expect("its stdout")).lines();
        let (tell, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = tell.send(serde_json::from_str(&line).expect("JSON"));
            }
        });
        let mut server = LineServer { child, answers };
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        server.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
        server.answer(0);
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().expect("its stdin"), "{message}").expect("it reads");
    }

    fn call(&mut self, id: u64, tool: &str, arguments: &Value) {
        let params = json!({ "name": tool, "arguments": arguments });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }

    /// The response with this id; others before it are skipped.
    fn answer(&self, id: u64) -> Value {
        loop {
            let answer = self.answers.recv_timeout(Duration::from_secs(60)).expect("an answer");
            if answer["id"] == id {
                return answer;
            }
        }
    }
}

impl Drop for LineServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn writes_behind_a_paused_process_end_without_blocking_searches() {
    const WRITES: u64 = 40;
    let store = Store::new(hashed());
    store.add("a heron in the reeds");
    store.settle();
    let mut server = LineServer::start(&store);
    server.call(1, "memory_search", &json!({ "query": "heron" }));
    server.answer(1);
    let paused = Paused::holding(store.folder.path(), &Ask::HoldWrite);
    let began = Instant::now();
    for at in 0..WRITES {
        server.call(100 + at, "memory_add", &json!({ "content": format!("note {at}") }));
    }
    server.call(2, "memory_search", &json!({ "query": "heron" }));
    let found = server.answer(2);
    assert_eq!(found["result"]["structuredContent"]["results"][0]["id"], 1, "{found}");
    assert!(began.elapsed() < Duration::from_secs(10), "a search waited {:?}", began.elapsed());

    let engine = &store.engine;
    let new = memorist_engine::types::NewRecord::new("one more");
    let said = refusal(|| engine.add(&new));
    assert!(said.contains(&format!("process {}", paused.id())) && said.contains("is stopped"), "{said}");
    drop(paused);
    for at in 0..WRITES {
        // In any order; refused writes can be retried.
        let answer = server.answers.recv_timeout(LONGEST).unwrap_or_else(|_| panic!("{at} of {WRITES} answered"));
        assert!(answer["id"].as_u64() >= Some(100), "{answer}");
    }
    server.call(3, "memory_add", &json!({ "content": "the other is gone" }));
    let saved = server.answer(3);
    assert_eq!(saved["result"]["structuredContent"]["created"], true, "{saved}");
}
