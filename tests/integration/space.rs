//! Deletes and replacements free space.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Expect, NewRecord, Query, RecordId, RecordUpdate, Viewer};

use crate::support::{Store, hashed_with};

const RECORDS: usize = 1_000;
/// How long the worker may take.
const TIMEOUT: Duration = Duration::from_secs(180);

/// The bytes of all files below a folder.
fn bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let length = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes(&entry.path()),
        Ok(found) => found.len(),
        // It was removed just now.
        Err(_) => 0,
    };
    entries.map_while(Result::ok).map(length).sum()
}

fn text(n: usize, round: usize) -> String {
    format!("number {n} round {round} {}", format!("{}{} ", "long".repeat(6), n % 97).repeat(600))
}

/// The bytes of the database without its write-ahead log, which is reused.
fn database(root: &Path) -> u64 {
    fs::metadata(root.join("memory.db")).map_or(0, |found| found.len())
}

/// Waits until the parts of a store are no larger than this.
fn shrinks(store: &Store, most: [(&str, u64); 3]) {
    let started = Instant::now();
    let parts = |root: &Path| {
        [
            ("database", database(root)),
            ("vectors", bytes(&root.join("vectors"))),
            ("keywords", bytes(&root.join("keywords"))),
        ]
    };
    loop {
        let now = parts(store.folder.path());
        if now.iter().zip(&most).all(|((_, now), (_, most))| now <= most) {
            return;
        }
        assert!(started.elapsed() < TIMEOUT, "{now:?} is more than {most:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn deletes_and_updates_give_their_space_back() {
    let store = Store::new(hashed_with(|config| config.trash_grace = Duration::ZERO));
    let all: Vec<NewRecord> = (0..RECORDS).map(|n| NewRecord::new(text(n, 0))).collect();
    let added = store.engine.add_batch(&all).expect("adds");
    let ids: Vec<RecordId> = added.into_iter().map(|outcome| outcome.expect("a sound record").id).collect();
    store.settle();
    // Rebuilt indexes are merged already, so that their size is the one to compare with.
    store.engine.rebuild(&NoProgress).expect("rebuilds");
    let [vectors, keywords] = ["vectors", "keywords"].map(|folder| bytes(&store.folder.path().join(folder)));
    for round in 1..4 {
        for (n, id) in ids.iter().enumerate().take(100) {
            let update = RecordUpdate { content: Some(text(n, round)), ..RecordUpdate::default() };
            store.engine.viewed_by(&Viewer::OWNER).update(*id, &update).expect("updates");
        }
        store.settle();
    }
    // The database keeps every version; the indexes only the newest.
    shrinks(&store, [("database", u64::MAX), ("vectors", vectors * 3 / 2), ("keywords", keywords * 3 / 2)]);

    let whole = database(store.folder.path());
    assert!(whole > 20 << 20, "{whole}");
    for some in ids[RECORDS / 20..].chunks(100) {
        let expected: Vec<_> = some.iter().map(|id| (*id, Expect::Words("number".into()))).collect();
        store.engine.viewed_by(&Viewer::OWNER).delete_all(&expected).expect("deletes");
    }
    store.settle();
    // Four megabytes of free pages may stay, and the versions of the remaining records.
    shrinks(&store, [("database", whole / 2), ("vectors", vectors / 8), ("keywords", keywords / 8)]);
    assert_eq!(store.find(&Query { limit: 1_000, ..Query::new("number") }).len(), RECORDS / 20);
}
