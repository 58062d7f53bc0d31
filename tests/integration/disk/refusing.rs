//! A disk that fails: one operation fails, or the disk is full from some moment on. The caller gets an error, nothing
//! acknowledged is lost, nothing is left incomplete, and once the disk works again the same process continues.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Mode, NewRecord, Query, RecordId, RecordUpdate, Viewer};
use memorist_engine::{Engine, Error};
use memorist_index::{IndexOptions, WriteError, Writer};
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::on_disk;
use super::trace::{self, Event};
use crate::support::{amount_from, hashed, number_from};

/// How many operations of each kind are made to fail, unless MEMORIST_REFUSALS says otherwise.
const REFUSALS: u64 = 14;
const ENOSPC: i32 = 28;
const EIO: i32 = 5;

/// The state of the texts.
#[derive(Debug, Default)]
struct ExpectedTexts {
    /// Acknowledged and live.
    there: BTreeMap<RecordId, String>,
    /// Refused: saved or not, but complete.
    in_doubt: Vec<String>,
    refused: usize,
}

impl ExpectedTexts {
    fn note<T>(&mut self, outcome: Result<T, Error>, in_doubt: &[&str]) -> Option<T> {
        match outcome {
            Ok(done) => Some(done),
            Err(error) => {
                let text = error.to_string();
                assert!(!text.is_empty() && !text.contains("panicked"), "{text}");
                self.refused += 1;
                self.in_doubt.extend(in_doubt.iter().map(|text| (*text).to_owned()));
                None
            }
        }
    }

    /// Adds, changes, deletes and publishes; refusals are recorded.
    fn write(&mut self, engine: &Engine, round: u32) {
        for n in 0..6 {
            let text = format!("common round {round} text {n}");
            if let Some(added) = self.note(engine.add(&NewRecord::new(&*text)), &[&text]) {
                self.there.insert(added.id, text);
            }
        }
        let _ = self.note(engine.embed_pending(&NoProgress), &[]);
        let _ = self.note(engine.flush(&NoProgress), &[]);
        let some: Vec<RecordId> = self.there.keys().copied().take(2).collect();
        for (at, id) in some.into_iter().enumerate() {
            let before = self.there[&id].clone();
            if at == 0 {
                let text = format!("common round {round} changed");
                let update = RecordUpdate { content: Some(text.clone()), ..RecordUpdate::default() };
                match self.note(engine.viewed_by(&Viewer::OWNER).update(id, &update), &[&text, &before]) {
                    Some(_) => drop(self.there.insert(id, text)),
                    None => drop(self.there.remove(&id)),
                }
            } else {
                let _ = self.note(engine.viewed_by(&Viewer::OWNER).delete(id), &[&before]);
                self.there.remove(&id);
            }
        }
        let _ = self.note(engine.flush(&NoProgress), &[]);
    }

    /// Reports to the test how often something was refused.
    fn say(&self) {
        let line = format!("\n@refused {}\n", self.refused);
        std::io::stdout().write_all(line.as_bytes()).expect("the test listens");
    }

    /// Every search, in this process or the next, finds what is there and nothing else except what is in doubt.
    fn compare(&self, engine: &Engine, what: &str) {
        for mode in [Mode::Keyword, Mode::Hybrid, Mode::Vector] {
            let reply = engine.search(&Query { mode, limit: 1_000, ..Query::new("common") });
            let reply = reply.unwrap_or_else(|error| panic!("{what}, {mode:?}: {error}"));
            let found: BTreeMap<RecordId, String> =
                reply.hits.into_iter().map(|hit| (hit.record.id, hit.record.content)).collect();
            for (id, text) in &self.there {
                assert_eq!(found.get(id), Some(text), "{what}, {mode:?}: lost {:?}", reply.warnings);
            }
            let others = found.iter().filter(|(id, _)| !self.there.contains_key(id));
            others.for_each(|(_, text)| assert!(self.in_doubt.contains(text), "{what}, {mode:?}: invented {text}"));
        }
    }
}

