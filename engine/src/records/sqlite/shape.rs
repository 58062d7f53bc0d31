//! Whether a database has the tables that memorist makes, and nothing else.
//!
//! A trigger or another table could do harm unseen: a trigger can move a memory into another scope, or keep a copy of a
//! purged text. So a database is not used unless its schema is, text for text, the one that the migrations make. That
//! schema is found by running them in memory, once per process.
//!
//! `sqlite_stat1` is allowed: `ANALYZE` makes it, and it holds nothing but numbers.

use std::fmt::Write;
use std::path::Path;
use std::sync::OnceLock;

use rusqlite::{Connection, Row};

use super::errors::{database_error, open_error};
use super::schema::MIGRATIONS;
use crate::error::{Error, Remedy, Result};

/// Maximum number of differences of one kind that are named.
const NAMED: usize = 5;
/// Characters of a name that are shown.
const SHOWN: usize = 60;
const STATISTICS: &str = "CREATE TABLE sqlite_stat1(tbl,idx,stat)";

/// The origin of a database: decides which remedy an error names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DatabaseOrigin {
    /// A store's own.
    Store,
    /// A backup that is to be restored.
    Backup,
}

/// A table, an index or a trigger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Object {
    kind: String,
    name: String,
    table: String,
    sql: String,
}

/// Rejects a database whose schema is not the one that the first `version` migrations make.
pub(super) fn check(conn: &Connection, version: usize, path: &Path, origin: DatabaseOrigin) -> Result<()> {
    match difference(conn, version).map_err(|error| open_error(path, error))? {
        None => Ok(()),
        Some(what) => Err(match origin {
            DatabaseOrigin::Backup => {
                database_error(path, format!("{what}; nothing was restored. Take another backup"))
            }
            DatabaseOrigin::Store => Error::Database {
                path: path.to_owned(),
                why: format!("{what}; nothing was changed"),
                remedy: Some(Remedy::Repair),
            },
        }),
    }
}

/// Describes the differences between the schema and the one that the first `version` migrations make; `None` if there are
/// none.
pub(super) fn difference(conn: &Connection, version: usize) -> rusqlite::Result<Option<String>> {
    let (expected, found) = (expected(version), objects(conn)?);
    if found == *expected {
        return Ok(None);
    }
    let named = |some: &[Object], object: &Object| {
        some.iter().any(|one| (&one.kind, &one.name) == (&object.kind, &object.name))
    };
    let beside = |some: &[Object], other: &[Object]| {
        let beside = some.iter().filter(|object| !named(other, object));
        beside.map(|object| (object.kind.clone(), object.name.clone())).collect::<Vec<_>>()
    };
    let changed = found.iter().filter(|object| named(expected, object) && !expected.contains(object));
    let changed: Vec<_> = changed.map(|object| (object.kind.clone(), object.name.clone())).collect();
    let mut words = String::new();
    for (verb, objects) in
        [("added", beside(&found, expected)), ("missing", beside(expected, &found)), ("changed", changed)]
    {
        for (kind, name) in objects.iter().take(NAMED) {
            let separator = if words.is_empty() { "" } else { ", " };
            let name: String = name.chars().take(SHOWN).collect();
            let _ = write!(words, "{separator}{verb}: {kind} {name:?}");
        }
        if objects.len() > NAMED {
            let _ = write!(words, " and {} more", objects.len() - NAMED);
        }
    }
    if words.is_empty() {
        words.push_str("one of them is there twice");
    }
    Ok(Some(format!("its tables are not those that memorist makes ({words})")))
}

fn expected(version: usize) -> &'static [Object] {
    static EXPECTED: [OnceLock<Vec<Object>>; MIGRATIONS.len() + 1] = [const { OnceLock::new() }; MIGRATIONS.len() + 1];
    EXPECTED[version].get_or_init(|| {
        let made = || {
            let conn = Connection::open_in_memory()?;
            for migration in &MIGRATIONS[..version] {
                conn.execute_batch(migration)?;
            }
            objects(&conn)
        };
        made().expect("the migrations run on an empty database")
    })
}

