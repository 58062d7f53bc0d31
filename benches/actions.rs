//! Whether an agent that is about to act gets the memory of exactly that file, command or error, and nothing otherwise.
//!
//! Sessions of 40 actions in twelve classes, in a store of some 1,300 memories that are about such things among 10,000 others.
//! The rules in `engine/src/recall/action/` were chosen by the wordings of the first sessions. The wordings of the others were
//! written by somebody who had not read the rules, and the rules were not changed after.
//!
//! Run: `cargo bench --bench actions`, with `MEMORIST_BENCH_COUNT=N` for other than 10,000 memories around them. With
//! `MEMORIST_BENCH_MISSES=1`, each action that got something else than it should is printed.

mod common;

use std::time::{Duration, Instant};

use bench_data::{ActionClass, AgentAction, actions};
use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Kind, NewRecord, RecordId, Reminder, Viewer};
use memorist_engine::{ActionSubject, Engine};

use common::wilson;

const SEED: u64 = 7;
/// Memories around those of the actions.
const AROUND: usize = 10_000;
/// The work tree of the files.
const TREE: &str = "/home/ana/atlas";

fn main() {
    let around = std::env::var("MEMORIST_BENCH_COUNT").map_or(AROUND, |count| count.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Engine::open(folder.path(), Config::without_model()).expect("a store");
    let actions = actions(SEED);
    let kind = |name: &str| name.parse::<Kind>().expect("a kind");
    let others = bench_data::memories(SEED, around).map(|made| NewRecord {
        context: made.context,
        tags: made.tags,
        importance: i64::from(made.importance),
        kind: kind(&made.entry_type),
        ..NewRecord::new(made.content)
    });
    save(&engine, others.collect());
    let own = actions.memories.iter().map(|(text, name, importance)| NewRecord {
        kind: kind(name),
        importance: *importance,
        ..NewRecord::new(&**text)
    });
    let ids = save(&engine, own.collect());
    eprintln!("{} memories about files, commands and errors, and like such, among {around} others", ids.len());
    let shows_misses = std::env::var_os("MEMORIST_BENCH_MISSES").is_some();
    let mut times = Vec::new();
    for (part, is_choosing) in [("chosen by", true), ("held out", false)] {
        let mut outcomes: Vec<(ActionClass, bool)> = Vec::new();
        let (mut given, mut chars) = (0, 0);
        for (number, (_, session)) in actions.sessions.iter().enumerate().filter(|(_, (of, _))| *of == is_choosing) {
            for one in session {
                let started = Instant::now();
                let found = remind(&engine, &format!("session {number}"), &one.action);
                times.push(started.elapsed());
                given += usize::from(found.is_some());
                chars += found.as_ref().map_or(0, |found| found.memory.text.chars().count());
                let right = one.memory.map(|memory| ids[memory]);
                let is_right = found.as_ref().map(|found| found.memory.record.id) == right;
                if shows_misses && !is_right {
                    let got = found.as_ref().map(|found| &found.memory.record.content);
                    let wanted = one.memory.map(|memory| &actions.memories[memory].0);
                    eprintln!("{part}: {:?}: {:?}\n    got {got:?}\n    wanted {wanted:?}", one.class, one.action);
                }
                outcomes.push((one.class, is_right));
            }
        }
        eprintln!("\n{part:20} {:>8} {:>22} {:>5}", "actions", "right, %", "bar");
        for class in ActionClass::ALL {
            let of_class: Vec<bool> = outcomes.iter().filter(|(of, _)| *of == class).map(|(_, is)| *is).collect();
            let right = of_class.iter().filter(|is| **is).count();
            let (low, high) = wilson(right, of_class.len());
            let percent = |share: f64| 100.0 * share;
            let share = percent(right as f64 / of_class.len() as f64);
            let interval = format!("{share:.1} ({:.1}-{:.1})", percent(low), percent(high));
            let missed = if share < class.bar() as f64 { "  missed" } else { "" };
            eprintln!("  {:18} {:8} {interval:>22} {:>5}{missed}", format!("{class:?}"), of_class.len(), class.bar());
        }
        let lines = 100.0 * given as f64 / outcomes.len() as f64;
        eprintln!("  {lines:.1} lines for 100 actions, of {} characters in the mean", chars / given.max(1));
    }
    times.sort_unstable();
    let at = |share: usize| millis(times[(times.len() * share / 100).min(times.len() - 1)]);
    eprintln!("\nan action, in a process that has the store: p50 {:.2} ms, p99 {:.2} ms", at(50), at(99));
}

fn remind(engine: &Engine, session: &str, action: &AgentAction) -> Option<Reminder> {
    let subjects = match action {
        AgentAction::Edit(path) => ActionSubject::of_file(&format!("{TREE}/{path}"), Some(TREE)),
        AgentAction::Run(line) => ActionSubject::of_command(line),
        AgentAction::Failed(text) => ActionSubject::of_error(text),
    };
    engine.viewed_by(&Viewer::OWNER).remind(session, &subjects).expect("reminds")
}

fn save(engine: &Engine, records: Vec<NewRecord>) -> Vec<RecordId> {
    let mut ids = Vec::new();
    for chunk in records.chunks(1_000) {
        ids.extend(engine.add_batch(chunk).expect("saves").into_iter().map(|outcome| outcome.expect("a record").id));
    }
    engine.flush(&NoProgress).expect("indexes");
    ids
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
