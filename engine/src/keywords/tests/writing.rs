//! Applying, publishing, many handles, merging.

use super::*;
use crate::error::{Error, ErrorKind};
use crate::nightly::step;

#[test]
fn applying_twice_is_applying_once() {
    let folder = tempfile::tempdir().unwrap();
    let index = TantivyIndex::create(folder.path(), STORE).unwrap();
    assert_eq!(index.snapshot().unwrap().applied().get(), 0);
    assert!(index.snapshot().unwrap().is_empty());
    for _ in 0..2 {
        index.apply(&records(&["one fish", "two fish", "red fish"]), &[], 3.into()).unwrap();
        index.apply(&[record(2, "blue bird")], &[3, 99, -1].map(RecordId::from), 5.into()).unwrap();
        let snapshot = index.snapshot().unwrap();
        assert_eq!(snapshot.applied().get(), 5);
        assert_eq!(snapshot.len(), 2);
        assert_eq!(ids(snapshot.as_ref(), "fish"), [1]);
        assert_eq!(ids(snapshot.as_ref(), "bird"), [2]);
        assert_eq!(snapshot.matching(&Filter::default()).unwrap().iter().collect::<Vec<_>>(), [1, 2]);
    }
    assert_eq!(index.verify().unwrap(), [] as [String; 0]);
}

#[test]
fn the_watermark_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &records(&["a lasting memory"]));
    index.apply(&[], &[], 41.into()).unwrap();
    drop(index);
    let index = TantivyIndex::open(folder.path(), STORE).unwrap();
    let snapshot = index.snapshot().unwrap();
    assert_eq!(snapshot.applied().get(), 41);
    assert_eq!(ids(snapshot.as_ref(), "memory"), [1]);
    index.release_writer().unwrap();
}

#[test]
fn a_snapshot_does_not_change_and_other_handles_see_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let writer = index_of(folder.path(), &records(&["first light"]));
    let reader = TantivyIndex::open(folder.path(), STORE).unwrap();
    let before = reader.snapshot().unwrap();
    for round in 2..30 {
        writer.apply(&[record(round, "second light")], &[(round - 1).into()], (round as u64).into()).unwrap();
        for handle in [&reader, &writer] {
            let snapshot = handle.snapshot().unwrap();
            assert_eq!(snapshot.applied().get(), round as u64);
            assert_eq!(ids(snapshot.as_ref(), "light"), [round]);
        }
    }
    assert_eq!(ids(before.as_ref(), "light"), [1]);
    assert_eq!(before.applied().get(), 1);
}

#[test]
fn a_second_writer_is_refused_until_the_first_releases() {
    let folder = tempfile::tempdir().unwrap();
    let first = index_of(folder.path(), &[]);
    let second = TantivyIndex::open(folder.path(), STORE).unwrap();
    let error = second.apply(&[], &[], 2.into()).unwrap_err();
    assert!(error.to_string().contains("is writing to it"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Store);
    first.release_writer().unwrap();
    second.apply(&records(&["taken over"]), &[], 2.into()).unwrap();
    assert_eq!(ids(first.snapshot().unwrap().as_ref(), "taken"), [1]);
}

#[test]
fn a_refused_batch_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &records(&["kept"]));
    let error = index.apply(&[record(2, "half done"), record(-3, "impossible")], &[1.into()], 2.into()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    index.apply(&[record(4, "next")], &[], 2.into()).unwrap();
    let snapshot = index.snapshot().unwrap();
    assert_eq!(snapshot.matching(&Filter::default()).unwrap().iter().collect::<Vec<_>>(), [1, 4]);
    assert_eq!(ids(snapshot.as_ref(), "half"), [] as [i64; 0]);
}

#[test]
fn many_small_commits_end_in_few_segments() {
    let folder = tempfile::tempdir().unwrap();
    let index = TantivyIndex::create(folder.path(), STORE).unwrap();
    for id in 1..=60 {
        index.apply(&[record(id, "drop by drop")], &[], (id as u64).into()).unwrap();
    }
    index.maintain().unwrap();
    let snapshot = index.snapshot().unwrap();
    assert_eq!(snapshot.len(), 60);
    assert_eq!(snapshot.applied().get(), 60);
    assert_eq!(ids(snapshot.as_ref(), "drop").len(), 60);
    let segments = std::fs::read_dir(folder.path())
        .unwrap()
        .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "idx"))
        .count();
    assert!(segments <= 8, "{segments}");
    assert_eq!(index.verify().unwrap(), [] as [String; 0]);
}

#[test]
fn an_index_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er");
    TantivyIndex::create(&path, STORE).unwrap();
    assert!(matches!(TantivyIndex::create(&path, STORE), Err(Error::Store { .. })));
}

#[test]
fn a_record_is_indexed_once_however_often_it_is_replaced() {
    for seed in (0..40).step_by(step()) {
        let folder = tempfile::tempdir().unwrap();
        let mut random = TextGenerator(seed);
        let mut index = index_of(folder.path(), &records(&["text"; 60]));
        for applied in 2..8 {
            if random.below(2) == 0 {
                index.release_writer().unwrap();
            }
            if random.below(3) == 0 {
                drop(index);
                index = TantivyIndex::open(folder.path(), STORE).unwrap();
            }
            let mut ids: Vec<i64> = (0..1 + random.below(30)).map(|_| 1 + random.below(70) as i64).collect();
            ids.sort_unstable();
            ids.dedup();
            let gone: Vec<RecordId> = ids.iter().filter(|_| random.below(3) == 0).map(|&id| id.into()).collect();
            let upserts: Vec<Record> =
                ids.iter().filter(|&&id| !gone.contains(&id.into())).map(|&id| record(id, "text again")).collect();
            index.apply(&upserts, &gone, applied.into()).unwrap();
            assert_eq!(index.verify().unwrap(), Vec::<String>::new(), "seed {seed}, step {applied}");
        }
    }
}

/// A failed commit leaves a list of deletes behind, under a number that the next one uses again.
#[test]
fn unlisted_lists_of_deletes_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &records(&["first words", "second words"]));
    index.release_writer().unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let segment = files.filter_map(|name| Some(name.strip_suffix(".term")?.to_owned())).next().unwrap();
    for opstamp in 0..100 {
        std::fs::write(folder.path().join(format!("{segment}.{opstamp}.del")), "half a list").unwrap();
    }
    index.apply(&[], &[1.into()], 2.into()).unwrap();
    assert_eq!(ids(index.snapshot().unwrap().as_ref(), "words"), [2]);
    assert_eq!(index.verify().unwrap(), [] as [String; 0]);
}
