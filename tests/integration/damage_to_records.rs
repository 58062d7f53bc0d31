//! A damaged `memory.db`: the doctor reports what can be salvaged, salvages it, and searches find it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memorist_engine::doctor::Diagnosis;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{ListQuery, Mode, Query, RecordId, RecordUpdate, Viewer};
use memorist_engine::{Error, Remedy};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::support::{Store, hashed, words_only};

const PAGE: usize = 4_096;
const MEMORIES: i64 = 150;

fn text(id: i64) -> String {
    format!("meeting {id} on topic {} with team {} about snake_case_{id}", id % 7, id % 11)
}

/// A closed store, all of it in its files.
fn store() -> TempDir {
    let store = Store::new(hashed());
    for id in 1..=MEMORIES {
        assert_eq!(store.add(&text(id)).get(), id);
    }
    store
        .engine
        .viewed_by(&Viewer::OWNER)
        .update(5.into(), &RecordUpdate { importance: Some(9), ..RecordUpdate::default() })
        .unwrap();
    store.settle();
    let Store { engine, folder } = store;
    engine.close();
    folder
}

fn database(folder: &Path) -> PathBuf {
    folder.join("memory.db")
}

/// Overwrites whole pages, not the first.
fn destroy_pages(folder: &Path, seed: u64, number: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut bytes = fs::read(database(folder)).unwrap();
    for _ in 0..number {
        let page = random.random_range(1..bytes.len() / PAGE);
        random.fill(&mut bytes[page * PAGE..(page + 1) * PAGE]);
    }
    fs::write(database(folder), bytes).unwrap();
}

fn examine(folder: &Path, repair: bool) -> Result<Diagnosis, Error> {
    memorist_engine::examine(folder, words_only().config, repair, &NoProgress)
}

/// Everything in the store, unchanged, is found by vectors and by keywords.
fn assert_found(folder: &Path, what: &str) -> Vec<RecordId> {
    let engine = hashed().open(folder).unwrap();
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    let records = engine.list(&ListQuery { limit: 1_000, ..ListQuery::default() }).unwrap();
    for record in &records {
        assert_eq!(record.content, text(record.id.get()), "{what}");
        for mode in [Mode::Hybrid, Mode::Vector, Mode::Keyword] {
            let found = engine.search(&Query { mode, ..Query::new(text(record.id.get())) }).unwrap().hits;
            assert_eq!(found[0].record.id, record.id, "{what}: {mode:?}");
        }
    }
    let diagnosis = engine.doctor(false, &NoProgress).unwrap();
    assert!(diagnosis.is_sound(), "{what}: {diagnosis:#?}");
    records.iter().map(|record| record.id).collect()
}

#[test]
fn salvaged_records_are_found_and_lost_ones_are_named() {
    for seed in 0..6 {
        let what = format!("seed {seed}");
        let folder = store();
        if seed % 2 == 0 {
            destroy_pages(folder.path(), seed, 1 + seed as usize);
        } else {
            // Damage with which the engine does not even open it.
            let bytes = fs::read(database(folder.path())).unwrap();
            fs::write(database(folder.path()), &bytes[..bytes.len() / 10 * (9 - seed as usize)]).unwrap();
            assert!(matches!(hashed().open(folder.path()), Err(Error::Database { .. })), "{what}");
        }
        let damaged = fs::read(database(folder.path())).unwrap();
        let said = examine(folder.path(), false).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(!said.is_sound(), "{what}");
        assert_eq!(fs::read(database(folder.path())).unwrap(), damaged, "{what}: to look changes nothing");
        let can_be_saved = said.salvage.unwrap();
        assert_eq!(can_be_saved.kept, None, "{what}");

        let done = examine(folder.path(), true).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(done.is_sound(), "{what}: {done:#?}");
        let saved = done.salvage.unwrap();
        assert_eq!((saved.records, &saved.unreadable), (can_be_saved.records, &can_be_saved.unreadable), "{what}");
        let there = assert_found(folder.path(), &what);
        assert_eq!(there.len() as u64, saved.records, "{what}");
        assert!(there.iter().all(|id| !saved.unreadable.contains(id) && !saved.doubtful.contains(id)), "{what}");
        assert!(saved.kept.unwrap().damaged.exists(), "{what}");
        let sound = examine(folder.path(), true).unwrap();
        assert_eq!((sound.is_sound(), sound.salvage), (true, None), "{what}: nothing is left to do");
    }
}

