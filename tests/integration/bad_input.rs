//! Invalid input is refused with a reason, and nothing is lost by it.

use std::fs;

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Filter, Mode, NewRecord, Query, RecordId, RecordUpdate, Viewer, Weights};
use memorist_engine::{Error, ErrorKind};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{Store, amount, hashed, words_only};

/// The field that an error names.
fn blamed<T: std::fmt::Debug>(outcome: Result<T, Error>) -> &'static str {
    match outcome {
        Err(Error::Invalid { field, .. }) => field,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn records_out_of_bounds_are_refused_with_the_name_of_the_field() {
    let store = Store::new(words_only());
    let base = || NewRecord::new("sound");
    let refused = [
        ("content", NewRecord::new("")),
        ("content", NewRecord::new(" \n\t ")),
        ("content", NewRecord::new("x".repeat(10 << 20))),
        ("content", NewRecord::new("a\0b")),
        ("importance", NewRecord { importance: 11, ..base() }),
        ("importance", NewRecord { importance: 0, ..base() }),
        ("importance", NewRecord { importance: i64::MIN, ..base() }),
        ("confidence", NewRecord { confidence: f64::NAN, ..base() }),
        ("confidence", NewRecord { confidence: 1.01, ..base() }),
        ("confidence", NewRecord { confidence: -0.1, ..base() }),
        ("expires_at", NewRecord { expires_at: Some(1_738_540_800), ..base() }),
        ("expires_at", NewRecord { expires_at: Some(-1), ..base() }),
        ("tags", NewRecord { tags: vec![String::new()], ..base() }),
        ("tags", NewRecord { tags: vec!["t".into(); 65], ..base() }),
        ("source", NewRecord { source: String::new(), ..base() }),
        ("context", NewRecord { context: Some("c".repeat(1 << 17)), ..base() }),
    ];
    for (field, record) in &refused {
        assert_eq!(blamed(store.engine.add(record)), *field);
    }
    let seconds = store.engine.add(&NewRecord { expires_at: Some(1_738_540_800), ..base() }).unwrap_err();
    assert!(seconds.to_string().contains("1738540800000"), "says what was meant: {seconds}");

    let kept = store.add("kept through all of it");
    let batch: Vec<NewRecord> = refused.iter().map(|(_, record)| record.clone()).chain([base()]).collect();
    let outcomes = store.engine.add_batch(&batch).unwrap();
    assert!(outcomes[..refused.len()].iter().all(Result::is_err) && outcomes.last().unwrap().is_ok());
    for update in [
        RecordUpdate::default(),
        RecordUpdate { content: Some(String::new()), ..RecordUpdate::default() },
        RecordUpdate { importance: Some(11), ..RecordUpdate::default() },
    ] {
        assert_eq!(store.engine.viewed_by(&Viewer::OWNER).update(kept, &update).unwrap_err().kind(), ErrorKind::Input);
    }
    assert_eq!(store.engine.viewed_by(&Viewer::OWNER).access(kept).unwrap().content, "kept through all of it");
    assert_eq!(store.engine.stats(&Filter::default()).unwrap().total, 2);
}

#[test]
fn queries_out_of_bounds_are_refused_with_the_name_of_the_field() {
    let store = Store::new(words_only());
    store.add("something");
    let base = || Query::new("something");
    let filtered = |filter: Filter| Query { filter, ..base() };
    for (field, query) in [
        ("query", Query::new("  ")),
        ("query", Query::new("q".repeat(1 << 20))),
        ("limit", Query { limit: 0, ..base() }),
        ("limit", Query { limit: 1_000_000, ..base() }),
        ("vector_weight", Query { weights: Some(Weights { vector: 0.0, keyword: 0.0 }), ..base() }),
        ("vector_weight", Query { weights: Some(Weights { vector: -1.0, keyword: 2.0 }), ..base() }),
        ("vector_weight", Query { weights: Some(Weights { vector: f64::NAN, keyword: 2.0 }), ..base() }),
        ("min_importance", filtered(Filter { min_importance: Some(11), ..Filter::default() })),
        ("min_confidence", filtered(Filter { min_confidence: Some(f64::NAN), ..Filter::default() })),
    ] {
        assert_eq!(blamed(store.engine.search(&query)), field);
    }
    for id in [0, -1, i64::MIN, i64::MAX].map(RecordId::from) {
        assert!(matches!(store.engine.viewed_by(&Viewer::OWNER).access(id), Err(Error::NotFound(gone)) if gone == id));
        assert!(!store.engine.viewed_by(&Viewer::OWNER).delete(id).unwrap());
    }
}

#[test]
fn no_text_is_a_syntax_error() {
    let store = Store::new(hashed());
    for at in 0..100 {
        store.add(&format!("record {at}: AND OR NOT (parentheses) \"quotes\" C:\\path *stars* 中文 {}", at * 7));
    }
    let modes = [Mode::Hybrid, Mode::Vector, Mode::Keyword];
    for settled in [false, true] {
        if settled {
            store.settle();
        }
        for text in
            ["'", "\"", "AND OR NOT ( \" *", "a:b", "-", "*", "\\", "+(", "content:*", "[1 TO 2]", "\u{0}", "%", "_"]
        {
            for mode in modes {
                store.engine.search(&Query { mode, ..Query::new(text) }).unwrap();
            }
        }
        let mut runner =
            TestRunner::new(Config { cases: amount(1_000) as u32, failure_persistence: None, ..Config::default() });
        let texts = prop_oneof![any::<String>(), "\\PC{1,40}", "[\\p{Han}\\p{Hangul}a-z\"'()*:~^ ]{1,30}"];
        let outcome = runner.run(&(texts, prop::sample::select(modes.to_vec())), |(text, mode)| {
            if !text.trim().is_empty() {
                store.engine.search(&Query { mode, limit: 3, ..Query::new(text) }).unwrap();
            }
            Ok(())
        });
        outcome.unwrap();
    }
}

#[test]
fn a_folder_that_cannot_be_a_store_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = words_only().open(&path).err().expect("refused");
        assert_eq!(error.kind(), ErrorKind::Store, "{error}");
        assert!(error.to_string().contains("file"), "{error}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a folder");
}

