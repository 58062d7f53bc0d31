//! Rows that can be read and are wrong are kept apart, with the reason.

use std::collections::BTreeSet;
use std::fs;

use rusqlite::Connection;

use super::super::salvage;
use super::testing::{DamagedStore, sound};
use crate::progress::NoProgress;
use crate::records::Records;

#[test]
fn a_changed_text_is_kept_apart_with_what_is_wrong() {
    let store = DamagedStore::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch(
        "UPDATE records SET content = 'changed by nobody' WHERE id = 2;
         UPDATE records SET importance = 11 - importance WHERE id = 3;
         UPDATE versions SET content = 'changed too' WHERE record_id = 5 AND version = 1;",
    )
    .unwrap();
    drop(conn);
    // The index on importance followed the change: nothing is wrong with it.
    let salvaged = salvage(&store.paths(), &NoProgress).unwrap();
    assert_eq!(salvaged.doubtful, BTreeSet::from([2.into()]));
    assert_eq!(salvaged.versions_lost, [5.into()]);
    let lines = fs::read_to_string(salvaged.kept.unwrap().doubtful.unwrap()).unwrap();
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((lines[0]["id"].as_i64(), lines[0]["memory"]["content"].as_str()), (Some(2), Some("changed by nobody")));
    assert!(lines[0]["problem"].as_str().unwrap().contains("does not have the hash"), "{}", lines[0]);
    assert_eq!(lines[0]["memory"]["project"], "atlas");
    assert_eq!((lines[1]["id"].as_i64(), lines[1]["version"].as_i64()), (Some(5), Some(1)));
    // Known to be lost, so not found to be missing a second time.
    assert_eq!(Records::open(&store.paths()).unwrap().integrity().unwrap(), Vec::<String>::new());
}

#[test]
fn twins_that_a_damaged_index_let_through_do_not_stop_it() {
    let store = DamagedStore::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch(
        "DROP INDEX records_by_content;
         INSERT INTO records SELECT 900, randomblob(16), version, kind, scope_id, importance, confidence, created_at,
             updated_at, expires_at, valid_from, valid_to, access_count, last_accessed_at, content_hash, embedding_hash,
             embedding_id, source, tags, provenance, body, context, content, session, turn, NULL FROM records WHERE id = 2;",
    )
    .unwrap();
    drop(conn);
    let salvaged = salvage(&store.paths(), &NoProgress).unwrap();
    assert_eq!(salvaged.doubtful, BTreeSet::from([900.into()]));
    assert_eq!(salvaged.records, sound().contents.records.len() as u64);
    let lines = fs::read_to_string(salvaged.kept.unwrap().doubtful.unwrap()).unwrap();
    assert!(lines.contains("memory 2 of its scope has the same text"), "{lines}");
}

#[test]
fn vectors_that_no_model_makes_are_made_again() {
    let store = DamagedStore::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch(
        "UPDATE embeddings SET vector = x'007E' WHERE id = 1;
         UPDATE embeddings SET vector = zeroblob(48) WHERE id = 2;
         UPDATE embeddings SET vector = CAST(substr(vector, 1, 46) || x'007E' AS BLOB) WHERE id = 3;",
    )
    .unwrap();
    drop(conn);
    let (_, saved) = store.saved("vectors");
    assert_eq!(saved.vectors.len(), sound().contents.vectors.len() - 3);
    let salvaged = salvage(&store.paths(), &NoProgress).unwrap();
    assert_eq!((salvaged.to_embed, salvaged.kept.unwrap().doubtful), (3, None));
    let records = Records::open(&store.paths()).unwrap();
    let (model, _) = records.current_model().unwrap().expect("the model is kept");
    assert_eq!(records.pending(model, 100, 0).unwrap().len(), 3);
}
