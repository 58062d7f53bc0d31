//! The tables of `memory.db`, how they came to be, and whether a file is one of ours.
//!
//! # The database on one page
//!
//! The header names the owner: `application_id` is [`APPLICATION_ID`], `user_version` counts the [`MIGRATIONS`] that
//! were applied. Times are Unix milliseconds, hashes the 32 bytes of a SHA-256, ULIDs their 16 bytes (the most
//! significant first, so that they sort by time).
//!
//! | table | one row is |
//! |---|---|
//! | `records` | the newest version of a memory, of any kind |
//! | `versions` | an earlier version of one, whole; goes when the record goes |
//! | `scopes` | an (agent, project) pair; row 1 is global (both null) |
//! | `links` | one link from a memory to another; goes when either goes |
//! | `tallies` | totals of the records of one scope, kind and importance; kept by triggers (`tally.rs`) |
//! | `record_tags` | one tag of one record; derived from `records.tags` by triggers |
//! | `models` | an embedding model: two rows are never comparable |
//! | `embeddings` | the vector of one text under one model, `f32` little-endian |
//! | `access_log` | one fetch or search hit; the newest 100,000 are kept |
//! | `sync_log` | one change that the indexes must follow; see `log.rs` |
//! | `meta` | `store_id` (ULID text), `lineage` (ULID text), `trimmed_to` (sequence number), `model` and `next_model` (rows of `models`), `versions_lost`, `superseding`, `purging` |
//!
//! `lineage` tells a restored copy from the store that it was copied from, which has the same `store_id`: indexes belong to
//! a lineage. Where it is missing, `store_id` is the lineage.
//!
//! `versions_lost` is a JSON array of the ids of records that lack an earlier version: damage took it, or a purge of a
//! text that only that version had. `purging` is there while a purge is not finished, or was interrupted (`purging.rs`).
//!
//! `links.kind` is the position in [`LinkKind::ALL`](crate::types::LinkKind::ALL). `from_scope` and `to_scope` repeat the
//! scopes of the two records (scopes never change), so that whose view a superseded memory is left out of is read from
//! one index, and so is how many of a project are. `superseding` grows with each change to the links that supersede.
//!
//! Columns of `records` whose name does not say it all:
//!
//! - `kind` is the position in [`Kind::ALL`](crate::types::Kind::ALL).
//! - `content_hash` is of the content, `embedding_hash` of context and content ([`crate::text`]). The content hash is
//!   unique within a scope, but for kinds that [repeat](crate::types::Kind::repeats). An expired record does not count: a text whose only twin has expired takes its place under
//!   a new id, because "duplicate of 7" would name a record that nobody can see.
//! - `embedding_id` is the row of `embeddings` that holds this text under the store's model, null while it waits. An
//!   embedding stays as long as a record or a version has its text and the store has its model.
//! - `tags` is a JSON array of texts, null when empty.
//! - `valid_from`, `valid_to`, `provenance` (JSON: path and lines, or session and turn) and `body` (JSON, its shape is
//!   the kind's) are carried for kinds that define them.
//!
//! A record is **live** until `expires_at`, exclusive. Ids are never used twice, and neither are sequence numbers of
//! the log (`AUTOINCREMENT`).
//!
//! `meta.model` is missing until a text is embedded. `meta.next_model` is there while the store changes to another
//! model (`next_model.rs`): its embeddings are gathered beside those in use. No third model has any.
//!
//! `records_by_kind` covers every filter but tags, so that none reads a text. `records_by_scope` ends with the id, and so
//! has the newest records of a scope, kind and importance in order.
//!
//! # Versions
//!
//! | version | adds |
//! |---|---|
//! | 1 | records, versions, embeddings, the access log, the sync log |
//! | 2 | links, features, conversations that repeat a text, a count per scope, kind and importance |
//! | 3 | totals beside that count, so that statistics count nothing; the newest records and the most used patterns in order |
//!
//! A store of an older version is brought up to date when it is opened. One whose tables are not exactly those of its
//! version is refused (`shape.rs`).

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, ffi};

use super::shape;
use super::tally::counted;

use crate::error::{Error, Result};
use crate::holders::{self, Holder};
use crate::paths::companions;

/// `MMRS`, in the database's header.
pub(super) const APPLICATION_ID: i32 = 0x4D4D_5253;

