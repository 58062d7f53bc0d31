use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;

use tempfile::TempDir;

use super::*;
use crate::foreign::Root;

const AGENT: &str = "MEMORIST_TEST_AGENT_DATABASE";

fn new(mode: &str) -> (TempDir, PathBuf, Connection) {
    let folder = tempfile::tempdir().unwrap();
    // Windows allows no `?` in a name.
    let path = folder.path().join(if cfg!(windows) { "a&mode=rwc&b#%20.db" } else { "a?mode=rwc&b#%20.db" });
    let agent = Connection::open(&path).unwrap();
    agent.pragma_update(None, "journal_mode", mode).unwrap();
    agent.execute_batch("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x')").unwrap();
    (folder, path, agent)
}

fn open(path: &Path) -> Result<Database, ReadError> {
    let (root, deadline) = (Root::around(path)?, Deadline::default());
    Database::open(Foreign { root: &root, path, deadline: &deadline })
}

fn numbers(path: &Path) -> Result<Vec<i64>, ReadError> {
    open(path)?.numbers("SELECT a FROM t ORDER BY a", [])
}

fn files(folder: &TempDir) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_database_that_is_missing_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(numbers(&folder.path().join("none.db")), Err(ReadError::Io(_))));
    assert!(matches!(numbers(folder.path()), Err(ReadError::Unknown(_))));
    assert!(files(&folder).is_empty());
}

#[test]
fn a_database_is_only_read() {
    for mode in ["wal", "delete"] {
        let (_folder, path, agent) = new(mode);
        let database = open(&path).unwrap();
        for change in ["INSERT INTO t VALUES (2, 'y')", "CREATE TABLE u (a)", "PRAGMA user_version = 7"] {
            assert!(database.each(change, [], |_| Ok(())).is_err(), "{mode}: {change}");
        }
        drop(database);
        agent.execute("INSERT INTO t VALUES (2, 'y')", []).unwrap();
    }
}

#[test]
fn no_file_is_left_but_those_of_a_log() {
    let (folder, path, agent) = new("delete");
    drop(agent);
    let before = files(&folder);
    numbers(&path).unwrap();
    assert_eq!(files(&folder), before);

    let (folder, path, agent) = new("wal");
    drop(agent);
    let before = files(&folder);
    assert_eq!(before.len(), 1);
    numbers(&path).unwrap();
    let logs = ["-shm", "-wal"];
    assert!(files(&folder).iter().all(|name| before.contains(name) || logs.iter().any(|end| name.ends_with(end))));
    // The agent goes on as before.
    Connection::open(&path).unwrap().execute("INSERT INTO t VALUES (2, 'y')", []).unwrap();
    assert_eq!(files(&folder), before);
    assert_eq!(numbers(&path).unwrap(), [1, 2]);
}

#[test]
fn a_locked_or_damaged_database_is_an_error() {
    let (_folder, path, agent) = new("delete");
    agent.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(matches!(numbers(&path), Err(ReadError::Database(_))));
    agent.execute_batch("COMMIT").unwrap();
    let sound = fs::read(&path).unwrap();
    for at in (0..sound.len()).step_by(97) {
        let mut bytes = sound.clone();
        bytes[at..].fill(0xA5);
        fs::write(&path, &bytes).unwrap();
        // What is behind the rows may be damaged.
        let _ = numbers(&path);
        bytes.truncate(at);
        fs::write(&path, &bytes).unwrap();
        assert!(numbers(&path).is_err() || at > 4096, "{at}");
    }
    fs::write(&path, "no database, but some text that is longer than the header of one; ".repeat(20)).unwrap();
    assert!(matches!(numbers(&path), Err(ReadError::Database(_))));
}

#[test]
fn in_wal_mode_all_queries_see_one_state_and_no_one_waits() {
    let (_folder, path, agent) = new("wal");
    let database = open(&path).unwrap();
    let count = || database.numbers("SELECT count(*) FROM t", []).unwrap();
    assert_eq!(count(), [1]);
    agent.execute("INSERT INTO t VALUES (2, 'y')", []).unwrap();
    assert_eq!(count(), [1]);
    assert_eq!(numbers(&path).unwrap(), [1, 2]);
}

