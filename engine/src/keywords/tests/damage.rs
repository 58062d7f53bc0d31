//! Missing, foreign and damaged files: an error that makes the engine rebuild, never a panic.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::error::{Error, Result};

fn why<T>(result: Result<T>) -> String {
    match result {
        Err(Error::IndexUnusable { index: "keyword", why }) => why,
        Err(other) => panic!("another error: {other:?}"),
        Ok(_) => panic!("no error"),
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| fs::metadata(file).unwrap().len() > 0);
    files.sort();
    files
}

fn some_index(folder: &Path) {
    let mut random = Random(3);
    let mut all: Vec<Record> = (1..=400).map(|id| record(id, &random.text(12, 100))).collect();
    for record in &mut all {
        record.tags = vec![random.text(1, 20)];
        record.context = Some(format!("src/{}.rs", random.text(1, 20)));
    }
    let index = index_of(folder, &all);
    index.apply(&[record(401, "word1 word2")], &[5, 6], 2).unwrap();
    index.release_writer().unwrap();
}

#[test]
fn no_index_is_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    assert!(why(TantivyIndex::open(folder.path())).contains("there is none"));
    assert!(why(TantivyIndex::open(&folder.path().join("missing"))).contains("there is none"));
}

#[test]
fn another_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    some_index(folder.path());
    let meta = folder.path().join("meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    for (from, to, says) in [
        ("\\\"format\\\":1", "\\\"format\\\":2", "format 2"),
        ("\\\"format\\\":1", "\\\"formal\\\":1", "payload"),
        ("\"payload\"", "\"pay\"", "first commit"),
        ("memorist_distinct", "memorist_content", "fields"),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        fs::write(&meta, text.replace(from, to)).unwrap();
        let why = why(TantivyIndex::open(folder.path()));
        assert!(why.contains(says), "{why}");
    }
    fs::write(&meta, &text[..text.len() / 2]).unwrap();
    why(TantivyIndex::open(folder.path()));
    fs::write(&meta, [0xff; 64]).unwrap();
    why(TantivyIndex::open(folder.path()));
    fs::write(&meta, text).unwrap();
    TantivyIndex::open(folder.path()).unwrap();
}

#[test]
fn a_missing_segment_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    some_index(folder.path());
    let term_file = files(folder.path()).into_iter().find(|file| file.extension().is_some_and(|kind| kind == "term"));
    fs::remove_file(term_file.unwrap()).unwrap();
    why(TantivyIndex::open(folder.path()).and_then(|index| index.verify()).map(|faults| {
        assert_ne!(faults, [] as [String; 0]);
    }));
}

/// Everything that a search can do to an index, whatever state it is in. Errors are fine, panics are not.
fn exercise(folder: &Path) -> Result<()> {
    let index = TantivyIndex::open(folder)?;
    let snapshot = index.snapshot()?;
    let query = KeywordQuery::new("word1 word2 word30 src/word3.rs");
    let filter = Filter { tags: vec!["word1".to_owned()], min_importance: Some(2), ..Filter::default() };
    for filter in [Filter::default(), filter] {
        snapshot.search(&query, 10, &filter, &RoaringTreemap::new(), None)?;
        snapshot.matching(&filter)?;
    }
    snapshot.scores(&query, &[1, 5, 401, 9_999], None)?;
    Ok(())
}

#[test]
fn flipped_and_cut_bytes_never_panic_and_are_found_by_verify() {
    let folder = tempfile::tempdir().unwrap();
    some_index(folder.path());
    exercise(folder.path()).unwrap();
    let seed = 17;
    let mut random = Random(seed);
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
            if let Err(error) = exercise(folder.path()) {
                let expected = matches!(error, Error::IndexUnusable { .. } | Error::Keywords(_));
                assert!(expected, "seed {seed}, {name}, round {round}: {error:?}");
            }
            let segment_file = !name.starts_with('.') && name != "meta.json";
            if segment_file && bytes != sound {
                let faults = TantivyIndex::open(folder.path()).and_then(|index| index.verify());
                let found = faults.as_ref().map_or(true, |faults| !faults.is_empty());
                assert!(found, "seed {seed}, {name}, round {round}: the damage was not found");
            }
        }
        fs::write(&file, &sound).unwrap();
    }
    exercise(folder.path()).unwrap();
}
