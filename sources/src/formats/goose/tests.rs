use super::super::corpus;
use super::super::databases::{check_missing, check_mutations, make, texts};
use super::*;

const SCRIPT: &str = "sessions.sql";
const PATH: &str = "sessions/sessions.db";

#[test]
fn whatever_is_in_a_row_it_is_read() {
    let made = make(&Goose, SCRIPT, PATH);
    let columns = ["content_json", "role", "created_timestamp", "metadata_json", "session_id"];
    check_mutations(&Goose, &made, "messages", &columns);
    check_mutations(&Goose, &made, "sessions", &["name", "description", "session_type", "working_dir", "updated_at"]);
}

#[test]
fn an_imported_file_and_a_compacted_session_have_the_same_turns() {
    let file = Goose.read(&corpus::folder(&Goose).join("sessions/20261102_1.jsonl"), None).unwrap();
    let made = make(&Goose, SCRIPT, PATH);
    let batch = Goose.read(&made.path, None).unwrap();
    let ids = |batch: &Batch| batch.turns.iter().map(|turn| turn.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&file)[..2], ids(&batch)[..2]);

    let rewrite = "CREATE TEMP TABLE kept AS SELECT * FROM messages; DELETE FROM messages;
        INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json)
            SELECT session_id, role, content_json, created_timestamp, metadata_json FROM kept ORDER BY id";
    made.agent.execute_batch(rewrite).unwrap();
    let again = Goose.read(&made.path, Some(&batch.cursor)).unwrap();
    assert_eq!(ids(&again), ids(&batch));
}

#[test]
fn new_messages_are_read() {
    let made = make(&Goose, SCRIPT, PATH);
    let cursor = Goose.read(&made.path, None).unwrap().cursor;
    let add = r#"INSERT INTO messages (session_id, role, content_json, created_timestamp)
        VALUES ('20261102_2', 'user', '[{"type":"text","text":"new"}]', 1793610010)"#;
    made.agent.execute_batch(add).unwrap();
    let batch = Goose.read(&made.path, Some(&cursor)).unwrap();
    assert_eq!((texts(&batch), batch.whole), (vec!["new"], false));

    // Another database has lower numbers.
    made.agent.execute_batch("DELETE FROM messages WHERE id > 1").unwrap();
    assert_eq!(Goose.read(&made.path, Some(&batch.cursor)).unwrap().turns.len(), 1);
}

#[test]
fn missing_tables_are_named_and_newer_columns_are_optional() {
    let missing = [
        ("DROP TABLE messages", "the database has no table messages"),
        ("DROP TABLE sessions", "the database has no table sessions"),
        ("ALTER TABLE messages DROP COLUMN content_json", "the table messages has no column content_json"),
        ("ALTER TABLE sessions DROP COLUMN working_dir", "the table sessions has no column working_dir"),
    ];
    check_missing(&Goose, SCRIPT, PATH, &missing);
    let made = make(&Goose, SCRIPT, PATH);
    let older = "ALTER TABLE messages DROP COLUMN metadata_json; ALTER TABLE sessions DROP COLUMN session_type;
        ALTER TABLE sessions DROP COLUMN name; ALTER TABLE sessions DROP COLUMN updated_at";
    made.agent.execute_batch(older).unwrap();
    assert!(texts(&Goose.read(&made.path, None).unwrap()).contains(&"name this"));
}

#[test]
fn transcripts_are_known_by_their_path() {
    let machine = Machine::new("/h", [("GOOSE_PATH_ROOT", "/g"), ("APPDATA", "/a")]);
    let transcripts = [
        "/h/.local/share/goose/sessions/sessions.db",
        "/h/.local/share/goose/sessions/20251102_2.jsonl",
        "/g/data/sessions/sessions.db",
        "/a/Block/goose/data/sessions/sessions.db",
    ];
    let others = [
        "/h/.local/share/goose/sessions/sessions.db-wal",
        "/h/.local/share/goose/sessions/backup.db",
        "/h/.local/share/goose/history.jsonl",
    ];
    assert_eq!(corpus::transcripts(&Goose, &machine, &[&transcripts[..], &others].concat()), transcripts);
}
