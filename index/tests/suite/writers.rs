//! One writer of a folder at a time.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::thread;

use memorist_index::{OpenError, Reader, WriteError, Writer};

use crate::support::{LOCK, World, clustered, small};

const DIMS: usize = 8;

fn assert_locked(folder: &Path) {
    let reader = Reader::open(folder).expect("a reader asks for no lock");
    for refused in [
        Writer::open(folder, small(DIMS, 100)),
        Writer::beside(&reader, small(DIMS, 100)),
        Writer::create(folder, small(DIMS, 100), b""),
    ] {
        let Err(error @ WriteError::Locked { .. }) = refused else { panic!("{refused:?}") };
        let said = format!("another writer has the vector index in {} open", folder.display());
        assert!(error.to_string().starts_with(&said), "{error}");
    }
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_dropped() {
    let World { folder, writer, .. } = World::filled(small(DIMS, 100), &clustered(80, 50, DIMS, 5), 50);
    assert_locked(folder.path());
    drop(writer);
    let mut writer = Writer::open(folder.path(), small(DIMS, 100)).unwrap();
    writer.apply(&[(900, &[1.0; DIMS])], &[], b"").unwrap();
    assert_locked(folder.path());
}

/// Its segment has a number that the next writer would use again.
#[test]
fn a_merge_keeps_the_lock_of_its_writer() {
    let World { folder, mut writer, .. } = World::new(small(DIMS, 100));
    let vectors = clustered(81, 150, DIMS, 5);
    let rows: Vec<(u64, &[f32])> = (0..).zip(vectors.iter().map(Vec::as_slice)).collect();
    writer.apply(&rows, &[], b"").unwrap();
    let merge = writer.begin_merge().unwrap();
    drop(writer);
    assert_locked(folder.path());
    let merged = merge.run(&|_| ControlFlow::Continue(())).unwrap();
    assert_locked(folder.path());
    drop(merged);
    let mut writer = Writer::open(folder.path(), small(DIMS, 100)).unwrap();
    drop(writer.begin_merge().unwrap());
    drop(writer);
    assert_eq!(Writer::open(folder.path(), small(DIMS, 100)).unwrap().snapshot().len(), 150);
}

#[test]
fn threads_write_in_turn() {
    let World { folder, writer, .. } = World::new(small(DIMS, 100));
    drop(writer);
    let open = || loop {
        match Writer::open(folder.path(), small(DIMS, 100)) {
            Err(WriteError::Locked { .. }) => thread::yield_now(),
            opened => break opened.unwrap(),
        }
    };
    thread::scope(|scope| {
        for first in [0, 100, 200] {
            scope.spawn(move || {
                (first..first + 20).for_each(|key| open().apply(&[(key, &[1.0; DIMS])], &[], b"").unwrap())
            });
        }
    });
    let snapshot = Reader::open(folder.path()).unwrap().snapshot();
    assert_eq!((snapshot.len(), snapshot.generation(), snapshot.verify()), (60, 61, vec![]));
}

#[test]
fn readers_and_refused_writers_leave_no_lock_file() {
    let world = World::filled(small(DIMS, 100), &clustered(82, 50, DIMS, 5), 50);
    let copy = tempfile::tempdir().unwrap();
    for name in ["manifest", "segment-0000000000000000"] {
        fs::copy(world.folder.path().join(name), copy.path().join(name)).unwrap();
    }
    let reader = Reader::open(copy.path()).unwrap();
    assert!(!reader.refresh().unwrap() && reader.snapshot().verify().is_empty());
    assert!(!copy.path().join(LOCK).exists());
    let empty = tempfile::tempdir().unwrap();
    for folder in [empty.path(), &empty.path().join("absent")] {
        let refused = Writer::open(folder, small(DIMS, 100));
        assert!(matches!(refused, Err(WriteError::Open(OpenError::Missing { .. }))), "{refused:?}");
    }
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
}