/// Writes to a disk that fails once, or until there is room.
#[test]
#[ignore = "the others run it in a process of its own"]
fn a_child() {
    let Some(root) = std::env::var_os("MEMORIST_DISK_ROOT").map(PathBuf::from) else { return };
    let store = root.join("store");
    let mut known = ExpectedTexts::default();
    // Opening may fail; trying again is what a user does.
    let open = |known: &mut ExpectedTexts| known.note(hashed().open(&store), &[]);
    if let Some(engine) = open(&mut known) {
        (0..3).for_each(|round| known.write(&engine, round));
        make_room();
        known.write(&engine, 3);
        settle(&mut known, &engine);
        known.compare(&engine, "the same process, with the trouble over");
    }
    make_room();
    let engine = open(&mut known).or_else(|| open(&mut known)).expect("with the trouble over the store opens");
    settle(&mut known, &engine);
    known.compare(&engine, "opened again");
    let diagnosis = engine.doctor(false, &NoProgress).expect("looks");
    assert!(diagnosis.is_sound(), "{diagnosis:#?}");
    known.say();
}

fn make_room() {
    if let Some(room) = std::env::var_os("MEMORIST_DISK_ROOM") {
        std::fs::write(room, "").expect("a file outside of the disk");
    }
}

/// The one operation that fails may be among these: then trying again is what a user does.
fn settle(known: &mut ExpectedTexts, engine: &Engine) {
    if known.note(engine.embed_pending(&NoProgress), &[]).is_none() {
        engine.embed_pending(&NoProgress).expect("with the trouble over the rest is embedded");
    }
    if known.note(engine.flush(&NoProgress), &[]).is_none() {
        engine.flush(&NoProgress).expect("with the trouble over the rest is applied");
    }
}

/// Runs a child on a disk in `folder`; returns its output.
fn run(child: &str, folder: &Path, variables: &[(&str, &OsStr)]) -> String {
    let root = folder.join("disk");
    std::fs::create_dir(&root).expect("a folder");
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    let test = format!("disk::refusing::{child}");
    command.args(["--exact", &test, "--ignored", "--nocapture", "--test-threads=1"]);
    on_disk(&mut command, &root).envs(variables.iter().copied()).stdin(Stdio::null());
    let child = command.output().expect("runs");
    let (said, complaints) = (String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success(), "{variables:?}: {}\n{said}\n{complaints}", child.status);
    said.into_owned()
}

/// Runs the child on a separate disk, on which `fail` happens. Returns how many calls were refused.
fn refuse(fail: &str) -> u64 {
    let folder = tempfile::tempdir().expect("a folder");
    let room = folder.path().join("room");
    let variables = [("MEMORIST_DISK_FAIL", fail.as_ref()), ("MEMORIST_DISK_ROOM", room.as_ref())];
    refusals(&run("a_child", folder.path(), &variables))
}

/// How often, by the child's report, something was refused.
fn refusals(said: &str) -> u64 {
    let refused = said.lines().find_map(|line| line.strip_prefix("@refused ")).expect("what was refused");
    refused.parse().expect("a number")
}

/// Makes one operation of a kind fail after another, sampled from all of them.
fn refuse_some(kind: &str, errno: i32) {
    let seed = number_from("MEMORIST_SEED", memorist_engine::now() as u64);
    eprintln!("{kind}: MEMORIST_SEED={seed}");
    let last = operations(kind);
    assert!(last > 50, "only {last} operations of this kind");
    let all: Vec<u64> = (1..=last).collect();
    let count = amount_from("MEMORIST_REFUSALS", REFUSALS) as usize;
    let chosen = all.sample(&mut ChaCha8Rng::seed_from_u64(seed), count);
    let reported = chosen.filter(|at| refuse(&format!("{kind}:{at}:{errno}")) > 0).count();
    eprintln!("{kind}: {last} operations, {count} of them made to fail, {reported} errors reported");
    assert!(reported * 10 > count, "{reported} of {count}");
}

/// How many operations of a kind there are if none fails.
fn operations(kind: &str) -> u64 {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    run("a_child", folder.path(), &[("MEMORIST_DISK_TRACE", trace.as_ref())]);
    let is_of_kind = |event: &&Event| match kind {
        "sync" => event.is_sync(),
        "full" => event.takes_space(),
        _ => event.changes(),
    };
    trace::read(&trace).iter().filter(is_of_kind).count() as u64
}

#[test]
fn a_write_that_fails_is_reported_and_loses_nothing() {
    refuse_some("change", EIO);
}

#[test]
fn a_sync_that_fails_is_reported_and_loses_nothing() {
    refuse_some("sync", EIO);
}

#[test]
fn a_full_disk_is_reported_and_loses_nothing() {
    refuse_some("full", ENOSPC);
}

