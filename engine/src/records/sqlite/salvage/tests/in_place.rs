//! Effects of a salvage on the files of a store, and on processes that have them open.

use std::collections::BTreeSet;
use std::fs;

use rusqlite::Connection;

use super::super::super::testing::{NOW, TestStore, new};
use super::super::{Salvage, in_place, salvage, survey};
use super::testing::{DamagedStore, sound, with_pages};
use crate::error::Error;
use crate::paths::{StorePaths, companions};
use crate::progress::NoProgress;
use crate::records::Records;
use crate::types::{NewRecord, NewSource, Origin, Place, RecordUpdate, Scope, SourceKind, Viewer};

#[test]
fn memories_only_in_the_write_ahead_log_are_salvaged() {
    let store = TestStore::new();
    store.add(&new("in the file"), NOW).unwrap();
    store.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    store.add(&new("in the log"), NOW).unwrap();
    // As a killed process leaves it.
    let left = tempfile::tempdir().unwrap();
    let paths = StorePaths::new(left.path());
    fs::copy(store.paths().database(), paths.database()).unwrap();
    let [log, ..] = companions(&store.paths().database());
    let log_bytes = fs::read(&log).unwrap();
    fs::write(&companions(&paths.database())[0], &log_bytes).unwrap();
    let salvaged = salvage(&paths, &NoProgress).unwrap();
    assert_eq!(salvaged.records, 2);
    let kept = salvaged.kept.unwrap().damaged;
    assert_eq!(fs::read(&companions(&kept)[0]).unwrap(), log_bytes, "the log is kept beside");
    assert!(!companions(&paths.database())[0].exists(), "and not played into the new database");
    assert_eq!(Records::open(&paths).unwrap().snapshot().unwrap().live_count(NOW).unwrap(), 2);
}

/// 39.9: the beginning of the file overwritten, while the write-ahead log has what the file lacks.
#[test]
fn a_headless_database_is_salvaged_with_its_log_and_kept() {
    let store = TestStore::new();
    let id = store.add(&new("one"), NOW).unwrap().id;
    store.add(&new("two"), NOW).unwrap();
    store.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    let update = RecordUpdate { importance: Some(9), ..RecordUpdate::default() };
    store.update(id, &update, &Viewer::OWNER, NOW).unwrap();
    let mut damaged = fs::read(store.paths().database()).unwrap();
    damaged[..600].fill(0x55);
    let left = DamagedStore::new(&damaged);
    let (paths, log) = (left.paths(), fs::read(&companions(&store.paths().database())[0]).unwrap());
    let its_log = &companions(&paths.database())[0];
    fs::write(its_log, &log).unwrap();
    let opened = in_place::DamagedDatabase::open(&paths.database()).unwrap();
    assert!(matches!(opened, in_place::DamagedDatabase::Headless(_)), "the log has no first page");
    drop(opened);
    assert_eq!(survey(&paths, &NoProgress).unwrap().records, 2);
    assert_eq!((&fs::read(paths.database()).unwrap(), &fs::read(its_log).unwrap()), (&damaged, &log), "as it was");
    let kept = salvage(&paths, &NoProgress).unwrap().kept.unwrap().damaged;
    assert_eq!((fs::read(&kept).unwrap(), fs::read(&companions(&kept)[0]).unwrap()), (damaged, log), "kept");
    assert!(!its_log.exists(), "it is not played into the new database");
    assert_eq!(fs::read_dir(left.folder.path()).unwrap().count(), 3, "nothing else is left");
    let saved = Records::open(&paths).unwrap();
    assert_eq!(saved.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().importance, 9);
    assert_eq!(saved.store_id(), store.store_id());
}

/// 39.9: a process that has the database open still knows the header, and goes on writing.
#[test]
fn a_database_that_lost_its_header_in_use_is_not_repaired() {
    let store = TestStore::new();
    store.add(&new("text"), NOW).unwrap();
    store.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    let mut bytes = fs::read(store.paths().database()).unwrap();
    bytes[..600].fill(0);
    fs::write(store.paths().database(), bytes).unwrap();
    for result in [survey(&store.paths(), &NoProgress), salvage(&store.paths(), &NoProgress)] {
        let error = result.unwrap_err();
        assert!(error.to_string().contains("other processes use this store; end them first"), "{error}");
    }
    let folder = store.close();
    assert_eq!(salvage(&StorePaths::new(folder.path()), &NoProgress).unwrap().records, 1);
}

#[test]
fn a_survey_says_what_a_salvage_does_and_changes_nothing() {
    let leaf = sound().pages[&40.into()][0];
    let store = DamagedStore::new(&with_pages(&BTreeSet::from([leaf]), |page| page.fill(0x55)));
    let before = fs::read(store.paths().database()).unwrap();
    let expected = survey(&store.paths(), &NoProgress).unwrap();
    assert_eq!(fs::read(store.paths().database()).unwrap(), before);
    let files: Vec<_> = fs::read_dir(store.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["memory.db"], "nothing is left behind");
    let salvaged = salvage(&store.paths(), &NoProgress).unwrap();
    assert_eq!(Salvage { kept: None, ..salvaged }, expected);
    assert!(expected.unreadable.contains(&40.into()));
}