fn objects(conn: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut statement = conn.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?;
    // A hostile schema has whatever it likes in these columns.
    let text = |row: &Row<'_>, column| {
        let bytes = row.get_ref(column)?.as_bytes_or_null().ok().flatten().unwrap_or_default();
        Ok::<_, rusqlite::Error>(String::from_utf8_lossy(bytes).into_owned())
    };
    let objects = statement.query_map([], |row| {
        Ok(Object { kind: text(row, 0)?, name: text(row, 1)?, table: text(row, 2)?, sql: text(row, 3)? })
    })?;
    let mut objects = objects.collect::<rusqlite::Result<Vec<_>>>()?;
    objects.retain(|object| object.name != "sqlite_stat1" || object.sql != STATISTICS);
    objects.sort();
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use rusqlite::config::DbConfig;

    use super::super::backup::restore;
    use super::super::connection::connect;
    use super::super::salvage::{salvage, survey};
    use super::*;
    use crate::error::Error;
    use crate::paths::StorePaths;
    use crate::progress::NoProgress;
    use crate::records::Records;
    use crate::types::{NewRecord, Purge, Scope, Viewer};

    /// Hostile changes to a store, and how the difference names them.
    const HOSTILE: [(&str, &str); 9] = [
        (
            "CREATE TRIGGER leak AFTER INSERT ON records BEGIN UPDATE records SET scope_id = 1 WHERE id = new.id; END",
            "added: trigger \"leak\"",
        ),
        ("CREATE TABLE stash AS SELECT * FROM records", "added: table \"stash\""),
        ("CREATE VIEW everything AS SELECT content FROM records", "added: view \"everything\""),
        ("CREATE INDEX odd ON records (upper(content))", "added: index \"odd\""),
        ("ALTER TABLE records ADD COLUMN more TEXT", "changed: table \"records\""),
        ("DROP TRIGGER tags_of_new_record", "missing: trigger \"tags_of_new_record\""),
        ("DROP INDEX records_by_expiry", "missing: index \"records_by_expiry\""),
        (
            "DROP INDEX records_by_expiry; CREATE INDEX records_by_expiry ON records (expires_at)",
            "changed: index \"records_by_expiry\"",
        ),
        (
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(sql, 'importance BETWEEN 1 AND 10', '1') WHERE name = 'records'",
            "changed: table \"records\"",
        ),
    ];

    fn hostile(statements: &str) -> TestStore {
        let store = TestStore::new();
        store.add(&new("kept"), NOW).unwrap();
        store.sql(statements);
        store
    }

    #[test]
    fn a_hostile_schema_is_refused_at_open_and_named_by_the_doctor() {
        for (statements, named) in HOSTILE {
            let store = hostile(statements);
            let findings = store.integrity().unwrap();
            assert!(findings.iter().any(|finding| finding.contains(named)), "{statements}: {findings:?}");
            let Err(error) = Records::open(&store.paths()) else { panic!("{statements}: opened") };
            assert!(matches!(error, Error::Database { .. }), "{error:?}");
            let message = error.to_string();
            assert!(message.contains(named) && error.remedy() == Some(Remedy::Repair), "{message}");
        }
    }

    #[test]
    fn a_hostile_schema_is_refused_at_restore_and_nothing_is_left() {
        for (statements, named) in HOSTILE {
            let store = hostile(statements);
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("backup");
            store.back_up(&file, &NoProgress).unwrap();
            let paths = StorePaths::new(folder.path().join("again"));
            let Err(error) = restore(&file, &paths, &NoProgress) else { panic!("{statements}: restored") };
            assert!(error.to_string().contains(named), "{error}");
            assert!(error.to_string().contains("another backup"), "{error}");
            assert!(!paths.database().exists());
        }
    }

    /// Each version is compared with its own tables before it is brought up to date, and nothing of it runs.
    #[test]
    fn a_hostile_store_of_an_older_version_is_not_migrated() {
        for version in 1..MIGRATIONS.len() {
            for (trigger, is_sound) in [
                ("", true),
                ("CREATE TRIGGER spy AFTER UPDATE ON meta BEGIN INSERT INTO meta VALUES ('seen', 1); END;", false),
            ] {
                let folder = tempfile::tempdir().unwrap();
                let paths = StorePaths::new(folder.path());
                let conn = Connection::open(paths.database()).unwrap();
                for migration in &MIGRATIONS[..version] {
                    conn.execute_batch(migration).unwrap();
                }
                conn.execute_batch(&format!(
                    "INSERT INTO meta VALUES ('store_id', '01J00000000000000000000000'); {trigger}
                     PRAGMA application_id = {}; PRAGMA user_version = {version}",
                    super::super::schema::APPLICATION_ID
                ))
                .unwrap();
                drop(conn);
                let opened = Records::open(&paths);
                assert_eq!(opened.is_ok(), is_sound, "version {version}: {:?}", opened.err());
            }
        }
    }

    #[test]
    fn a_repair_brings_neither_triggers_nor_what_they_kept() {
        let store = TestStore::new();
        let project = Scope { agent: None, project: Some("alpha".into()) };
        let ours = store.add(&NewRecord { scope: project.clone(), ..new("of alpha") }, NOW).unwrap().id;
        let purged = store.add(&NewRecord { scope: project, ..new("purged") }, NOW).unwrap().id;
        let columns =
            "importance, confidence, updated_at, NULL, NULL, NULL, content_hash, embedding_hash, source, NULL,
             NULL, NULL, NULL, content";
        store.sql(&format!(
            "CREATE TABLE kept AS SELECT * FROM records WHERE 0;
             CREATE TABLE older AS SELECT * FROM versions WHERE 0;
             CREATE TRIGGER keep BEFORE DELETE ON records BEGIN
                 INSERT INTO kept SELECT * FROM records WHERE id = old.id;
                 INSERT INTO older SELECT {ours}, 1, 0, 'update', kind, scope_id, {columns} FROM records WHERE id = old.id;
             END;
             CREATE TRIGGER leak AFTER INSERT ON records BEGIN UPDATE records SET scope_id = 1; END"
        ));
        store.purge(&Purge::Ids(vec![purged]), &Viewer::OWNER, &NoProgress).unwrap();
        store.sql(&format!("UPDATE records SET version = 2 WHERE id = {ours}"));
        let folder = store.close();
        let paths = StorePaths::new(folder.path());
        assert_eq!(survey(&paths, &NoProgress).unwrap().records, 1);
        salvage(&paths, &NoProgress).unwrap();
        let records = Records::open(&paths).unwrap();
        assert_eq!(records.integrity().unwrap(), Vec::<String>::new());
        let id = records.add(&new("global"), NOW).unwrap().id;
        let seen = |id| records.get(id, &Viewer::in_project("beta"), NOW).unwrap().is_some();
        assert_eq!((seen(ours), seen(id)), (false, true));
        let conn = Connection::open(paths.database()).unwrap();
        let purged: i64 = conn
            .query_row(
                "SELECT count(*) FROM (SELECT content FROM records UNION ALL SELECT content FROM versions)
                        WHERE content = 'purged'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(purged, 0);
    }

    #[test]
    fn statistics_for_the_planner_are_allowed() {
        let store = hostile("CREATE TABLE other (x)");
        store.sql("DROP TABLE other; ANALYZE; DROP TABLE IF EXISTS sqlite_stat4");
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
        Records::open(&store.paths()).unwrap();
    }

    #[test]
    fn a_connection_runs_nothing_that_a_database_brings_along() {
        let store = TestStore::new();
        let conn = connect(&store.paths().database(), std::time::Duration::ZERO).unwrap();
        assert!(conn.db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE).unwrap());
        assert!(!conn.db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA).unwrap());
        conn.execute_batch("PRAGMA writable_schema = ON").unwrap();
        assert!(conn.execute("UPDATE sqlite_schema SET sql = '' WHERE name = 'records'", []).is_err());
    }
}
