//! A writing process is killed, at any moment and at every named step of publishing. Afterwards exactly what it
//! acknowledged is there, and the store is sound.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{ListQuery, Mode, NewRecord, Query, RecordId, RecordUpdate, Viewer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::{amount_from, another_process, assert_same, hashed, number_from};

/// Kills at random moments, unless MEMORIST_CRASH_ROUNDS says otherwise.
const ROUNDS: u64 = 46;
/// Kills at each named step.
const ROUNDS_PER_STEP: u64 = 2;
/// A fresh store after this many kills.
const KILLS_PER_STORE: u64 = 10;
/// A child keeps at most this many records: all of them fit into one answer.
const MOST: usize = 150;
/// A child that has not reached its step by then never will.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Every step of `memorist_durable::crash::point` in publishing, in order. Those of changing the model are in
/// `reembed.rs`, those of batch jobs in `jobs.rs`, those of a repair in `damage_to_records.rs`, those of a purge in `forget.rs`.
const STEPS: [&str; 11] = [
    "file written", "file synced", "names synced", "file renamed", "folder synced", "words prepared", "words applied",
    "vectors applied", "log trimmed", "old index retired", "new index in place",
];

/// The process that is killed: it announces an action, performs it, and confirms it.
#[test]
#[ignore = "the others run it in a process of its own"]
fn a_child() {
    let Some(folder) = std::env::var_os("MEMORIST_CRASH_STORE") else { return };
    let mut random = ChaCha8Rng::seed_from_u64(number_from("MEMORIST_SEED", 0));
    let engine = hashed().open(Path::new(&folder)).expect("the store opens after any crash");
    let there = ListQuery { limit: 1_000, ..ListQuery::default() };
    let mut mine: Vec<RecordId> = engine.list(&there).expect("lists").iter().map(|record| record.id).collect();
    let say = |line: String| {
        let mut out = std::io::stdout().lock();
        out.write_all(format!("\n@{line}\n").as_bytes()).and_then(|()| out.flush()).expect("the supervisor listens");
    };
    let delete = |at: usize, mine: &mut Vec<RecordId>| {
        let id = mine.swap_remove(at);
        say(format!("delete {id}"));
        assert!(engine.viewed_by(&Viewer::OWNER).delete(id).expect("deletes"));
        say("done".into());
    };
    for turn in 1.. {
        let text = format!("common {} text {}", turn % 7, random.random::<u32>());
        let at = if mine.is_empty() { 0 } else { random.random_range(0..mine.len()) };
        match random.random_range(0..20) {
            0 | 1 if !mine.is_empty() => delete(at, &mut mine),
            _ if mine.len() >= MOST => delete(at, &mut mine),
            2..5 if !mine.is_empty() => {
                say(format!("update {} {text}", mine[at]));
                let update = RecordUpdate { content: Some(text), ..RecordUpdate::default() };
                engine.viewed_by(&Viewer::OWNER).update(mine[at], &update).expect("updates");
                say("done".into());
            }
            5 if turn % 3 == 0 => engine.flush(&NoProgress).expect("applies"),
            6 if turn % 5 == 0 => drop(engine.rebuild(&NoProgress).expect("rebuilds")),
            _ => {
                say(format!("add {text}"));
                let id = engine.add(&NewRecord::new(text)).expect("adds").id;
                mine.push(id);
                say(format!("done {id}"));
            }
        }
    }
}

/// The change that was announced, but not confirmed when the child was killed.
#[derive(Debug)]
enum Doubt {
    Add(String),
    Update(RecordId, String),
    Delete(RecordId),
}

/// The memories that a child has confirmed.
#[derive(Debug, Default)]
pub struct Acknowledged {
    live: BTreeMap<RecordId, String>,
    doubt: Option<Doubt>,
}

impl Acknowledged {
    /// Handles one line of a child.
    pub fn hear(&mut self, line: &str) {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let id = |text: &str| RecordId::from(text.parse::<i64>().expect("an id"));
        match verb {
            "add" => self.doubt = Some(Doubt::Add(rest.into())),
            "update" => {
                let (number, text) = rest.split_once(' ').expect("an id and a text");
                self.doubt = Some(Doubt::Update(id(number), text.into()));
            }
            "delete" => self.doubt = Some(Doubt::Delete(id(rest))),
            "done" => match self.doubt.take().expect("something was to be done") {
                Doubt::Add(text) => drop(self.live.insert(id(rest), text)),
                Doubt::Update(id, text) => drop(self.live.insert(id, text)),
                Doubt::Delete(id) => drop(self.live.remove(&id)),
            },
            other => panic!("the child says {other}"),
        }
    }

