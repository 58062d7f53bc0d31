//! Whether a file is a database of memorist, and how it becomes one: a new or older one is brought up to date.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::errors::{damaged, database_error, open_error};
use super::other_systems;
use super::schema::{APPLICATION_ID, MIGRATIONS};
use super::shape::{self, DatabaseOrigin};
use crate::error::Result;

/// Makes a new database ours, or brings one of ours up to date. Refuses every other file. Returns the store's id.
pub(super) fn prepare(conn: &mut Connection, path: &Path) -> Result<String> {
    let refuse = |error| open_error(path, error);
    if check(conn, path, DatabaseOrigin::Store)? < MIGRATIONS.len() {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(refuse)?;
        // Checked again with the lock: another process may have been first.
        let version = version_of(&tx, path)?;
        shape::check(&tx, version, path, DatabaseOrigin::Store)?;
        for (version, migration) in MIGRATIONS.iter().enumerate().skip(version) {
            tx.execute_batch(migration).map_err(refuse)?;
            tx.pragma_update(None, "user_version", version as i64 + 1).map_err(refuse)?;
        }
        tx.pragma_update(None, "application_id", APPLICATION_ID).map_err(refuse)?;
        tx.execute("INSERT OR IGNORE INTO meta VALUES ('store_id', ?)", [ulid::Ulid::generate().to_string()])
            .map_err(refuse)?;
        tx.commit().map_err(refuse)?;
    }
    store_id(conn, path)
}

/// The lineage of the store with this id.
pub(super) fn lineage(conn: &Connection, store_id: &str, path: &Path) -> Result<String> {
    let lineage = conn.query_row("SELECT value FROM meta WHERE key = 'lineage'", [], |row| row.get(0)).optional();
    Ok(lineage.map_err(|error| open_error(path, error))?.unwrap_or_else(|| store_id.to_owned()))
}

/// Gives this copy a lineage of its own, other than the store that it was copied from.
pub(super) fn begin_lineage(conn: &Connection) -> rusqlite::Result<()> {
    let lineage = ulid::Ulid::generate().to_string();
    conn.execute("INSERT OR REPLACE INTO meta VALUES ('lineage', ?)", [lineage]).map(drop)
}

/// The id of a store.
pub(super) fn store_id(conn: &Connection, path: &Path) -> Result<String> {
    let store_id = conn.query_row("SELECT value FROM meta WHERE key = 'store_id'", [], |row| row.get(0)).optional();
    let store_id = store_id.map_err(|error| open_error(path, error))?;
    store_id.ok_or_else(|| damaged(path, "its store_id is missing"))
}

/// How many migrations the database has seen; an error when it is not ours, without a look at its tables. Changes nothing.
pub(super) fn check_owner(conn: &Connection, path: &Path) -> Result<usize> {
    // One view: another process may be creating the store at this moment.
    version_of(&*conn.unchecked_transaction().map_err(|error| open_error(path, error))?, path)
}

/// Like [`check_owner`], and an error when the tables are not those of their version.
pub(super) fn check(conn: &Connection, path: &Path, origin: DatabaseOrigin) -> Result<usize> {
    // The caller may have a view already.
    let view = conn.is_autocommit().then(|| conn.unchecked_transaction()).transpose();
    let _view = view.map_err(|error| open_error(path, error))?;
    let version = version_of(conn, path)?;
    shape::check(conn, version, path, origin)?;
    Ok(version)
}