/// Each brings a database one version further; the position is the version it starts from. Append only.
pub(super) const MIGRATIONS: [&str; 3] = [FIRST, SECOND, THIRD];

const FIRST: &str = r"
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('trimmed_to', 0);

CREATE TABLE scopes (
    id INTEGER PRIMARY KEY,
    agent TEXT,
    project TEXT
) STRICT;
-- A unique index takes nulls for different; labels are never empty, so '' can stand for null.
CREATE UNIQUE INDEX scopes_by_names ON scopes (coalesce(agent, ''), coalesce(project, ''));
INSERT INTO scopes VALUES (1, NULL, NULL);

CREATE TABLE records (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ulid BLOB NOT NULL CHECK (length(ulid) = 16),
    version INTEGER NOT NULL CHECK (version >= 1),
    kind INTEGER NOT NULL CHECK (kind >= 0),
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    access_count INTEGER NOT NULL DEFAULT 0,
    last_accessed_at INTEGER,
    content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
    embedding_hash BLOB NOT NULL CHECK (length(embedding_hash) = 32),
    embedding_id INTEGER,
    source TEXT NOT NULL,
    tags TEXT,
    provenance TEXT,
    body TEXT,
    context TEXT,
    content TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX records_by_ulid ON records (ulid);
CREATE UNIQUE INDEX records_by_content ON records (content_hash, scope_id);
CREATE INDEX records_by_embedding ON records (embedding_hash);
CREATE INDEX records_by_kind
    ON records (kind, importance, confidence, scope_id, created_at, expires_at, access_count);
CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX records_pending ON records (id, expires_at) WHERE embedding_id IS NULL;

CREATE TABLE versions (
    record_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    replaced_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    kind INTEGER NOT NULL,
    scope_id INTEGER NOT NULL,
    importance INTEGER NOT NULL,
    confidence REAL NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    content_hash BLOB NOT NULL,
    embedding_hash BLOB NOT NULL,
    source TEXT NOT NULL,
    tags TEXT,
    provenance TEXT,
    body TEXT,
    context TEXT,
    content TEXT NOT NULL,
    PRIMARY KEY (record_id, version)
) STRICT;
CREATE INDEX versions_by_embedding ON versions (embedding_hash);

CREATE TABLE record_tags (
    tag TEXT NOT NULL,
    record_id INTEGER NOT NULL,
    PRIMARY KEY (tag, record_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER tags_of_new_record AFTER INSERT ON records WHEN new.tags IS NOT NULL BEGIN
    INSERT INTO record_tags SELECT value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER tags_of_deleted_record AFTER DELETE ON records WHEN old.tags IS NOT NULL BEGIN
    DELETE FROM record_tags WHERE record_id = old.id AND tag IN (SELECT value FROM json_each(old.tags));
END;
CREATE TRIGGER tags_of_changed_record AFTER UPDATE OF tags ON records WHEN new.tags IS NOT old.tags BEGIN
    DELETE FROM record_tags WHERE record_id = old.id AND tag IN (SELECT value FROM json_each(old.tags));
    INSERT INTO record_tags SELECT value, new.id FROM json_each(new.tags);
END;

CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    weights_sha256 TEXT NOT NULL,
    pooling TEXT NOT NULL,
    dims INTEGER NOT NULL CHECK (dims > 0),
    UNIQUE (weights_sha256, pooling, dims)
) STRICT;

CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY,
    model_id INTEGER NOT NULL REFERENCES models (id),
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    vector BLOB NOT NULL,
    UNIQUE (model_id, hash)
) STRICT;

CREATE TABLE access_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    record_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    accessed_at INTEGER NOT NULL,
    access_type TEXT NOT NULL,
    relevance_score REAL,
    query_text TEXT
) STRICT;
CREATE INDEX access_log_by_record ON access_log (record_id);

CREATE TABLE sync_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    op INTEGER NOT NULL,
    record_id INTEGER NOT NULL,
    payload BLOB NOT NULL
) STRICT;
";

