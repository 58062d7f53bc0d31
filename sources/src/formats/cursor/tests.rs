use super::super::corpus;
use super::super::databases::{TestDatabase, check_missing, check_mutations, make, texts};
use super::*;

const SCRIPT: &str = "state.sql";
const PATH: &str = "Cursor/User/globalStorage/state.vscdb";

fn put(made: &TestDatabase, key: &str, value: &str) {
    made.agent.execute("INSERT INTO cursorDiskKV VALUES (?1, ?2)", [key, value]).unwrap();
}

fn read(made: &TestDatabase, cursor: &mut Option<super::super::Cursor>) -> Batch {
    let batch = CursorAgent.read(&made.path, cursor.as_ref()).unwrap();
    *cursor = Some(batch.cursor.clone());
    batch
}

#[test]
fn whatever_is_in_a_row_it_is_read() {
    let made = make(&CursorAgent, SCRIPT, PATH);
    check_mutations(&CursorAgent, &made, "cursorDiskKV", &["value", "value", "key"]);
}

#[test]
fn a_text_that_grows_comes_again_with_the_same_identifier() {
    let made = make(&CursorAgent, SCRIPT, PATH);
    let mut cursor = None;
    read(&made, &mut cursor);
    let bubble = |text: &str| format!(r#"{{"type":2,"text":"{text}"}}"#);
    // The last row goes, and what replaces it gets its number. The time of its chat stays.
    put(&made, "composerData:z", r#"{"lastUpdatedAt":1700000000000,"fullConversationHeadersOnly":[{"bubbleId":"b"}]}"#);
    for text in ["On", "One", "One."] {
        made.agent.execute_batch("DELETE FROM cursorDiskKV WHERE key = 'bubbleId:z:b'").unwrap();
        put(&made, "bubbleId:z:b", &bubble(text));
        let batch = read(&made, &mut cursor);
        assert_eq!((texts(&batch), &*batch.turns[0].id, batch.whole), (vec![text], "z:b", false));
        assert_eq!(read(&made, &mut cursor).turns, []);
    }
    // A row that is changed in place, in a chat that says when.
    let change = r#"UPDATE cursorDiskKV SET value = replace(value, 'by a', 'by another') WHERE key = 'bubbleId:sub:s1';
        UPDATE cursorDiskKV SET value = replace(value, '1793610005000', '1793610019000') WHERE key = 'composerData:sub'"#;
    made.agent.execute_batch(change).unwrap();
    assert_eq!(texts(&read(&made, &mut cursor)), ["by another subagent"]);
    // A new chat.
    put(&made, "bubbleId:n:b", &bubble("new"));
    assert_eq!(texts(&read(&made, &mut cursor)), [""; 0]);
    put(&made, "composerData:n", r#"{"name":"New","fullConversationHeadersOnly":[{"bubbleId":"b"}]}"#);
    let batch = read(&made, &mut cursor);
    assert_eq!(texts(&batch), ["new"]);
    // The last rows go, and others get their numbers.
    made.agent.execute_batch("DELETE FROM cursorDiskKV WHERE rowid > 15").unwrap();
    put(&made, "bubbleId:y:b", &bubble("instead"));
    put(&made, "composerData:y", r#"{"lastUpdatedAt":1700000000000,"fullConversationHeadersOnly":[{"bubbleId":"b"}]}"#);
    assert!(texts(&read(&made, &mut cursor)).contains(&"instead"));
    read(&made, &mut cursor);
    assert_eq!(read(&made, &mut cursor).turns, []);
}

#[test]
fn missing_tables_and_columns_are_named() {
    let missing = [
        ("DROP TABLE cursorDiskKV", "the database has no table cursorDiskKV"),
        ("ALTER TABLE cursorDiskKV DROP COLUMN value", "the table cursorDiskKV has no column value"),
    ];
    check_missing(&CursorAgent, SCRIPT, PATH, &missing);
}

#[test]
fn transcripts_are_known_by_their_path() {
    let machine = Machine::new("/h", [("APPDATA", "/a")]);
    let transcripts = [
        "/h/.cursor/projects/p/agent-transcripts/c/c.jsonl",
        "/h/.cursor/projects/p/agent-transcripts/c/subagents/s.jsonl",
        "/h/.config/Cursor/User/globalStorage/state.vscdb",
        "/h/Library/Application Support/Cursor/User/globalStorage/state.vscdb",
        "/a/Cursor/User/globalStorage/state.vscdb",
    ];
    let others = [
        "/h/.cursor/projects/p/log.jsonl",
        "/h/.config/Cursor/User/globalStorage/state.vscdb.backup",
        "/h/.config/Cursor/User/globalStorage/other/state.vscdb",
    ];
    assert_eq!(corpus::transcripts(&CursorAgent, &machine, &[&transcripts[..], &others].concat()), transcripts);
}
