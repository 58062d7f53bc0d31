//! A process that has a store open and executes requests, one line of JSON each, over pipes.

use std::fs::File;
use std::io::{BufRead, BufReader, Lines, Read, Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use memorist_engine::Engine;
use memorist_engine::paths::StorePaths;
use memorist_engine::progress::NoProgress;
use memorist_engine::sync::WriterLock;
use memorist_engine::types::{EmbeddingState, Filter, Mode, NewRecord, Query, RecordId, RecordUpdate, Viewer};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::support::{another_process, hashed};

/// A word for each of eight processes, which its memories contain.
pub const WORDS: [&str; 8] = ["heron", "budget", "login", "river", "deploy", "theme", "garden", "harbour"];

const SIGKILL: i32 = 9;

pub(crate) fn signal(name: &str, process: u32) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().expect("a shell");
    assert!(sent.success(), "{name} to {process}: {sent}");
}

/// A request to a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Ask {
    /// Save all of these, one after another, as fast as possible.
    Fill(Vec<String>),
    Add(String),
    /// Save a text, which may fail.
    TryAdd(String),
    Update(RecordId, String),
    Delete(RecordId),
    Get(RecordId),
    Search(Mode, usize, String),
    /// How many records there are.
    Count,
    /// Whether records and indexes agree.
    Examine,
    /// Acquire the index-writer lock, and keep it.
    HoldIndexes,
    /// Begin a write transaction, and do not end it.
    HoldWrite,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    Filled(Vec<RecordId>),
    Added(RecordId, EmbeddingState),
    Tried(Result<RecordId, String>),
    Updated(EmbeddingState),
    Deleted(bool),
    Got(Option<String>),
    /// Ids and texts, best first.
    Found(Vec<(RecordId, String)>),
    Counted(u64),
    /// The problems found.
    Examined(Vec<String>),
    Holds,
}

/// The process itself. It ends when its input ends.
#[test]
#[ignore = "the others run it in processes of their own"]
fn that_is_asked() {
    let Some(folder) = std::env::var_os("MEMORIST_PROCESS_STORE") else { return };
    tracing_subscriber::fmt().with_env_filter("warn").with_writer(std::io::stderr).init();
    let folder = Path::new(&folder);
    let mut setup = hashed();
    setup.config.team = std::env::var("MEMORIST_PROCESS_TEAM").ok().map(|address| crate::team::settings(&address));
    let engine = setup.open(folder).expect("the store opens, also while other processes have it open");
    for ask in std::io::stdin().lock().lines() {
        let ask = serde_json::from_str(&ask.expect("a line")).expect("something that can be asked");
        let answer = serde_json::to_string(&answer(&engine, folder, ask)).expect("JSON");
        let mut out = std::io::stdout().lock();
        out.write_all(format!("\n@{answer}\n").as_bytes()).and_then(|()| out.flush()).expect("somebody listens");
    }
    engine.close();
}