/// After a failed sync the content of the disk is unknown: the writer writes nothing more that relies on it, but is
/// opened again. Every sync of creating, adding and merging fails once.
#[test]
#[ignore = "another runs it in a process of its own"]
fn a_child_with_vectors() {
    let Some(root) = std::env::var_os("MEMORIST_DISK_ROOT").map(PathBuf::from) else { return };
    let mut options = IndexOptions::new(2);
    options.flat_limit = 3;
    let index = root.join("index");
    let mut refused = 0;
    let open = || match Writer::open(&index, options.clone()) {
        Ok(writer) => writer,
        Err(_) => loop {
            match Writer::create(&index, options.clone(), b"") {
                Ok(writer) => break writer,
                Err(WriteError::Exists { .. }) => break Writer::open(&index, options.clone()).expect("opens"),
                Err(error) => assert!(matches!(error, WriteError::Unsynced { .. }), "{error}"),
            }
        },
    };
    let mut writer = open();
    for key in 0..8_u64 {
        let rows: [(u64, &[f32]); 1] = [(key, &[1.0, key as f32])];
        let write = |writer: &mut Writer| -> Result<(), WriteError> {
            writer.apply(&rows, &[], b"")?;
            writer.maintain(&|_| ControlFlow::Continue(())).map(drop)
        };
        while let Err(error) = write(&mut writer) {
            assert!(matches!(error, WriteError::Unsynced { .. }), "{error}");
            refused += 1;
            let again = write(&mut writer);
            assert!(matches!(again, Err(WriteError::Poisoned)), "{again:?}");
            drop(writer);
            writer = open();
        }
    }
    let snapshot = writer.snapshot();
    assert_eq!((snapshot.len(), snapshot.verify()), (8, Vec::new()));
    ExpectedTexts { refused, ..ExpectedTexts::default() }.say();
}

#[test]
fn a_failed_sync_poisons_the_writer_of_vectors() {
    let refused = (1..=60).map(|at| {
        let folder = tempfile::tempdir().expect("a folder");
        let fail = format!("sync:{at}:{EIO}");
        refusals(&run("a_child_with_vectors", folder.path(), &[("MEMORIST_DISK_FAIL", fail.as_ref())]))
    });
    let refused: u64 = refused.sum();
    assert!((40..=60).contains(&refused), "{refused}");
}

/// A file system of a few megabytes, if the machine allows creating one: then the kernel itself refuses.
#[test]
fn a_full_file_system_is_reported_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mount = format!("mount -t tmpfs -o size=2m tmpfs {0} && cd {0}", folder.path().display());
    let allowed = Command::new("unshare").args(["-rm", "sh", "-c", &mount]).output();
    if !allowed.is_ok_and(|tried| tried.status.success()) {
        eprintln!("no small file system can be made here: only the shim refuses");
        return;
    }
    let fill = Path::new("ballast");
    let script = format!("{mount} && exec \"$0\" --exact disk::refusing::a_child_in_little_room --ignored --nocapture");
    let child = Command::new("unshare")
        .args(["-rm", "sh", "-c", &script])
        .arg(std::env::current_exe().expect("this binary"))
        .env("MEMORIST_LITTLE_ROOM", fill)
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{said}\n{}", String::from_utf8_lossy(&child.stderr));
    assert!(said.contains("@refused"), "{said}");
}

/// Fills the working folder's file system, writes, frees space, and continues.
#[test]
#[ignore = "another runs it in a process of its own"]
fn a_child_in_little_room() {
    let Some(ballast) = std::env::var_os("MEMORIST_LITTLE_ROOM").map(PathBuf::from) else { return };
    let mut known = ExpectedTexts::default();
    let engine = hashed().open(Path::new("store")).expect("there is room yet");
    known.write(&engine, 0);
    assert_eq!(known.refused, 0);
    let mut file = std::fs::File::create(&ballast).expect("a file");
    while file.write_all(&[0; 4_096]).is_ok() {}
    (1..4).for_each(|round| known.write(&engine, round));
    assert!(known.refused > 10, "the disk is full: {known:?}");
    drop(file);
    std::fs::remove_file(&ballast).expect("removes");
    known.write(&engine, 4);
    settle(&mut known, &engine);
    known.compare(&engine, "the same process, with room again");
    let diagnosis = engine.doctor(false, &NoProgress).expect("looks");
    assert!(diagnosis.is_sound(), "{diagnosis:#?}");
    known.say();
}
