//! Tests of a format on databases, which scripts in `tests/corpus` make. Beside each script is the expected outcome.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::sample::Index;
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

use super::corpus::{folder, mutate, mutation, render, run};
use super::{Batch, Format, ReadError};

/// The script of each format, and where its program keeps the database.
pub const SCRIPTS: [(&str, &str, &str); 8] = [
    ("crush", "crush.sql", "crush.db"),
    ("cursor", "state.sql", "globalStorage/state.vscdb"),
    ("goose", "sessions.sql", "sessions/sessions.db"),
    ("kiro", "data.sql", "kiro-cli/data.sqlite3"),
    ("openclaw", "agent.sql", "agent/openclaw-agent.sqlite"),
    ("opencode", "v1.sql", "opencode.db"),
    ("opencode", "v2.sql", "opencode.db"),
    ("zed", "threads.sql", "threads/threads.db"),
];

/// A database made by a script, and a connection that writes to it.
pub struct TestDatabase {
    pub path: PathBuf,
    pub agent: Connection,
    _folder: TempDir,
}

/// Makes a database in WAL mode with this path below a folder of its own.
pub fn make(format: &dyn Format, script: &str, path: &str) -> TestDatabase {
    let folder_of_it = tempfile::tempdir().unwrap();
    let path = folder_of_it.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let agent = Connection::open(&path).unwrap();
    agent.pragma_update(None, "journal_mode", "wal").unwrap();
    // Some rows belong to a session that is gone.
    agent.pragma_update(None, "foreign_keys", false).unwrap();
    agent.execute_batch(&fs::read_to_string(folder(format).join(script)).unwrap()).unwrap();
    TestDatabase { path, agent, _folder: folder_of_it }
}

#[test]
fn a_database_has_the_turns_beside_its_script_once() {
    for (format, script, path) in SCRIPTS {
        let format = super::by_name(format).unwrap();
        let made = make(format, script, path);
        let batch = format.read(&made.path, None).unwrap();
        let expected = fs::read_to_string(folder(format).join(format!("{script}.turns"))).unwrap_or_default();
        let found = render(&batch);
        assert!(expected == found, "{script}: expected\n{expected}\nfound\n{found}");
        let again = format.read(&made.path, Some(&batch.cursor)).unwrap();
        assert_eq!(again.turns, []);
        assert_eq!(again.skipped.counts.len(), 0, "{:?}", again.skipped);
    }
}

/// Checks that the database is read, whatever is in the columns of a table.
pub fn check_mutations(format: &dyn Format, made: &TestDatabase, table: &str, columns: &[&'static str]) {
    let rows: Vec<i64> = made
        .agent
        .prepare(&format!("SELECT rowid FROM {table}"))
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let kind = 0..12_u8;
    let change =
        (any::<Index>(), prop::sample::select(columns.to_vec()), kind, prop::collection::vec(mutation(), 1..6));
    run(&prop::collection::vec(change, 1..6), |changes| {
        made.agent.execute_batch("BEGIN").unwrap();
        for (row, column, kind, mutations) in changes {
            let row = rows[row.index(rows.len())];
            let query = format!("SELECT CAST({column} AS BLOB) FROM {table} WHERE rowid = ?1");
            // A row may be gone, if another one got its key.
            let bytes: Option<Vec<u8>> = made.agent.query_row(&query, [row], |row| row.get(0)).unwrap_or_default();
            let mut bytes = bytes.unwrap_or_default();
            mutations.into_iter().for_each(|mutation| mutate(&mut bytes, mutation));
            let value = match kind {
                0 => Value::Null,
                1 => Value::Integer(i64::MAX),
                2 => Value::Real(-0.5),
                3 | 4 => Value::Blob(bytes),
                _ => Value::Text(String::from_utf8_lossy(&bytes).into_owned()),
            };
            // A text need not be UTF-8.
            let put = if kind == 4 { "CAST(?1 AS TEXT)" } else { "?1" };
            // A column may refuse it.
            let _ = made.agent.execute(&format!("UPDATE {table} SET {column} = {put} WHERE rowid = ?2"), (value, row));
        }
        made.agent.execute_batch("COMMIT").unwrap();
        let batch = format.read(&made.path, None);
        prop_assert!(batch.is_ok(), "{:?}", batch);
        let batch = batch.unwrap();
        prop_assert!(batch.skipped.counts.len() < 40);
        prop_assert!(format.read(&made.path, Some(&batch.cursor)).is_ok());
        Ok(())
    });
}

pub fn texts(batch: &Batch) -> Vec<&str> {
    batch.turns.iter().map(|turn| &*turn.text).collect()
}

/// Checks that each of the tables and columns is named when it is missing.
pub fn check_missing(format: &dyn Format, script: &str, path: &str, missing: &[(&str, &str)]) {
    for (change, expected) in missing {
        let made = make(format, script, path);
        made.agent.execute_batch(change).unwrap();
        match format.read(&made.path, None) {
            Err(ReadError::Unknown(text)) => assert_eq!(text, *expected),
            other => panic!("{change}: {other:?}"),
        }
    }
}
