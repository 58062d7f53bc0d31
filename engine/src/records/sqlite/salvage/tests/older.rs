//! Stores of older versions.

use rusqlite::Connection;

use super::super::super::testing::{NOW, TestStore};
use super::super::salvage;
use super::testing::{Contents, DamagedStore, sound};
use crate::paths::StorePaths;
use crate::progress::NoProgress;
use crate::records::Records;
use crate::types::{Kind, NewRecord, Viewer};

/// Makes of a store of this version one of version 5, which had no threads yet.
const BACK_BEFORE_THREADS: &str = "
    DROP TABLE copied; DROP TABLE unsent_accesses; DROP TABLE tokens; DROP TABLE recalled; DROP TABLE passages; DELETE FROM meta WHERE key = 'cutter';
    DROP INDEX records_by_thread; DROP INDEX records_by_origin; DROP INDEX trash_by_origin;
    DROP TABLE files; DROP TABLE sources; DROP TABLE forgotten; DROP TABLE search_hits; DROP TABLE searches;
    ALTER TABLE records DROP COLUMN origin; ALTER TABLE trash DROP COLUMN origin;
    ALTER TABLE records DROP COLUMN session; ALTER TABLE records DROP COLUMN turn;
    ALTER TABLE trash DROP COLUMN session; ALTER TABLE trash DROP COLUMN turn;
    DROP INDEX records_by_date;
    DROP TABLE tombstones; DROP TABLE version_tombstones; DROP TABLE link_tombstones;
    DROP TRIGGER metadata_of_new_record; DROP TRIGGER metadata_of_changed_record; DROP TRIGGER metadata_of_deleted_record;
    DROP TABLE record_metadata;
    PRAGMA user_version = 5;
";

/// Their rows end before the columns that the tables got later.
#[test]
fn records_from_before_threads_are_saved() {
    let store = DamagedStore::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch(BACK_BEFORE_THREADS).unwrap();
    drop(conn);
    drop(Records::open(&store.paths()).unwrap());
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch("UPDATE records SET session = 's', turn = id WHERE id % 5 = 0; PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    let before = Contents::of(&conn);
    drop(conn);
    salvage(&store.paths(), &NoProgress).unwrap();
    let after = Contents::of(&Connection::open(store.paths().database()).unwrap());
    assert_eq!((after.records, after.trash), (before.records, before.trash));
}

/// A damaged store of an older version is saved as one of the newest: its conversations get their threads, too.
#[test]
fn conversations_from_before_threads_get_theirs() {
    let store = TestStore::new();
    let body = serde_json::json!({ "session_id": "talk", "user_message": "Hi", "agent_response": "Yes" });
    let id = store.add(&NewRecord::of_body(Kind::Conversation, body).unwrap(), NOW).unwrap().id;
    let folder = store.close();
    let paths = StorePaths::new(folder.path());
    let conn = Connection::open(paths.database()).unwrap();
    conn.execute_batch(BACK_BEFORE_THREADS).unwrap();
    drop(conn);
    salvage(&paths, &NoProgress).unwrap();
    let saved = Records::open(&paths).unwrap().get(id, &Viewer::OWNER, NOW).unwrap().unwrap();
    assert_eq!((saved.session.as_deref(), saved.turn), (Some("talk"), Some(id.get())));
}