/// Not a test by itself: the agent of the next one, in its own process.
#[test]
fn the_agent() {
    let Some(path) = std::env::var_os(AGENT).map(PathBuf::from) else { return };
    let agent = Connection::open(&path).unwrap();
    agent.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    for number in 2..20_000 {
        agent.execute("INSERT INTO t VALUES (?1, 'y')", [number]).unwrap();
        if path.with_extension("stop").exists() {
            // Without a checkpoint, as if it was killed.
            std::process::exit(0);
        }
        sleep(Duration::from_millis(2));
    }
}

#[test]
fn writes_of_another_process_are_read_without_a_checkpoint() {
    let (_folder, path, agent) = new("wal");
    drop(agent);
    let before = fs::read(&path).unwrap();
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "formats::sqlite::tests::the_agent"])
        .env(AGENT, &path)
        .spawn()
        .unwrap();
    let mut seen = Vec::new();
    while seen.len() < 50 {
        assert!(process.try_wait().unwrap().is_none(), "the agent ended");
        let found = numbers(&path).unwrap();
        assert_eq!(found, (1..).take(found.len()).collect::<Vec<_>>());
        assert!(found.len() >= seen.len());
        seen = found;
    }
    fs::write(path.with_extension("stop"), "").unwrap();
    assert!(process.wait().unwrap().success());
    assert!(numbers(&path).unwrap().len() >= seen.len());
    assert_eq!(fs::read(&path).unwrap(), before, "a checkpoint was made");
}

#[test]
fn values_of_another_kind_are_none() {
    let (_folder, path, agent) = new("wal");
    agent
        .execute_batch(
            "DELETE FROM t; INSERT INTO t VALUES (1, 'x'), (2, ''), (3, 7), (4, X'FF'), (5, CAST(X'FF' AS TEXT)), (6, NULL), (7, 0.5)",
        )
        .unwrap();
    let database = open(&path).unwrap();
    let mut found = Vec::new();
    database
        .each("SELECT b FROM t ORDER BY a", [], |row| {
            found.push((text(row, 0)?, number(row, 0)?, bytes(row, 0)?.map(<[u8]>::len)));
            Ok(())
        })
        .unwrap();
    let expected = [
        (Some("x".to_owned()), None, Some(1)),
        (None, None, Some(0)),
        (None, Some(7), None),
        (None, None, Some(1)),
        (None, None, Some(1)),
        (None, None, None),
        (None, None, None),
    ];
    assert_eq!(found, expected);
    let too_long =
        format!("SELECT {} FROM (SELECT zeroblob({}) AS b UNION ALL SELECT NULL)", limited("b"), MAX_VALUE + 1);
    let mut lengths = Vec::new();
    database
        .each(&too_long, [], |row| {
            lengths.push(bytes(row, 0)?.map(<[u8]>::len));
            Ok(())
        })
        .unwrap();
    assert_eq!(lengths, [Some(0), None]);
    assert_eq!((time(0), time(i64::MAX), time(i64::MIN)), (Some(0), None, None));
}

#[test]
fn a_watermark_knows_what_was_read() {
    let mut read = Watermark::default();
    assert_eq!(read.from(), i64::MIN);
    assert!(read.is_new(1_000_000, 1) && read.is_new(1_000_000, 2) && read.is_new(900_000, 3));
    assert!(!read.is_new(1_000_000, 2));
    read.prune();
    assert_eq!(read.from(), 1_000_000 - MARGIN);
    assert!(!read.is_new(1_000_000, 1) && read.is_new(900_000, 3));
    assert!(read.is_new(i64::MAX, 4));
    assert_eq!(read.at(), 1_000_000);
    let mut same: Watermark = place(Some(&cursor(&read)));
    assert!(!same.is_new(1_000_000, 1));
    (0..100_000).for_each(|hash| assert!(same.seen.len() <= 4 * MAX_SEEN && same.is_new(1_000_000, hash + 10)));
    same.prune();
    assert!(same.seen.len() <= MAX_SEEN);
    assert!(place::<Watermark>(Some(&Cursor("no JSON".into()))).seen.is_empty());
}

