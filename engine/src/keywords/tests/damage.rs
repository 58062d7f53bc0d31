//! Missing, foreign and damaged files: an error that makes the engine rebuild, never a panic.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::error::{Error, IndexKind, Result};
use crate::nightly::step;

fn why<T>(result: Result<T>) -> String {
    match result {
        Err(Error::IndexUnusable { index: IndexKind::Keyword, why }) => why,
        Err(other) => panic!("another error: {other:?}"),
        Ok(_) => panic!("no error"),
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| fs::metadata(file).unwrap().len() > 0);
    // segments have random names
    files.sort_by_key(|file| (file.extension().map(|kind| kind.to_owned()), fs::metadata(file).unwrap().len()));
    files
}

fn some_index(folder: &Path) {
    let mut random = TextGenerator(3);
    let mut all: Vec<Record> = (1..=400).map(|id| record(id, &random.text(12, 100))).collect();
    for record in &mut all {
        record.tags = vec![random.text(1, 20)];
        record.context = Some(format!("src/{}.rs", random.text(1, 20)));
    }
    let index = index_of(folder, &all);
    index.apply(&[record(401, "word1 word2")], &[5, 6].map(RecordId::from), 2.into()).unwrap();
    index.release_writer().unwrap();
}

#[test]
fn a_missing_index_is_reported_as_missing() {
    let folder = tempfile::tempdir().unwrap();
    assert!(why(TantivyIndex::open(folder.path(), STORE)).contains("there is none"));
    assert!(why(TantivyIndex::open(&folder.path().join("missing"), STORE)).contains("there is none"));
}

#[test]
fn any_other_list_of_segments_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    some_index(folder.path());
    let meta = folder.path().join("meta.json");
    let sound = fs::read(&meta).unwrap();
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&meta, bytes).unwrap();
        let why = why(TantivyIndex::open(folder.path(), STORE));
        assert!(why.contains("its checksum is wrong") || why.contains("its seal is damaged"), "{what}: {why}");
    };
    for at in (0..sound.len() - 1).step_by(7) {
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << (at % 8);
        refused(&bytes, &format!("byte {at}"));
        refused(&sound[..at], &format!("cut to {at}"));
    }
    refused(&[&sound[..], b"x"].concat(), "longer");
    refused(&[0xff; 64], "something else");
    let text_end = sound.trim_ascii_end().iter().rposition(|&byte| byte == b'\n').unwrap();
    refused(&sound[..=text_end], "without a seal, as tantivy writes it");
    fs::write(&meta, sound).unwrap();
    TantivyIndex::open(folder.path(), STORE).unwrap();
}

/// tantivy allocates as much memory as this file says: if that is too much, the process ends.
#[test]
fn a_corrupt_store_file_is_detected_before_tantivy_opens_it() {
    let folder = tempfile::tempdir().unwrap();
    some_index(folder.path());
    let mut stores = files(folder.path());
    stores.retain(|file| file.extension().is_some_and(|kind| kind == "store"));
    assert!(!stores.is_empty());
    for store in &stores {
        let sound = fs::read(store).unwrap();
        for at in (0..sound.len()).step_by(step()) {
            let mut flipped = sound.clone();
            flipped[at] ^= 0xff;
            for bytes in [&flipped[..], &sound[..at]] {
                fs::write(store, bytes).unwrap();
                let why = why(TantivyIndex::open(folder.path(), STORE));
                assert!(why.contains(".store"), "byte {at} of {}: {why}", bytes.len());
            }
        }
        fs::write(store, sound).unwrap();
    }
    exercise(folder.path()).unwrap();
}

#[test]
fn a_swapped_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    some_index(folder.path());
    let all = files(folder.path());
    let mut pairs = 0;
    for pair in all.windows(2).filter(|pair| pair[0].extension() == pair[1].extension()) {
        let [one, other] = [&pair[0], &pair[1]].map(|file| fs::read(file).unwrap());
        if one == other || pair[0].extension().is_some_and(|kind| kind == "json") {
            continue;
        }
        pairs += 1;
        fs::write(&pair[0], &other).unwrap();
        fs::write(&pair[1], &one).unwrap();
        let checked =
            TantivyIndex::open(folder.path(), STORE).and_then(|index| index.snapshot()?.wait_verified(Duration::MAX));
        why(checked);
        fs::write(&pair[0], &one).unwrap();
        fs::write(&pair[1], &other).unwrap();
    }
    assert!(pairs > 3, "{pairs} pairs of files of one kind");
    exercise(folder.path()).unwrap();
}

#[test]
fn a_missing_segment_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    some_index(folder.path());
    let term_file = files(folder.path()).into_iter().find(|file| file.extension().is_some_and(|kind| kind == "term"));
    fs::remove_file(term_file.unwrap()).unwrap();
    why(TantivyIndex::open(folder.path(), STORE).and_then(|index| index.verify()).map(|faults| {
        assert_ne!(faults, [] as [String; 0]);
    }));
}

/// Runs everything that a search can do on an index in any state, and returns what it found.
fn exercise(folder: &Path) -> Result<String> {
    let index = TantivyIndex::open(folder, STORE)?;
    let snapshot = index.snapshot()?;
    let query = KeywordQuery::new("word1 word2 word30 src/word3.rs");
    let filter = Filter { tags: vec!["word1".to_owned()], min_importance: Some(2), ..Filter::default() };
    let mut found = format!("{} {}", snapshot.applied().get(), snapshot.len());
    for filter in [Filter::default(), filter] {
        let hits = snapshot.search(&query, 10, &filter, &RoaringTreemap::new(), None)?;
        found.push_str(&format!(" {hits:?} {:?}", snapshot.matching(&filter)?));
    }
    found.push_str(&format!(
        " {:?}",
        super::scores_of(&*snapshot, &query, &[1, 5, 401, 9_999].map(RecordId::from), None)?
    ));
    Ok(found)
}

#[test]
fn flipped_and_cut_bytes_never_panic_and_are_found_by_verify() {
    let folder = tempfile::tempdir().unwrap();
    some_index(folder.path());
    let sound_answer = exercise(folder.path()).unwrap();
    let seed = 17;
    let mut random = TextGenerator(seed);
    let mut noticed = 0;
    for file in files(folder.path()) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let sound = fs::read(&file).unwrap();
        for round in 0..12 {
            let mut bytes = sound.clone();
            let at = random.below(bytes.len());
            match round % 3 {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << random.below(8),
                _ => bytes[at..].fill(0xff),
            }
            fs::write(&file, &bytes).unwrap();
            let case = format!("seed {seed}, {name}, round {round}, byte {at}");
            let index = TantivyIndex::open(folder.path(), STORE);
            let is_checked =
                index.as_ref().map(|index| index.snapshot().and_then(|view| view.wait_verified(Duration::MAX)));
            let believed = matches!(is_checked, Ok(Ok(_)));
            if let Err(error) = exercise(folder.path()) {
                let expected = matches!(error, Error::IndexUnusable { .. } | Error::IndexFailed { .. });
                assert!(expected, "{case}: {error:?}");
            }
            let faults = index.and_then(|index| index.verify());
            let found = faults.map_or(true, |faults| !faults.is_empty());
            noticed += usize::from(found);
            // The names of unlisted files are not part of what is searched.
            let is_of_no_account = bytes == sound || name == ".managed.json";
            assert!((found && !believed) || is_of_no_account, "{case}: the damage was not found");
        }
        fs::write(&file, &sound).unwrap();
    }
    assert!(noticed > 50, "only {noticed} damages were noticed");
    assert_eq!(exercise(folder.path()).unwrap(), sound_answer);
}
