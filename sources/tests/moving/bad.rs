//! Stores that are none, that are older or broken, and readers that stop.

use std::fs;

use memorist_sources::moving::{self, Item, MoveError, System};
use rusqlite::Connection;

use super::{folder, make, read, refused};

/// The systems whose stores are databases with one main table each, and a table that is not enough.
const DATABASES: [(System, &str); 6] = [
    (System::Mudpuppy, "memory_entries"),
    (System::Memorizer, "facts"),
    (System::Krolik, "memories"),
    (System::Gimli, "chunks"),
    (System::Openclaw, "chunks"),
    (System::ClaudeMem, "observations"),
];

#[test]
fn names_are_those_of_the_command_line() {
    for system in System::ALL {
        assert_eq!(system.to_string().parse(), Ok(system));
    }
    let error = "letta".parse::<System>().unwrap_err();
    assert!(error.contains("mudpuppy, memorizer, krolik, gimli, openclaw, basic-memory"), "{error}");
}

#[test]
fn a_wrong_path_says_what_was_expected_and_makes_nothing() {
    let folder = folder();
    let text = folder.path().join("text.txt");
    fs::write(&text, "only a text").unwrap();
    let (other, _running) = make(folder.path(), "other.sqlite", "CREATE TABLE other (x)");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let missing = folder.path().join("missing.db");
    for system in System::ALL {
        for path in [&text, &other, &empty, &missing] {
            // Any file may be a note of somebody.
            if system == System::BasicMemory && path.is_file() {
                continue;
            }
            let error = refused(system, path);
            assert!(error.starts_with(&path.display().to_string()), "{system}: {error}");
            assert!(error.ends_with(&format!("expected is {}", system.expected())), "{system}: {error}");
        }
        assert!(!missing.exists(), "{system}");
    }
    for (system, table) in DATABASES {
        let error = refused(system, &other);
        assert!(error.contains(&format!("has no table {table}")), "{error}");
        assert!(refused(system, &text).contains("is no SQLite database"));
        assert!(refused(system, &missing).contains("does not exist"));
    }
}