#[test]
fn a_database_that_is_not_ours_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("memory.db");
    let garbage = "this is not a database, but it is a user's file\n".repeat(100);
    fs::write(&database, &garbage).unwrap();
    let error = words_only().open(folder.path()).err().expect("refused");
    assert_eq!(error.kind(), ErrorKind::Store, "{error}");
    assert_eq!(fs::read_to_string(&database).unwrap(), garbage, "not a byte changed");
}

#[test]
fn a_database_of_a_newer_version_is_refused_with_the_way_out() {
    let store = Store::new(words_only());
    store.add("from the future");
    let Store { engine, folder } = store;
    engine.close();
    let database = folder.path().join("memory.db");
    let mut bytes = fs::read(&database).unwrap();
    bytes[63] = 99; // user_version, the last byte of a big-endian number at offset 60 of SQLite's header
    fs::write(&database, &bytes).unwrap();
    let error = words_only().open(folder.path()).err().expect("refused");
    assert!(error.to_string().contains("newer") && error.to_string().contains("update"), "{error}");
}

#[test]
fn a_truncated_database_loses_nothing_silently() {
    let store = Store::new(words_only());
    for at in 0..200 {
        store.add(&format!("record {at}"));
    }
    let Store { engine, folder } = store;
    engine.close();
    let database = folder.path().join("memory.db");
    let whole = fs::read(&database).unwrap();
    fs::write(&database, &whole[..whole.len() / 2]).unwrap();
    // Either it cannot be opened, or the doctor reports the damage: it is never reported as sound.
    match words_only().open(folder.path()) {
        Err(error) => assert_eq!(error.kind(), ErrorKind::Store, "{error}"),
        Ok(engine) => match engine.doctor(false, &NoProgress) {
            Err(error) => assert_eq!(error.kind(), ErrorKind::Store, "{error}"),
            Ok(diagnosis) => assert!(!diagnosis.is_sound(), "{diagnosis:#?}"),
        },
    }
}
