//! A crash, a failed write and a racing reader leave or see the old state or the new one.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use memorist_index::{Filter, Layout, OpenError, Reader, SearchParams, WriteError, Writer};

use crate::support::{World, clustered, files, small, with_layout};

const DIMS: usize = 8;

in_both_layouts!(
    a_crash_before_the_manifest_is_replaced_leaves_the_old_state,
    a_failed_write_changes_nothing,
    old_segments_are_removed_and_older_snapshots_stay_whole,
    a_writer_beside_a_reader_begins_with_what_is_published_now,
    a_reader_follows_to_an_index_of_other_dimensions,
    a_reader_that_races_with_a_writer_sees_whole_states_in_order,
);

fn copy(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    for name in files(from) {
        fs::copy(from.join(&name), to.path().join(&name)).unwrap();
    }
    to
}

fn keys(folder: &Path) -> Vec<u64> {
    let mut keys: Vec<u64> = Reader::open(folder).unwrap().snapshot().keys().collect();
    keys.sort_unstable();
    keys
}

fn a_crash_before_the_manifest_is_replaced_leaves_the_old_state(layout: Layout) {
    let mut world = World::filled(with_layout(layout, small(DIMS, 100)), &clustered(40, 150, DIMS, 5), 150);
    let before = copy(world.folder.path());
    world.apply((100..300).zip(clustered(41, 200, DIMS, 5)).collect(), &(0..50).collect::<Vec<_>>());
    // The segments of the new state, and the manifest of the old one, as after a crash in between.
    let crashed = copy(world.folder.path());
    fs::remove_file(crashed.path().join("manifest")).unwrap();
    fs::copy(before.path().join("manifest"), crashed.path().join("manifest")).unwrap();
    for left in ["manifest.tmp", ".memorist-0123456789abcdef.tmp"] {
        fs::write(crashed.path().join(left), b"half a manif").unwrap();
    }
    fs::write(crashed.path().join("segment-00000000000000ff"), b"half a segment").unwrap();
    fs::write(crashed.path().join("notes.txt"), b"not ours").unwrap();
    assert_eq!(keys(crashed.path()), (0..150).collect::<Vec<_>>());

    let expected: Vec<String> = files(before.path());
    let mut writer = Writer::open(crashed.path(), small(DIMS, 100)).unwrap();
    let left: Vec<String> = files(crashed.path()).into_iter().filter(|name| name != "notes.txt").collect();
    assert_eq!(left, expected, "what the crash left is gone, and what is not ours stays");
    assert!(crashed.path().join("notes.txt").exists());
    // The same batch again, as the caller's log has it.
    let vectors = clustered(41, 200, DIMS, 5);
    let rows: Vec<(u64, &[f32])> = (100..300).zip(vectors.iter().map(Vec::as_slice)).collect();
    writer.apply(&rows, &(0..50).collect::<Vec<_>>(), b"").unwrap();
    assert_eq!(keys(crashed.path()), (50..300).collect::<Vec<_>>());
    assert_eq!(writer.snapshot().verify(), []);
}

fn a_failed_write_changes_nothing(layout: Layout) {
    let mut world = World::filled(with_layout(layout, small(DIMS, 100)), &clustered(42, 150, DIMS, 5), 150);
    let generation = world.writer.snapshot().generation();
    let before = files(world.folder.path());
    // A folder instead of the manifest: publishing fails, after the segment was written.
    let (manifest, aside) = (world.folder.path().join("manifest"), world.folder.path().join("aside"));
    let swap = |from: &Path, to: &Path| fs::rename(from, to).unwrap();
    swap(&manifest, &aside);
    fs::create_dir(&manifest).unwrap();
    let vector = [1.0f32; DIMS];
    let failed = world.writer.apply(&[(900, &vector)], &[1], b"new");
    assert!(matches!(failed, Err(WriteError::Io { .. })), "{failed:?}");
    assert_eq!(world.writer.snapshot().generation(), generation);
    fs::remove_dir(&manifest).unwrap();
    swap(&aside, &manifest);
    assert_eq!(keys(world.folder.path()), (0..150).collect::<Vec<_>>());
    world.apply(vec![(900, vector.to_vec())], &[1]);
    assert!(world.writer.snapshot().contains(900) && !world.writer.snapshot().contains(1));
    let world = world.reopen(small(DIMS, 100));
    assert_eq!(files(world.folder.path()).len(), before.len() + 1, "what the failure left behind is gone");
}