/// Links; indexes for what asks by scope and by feature; conversations that repeat a text; tallies.
const SECOND: &str = r"
CREATE TABLE links (
    from_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    kind INTEGER NOT NULL CHECK (kind >= 0),
    to_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    from_scope INTEGER NOT NULL,
    to_scope INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (from_id, kind, to_id),
    CHECK (from_id <> to_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_to ON links (to_id, kind, from_id);
CREATE INDEX links_that_supersede ON links (to_scope, to_id, from_scope) WHERE kind = 2;
INSERT INTO meta VALUES ('superseding', 0);
CREATE TRIGGER supersedes_made AFTER INSERT ON links WHEN new.kind = 2 BEGIN
    UPDATE meta SET value = value + 1 WHERE key = 'superseding';
END;
CREATE TRIGGER supersedes_gone AFTER DELETE ON links WHEN old.kind = 2 BEGIN
    UPDATE meta SET value = value + 1 WHERE key = 'superseding';
END;

DROP INDEX records_by_content;
CREATE INDEX records_by_content ON records (content_hash, scope_id);
CREATE INDEX records_by_scope ON records (scope_id, kind, importance, created_at, expires_at);
CREATE INDEX records_by_feature ON records (json_extract(body, '$.feature')) WHERE body IS NOT NULL;

-- To count 100,000 records, even in an index, takes longer than a whole digest may.
CREATE TABLE tallies (
    scope_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    importance INTEGER NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (scope_id, kind, importance)
) STRICT, WITHOUT ROWID;
INSERT INTO tallies SELECT scope_id, kind, importance, count(*) FROM records GROUP BY scope_id, kind, importance;
CREATE TRIGGER tally_of_new_record AFTER INSERT ON records BEGIN
    INSERT INTO tallies VALUES (new.scope_id, new.kind, new.importance, 1)
        ON CONFLICT DO UPDATE SET records = records + 1;
END;
CREATE TRIGGER tally_of_deleted_record AFTER DELETE ON records BEGIN
    UPDATE tallies SET records = records - 1
        WHERE scope_id = old.scope_id AND kind = old.kind AND importance = old.importance;
END;
CREATE TRIGGER tally_of_changed_record AFTER UPDATE OF scope_id, kind, importance ON records
WHEN (new.scope_id, new.kind, new.importance) <> (old.scope_id, old.kind, old.importance) BEGIN
    UPDATE tallies SET records = records - 1
        WHERE scope_id = old.scope_id AND kind = old.kind AND importance = old.importance;
    INSERT INTO tallies VALUES (new.scope_id, new.kind, new.importance, 1)
        ON CONFLICT DO UPDATE SET records = records + 1;
END;
";

/// Totals that are kept instead of counted; indexes that have in order what a digest lists.
const THIRD: &str = concat!(
    r"
DROP INDEX records_by_scope;
CREATE INDEX records_by_scope ON records (scope_id, kind, importance, created_at, id, expires_at);
CREATE INDEX patterns_by_use ON records (scope_id, access_count, created_at, id, expires_at) WHERE kind = 7;

DROP TRIGGER tally_of_new_record;
DROP TRIGGER tally_of_deleted_record;
DROP TRIGGER tally_of_changed_record;
DROP TABLE tallies;
CREATE TABLE tallies (
    scope_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    importance INTEGER NOT NULL,
    records INTEGER NOT NULL,
    waiting INTEGER NOT NULL, -- for an embedding
    accesses INTEGER NOT NULL,
    confidence INTEGER NOT NULL, -- in billionths: sums of fractions would drift
    PRIMARY KEY (scope_id, kind, importance)
) STRICT, WITHOUT ROWID;
INSERT INTO tallies ",
    counted!(),
    r";
CREATE TRIGGER tally_of_new_record AFTER INSERT ON records BEGIN
    INSERT INTO tallies VALUES (new.scope_id, new.kind, new.importance, 1, new.embedding_id IS NULL,
            min(max(new.access_count, 0), 4294967295), CAST(round(new.confidence * 1000000000) AS INTEGER))
        ON CONFLICT DO UPDATE SET records = records + 1, waiting = waiting + excluded.waiting,
            accesses = accesses + excluded.accesses, confidence = confidence + excluded.confidence;
END;
CREATE TRIGGER tally_of_deleted_record AFTER DELETE ON records BEGIN
    UPDATE tallies SET records = records - 1, waiting = waiting - (old.embedding_id IS NULL),
            accesses = accesses - min(max(old.access_count, 0), 4294967295),
            confidence = confidence - CAST(round(old.confidence * 1000000000) AS INTEGER)
        WHERE scope_id = old.scope_id AND kind = old.kind AND importance = old.importance;
END;
CREATE TRIGGER tally_of_changed_record
AFTER UPDATE OF scope_id, kind, importance, confidence, access_count, embedding_id ON records
WHEN (new.scope_id, new.kind, new.importance, new.confidence, new.access_count, new.embedding_id IS NULL)
    <> (old.scope_id, old.kind, old.importance, old.confidence, old.access_count, old.embedding_id IS NULL) BEGIN
    UPDATE tallies SET records = records - 1, waiting = waiting - (old.embedding_id IS NULL),
            accesses = accesses - min(max(old.access_count, 0), 4294967295),
            confidence = confidence - CAST(round(old.confidence * 1000000000) AS INTEGER)
        WHERE scope_id = old.scope_id AND kind = old.kind AND importance = old.importance;
    INSERT INTO tallies VALUES (new.scope_id, new.kind, new.importance, 1, new.embedding_id IS NULL,
            min(max(new.access_count, 0), 4294967295), CAST(round(new.confidence * 1000000000) AS INTEGER))
        ON CONFLICT DO UPDATE SET records = records + 1, waiting = waiting + excluded.waiting,
            accesses = accesses + excluded.accesses, confidence = confidence + excluded.confidence;
END;
"
);

/// Makes a new database ours, or brings one of ours up to date. Refuses every other file. Returns the store's id.
pub(super) fn prepare(conn: &mut Connection, path: &Path) -> Result<String> {
    let refuse = |error| open_error(path, error);
    if check(conn, path, shape::REPAIR)? < MIGRATIONS.len() {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(refuse)?;
        // Asked again behind the lock: another process may have been first.
        let version = version_of(&tx, path)?;
        shape::check(&tx, version, path, shape::REPAIR)?;
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

/// Sets this copy apart from the store that it was copied from.
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

/// How many migrations the database has seen; an error when it is not ours, whatever tables it has. Changes nothing.
pub(super) fn check_owner(conn: &Connection, path: &Path) -> Result<usize> {
    // One view: another process may be creating the store at this moment.
    version_of(&*conn.unchecked_transaction().map_err(|error| open_error(path, error))?, path)
}

/// The same, and an error that ends with `way_out` when its tables are not those of its version.
pub(super) fn check(conn: &Connection, path: &Path, way_out: &str) -> Result<usize> {
    // The caller may have a view already.
    let view = conn.is_autocommit().then(|| conn.unchecked_transaction()).transpose();
    let _view = view.map_err(|error| open_error(path, error))?;
    let version = version_of(conn, path)?;
    shape::check(conn, version, path, way_out)?;
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
        return Err(database_error(
            path,
            "it is an SQLite database of another program; choose another folder for the store, or move the file away",
        ));
    }
    match usize::try_from(version) {
        Ok(known @ 1..) if known <= MIGRATIONS.len() => Ok(known),
        Ok(newer @ 1..) => Err(database_error(
            path,
            format!(
                "it was written by a newer memorist (format {newer}, this one reads up to {}); update memorist",
                MIGRATIONS.len()
            ),
        )),
        _ => Err(damaged(path, &format!("its format is {version}"))),
    }
}

/// What SQLite says while a database is opened, in words that name the way out.
pub(super) fn open_error(path: &Path, error: rusqlite::Error) -> Error {
    let Some(code) = error.sqlite_error().map(|error| error.extended_code & 0xFF) else {
        return Error::Sqlite(error);
    };
    let store = |why: &str| Error::Store { path: path.to_owned(), why: why.to_owned() };
    match code {
        ffi::SQLITE_NOTADB => database_error(
            path,
            "it is not an SQLite database; move the file away to start anew, or put a backup in its place",
        ),
        ffi::SQLITE_CORRUPT => damaged(path, &error.to_string()),
        ffi::SQLITE_CANTOPEN | ffi::SQLITE_PERM | ffi::SQLITE_READONLY => {
            store("the file or its folder cannot be written; mend its permissions, or choose another folder")
        }
        ffi::SQLITE_FULL => store("the disk is full; make room and try again"),
        ffi::SQLITE_BUSY => held(path),
        _ => Error::Sqlite(error),
    }
}

/// The byte of the shared-memory file that a writer of the write-ahead log keeps locked.
/// See <https://sqlite.org/walformat.html#wal_locks>.
const WRITE_LOCK: u64 = 120;

/// Others keep the database locked, for longer than anybody waits.
pub(super) fn held(path: &Path) -> Error {
    let [_, shared_memory, _] = companions(path);
    let holder = Holder::of_byte(&shared_memory, WRITE_LOCK);
    holders::held(&format!("the right to write to {}", path.display()), holder.as_ref())
}

/// The database contradicts itself.
pub(super) fn damaged(path: &Path, what: &str) -> Error {
    database_error(
        path,
        format!("it is damaged ({what}); `memorist doctor` says what of it can be saved; or put a backup in its place"),
    )
}

pub(super) fn database_error(path: &Path, why: impl Into<String>) -> Error {
    Error::Database { path: path.to_owned(), why: why.into() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::{NOW, Store, new};
    use super::{APPLICATION_ID, FIRST, SECOND};
    use crate::error::Error;
    use crate::paths::StorePaths;
    use crate::records::Records;
    use crate::text;
    use crate::types::{Filter, NewRecord, Viewer};

    /// Opens a store whose database is this file. Returns what is said, and checks that the file is left as it was.
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
        let store = Store::new();
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
            assert!(refusal(garbage).contains("is not an SQLite database; move the file away"));
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
        let message = refusal(&store_after("PRAGMA user_version = 4"));
        assert!(message.contains("newer memorist (format 4, this one reads up to 3); update memorist"), "{message}");
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
        let record = records.get(1, &Viewer::OWNER, NOW).unwrap().unwrap();
        assert_eq!((record.content.as_str(), record.tags), ("old", vec!["a".to_owned()]));
        assert_eq!(records.integrity().unwrap(), Vec::<String>::new());
        assert!(!records.add(&new("old"), NOW).unwrap().created);
        assert!(records.add(&new("newer"), NOW).unwrap().created);
    }

    /// A store of the version before: its totals are counted once, as it is opened.
    #[test]
    fn a_store_of_the_second_version_gets_its_totals() {
        let store = Store::new();
        let news: Vec<_> = (0..30).map(|n| NewRecord { importance: 1 + n % 3, ..new(&n.to_string()) }).collect();
        store.add_batch(&news, NOW).unwrap();
        let kept = store.close();
        let paths = StorePaths::new(kept.path());
        let copy = tempfile::tempdir().unwrap();
        let old = StorePaths::new(copy.path());
        let made = rusqlite::Connection::open(old.database()).unwrap();
        made.execute_batch(&format!(
            "{FIRST}{SECOND} DELETE FROM scopes; PRAGMA application_id = {APPLICATION_ID};
             PRAGMA user_version = 2; INSERT INTO meta VALUES ('store_id', '01J00000000000000000000000')"
        ))
        .unwrap();
        made.execute("ATTACH ? AS new", [paths.database().to_str().unwrap()]).unwrap();
        for table in ["scopes", "records", "sync_log"] {
            made.execute(&format!("INSERT INTO {table} SELECT * FROM new.{table}"), []).unwrap();
        }
        made.execute("UPDATE records SET access_count = 9223372036854775807 WHERE id < 3", []).unwrap();
        drop(made);
        let records = Records::open(&old).unwrap();
        let stats = records.snapshot().unwrap().stats(&Filter::default(), NOW).unwrap();
        assert_eq!((stats.total, stats.avg_importance, stats.pending_embeddings), (30, 2.0, 30));
        assert!(records.recount().unwrap(), "the counts that are out of range");
        assert_eq!(records.integrity().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn damage_is_reported_at_the_door() {
        for damage in ["PRAGMA user_version = -1", "DELETE FROM meta WHERE key = 'store_id'"] {
            let message = refusal(&store_after(damage));
            assert!(message.contains("it is damaged") && message.contains("put a backup in its place"), "{message}");
        }
        let whole = store_after("");
        for length in [1_000, 4_096, 8_192, whole.len() / 2, whole.len() - 4_096] {
            let message = refusal(&whole[..length]);
            assert!(message.contains("it is damaged"), "{length} bytes left: {message}");
        }
    }
}