    /// An announced action was performed, or it was not; the store shows which.
    fn settle(&mut self, found: &BTreeMap<RecordId, String>) {
        match self.doubt.take() {
            Some(Doubt::Add(text)) => {
                let new = found.iter().find(|(id, found)| **found == text && !self.live.contains_key(id));
                self.live.extend(new.map(|(id, text)| (*id, text.clone())));
            }
            Some(Doubt::Update(id, text)) if found.get(&id) == Some(&text) => drop(self.live.insert(id, text)),
            Some(Doubt::Delete(id)) if !found.contains_key(&id) => drop(self.live.remove(&id)),
            _ => {}
        }
    }
}

/// A process that writes to a store until it is killed.
pub fn child(store: &Path, seed: u64) -> Command {
    let mut command = another_process("crash::a_child");
    command.env("MEMORIST_CRASH_STORE", store).env("MEMORIST_SEED", seed.to_string()).env_remove("MEMORIST_CRASH_AT");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Lets a child write until it ends or is killed, and reads its output.
pub fn run(mut child: Child, kill_after: Option<Duration>, acknowledged: &mut Acknowledged, what: &str) {
    let out = child.stdout.take().expect("its stdout");
    let (heard, lines) = std::sync::mpsc::channel();
    let listener = std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if let Some(line) = line.strip_prefix('@') {
                heard.send(line.to_owned()).expect("somebody waits");
            }
        }
    });
    let deadline = Instant::now() + kill_after.unwrap_or(TIMEOUT);
    while let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        acknowledged.hear(&line);
    }
    let ended = child.try_wait().expect("its state");
    child.kill().expect("kills");
    let status = child.wait().expect("ends");
    listener.join().expect("listens");
    lines.try_iter().for_each(|line| acknowledged.hear(&line));
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().expect("its stderr"), &mut stderr).expect("reads");
    assert!(!stderr.contains("panicked"), "{what}: {stderr}");
    if kill_after.is_none() {
        use std::os::unix::process::ExitStatusExt;
        let aborted = status.signal() == Some(6);
        assert!(aborted || ended.is_some(), "{what}: the step was never reached: {stderr}");
        assert!(aborted, "{what}: {status} {stderr}");
    }
}

/// Opens the store as the next process would, and compares everything with what was acknowledged.
pub fn verify(store: &Path, acknowledged: &mut Acknowledged, what: &str) {
    let engine = hashed().open(store).unwrap_or_else(|error| panic!("{what}: {error}"));
    let find = |mode| {
        let reply = engine.search(&Query { mode, limit: 1_000, ..Query::new("common") });
        reply.unwrap_or_else(|error| panic!("{what}: {error}")).hits
    };
    let by_words = find(Mode::Keyword).into_iter().map(|hit| (hit.record.id, hit.record.content)).collect();
    acknowledged.settle(&by_words);
    assert_same(&by_words, &acknowledged.live, what);
    let rest = engine.embed_pending(&NoProgress);
    rest.unwrap_or_else(|error| panic!("{what}: {error}"));
    for mode in [Mode::Vector, Mode::Hybrid] {
        let found: BTreeMap<_, _> = find(mode).into_iter().map(|hit| (hit.record.id, hit.record.content)).collect();
        assert_same(&found, &acknowledged.live, &format!("{what}, {mode:?}"));
    }
    let diagnosis = engine.doctor(false, &NoProgress).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(diagnosis.is_sound(), "{what}: {diagnosis:#?}");
}

/// Kills `rounds` children one after another; `moment` says when each of them ends.
fn kill(rounds: u64, mut moment: impl FnMut(u64, &mut ChaCha8Rng) -> (Option<Duration>, Option<String>)) {
    let seed = number_from("MEMORIST_SEED", memorist_engine::now() as u64);
    eprintln!("MEMORIST_SEED={seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut folder, mut acknowledged) = (tempfile::tempdir().expect("a folder"), Acknowledged::default());
    for round in 0..rounds {
        if round % KILLS_PER_STORE == 0 {
            (folder, acknowledged) = (tempfile::tempdir().expect("a folder"), Acknowledged::default());
        }
        let (kill_after, crash_at) = moment(round, &mut random);
        let what = format!("seed {seed}, round {round}, {kill_after:?} {crash_at:?}");
        let mut child = child(folder.path(), seed ^ round);
        child.envs(crash_at.map(|step| ("MEMORIST_CRASH_AT", step)));
        run(child.spawn().expect("a child"), kill_after, &mut acknowledged, &what);
        verify(folder.path(), &mut acknowledged, &what);
    }
}

#[test]
fn killed_at_any_moment_a_store_keeps_what_it_acknowledged() {
    let rounds = amount_from("MEMORIST_CRASH_ROUNDS", ROUNDS);
    kill(rounds, |_, random| (Some(Duration::from_millis(random.random_range(10..400))), None));
}

#[test]
fn a_crash_while_publishing_keeps_acknowledged_writes() {
    kill(amount_from("MEMORIST_STEP_ROUNDS", ROUNDS_PER_STEP) * STEPS.len() as u64, |round, random| {
        let step = STEPS[round as usize % STEPS.len()];
        (None, Some(format!("{step}:{}", random.random_range(1..4))))
    });
}