#[test]
fn views_and_virtual_tables_are_no_tables() {
    let (_folder, path, agent) = new("delete");
    agent
        .execute_batch(
            "CREATE VIEW endless AS WITH RECURSIVE c(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM c) SELECT a FROM c;
            CREATE VIRTUAL TABLE words USING fts5(a);
            CREATE TABLE \"Quoted\" (a);
            CREATE TABLE copied AS SELECT 1 AS a",
        )
        .unwrap();
    let found = |name: &str| open(&path).unwrap().columns(name).unwrap().len();
    for (name, columns) in [("t", 2), ("T", 2), ("endless", 0), ("words", 0), ("Quoted", 1), ("copied", 1), ("none", 0)]
    {
        assert_eq!(found(name), columns, "{name}");
    }
    // What the schema says of itself is not what SQLite goes by. Some of it makes SQLite refuse the database.
    for forged in
        ["type = 'table'", "type = 'table', rootpage = 2", "sql = replace(sql, 'CREATE VIEW', 'create/**/VIEW')"]
    {
        let change = format!("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET {forged} WHERE name = 'endless'");
        Connection::open(&path).unwrap().execute_batch(&change).unwrap();
        let found = open(&path).and_then(|database| database.require("endless", &["a"]));
        assert!(found.is_err(), "{forged}: {found:?}");
    }
}

#[test]
fn a_query_without_an_end_ends_at_the_deadline() {
    let (_folder, path, _agent) = new("delete");
    let endless = "WITH RECURSIVE c(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM c) SELECT count(*) FROM c";
    let deadline = Deadline::after(Duration::from_millis(200), &Default::default());
    let root = Root::around(&path).unwrap();
    let database = Database::open(Foreign { root: &root, path: &path, deadline: &deadline }).unwrap();
    let ended = database.numbers(endless, []);
    assert!(matches!(&ended, Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::TimedOut), "{ended:?}");
    // And one of rows, which are counted.
    let rows = endless.replace("count(*)", "a");
    let ended = open(&path).unwrap().numbers(&rows, []);
    assert!(matches!(ended, Err(ReadError::Unknown(why)) if why.starts_with("its rows have more")));
}

#[test]
fn rows_that_are_only_in_the_log_may_be_read() {
    let (_folder, path, agent) = new("wal");
    agent.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    agent.execute("INSERT INTO t VALUES (2, CAST(zeroblob(6000000) AS TEXT))", []).unwrap();
    let often = "SELECT t.a, t.b FROM t, (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 14) SELECT n FROM c)";
    assert_eq!(open(&path).unwrap().numbers(often, []).unwrap().len(), 28);
    // The whole log is in the database now, and counted once.
    agent.pragma_update(None, "journal_mode", "delete").unwrap();
    assert!(open(&path).unwrap().numbers(&often.replace("14", "40"), []).is_err());
}

/// Where steps are cheap, this ends long before the deadline.
#[test]
fn a_query_without_an_end_ends_after_so_many_steps() {
    let (_folder, path, _agent) = new("delete");
    let endless = "WITH RECURSIVE c(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM c) SELECT count(*) FROM c";
    let ended = open(&path).unwrap().numbers(endless, []);
    assert!(matches!(ended, Err(ReadError::Unknown(why)) if why == TOO_MANY_STEPS));
}

#[cfg(unix)]
#[test]
fn pipes_and_links_beside_a_database_are_refused() {
    let (folder, path, agent) = new("delete");
    drop(agent);
    for end in ["-wal", "-journal", "-shm"] {
        let mut beside = path.clone().into_os_string();
        beside.push(end);
        assert!(Command::new("mkfifo").arg(&beside).status().unwrap().success());
        assert!(matches!(numbers(&path), Err(ReadError::Unknown(why)) if why.contains(end)), "{end}");
        fs::remove_file(&beside).unwrap();
    }
    let outside = tempfile::tempdir().unwrap();
    let link = outside.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(matches!(numbers(&link), Err(ReadError::Io(_))));
    assert_eq!(numbers(&path).unwrap(), [1], "{folder:?}");
}