fn old_segments_are_removed_and_older_snapshots_stay_whole(layout: Layout) {
    let mut world = World::new(with_layout(layout, small(DIMS, 100)));
    let reader = Reader::open(world.folder.path()).unwrap();
    world.apply((0..).zip(clustered(43, 90, DIMS, 5)).collect(), &[]);
    assert!(reader.refresh().unwrap());
    assert!(!reader.refresh().unwrap(), "nothing new");
    let older = reader.snapshot();
    let query = clustered(44, 1, DIMS, 1).remove(0);
    let before = older.search(&query, &SearchParams::new(20), Filter::All).unwrap();
    world.apply((0..90).zip(clustered(45, 90, DIMS, 5)).collect(), &[]);
    world.apply((90..200).zip(clustered(46, 110, DIMS, 5)).collect(), &[]);
    world.maintain();
    let windows_keeps_mapped_files = cfg!(windows) && world.writer.has_leftovers();
    assert!(files(world.folder.path()).len() == 2 || windows_keeps_mapped_files, "a manifest and a segment");
    assert_eq!(older.search(&query, &SearchParams::new(20), Filter::All).unwrap(), before);
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.snapshot().len(), 200);
    drop(older);
    let world = world.reopen(small(DIMS, 100));
    assert!(!world.writer.has_leftovers());
    assert_eq!(files(world.folder.path()).len(), 2, "a manifest and a segment");
}

/// A folder stands for a segment that another process has mapped, which Windows does not remove either.
#[test]
fn a_leftover_that_cannot_be_removed_stays_for_a_later_writer() {
    let world = World::filled(small(DIMS, 100), &clustered(50, 150, DIMS, 5), 150);
    let left = world.folder.path().join("segment-00000000000000ff");
    fs::create_dir(&left).unwrap();
    let mut world = world.reopen(small(DIMS, 100));
    assert!(world.writer.has_leftovers());
    world.apply(vec![(900, vec![1.0; DIMS])], &[5]);
    assert_eq!(keys(world.folder.path()).len(), 150);
    fs::remove_dir(&left).unwrap();
    fs::write(&left, "").unwrap();
    assert!(!world.reopen(small(DIMS, 100)).writer.has_leftovers());
    assert!(!left.exists());
}

#[test]
fn a_payload_is_published_with_its_vectors() {
    let mut world = World::new(small(DIMS, 100));
    let reader = Reader::open(world.folder.path()).unwrap();
    world.writer.apply(&[], &[], b"model A, 17").unwrap();
    reader.refresh().unwrap();
    assert_eq!(reader.snapshot().payload(), b"model A, 17");
    world.maintain();
    assert_eq!(world.writer.snapshot().payload(), b"model A, 17");
}

#[test]
fn a_writer_beside_a_reader_checks_nothing_again() {
    let World { folder, writer, .. } = World::filled(small(DIMS, 100), &clustered(47, 300, DIMS, 5), 90);
    drop(writer);
    let reader = Reader::open(folder.path()).unwrap();
    reader.snapshot().check().unwrap();
    let writer = || Writer::beside(&reader, small(DIMS, 100)).unwrap();
    assert_eq!(writer().snapshot().unchecked_bytes(), 0);
    writer().apply(&[(900, &[1.0; DIMS])], &[5], b"").unwrap();
    let size = |name: &String| fs::metadata(folder.path().join(name)).unwrap().len();
    let all: u64 = files(folder.path()).iter().map(size).sum();
    assert!((1..all / 2).contains(&writer().snapshot().unchecked_bytes()), "only what is new");
}

/// The reader is behind: another process has published, or has made another index in the same folder.
fn a_writer_beside_a_reader_begins_with_what_is_published_now(layout: Layout) {
    let mut world = World::filled(with_layout(layout, small(DIMS, 100)), &clustered(48, 150, DIMS, 5), 150);
    let reader = Reader::open(world.folder.path()).unwrap();
    world.apply((100..300).zip(clustered(49, 200, DIMS, 5)).collect(), &(0..50).collect::<Vec<_>>());
    let World { folder, writer, .. } = world;
    drop(writer);
    let vector = [1.0f32; DIMS];
    let writer = || Writer::beside(&reader, small(DIMS, 100)).unwrap();
    writer().apply(&[(900, &vector)], &[299], b"").unwrap();
    assert_eq!(keys(folder.path()), (50..299).chain([900]).collect::<Vec<_>>());
    // A merge that ends early leaves nothing that the next writer would build on.
    assert!(matches!(writer().maintain(&|_| ControlFlow::Break(())), Err(WriteError::Cancelled)));
    writer().maintain(&|_| ControlFlow::Continue(())).unwrap();
    assert_eq!(keys(folder.path()), (50..299).chain([900]).collect::<Vec<_>>());

    fs::remove_dir_all(folder.path()).unwrap();
    let mut options = with_layout(layout, small(DIMS, 100));
    options.first_segment = 1_000;
    Writer::create(folder.path(), options, b"").unwrap().apply(&[(7, &vector)], &[], b"").unwrap();
    let mut writer = writer();
    writer.apply(&[(8, &vector)], &[], b"").unwrap();
    assert_eq!(keys(folder.path()), [7, 8]);
    assert_eq!(writer.snapshot().verify(), []);
}