/// 39.9: the first 600 bytes, which have the header of the file and the root of its schema.
#[test]
fn a_store_whose_beginning_is_overwritten_is_saved_whole() {
    for byte in [0, 0xA5] {
        let folder = store();
        let mut bytes = fs::read(database(folder.path())).unwrap();
        bytes[..600].fill(byte);
        fs::write(database(folder.path()), &bytes).unwrap();
        let refused = hashed().open(folder.path()).err().expect("refused");
        assert_eq!(refused.remedy(), Some(Remedy::Repair), "{refused}");
        assert_eq!(examine(folder.path(), false).unwrap().salvage.unwrap().records, MEMORIES.unsigned_abs());
        assert_eq!(fs::read(database(folder.path())).unwrap(), bytes, "to look changes nothing");
        let done = examine(folder.path(), true).unwrap();
        assert!(done.is_sound(), "{done:#?}");
        assert_eq!(fs::read(done.salvage.unwrap().kept.unwrap().damaged).unwrap(), bytes, "kept as it was");
        assert_eq!(assert_found(folder.path(), "saved").len() as i64, MEMORIES);
    }
}

#[test]
fn only_the_index_that_is_not_sound_is_rebuilt() {
    for (damaged, other) in [("vectors", "keywords"), ("keywords", "vectors")] {
        let folder = store();
        fs::remove_dir_all(folder.path().join(damaged)).unwrap();
        let written = |index: &str| fs::metadata(folder.path().join(index)).unwrap().created().unwrap();
        let before = written(other);
        let diagnosis = examine(folder.path(), true).unwrap();
        assert!(diagnosis.is_sound() && diagnosis.salvage.is_none(), "{diagnosis:#?}");
        assert_eq!(written(other), before, "{other} is as it was");
        assert_eq!(assert_found(folder.path(), damaged).len() as i64, MEMORIES);
    }
}

#[test]
fn a_store_in_use_is_not_repaired() {
    let folder = store();
    let engine = hashed().open(folder.path()).unwrap();
    destroy_pages(folder.path(), 3, 2);
    let error = examine(folder.path(), true).expect_err("refused");
    assert!(error.to_string().contains("other processes use this store; end them first"), "{error}");
    assert!(examine(folder.path(), false).unwrap().salvage.is_some(), "to look is allowed");
    engine.close();
    assert!(examine(folder.path(), true).unwrap().is_sound());
}

/// The process that is killed in the middle of a repair.
#[test]
#[ignore = "the next one runs it in a process of its own"]
fn a_child() {
    let Some(folder) = std::env::var_os("MEMORIST_CRASH_STORE") else { return };
    examine(Path::new(&folder), true).expect("repairs");
}

#[test]
fn a_repair_that_is_killed_loses_nothing() {
    for step in ["damaged database kept", "salvaged database in place"] {
        let folder = store();
        destroy_pages(folder.path(), 1, 3);
        let expected = examine(folder.path(), false).unwrap().salvage.unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "damage_to_records::a_child", "--ignored", "--test-threads=1"]);
        child.env("MEMORIST_CRASH_STORE", folder.path()).env(memorist_durable::crash::VARIABLE, format!("{step}:1"));
        let status = child.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(!status.success(), "killed at: {step}");

        let done = examine(folder.path(), true).unwrap();
        assert!(done.is_sound(), "{step}: {done:#?}");
        let there = assert_found(folder.path(), step);
        assert_eq!(there.len() as u64, expected.records, "{step}");
        // The damaged one is still there as a complete copy.
        let is_copy = |path: &Path| path.to_string_lossy().contains("memory.db.damaged-");
        let copies: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(copies.iter().any(|path| is_copy(path)), "{step}: {copies:?}");
    }
}
