//! A store of 20,000 memories (100,000 for `.ci/nightly`) whose writer is killed in the middle of a merge: it opens at once, and
//! its first results are right.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memorist_engine::progress::{NoProgress, Progress};
use memorist_engine::types::{Filter, Mode, NewRecord, Query};

use crate::support::{amount_from, another_process, hashed, hashed_with};

/// The longest that opening may take.
const AT_ONCE: Duration = Duration::from_millis(200);
/// The store is opened this often, as it was when the writer was killed; as the machine may have other load, the best
/// time counts.
const TRIES: usize = 3;

fn records() -> usize {
    amount_from("MEMORIST_LARGE", 20_000) as usize
}

fn text(n: usize) -> String {
    format!("memory number{n} of series{} about subject{}", n / 100, n % 1_009)
}

/// Reports the awaited merge to the supervisor, and slows it down, so that it is not over before the kill.
#[derive(Default)]
struct Merging(AtomicBool);

impl Progress for Merging {
    fn start(&self, what: &str, total: Option<u64>) {
        if what == "writing the vector index" && total == Some(records() as u64) {
            say("merging");
            self.0.store(true, Ordering::Relaxed);
        }
    }
    fn advance(&self, _units: u64) {
        if self.0.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(500));
        }
    }
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        false
    }
}

fn say(line: &str) {
    std::io::stdout().write_all(format!("\n@{line}\n").as_bytes()).expect("somebody listens");
}

#[test]
#[ignore = "another runs it in a process of its own"]
fn a_child() {
    let Some(store) = std::env::var_os("MEMORIST_LARGE_STORE").map(PathBuf::from) else { return };
    // Without the background worker, which would merge on its own schedule.
    let alone = hashed_with(|config| config.index_writer = false);
    let engine = alone.open(&store).expect("a new store opens");
    let all: Vec<NewRecord> = (0..records()).map(|n| NewRecord::new(text(n))).collect();
    // The second part is being merged when the writer is killed.
    let (first, last) = all.split_at(records() * 11 / 20);
    for (part, progress) in [(first, &NoProgress as &dyn Progress), (last, &Merging::default())] {
        part.chunks(5_000).for_each(|chunk| drop(engine.add_batch(chunk).expect("adds")));
        engine.embed_pending(progress).expect("embeds");
        engine.flush(progress).expect("applies and merges");
    }
    say("merged");
}

/// Builds the store and kills its writer.
fn build(store: &Path) {
    let mut child = another_process("large::a_child")
        .env("MEMORIST_LARGE_STORE", store)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut lines = BufReader::new(child.stdout.take().expect("its stdout")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "@merging"), "it merges");
    std::thread::sleep(Duration::from_millis(200));
    child.kill().expect("kills");
    child.wait().expect("ends");
    assert!(!lines.any(|line| line == "@merged"), "it was killed in the middle of the merge");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).expect("copies")),
        }
    }
}

#[test]
fn a_large_store_killed_during_a_merge_opens_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let started = Instant::now();
    build(&folder.path().join("killed"));
    eprintln!("built and killed in {:.1?}", started.elapsed());
    let times: Vec<Duration> = (0..TRIES).map(|at| open(folder.path(), at)).collect();
    let best = times.iter().min().expect("three");
    assert!(*best < AT_ONCE, "{times:?}");
}

/// Opens a copy of the store, and compares its first results. Returns how long opening took.
fn open(folder: &Path, at: usize) -> Duration {
    let store = folder.join(at.to_string());
    copy(&folder.join("killed"), &store);
    let started = Instant::now();
    let engine = hashed().open(&store).expect("it opens");
    let opened = started.elapsed();
    for (n, mode) in [(77, Mode::Hybrid), (records() - 1, Mode::Keyword), (records() / 2, Mode::Vector)] {
        let asked = Instant::now();
        let reply = engine.search(&Query { mode, ..Query::new(text(n)) }).expect("searches");
        eprintln!("opened in {opened:.1?}; {mode:?} answered in {:.1?} with {:?}", asked.elapsed(), reply.warnings);
        assert_eq!(reply.hits[0].record.content, text(n), "{mode:?}");
        assert_eq!(reply.hits.len(), 10, "{mode:?}");
        assert!(reply.warnings.is_empty(), "{mode:?}: {:?}", reply.warnings);
    }
    assert_eq!(engine.stats(&Filter::default()).expect("counts").total, records() as u64);
    opened
}