/// The caller's model has changed, and with it the dimensions: a new index was made where the old one was.
fn a_reader_follows_to_an_index_of_other_dimensions(layout: Layout) {
    let World { folder, writer, .. } =
        World::filled(with_layout(layout, small(8, 100)), &clustered(70, 300, 8, 5), 100);
    drop(writer);
    let reader = Reader::open(folder.path()).unwrap();
    let older = reader.snapshot();
    let before = older.search(&[1.0; 8], &SearchParams::new(20), Filter::All).unwrap();

    fs::remove_file(folder.path().join("manifest")).unwrap();
    let mut options = with_layout(layout, small(16, 100));
    options.first_segment = 1000;
    let writer = Writer::create(folder.path(), options, b"").unwrap();
    let mut world = World { folder, writer, vectors: BTreeMap::new(), inserted: 0 };
    world.apply((0..).zip(clustered(71, 250, 16, 5)).collect(), &[]);
    world.maintain();
    world.apply((250..).zip(clustered(72, 50, 16, 5)).collect(), &[]);

    assert!(reader.refresh().unwrap());
    let snapshot = reader.snapshot();
    assert_eq!((snapshot.dims(), snapshot.len(), snapshot.verify()), (16, 300, vec![]));
    let recall = world.recall(&snapshot, &clustered(73, 20, 16, 5), SearchParams::new(10), Filter::All);
    assert!(recall > 0.99, "recall {recall}");
    assert_eq!(snapshot.vector(7), world.writer.snapshot().vector(7));
    assert!(snapshot.search(&[1.0; 8], &SearchParams::new(1), Filter::All).is_err(), "a vector of the old model");
    assert_eq!(older.search(&[1.0; 8], &SearchParams::new(20), Filter::All).unwrap(), before);
}

fn a_reader_that_races_with_a_writer_sees_whole_states_in_order(layout: Layout) {
    let mut world = World::new(with_layout(layout, small(DIMS, 60)));
    world.writer.apply(&[], &[], &0u64.to_le_bytes()).unwrap();
    let path = world.folder.path().to_owned();
    let is_done = AtomicBool::new(false);
    let vectors = clustered(47, 2000, DIMS, 5);
    std::thread::scope(|scope| {
        let follow = scope.spawn(|| {
            let reader = Reader::open(&path).unwrap();
            let (mut generation, mut states) = (0, 0);
            while !is_done.load(Ordering::Acquire) {
                // A new reader has nothing mapped already, so the race is for all segments.
                let fresh = Reader::open(&path).unwrap().snapshot();
                states += usize::from(reader.refresh().unwrap());
                let snapshot = reader.snapshot();
                assert!(fresh.generation() <= snapshot.generation() || states == 0);
                assert!(snapshot.generation() >= generation, "never backwards");
                generation = snapshot.generation();
                let applied = u64::from_le_bytes(snapshot.payload().try_into().unwrap());
                assert_eq!(snapshot.len() as u64, applied, "the payload and the vectors are of one state");
                assert!((0..applied).step_by(97).all(|key| snapshot.contains(key)));
            }
            states
        });
        let rows: Vec<(u64, &[f32])> = (0..).zip(vectors.iter().map(Vec::as_slice)).collect();
        for (i, rows) in rows.chunks(20).enumerate() {
            world.writer.apply(rows, &[], &((i as u64 + 1) * 20).to_le_bytes()).unwrap();
            world.maintain();
        }
        is_done.store(true, Ordering::Release);
        let states = follow.join().unwrap();
        println!("{states} states were seen");
    });
}

#[test]
fn a_missing_index_and_a_missing_segment_are_different_errors() {
    let world = World::filled(small(DIMS, 100), &clustered(48, 150, DIMS, 5), 150);
    let copied = copy(world.folder.path());
    let segment = files(copied.path()).into_iter().find(|name| name.starts_with("segment")).unwrap();
    fs::remove_file(copied.path().join(segment)).unwrap();
    let error = Reader::open(copied.path()).unwrap_err();
    assert!(matches!(error, OpenError::Damaged { .. }) && error.to_string().contains("rebuild"), "{error}");
    fs::remove_file(copied.path().join("manifest")).unwrap();
    assert!(matches!(Reader::open(copied.path()), Err(OpenError::Missing { .. })));
    assert!(matches!(Writer::open(copied.path(), small(DIMS, 1)), Err(WriteError::Open(OpenError::Missing { .. }))));
    assert!(matches!(Reader::open(copied.path().join("absent")), Err(OpenError::Missing { .. })));
}