#[test]
fn a_table_of_another_program_is_refused() {
    let folder = folder();
    let script = "CREATE TABLE memories (id, content); CREATE TABLE facts (id, subject); CREATE TABLE history (url)";
    let (path, _running) = make(folder.path(), "other.db", script);
    for (system, why) in
        [(System::Krolik, "no titles"), (System::Memorizer, "no column fact"), (System::Mem0, "neither")]
    {
        let error = refused(system, &path);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_folder_with_two_stores_is_an_error_that_asks_for_the_file() {
    let folder = folder();
    let script = include_str!("../corpus/moving/krolik.sql");
    let (_, _one) = make(folder.path(), "one.db", script);
    let (_, _two) = make(folder.path(), "two.db", script);
    let error = refused(System::Krolik, folder.path());
    assert!(error.contains("more than one; name the file"), "{error}");
}

#[test]
fn a_damaged_database_is_an_error() {
    let folder = folder();
    let path = folder.path().join("memory.db");
    let mut bytes = b"SQLite format 3\0".to_vec();
    bytes.resize(4096, 7);
    fs::write(&path, bytes).unwrap();
    for (system, _) in DATABASES {
        assert!(refused(system, &path).starts_with(&path.display().to_string()), "{system}");
    }
}

#[test]
fn a_closed_store_is_read_with_its_wal_and_left_unchanged() {
    let folder = folder();
    let (path, running) = make(folder.path(), "memory.db", include_str!("../corpus/moving/mudpuppy.sql"));
    let copy = folder.path().join("copy");
    fs::create_dir(&copy).unwrap();
    let files = ["memory.db", "memory.db-wal"];
    let bytes = files.map(|name| fs::read(folder.path().join(name)).unwrap());
    for (name, bytes) in files.iter().zip(&bytes) {
        fs::write(copy.join(name), bytes).unwrap();
    }
    assert_eq!(read(System::Mudpuppy, &copy), read(System::Mudpuppy, &path));
    assert_eq!(files.map(|name| fs::read(copy.join(name)).unwrap()), bytes);
    drop(running);
}

#[cfg(unix)]
#[test]
fn a_store_beside_which_nothing_can_be_written_is_read() {
    let folder = folder();
    let (path, running) = make(folder.path(), "a b%3f?#é/memory.db", include_str!("../corpus/moving/mudpuppy.sql"));
    let found = read(System::Mudpuppy, &path);
    running.close().unwrap();
    // What SQLite makes for a database with a write-ahead log cannot be made.
    std::os::unix::fs::symlink("nowhere/memory.db-shm", path.with_file_name("memory.db-shm")).unwrap();
    assert!(Connection::open(&path).unwrap().query_row("SELECT 1 FROM memory_entries", [], |_| Ok(())).is_err());
    assert_eq!(read(System::Mudpuppy, &path), found);
    // What may be in a log must not be missed.
    fs::write(path.with_file_name("memory.db-wal"), "x").unwrap();
    assert!(refused(System::Mudpuppy, &path).contains("unable to open database file"));
}

#[test]
fn tables_with_few_columns_are_read() {
    let folder = folder();
    let stores = [
        (
            System::Mudpuppy,
            "CREATE TABLE memory_entries (id INTEGER PRIMARY KEY, content); \
                            INSERT INTO memory_entries VALUES (1, 'a')",
        ),
        (
            System::Memorizer,
            "CREATE TABLE facts (id INTEGER PRIMARY KEY, fact); INSERT INTO facts VALUES (1, 'a'); \
                             CREATE TABLE conversations (user_message); INSERT INTO conversations VALUES ('b'); \
                             CREATE TABLE profile_history (agent_id); INSERT INTO profile_history VALUES ('c'); \
                             CREATE TABLE contacts (id, name) ; CREATE TABLE projects (id); CREATE TABLE skills (id)",
        ),
        (
            System::Krolik,
            "CREATE TABLE memories (id PRIMARY KEY, title) WITHOUT ROWID; \
                          INSERT INTO memories VALUES ('x', 'a'); CREATE TABLE memory_links (from_id)",
        ),
        (System::Gimli, "CREATE TABLE chunks (id TEXT PRIMARY KEY, text); INSERT INTO chunks VALUES ('x', 'a')"),
        (
            System::Openclaw,
            "CREATE TABLE chunks (id TEXT PRIMARY KEY, text); INSERT INTO chunks VALUES ('x', 'a'); \
                            CREATE TABLE files (path)",
        ),
        (
            System::ClaudeMem,
            "CREATE TABLE observations (id, title); INSERT INTO observations VALUES (1, 'a'); \
                             CREATE TABLE user_prompts (id); CREATE TABLE session_summaries (id)",
        ),
        (
            System::Mem0,
            "CREATE TABLE history (memory_id, prev_value, new_value, event, timestamp); \
                        INSERT INTO history VALUES ('x', NULL, 'a', 'ADD', NULL)",
        ),
    ];
    for (system, script) in stores {
        let (path, _running) = make(folder.path(), &format!("{system}.db"), script);
        let found = read(system, &path);
        assert_eq!(found.memories[0].content, "a", "{system}");
    }
}

#[test]
fn values_of_any_type_end_in_a_memory_or_a_count() {
    let folder = folder();
    let scripts = [
        (System::Mudpuppy, "memory_entries", include_str!("../corpus/moving/mudpuppy.sql")),
        (System::Memorizer, "facts", include_str!("../corpus/moving/memorizer.sql")),
        (System::Memorizer, "conversations", include_str!("../corpus/moving/memorizer.sql")),
        (System::Memorizer, "projects", include_str!("../corpus/moving/memorizer.sql")),
        (System::Memorizer, "skills", include_str!("../corpus/moving/memorizer.sql")),
        (System::Krolik, "memories", include_str!("../corpus/moving/krolik.sql")),
        (System::Gimli, "chunks", include_str!("../corpus/moving/gimli.sql")),
        (System::ClaudeMem, "observations", include_str!("../corpus/moving/claude_mem.sql")),
        (System::Mem0, "history", include_str!("../corpus/moving/mem0_history.sql")),
    ];
    let values =
        ["NULL", "7", "-1", "9223372036854775807", "1e999", "0.5", "''", "'x'", "x'ff00'", "'{}'", "'[[]]'", "'\"'"];
    for (number, (system, table, script)) in scripts.into_iter().enumerate() {
        // Without the constraints, which other versions may not have.
        let script = script.replace("NOT NULL", "").replace(" UNIQUE ", " ").replace("PRIMARY KEY AUTOINCREMENT", "");
        let (path, connection) = make(folder.path(), &format!("{number}.db"), &script);
        let columns = columns(&connection, table);
        for (at, value) in values.iter().enumerate() {
            for column in &columns {
                connection.execute_batch(&format!("UPDATE {table} SET \"{column}\" = {value}")).ok();
                let found = read(system, &path);
                for memory in found.memories {
                    assert!((0.0..=1.0).contains(&memory.confidence) && (1..=10).contains(&memory.importance));
                    assert!(
                        !memory.content.contains('\0') && (memory.body.is_some() || !memory.content.trim().is_empty())
                    );
                    assert!(memory.created_at.is_none_or(|at| at >= 100_000_000_000), "{value} {at}");
                }
            }
        }
    }
}

fn columns(connection: &Connection, table: &str) -> Vec<String> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
    statement.query_map([table], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn the_receiver_can_stop() {
    let folder = folder();
    let (path, _running) = make(folder.path(), "memory.db", include_str!("../corpus/moving/krolik.sql"));
    let mut memories = 0;
    let stopped = moving::read(System::Krolik, &path, &mut |item| {
        memories += 1;
        if matches!(item, Item::Link(_)) { Err("enough") } else { Ok(()) }
    });
    assert!(matches!(stopped, Err(MoveError::Visit("enough"))));
    assert_eq!(memories, 6);
}
