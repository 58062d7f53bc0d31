use std::fs::{self, File};

use rusqlite::params;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::super::corpus;
use super::super::databases::{TestDatabase, check_missing, check_mutations, make, texts};
use super::*;

const SCRIPT: &str = "agent.sql";
const PATH: &str = "agents/main/agent/openclaw-agent.sqlite";

fn add(made: &TestDatabase, session: &str, seq: i64, id: &str, text: &str) {
    let event = format!(
        r#"{{"type":"message","id":"{id}","timestamp":"2026-11-02T10:00:00Z","message":{{"role":"user","content":"{text}"}}}}"#
    );
    let row = params![session, seq, event];
    made.agent
        .execute("INSERT OR REPLACE INTO transcript_events VALUES (?1, ?2, ?3, 1793613600000, NULL, NULL)", row)
        .unwrap();
}

#[test]
fn a_broken_event_is_skipped() {
    let made = make(&OpenClaw, SCRIPT, PATH);
    check_mutations(&OpenClaw, &made, "transcript_events", &["event_json", "event_zstd", "session_id", "created_at"]);
}

#[test]
fn missing_tables_are_named_and_newer_tables_are_optional() {
    let missing = [
        ("DROP TABLE transcript_events", "the database has no table transcript_events"),
        (
            "ALTER TABLE transcript_events DROP COLUMN event_json",
            "the table transcript_events has no column event_json",
        ),
        (
            "ALTER TABLE transcript_events DROP COLUMN created_at",
            "the table transcript_events has no column created_at",
        ),
    ];
    check_missing(&OpenClaw, SCRIPT, PATH, &missing);
    let made = make(&OpenClaw, SCRIPT, PATH);
    let older = "DROP TABLE session_windows; DROP TABLE transcript_rewrite_watermarks;
        ALTER TABLE transcript_events DROP COLUMN event_zstd";
    let before = OpenClaw.read(&made.path, None).unwrap();
    made.agent.execute_batch(older).unwrap();
    assert_eq!(texts(&OpenClaw.read(&made.path, None).unwrap()), texts(&before));
}

#[test]
fn the_database_and_the_file_have_the_same_turns() {
    let file = OpenClaw.read(&corpus::folder(&OpenClaw).join("agents/main/sessions/S.jsonl"), None).unwrap();
    let made = make(&OpenClaw, SCRIPT, PATH);
    let database = OpenClaw.read(&made.path, None).unwrap();
    let of_file: Vec<_> = file.turns.iter().map(|turn| (&turn.id, &turn.text)).collect();
    let of_database: Vec<_> = database.turns.iter().map(|turn| (&turn.id, &turn.text)).collect();
    assert!(of_database.starts_with(&of_file), "{of_database:#?}");
    let ids: std::collections::BTreeSet<_> = of_database.iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), of_database.len());
}

#[test]
fn a_compressed_event_is_read() {
    let made = make(&OpenClaw, SCRIPT, PATH);
    let plain = OpenClaw.read(&made.path, None).unwrap();
    for row in 1..=36 {
        let json: String = made
            .agent
            .query_row("SELECT event_json FROM transcript_events WHERE rowid = ?1", [row], |row| row.get(0))
            .unwrap();
        let packed = compress_to_vec(json.as_bytes(), CompressionLevel::Fastest);
        let query = "UPDATE transcript_events SET event_json = NULL, event_zstd = ?1 WHERE rowid = ?2";
        made.agent.execute(query, params![packed, row]).unwrap();
    }
    let packed = OpenClaw.read(&made.path, None).unwrap();
    assert_eq!(packed, plain);
    check_mutations(&OpenClaw, &made, "transcript_events", &["event_zstd"]);
}