fn version_of(conn: &Connection, path: &Path) -> Result<usize> {
    let number = |sql| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(|error| open_error(path, error));
    let version = number("PRAGMA user_version")?;
    let owner = number("PRAGMA application_id")?;
    let is_empty = version == 0 && owner == 0 && number("SELECT count(*) FROM sqlite_schema")? == 0;
    if is_empty {
        return Ok(0);
    }
    if owner != i64::from(APPLICATION_ID) {
        return Err(other_systems::refusal(conn, path));
    }
    match usize::try_from(version) {
        Ok(known @ 1..) if known <= MIGRATIONS.len() => Ok(known),
        Ok(newer @ 1..) => Err(database_error(
            path,
            format!(
                "it was written by a newer memorist (format {newer}, this one reads up to {}); update memorist, or choose \
                 another folder for the store",
                MIGRATIONS.len()
            ),
        )),
        _ => Err(damaged(path, &format!("its format is {version}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::schema::{APPLICATION_ID, EIGHTH, FIFTH, FIRST, FOURTH, SECOND, SEVENTH, SIXTH, THIRD};
    use super::super::testing::{NOW, TestStore, new};
    use crate::error::Error;
    use crate::paths::StorePaths;
    use crate::records::Records;
    use crate::records::rules::trash;
    use crate::text;
    use crate::types::{Filter, Kind, NewRecord, RecordId, Viewer};

    /// Opens a store with this file as its database. Returns the error, and checks that the file is left as it was.
    fn refusal(database: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let paths = StorePaths::new(folder.path());
        fs::write(paths.database(), database).unwrap();
        let error = Records::open(&paths).err().expect("refused");
        assert!(matches!(error, Error::Database { .. }), "{error:?}");
        assert_eq!(fs::read(paths.database()).unwrap(), database, "changed");
        error.to_string()
    }

    /// The bytes of a database after these statements.
    fn database(statements: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch(statements).unwrap();
        fs::read(path).unwrap()
    }

    /// The bytes of a store with some records, all in its one file, changed by these statements.
    fn store_after(statements: &str) -> Vec<u8> {
        let store = TestStore::new();
        let news: Vec<_> = (0..200).map(|n| new(&format!("text {n}"))).collect();
        store.add_batch(&news, NOW).unwrap();
        store.sql(statements);
        store.sql("PRAGMA wal_checkpoint(TRUNCATE)");
        fs::read(store.paths().database()).unwrap()
    }

    #[test]
    fn an_empty_database_becomes_a_store() {
        for empty in [Vec::new(), database("CREATE TABLE gone (x); DROP TABLE gone")] {
            let folder = tempfile::tempdir().unwrap();
            let paths = StorePaths::new(folder.path());
            fs::write(paths.database(), empty).unwrap();
            let id = Records::open(&paths).unwrap().add(&new("text"), NOW).unwrap().id;
            assert!(Records::open(&paths).unwrap().get(id, &Viewer::OWNER, NOW).unwrap().is_some());
        }
    }

    #[test]
    fn a_file_that_is_no_database_is_refused() {
        for garbage in ["not a database at all, but long enough to have a header".repeat(20).as_bytes(), b"short"] {
            assert!(refusal(garbage).contains("is not an SQLite database; move the file and the indexes away"));
        }
    }

    #[test]
    fn another_program_s_database_is_refused() {
        let message = "database of another program; choose another folder";
        assert!(refusal(&database("CREATE TABLE theirs (x)")).contains(message));
        assert!(refusal(&database("PRAGMA application_id = 7; PRAGMA user_version = 1")).contains(message));
        assert!(refusal(&database("PRAGMA user_version = 1")).contains(message));
    }

    #[test]
    fn a_newer_store_is_refused() {
        let message = refusal(&store_after("PRAGMA user_version = 14"));
        assert!(message.contains("newer memorist (format 14, this one reads up to 13); update memorist"), "{message}");
    }

    /// Stores are as old as their first version: what that wrote is there after every step.
    #[test]
    fn a_store_of_the_first_version_is_brought_up_to_date() {
        let folder = tempfile::tempdir().unwrap();
        let paths = StorePaths::new(folder.path());
        let hash = text::to_hex(&text::embedding_hash(None, "old"));
        let rows = format!(
            "INSERT INTO meta VALUES ('store_id', '01J00000000000000000000000');
             INSERT INTO records (ulid, version, kind, scope_id, importance, confidence, created_at, updated_at,
                 content_hash, embedding_hash, source, tags, content)
             VALUES (zeroblob(16), 1, 0, 1, 5, 1.0, {NOW}, {NOW}, x'{hash}', x'{hash}', 'manual', '[\"a\"]', 'old');
             INSERT INTO sync_log (op, record_id, payload) VALUES (1, 1, x'0101');
             PRAGMA application_id = {APPLICATION_ID};
             PRAGMA user_version = 1"
        );
        let old = database(&format!("{FIRST}{rows}"));
        fs::write(paths.database(), old).unwrap();
        let records = Records::open(&paths).unwrap();
        let record = records.get(1.into(), &Viewer::OWNER, NOW).unwrap().unwrap();
        assert_eq!((record.content.as_str(), record.tags), ("old", vec!["a".to_owned()]));
        assert_eq!(records.integrity().unwrap(), Vec::<String>::new());
        assert!(!records.add(&new("old"), NOW).unwrap().created);
        assert!(records.add(&new("newer"), NOW).unwrap().created);
    }

    /// Stores of the two versions before: totals are counted, and tags put in lower case, once, as they are opened.
    #[test]
    fn a_store_of_an_earlier_version_gets_what_the_later_ones_keep() {
        for (version, schema) in [
            (2, [FIRST, SECOND].concat()),
            (3, [FIRST, SECOND, THIRD].concat()),
            (4, [FIRST, SECOND, THIRD, FOURTH].concat()),
            (5, [FIRST, SECOND, THIRD, FOURTH, FIFTH].concat()),
            (6, [FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH].concat()),
            (7, [FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH].concat()),
            (8, [FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, EIGHTH].concat()),
        ] {
            is_brought_up_to_date(version, &schema);
        }
    }

    /// The records of a store as one of an older version.
    fn as_of(version: u32, schema: &str, store: TestStore) -> tempfile::TempDir {
        let kept = store.close();
        let copy = tempfile::tempdir().unwrap();
        let made = rusqlite::Connection::open(StorePaths::new(copy.path()).database()).unwrap();
        made.execute_batch(&format!(
            "{schema} DELETE FROM scopes; PRAGMA application_id = {APPLICATION_ID};
             PRAGMA user_version = {version}; INSERT INTO meta VALUES ('store_id', '01J00000000000000000000000')"
        ))
        .unwrap();
        made.execute("ATTACH ? AS new", [StorePaths::new(kept.path()).database().to_str().unwrap()]).unwrap();
        for table in ["scopes", "records", "sync_log"] {
            let sql = format!("SELECT group_concat(name) FROM pragma_table_info('{table}')");
            let columns: String = made.query_row(&sql, [], |row| row.get(0)).unwrap();
            made.execute(&format!("INSERT INTO {table} SELECT {columns} FROM new.{table}"), []).unwrap();
        }
        made.execute("UPDATE records SET access_count = 9223372036854775807 WHERE id < 3", []).unwrap();
        copy
    }

    fn conversation(store: &TestStore, session: &str) -> RecordId {
        let said = serde_json::json!({ "session_id": session, "user_message": "Hi", "agent_response": "Yes" });
        store.add(&NewRecord::of_body(Kind::Conversation, said).unwrap(), NOW).unwrap().id
    }

    fn is_brought_up_to_date(version: u32, schema: &str) {
        let store = TestStore::new();
        let tags = vec!["Deploy".to_owned()];
        let news = (0..30).map(|n| NewRecord { importance: 1 + n % 3, tags: tags.clone(), ..new(&n.to_string()) });
        let news: Vec<_> = news.collect();
        store.add_batch(&news, NOW).unwrap();
        let said = conversation(&store, "talk");
        let old = as_of(version, schema, store);
        let records = Records::open(&StorePaths::new(old.path())).unwrap();
        let stats = records.snapshot().unwrap().stats(&Filter::default(), NOW).unwrap();
        assert_eq!((stats.total, stats.pending_embeddings), (31, 31));
        assert!(records.recount().unwrap(), "the counts that are out of range");
        let tagged = Filter { tags: vec!["dePLOY".into()], ..Filter::default() };
        assert_eq!(records.snapshot().unwrap().matching(&tagged, NOW).unwrap().len(), 30);
        let deleted = trash::delete(&records, 1.into(), None, &Viewer::OWNER, NOW).unwrap().unwrap();
        let back = trash::restore(&records, 1.into(), &Viewer::OWNER, NOW).unwrap();
        assert_eq!((back.content, back.tags), (deleted.content, tags));
        let said = records.get(said, &Viewer::OWNER, NOW).unwrap().unwrap();
        // Since version 6 it has its turn as it was saved; before, the migration took its id.
        let turn = if version < 6 { 31 } else { 1 };
        assert_eq!((said.session.as_deref(), said.turn), (Some("talk"), Some(turn)));
        assert_eq!(records.integrity().unwrap(), Vec::<String>::new());
    }

    /// It cannot be read, and nothing else suffers.
    #[test]
    fn a_store_with_a_damaged_body_is_brought_up_to_date() {
        const BODY: &str = r#"{"session_id":"damaged""#;
        let store = TestStore::new();
        let [damaged, sound] = ["damaged", "sound"].map(|session| conversation(&store, session));
        let old = as_of(5, &[FIRST, SECOND, THIRD, FOURTH, FIFTH].concat(), store);
        let paths = StorePaths::new(old.path());
        let mut bytes = fs::read(paths.database()).unwrap();
        let at = bytes.windows(BODY.len()).position(|found| found == BODY.as_bytes()).unwrap();
        bytes[at] = b'[';
        fs::write(paths.database(), bytes).unwrap();
        let records = Records::open(&paths).unwrap();
        let sound = records.get(sound, &Viewer::OWNER, NOW).unwrap().unwrap();
        assert_eq!(sound.session.as_deref(), Some("sound"));
        let problems = records.integrity().unwrap();
        assert!(problems.iter().any(|problem| problem.starts_with(&format!("record {damaged}"))), "{problems:?}");
    }

    #[test]
    fn damage_is_reported_as_it_is_opened() {
        for damage in ["PRAGMA user_version = -1", "DELETE FROM meta WHERE key = 'store_id'"] {
            let message = refusal(&store_after(damage));
            assert!(message.contains("it is damaged"), "{message}");
        }
        let whole = store_after("");
        for length in [1_000, 4_096, 8_192, whole.len() / 2, whole.len() - 4_096] {
            let message = refusal(&whole[..length]);
            assert!(message.contains("it is damaged"), "{length} bytes left: {message}");
        }
    }
}