fn answer(engine: &Engine, folder: &Path, ask: Ask) -> Answer {
    let add = |text: String| engine.add(&NewRecord::new(text)).expect("adds");
    match ask {
        Ask::Fill(texts) => Answer::Filled(texts.into_iter().map(|text| add(text).id).collect()),
        Ask::Add(text) => {
            let saved = add(text);
            assert!(saved.created, "the text is a new one");
            Answer::Added(saved.id, saved.embedding)
        }
        Ask::TryAdd(text) => {
            let saved = engine.add(&NewRecord::new(text));
            Answer::Tried(saved.map(|saved| saved.id).map_err(|error| error.to_string()))
        }
        Ask::Update(id, text) => {
            let update = RecordUpdate { content: Some(text), ..RecordUpdate::default() };
            Answer::Updated(engine.viewed_by(&Viewer::OWNER).update(id, &update).expect("updates").embedding)
        }
        Ask::Delete(id) => Answer::Deleted(engine.viewed_by(&Viewer::OWNER).delete(id).expect("deletes")),
        Ask::Get(id) => {
            Answer::Got(engine.viewed_by(&Viewer::OWNER).get(id).expect("looks").map(|record| record.content))
        }
        Ask::Search(mode, limit, text) => {
            let reply = engine.search(&Query { mode, limit, ..Query::new(text) }).expect("searches");
            Answer::Found(reply.hits.into_iter().map(|hit| (hit.record.id, hit.record.content)).collect())
        }
        Ask::Count => Answer::Counted(engine.stats(&Filter::default()).expect("counts").total),
        Ask::Examine => {
            let checks = engine.doctor(false, &NoProgress).expect("examines").checks.into_iter();
            let problems = checks.filter(|check| !check.ok).flat_map(|check| check.details);
            // The indexes of a new store are made in the background.
            Answer::Examined(problems.take_while(|problem| !problem.contains("there is none in")).collect())
        }
        Ask::HoldIndexes => {
            let lock: &WriterLock = Box::leak(Box::new(WriterLock::new(StorePaths::new(folder).writer_lock())));
            std::mem::forget(loop {
                match lock.try_acquire().expect("a lock") {
                    Some(guard) => break guard,
                    None => std::thread::yield_now(),
                }
            });
            Answer::Holds
        }
        Ask::HoldWrite => {
            let database = Connection::open(StorePaths::new(folder).database()).expect("opens");
            database.busy_timeout(Duration::from_secs(30)).expect("waits");
            database.execute_batch("BEGIN IMMEDIATE").expect("begins");
            std::mem::forget(database);
            Answer::Holds
        }
    }
}

/// The handle of such a process.
pub struct Process {
    child: Child,
    asks: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    stderr: File,
}

impl Process {
    /// Starts one on the store in this folder. The store is open before its first answer, not before this returns.
    pub fn start(store: &Path) -> Self {
        Self::spawn(another_process("process::that_is_asked").env("MEMORIST_PROCESS_STORE", store))
    }

    /// Starts a process on a node of the team store with this address.
    pub fn start_node(folder: &Path, team: &str) -> Self {
        let mut command = another_process("process::that_is_asked");
        Self::spawn(command.env("MEMORIST_PROCESS_STORE", folder).env("MEMORIST_PROCESS_TEAM", team))
    }

    fn spawn(command: &mut Command) -> Self {
        let stderr = tempfile::tempfile().expect("a file");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr.try_clone().expect("a second handle"))
            .spawn()
            .expect("a process");
        let asks = child.stdin.take().expect("its stdin");
        let answers = BufReader::new(child.stdout.take().expect("its stdout")).lines();
        Process { child, asks, answers, stderr }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the answer. `None` if the process has ended instead.
    pub fn ask(&mut self, ask: &Ask) -> Option<Answer> {
        let line = serde_json::to_string(ask).expect("JSON") + "\n";
        self.asks.write_all(line.as_bytes()).ok()?;
        loop {
            if let Some(answer) = self.answers.next()?.ok()?.strip_prefix('@') {
                return Some(serde_json::from_str(answer).expect("an answer"));
            }
        }
    }

    /// The results of a search, ids and texts, best first. `None` if the process has ended instead.
    pub fn find(&mut self, mode: Mode, limit: usize, text: &str) -> Option<Vec<(RecordId, String)>> {
        match self.ask(&Ask::Search(mode, limit, text.into()))? {
            Answer::Found(hits) => Some(hits),
            other => panic!("{other:?} is not an answer to a search"),
        }
    }

    /// Lets it end, and asserts that it logged nothing. Returns whether it had been killed.
    pub fn end(self) -> bool {
        let Process { mut child, asks, answers, mut stderr } = self;
        drop(asks);
        answers.for_each(drop);
        let status = child.wait().expect("it ends");
        let mut complaints = String::new();
        stderr.rewind().and_then(|()| stderr.read_to_string(&mut complaints)).expect("reads");
        let killed = status.signal() == Some(SIGKILL);
        assert!((killed || status.success()) && complaints.is_empty(), "{status}: {complaints}");
        killed
    }
}