#[test]
fn a_salvage_is_refused_while_others_have_the_store_open() {
    let store = TestStore::new();
    store.add(&new("text"), NOW).unwrap();
    let error = salvage(&store.paths(), &NoProgress).unwrap_err();
    assert!(error.to_string().contains("other processes use this store; end them first"), "{error}");
    assert_eq!(survey(&store.paths(), &NoProgress).unwrap().records, 1, "to look is allowed");
    store.add(&new("another"), NOW).unwrap();
    assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
}

/// A process that opens the store while it is repaired waits, and then has the new file, not the one that was moved away.
#[test]
fn a_writer_during_a_salvage_writes_into_the_new_database() {
    for _ in 0..5 {
        let store = DamagedStore::new(&sound().bytes);
        let done = std::sync::atomic::AtomicBool::new(false);
        let written: Vec<_> = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut written = Vec::new();
                for at in 0.. {
                    let last = done.load(std::sync::atomic::Ordering::Relaxed);
                    let records = Records::open(&store.paths()).unwrap();
                    written.push(records.add(&new(&format!("written meanwhile {at}")), NOW).unwrap().id);
                    if last {
                        break;
                    }
                }
                written
            });
            loop {
                match salvage(&store.paths(), &NoProgress) {
                    Ok(_) => break,
                    Err(Error::Store { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            writer.join().unwrap()
        });
        let records = Records::open(&store.paths()).unwrap();
        for id in written {
            assert!(records.get(id, &Viewer::OWNER, NOW).unwrap().is_some(), "{id} was acknowledged");
        }
    }
}

#[test]
fn a_foreign_database_is_rejected_and_left_as_it_was() {
    let other = {
        let folder = tempfile::tempdir().unwrap();
        Connection::open(folder.path().join("db")).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        fs::read(folder.path().join("db")).unwrap()
    };
    let headless = [&[0; 600], &other[600..]].concat();
    for (bytes, why) in [
        (b"no database at all, but long enough for a header".repeat(30), "not an SQLite database"),
        (headless, "has nothing to salvage"),
        (other, "database of another program"),
    ] {
        let store = DamagedStore::new(&bytes);
        for result in [survey(&store.paths(), &NoProgress), salvage(&store.paths(), &NoProgress)] {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Database { .. }) && error.to_string().contains(why), "{error}");
        }
        assert_eq!(fs::read(store.paths().database()).unwrap(), bytes, "left as it was");
    }
}

/// Files and their records stay known, so that they are not read a second time.
#[test]
fn sources_and_what_was_read_of_them_are_saved() {
    let store = TestStore::new();
    let place = |number: u8| Some(Place::new(Origin::from_bytes([number; 16]), "/notes/a.md", 1, 2));
    for number in 1..=3 {
        store.add(&NewRecord { place: place(number), ..new(&format!("chunk {number}")) }, NOW).unwrap();
    }
    assert!(store.delete(1.into(), &Viewer::OWNER, NOW).unwrap());
    let notes = NewSource {
        kind: SourceKind::Notes,
        path: "/notes".into(),
        format: None,
        globs: vec!["*.md".into()],
        scope: Scope::default(),
    };
    let source = store.add_source(&notes, NOW).unwrap().0;
    store.sql(
        "INSERT INTO files (source_id, path, thread, size, modified, device, inode, read_at)
             VALUES (1, '/notes/a.md', '/notes/a.md', 1, 2, 3, 4, 5);
         UPDATE records SET provenance = '{' WHERE id = 3",
    );
    let files = store.view().source_files(source).unwrap();
    let folder = store.close();
    let paths = StorePaths::new(folder.path());
    salvage(&paths, &NoProgress).unwrap();
    let saved = Records::open(&paths).unwrap();
    let snapshot = saved.snapshot().unwrap();
    assert_eq!(snapshot.sources().unwrap()[0].source, notes);
    assert_eq!(snapshot.source_files(source).unwrap(), files);
    assert_eq!(saved.get(2.into(), &Viewer::OWNER, NOW).unwrap().unwrap().place, place(2));
    assert_eq!(saved.get(3.into(), &Viewer::OWNER, NOW).unwrap().unwrap().place, None, "it could not be read");
    let conn = Connection::open(paths.database()).unwrap();
    let forgotten: i64 = conn.query_row("SELECT count(*) FROM forgotten", [], |row| row.get(0)).unwrap();
    assert_eq!((forgotten, saved.integrity().unwrap()), (1, Vec::new()));
}
