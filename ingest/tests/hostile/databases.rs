//! Databases of agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;

use super::texts::Shape;

/// The tables that parsers look for.
const TABLES: [&str; 24] = [
    "transcript_events", "transcript_rewrite_watermarks", "session_windows", "messages", "sessions", "session_message",
    "session", "message", "part", "cursorDiskKV", "memory_entries", "facts", "memories", "chunks", "files",
    "observations", "sdk_sessions", "history", "points", "conversations", "user_prompts", "session_summaries",
    "threads", "conversations_v2",
];
/// And their columns.
const COLUMNS: [&str; 30] = [
    "id", "session_id", "seq", "event_json", "created_at", "updated_at", "generation", "role", "content_json",
    "created_timestamp", "working_dir", "directory", "data", "time_created", "time_updated", "message_id", "type",
    "parts", "parent_session_id", "data_type", "summary", "key", "value", "path", "source", "start_line", "end_line",
    "text", "content", "point",
];

pub const ALL: [Shape; 12] = [
    ("nothing", |file| fs::write(file, "").unwrap()),
    ("only a header", |file| fs::write(file, b"SQLite format 3\0").unwrap()),
    ("text", |file| fs::write(file, "SQLite format 3\0text".repeat(100_000)).unwrap()),
    ("endless views", |file| made(file, |name| format!("CREATE VIEW {name} AS {}", endless()))),
    ("endless views that say they are tables", |file| {
        made(file, |name| format!("CREATE VIEW {name} AS {}", endless()));
        forge(file, "UPDATE sqlite_schema SET type = 'table'");
    }),
    ("virtual tables", |file| {
        made(file, |name| format!("CREATE VIRTUAL TABLE {name} USING fts5({})", COLUMNS.join(", ")))
    }),
    ("tables that make long values", |file| {
        // The row is there before the columns: SQLite would make the values when it is written.
        made(file, |name| format!("CREATE TABLE {name} (own); INSERT INTO {name} VALUES (1)"));
        let columns = COLUMNS.map(|name| format!("{name} GENERATED ALWAYS AS (printf(''%.*c'', 900000000, ''x''))"));
        forge(file, &format!("UPDATE sqlite_schema SET sql = replace(sql, '(own)', '(own, {})')", columns.join(", ")));
    }),
    ("values of 150 MB", |file| {
        made(file, |name| format!("CREATE TABLE {name} ({})", COLUMNS.join(", ")));
        let tables = ["messages", "session_message", "message", "cursorDiskKV", "memories", "points"];
        for name in tables {
            let columns = "id, session_id, content, data, value, point, key, time_updated";
            let long = if name == "messages" { "CAST(zeroblob(150000000) AS TEXT)" } else { "zeroblob(20000000)" };
            let values = format!("1, '1', {long}, 'x', {long}, {long}, 'composerData:1', 1");
            run(file, &format!("INSERT INTO {name} ({columns}) VALUES ({values})"));
        }
    }),
    ("lists of lists in values", |file| {
        made(file, |name| format!("CREATE TABLE {name} ({})", COLUMNS.join(", ")));
        let many = "{},".repeat(90_000);
        let parts = format!("[{}1]", "{\"type\":\"text\",\"data\":{}},".repeat(99_000));
        let said = format!("{{\"Agent\":{{\"content\":[{many}1]}},\"segments\":[{many}1]}},").repeat(25);
        let pairs = "{\"user\":{\"content\":{\"Prompt\":{}}},\"assistant\":{}},".repeat(99_000);
        let thread = format!("{{\"messages\":[{said}1],\"history\":[{pairs}1]}}");
        let insert =
            "INSERT INTO {} (id, session_id, parts, data, value, data_type, summary, updated_at, key, time_updated)
            VALUES ('1', '1', ?1, ?2, ?2, 'json', '', '2026-11-02T09:00:00Z', '1', 1)";
        for name in ["messages", "threads", "conversations", "conversations_v2"] {
            Connection::open(file).unwrap().execute(&insert.replace("{}", name), [&parts, &thread]).unwrap();
        }
    }),
    ("a pipe as its journal", |file| beside(file, "-journal")),
    ("a pipe as its log", |file| beside(file, "-wal")),
    ("the first table again and again", |file| {
        made(file, |name| format!("CREATE TABLE {name} ({})", COLUMNS.join(", ")));
        // All names lead to the pages of one table.
        run(file, &format!("INSERT INTO {} (id, session_id) VALUES (1, 'x')", TABLES[0]));
        forge(file, "UPDATE sqlite_schema SET rootpage = (SELECT max(rootpage) FROM sqlite_schema)");
    }),
];

/// Rows without an end, with every column.
fn endless() -> String {
    let columns = COLUMNS.map(|name| format!("n AS {name}"));
    format!("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT {} FROM c", columns.join(", "))
}

fn made(file: &Path, each: impl Fn(&str) -> String) {
    let all: Vec<String> = TABLES.iter().map(|name| each(name)).collect();
    run(file, &all.join(";\n"));
}

fn run(file: &Path, sql: &str) {
    Connection::open(file).unwrap().execute_batch(sql).unwrap();
}

/// Changes the schema as no statement may.
fn forge(file: &Path, sql: &str) {
    run(file, &format!("PRAGMA writable_schema = ON; {sql}"));
}

fn beside(file: &Path, end: &str) {
    made(file, |name| format!("CREATE TABLE {name} ({})", COLUMNS.join(", ")));
    let pipe = PathBuf::from(format!("{}{end}", file.display()));
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
}