#[test]
fn new_events_are_read_and_those_of_a_rewritten_session() {
    let made = make(&OpenClaw, SCRIPT, PATH);
    let mut cursor = OpenClaw.read(&made.path, None).unwrap().cursor;
    let next = |cursor: &mut Cursor| {
        let batch = OpenClaw.read(&made.path, Some(cursor)).unwrap();
        *cursor = batch.cursor.clone();
        assert!(!batch.whole);
        batch
    };
    add(&made, "sub", 9, "n1", "added");
    let batch = next(&mut cursor);
    let turn = &batch.turns[0];
    assert_eq!(
        (texts(&batch), turn.cwd.as_deref(), turn.subagent.as_deref()),
        (vec!["added"], Some("/s"), Some("sub"))
    );
    assert_eq!(next(&mut cursor).turns, []);

    // Its rows are replaced in place, and its generation says so.
    made.agent
        .execute_batch(
            r#"UPDATE transcript_events SET event_json = replace(event_json, 'look for', 'search') WHERE session_id = 'sub';
            UPDATE transcript_rewrite_watermarks SET generation = 'g2', updated_at = updated_at + 1 WHERE session_id = 'sub'"#,
        )
        .unwrap();
    assert_eq!(texts(&next(&mut cursor)), ["search the mat", "added"]);
    assert_eq!(next(&mut cursor).turns, []);

    // Its rows go, and others get the same numbers.
    made.agent.execute("DELETE FROM transcript_events WHERE session_id = 'sub'", []).unwrap();
    add(&made, "new", 0, "n2", "under an old number");
    assert!(texts(&next(&mut cursor)).contains(&"under an old number"));
    made.agent.execute_batch("DELETE FROM transcript_events WHERE seq % 2 = 0; VACUUM").unwrap();
    add(&made, "new", 1, "n3", "after all numbers changed");
    assert!(texts(&next(&mut cursor)).contains(&"after all numbers changed"));
    assert_eq!(next(&mut cursor).turns, []);
}

#[test]
fn compressed_history_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let history = corpus::folder(&OpenClaw).join("agents/main/sessions/R.jsonl.reset.2026-11-01T09-00-00.000Z");
    let path = folder.path().join("R.jsonl.reset.2026-11-01T09-00-00.000Z.zst");
    let compressed = compress_to_vec(File::open(&history).unwrap(), CompressionLevel::Fastest);
    fs::write(&path, &compressed).unwrap();
    let batch = OpenClaw.read(&path, None).unwrap();
    assert_eq!((&batch.turns, batch.whole), (&OpenClaw.read(&history, None).unwrap().turns, true));
    let again = OpenClaw.read(&path, Some(&batch.cursor)).unwrap();
    assert_eq!(again, Batch { cursor: batch.cursor, ..Batch::default() });
    corpus::check_mutations_of(&OpenClaw, "R.jsonl.reset.2026.zst", &compressed);
}

#[test]
fn transcripts_are_known_by_their_path() {
    let machine = Machine::new("/h", []);
    let transcripts = [
        "/h/.openclaw/agents/main/agent/openclaw-agent.sqlite",
        "/h/.openclaw/agents/main/sessions/S.jsonl",
        "/h/.openclaw/agents/main/sessions/S-topic-7.jsonl",
        "/h/.openclaw/agents/main/sessions/S.jsonl.reset.2026-11-01T09-00-00.000Z",
        "/h/.openclaw/agents/main/sessions/S.jsonl.deleted.2026-11-01T09-00-00.000Z.zst",
        "/h/.pi/agent/sessions/--w-atlas--/2026-11-05T09-00-00-000Z_S.jsonl",
    ];
    let others = [
        "/h/.openclaw/agents/main/sessions/sessions.json",
        "/h/.openclaw/agents/main/sessions/S.checkpoint.1.jsonl",
        "/h/.openclaw/agents/main/sessions/S.trajectory.jsonl",
        "/h/.openclaw/agents/main/sessions/S.jsonl.bak",
        "/h/.openclaw/agents/main/sessions/S.jsonl.bak.2026",
        "/h/.openclaw/agents/main/agent/openclaw-agent.sqlite-wal",
        "/h/.openclaw/agents/main/agent/other.sqlite",
        "/h/.openclaw/agents/main/S.jsonl",
        "/h/.pi/agent/sessions/--w-atlas--/S/tasks/a.jsonl",
        "/h/.pi/agent/settings.json",
    ];
    assert_eq!(corpus::transcripts(&OpenClaw, &machine, &[&transcripts[..], &others].concat()), transcripts);
    let moved = Machine::new("/h", [("OPENCLAW_STATE_DIR", "/o")]);
    assert_eq!(OpenClaw.places(&moved), [PathBuf::from("/o/agents"), PathBuf::from("/h/.pi/agent/sessions")]);
}
