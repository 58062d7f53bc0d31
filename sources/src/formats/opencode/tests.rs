use super::super::corpus;
use super::super::databases::{TestDatabase, check_missing, check_mutations, make, texts};
use super::*;

const V1: &str = "v1.sql";
const V2: &str = "v2.sql";
const PATH: &str = "opencode/opencode.db";

fn read(made: &TestDatabase, cursor: &mut Option<Cursor>) -> Batch {
    let batch = OpenCode.read(&made.path, cursor.as_ref()).unwrap();
    *cursor = Some(batch.cursor.clone());
    batch
}

#[test]
fn both_versions_in_one_database_are_one() {
    let made = make(&OpenCode, V1, PATH);
    made.agent.execute_batch(&std::fs::read_to_string(corpus::folder(&OpenCode).join(V2)).unwrap()).unwrap();
    let batch = OpenCode.read(&made.path, None).unwrap();
    let of = |script| OpenCode.read(&make(&OpenCode, script, PATH).path, None).unwrap();
    let expected: Vec<_> =
        of(V1).turns.into_iter().chain(of(V2).turns.into_iter().filter(|turn| turn.id != "msg_1")).collect();
    assert_eq!(batch.turns, expected);

    // In version 1 the newer table is a view with identifiers of its own.
    made.agent.execute_batch("DROP TABLE session_v2").unwrap();
    let batch = OpenCode.read(&made.path, None).unwrap();
    let added: Vec<_> = batch.turns.iter().skip(of(V1).turns.len()).map(|turn| &*turn.session).collect();
    assert_eq!(added, ["ses_3"]);
}

#[test]
fn a_text_that_grows_comes_again_with_the_same_identifier() {
    let (v1, v2) = (make(&OpenCode, V1, PATH), make(&OpenCode, V2, PATH));
    let grow = |made: &TestDatabase, changes: &[(&str, &[&str])]| {
        let mut cursor = None;
        read(made, &mut cursor);
        for (change, expected) in changes {
            made.agent.execute_batch(change).unwrap();
            let batch = read(made, &mut cursor);
            assert_eq!(texts(&batch), *expected, "{change}");
            assert!(!batch.whole && batch.turns.iter().all(|turn| turn.id == "n1"));
            assert_eq!(read(made, &mut cursor).turns, []);
        }
    };
    grow(
        &v1,
        &[
            (
                r#"INSERT INTO message VALUES ('n1', 'ses_1', 1793610020000, 1793610020000, '{"role":"assistant"}')"#,
                &[],
            ),
            (
                r#"INSERT INTO part VALUES ('q1', 'n1', 'ses_1', 1793610020000, 1793610020000, '{"type":"text","text":"On"}')"#,
                &["On"],
            ),
            (r#"UPDATE part SET data = '{"type":"text","text":"One"}' WHERE id = 'q1'"#, &["One"]),
            (
                r#"UPDATE part SET data = '{"type":"text","text":"One."}', time_updated = time_updated + 5 WHERE id = 'q1'"#,
                &["One."],
            ),
            ("UPDATE message SET time_updated = time_updated + 9 WHERE id = 'n1'", &[]),
        ],
    );
    grow(
        &v2,
        &[
            (
                r#"INSERT INTO session_message VALUES ('n1', 'ses_1', 'user', 99, 1793610020000, 1793610020000, '{"text":"On"}')"#,
                &["On"],
            ),
            (
                r#"UPDATE session_message SET data = '{"text":"One"}', time_updated = 1793610030000 WHERE id = 'n1'"#,
                &["One"],
            ),
        ],
    );
}

#[test]
fn an_older_row_committed_after_a_newer_one_is_read() {
    let made = make(&OpenCode, V1, PATH);
    let mut cursor = None;
    read(&made, &mut cursor);
    let add = |id: &str, time: i64| {
        let message = format!(r#"INSERT INTO message VALUES ('{id}', 'ses_1', {time}, {time}, '{{"role":"user"}}')"#);
        let part = format!(
            r#"INSERT INTO part VALUES ('{id}', '{id}', 'ses_1', {time}, {time}, '{{"type":"text","text":"{id}"}}')"#
        );
        made.agent.execute_batch(&format!("{message}; {part}")).unwrap();
    };
    add("newer", 1_793_610_050_000);
    assert_eq!(texts(&read(&made, &mut cursor)), ["newer"]);
    add("older", 1_793_610_020_000);
    assert_eq!(texts(&read(&made, &mut cursor)), ["older"]);
    assert_eq!(read(&made, &mut cursor).turns, []);
}

#[test]
fn a_time_that_lies_ahead_hides_nothing() {
    let made = make(&OpenCode, V1, PATH);
    made.agent.execute_batch("UPDATE message SET time_updated = 32503680000000 WHERE id = 'msg_1'").unwrap();
    let mut cursor = None;
    read(&made, &mut cursor);
    let add = r#"INSERT INTO message VALUES ('n1', 'ses_1', 1793610020000, 1793610020000, '{"role":"user"}');
        INSERT INTO part VALUES ('q1', 'n1', 'ses_1', 1793610020000, 1793610020000, '{"type":"text","text":"new"}')"#;
    made.agent.execute_batch(add).unwrap();
    assert_eq!(texts(&read(&made, &mut cursor)), ["new"]);
}

#[test]
fn whatever_is_in_a_row_it_is_read() {
    let made = make(&OpenCode, V1, PATH);
    check_mutations(&OpenCode, &made, "message", &["data", "session_id", "time_created", "time_updated"]);
    check_mutations(&OpenCode, &made, "part", &["data", "message_id", "time_updated"]);
    check_mutations(&OpenCode, &made, "session", &["title", "directory", "parent_id", "time_updated"]);
    let made = make(&OpenCode, V2, PATH);
    check_mutations(&OpenCode, &made, "session_message", &["data", "type", "session_id", "seq", "time_updated"]);
}

#[test]
fn missing_tables_and_columns_are_named() {
    let missing = [
        ("DROP TABLE session", "the database has no table session"),
        ("DROP TABLE message", "the database has no table message"),
        ("DROP TABLE part", "the database has no table part"),
        ("ALTER TABLE part RENAME COLUMN data TO content", "the table part has no column data"),
    ];
    check_missing(&OpenCode, V1, PATH, &missing);
    let missing = [
        ("DROP TABLE session_v2", "the database has no table session"),
        ("ALTER TABLE session_message DROP COLUMN type", "the table session_message has no column type"),
    ];
    check_missing(&OpenCode, V2, PATH, &missing);
}

#[test]
fn transcripts_are_known_by_their_path() {
    let machine = Machine::new("/h", [("OPENCODE_DB", "/x/mine.db")]);
    let transcripts = [
        "/h/.local/share/opencode/opencode.db",
        "/h/.local/share/opencode/opencode-dev.db",
        "/x/mine.db",
        "/h/.local/share/kilo/kilo.db",
    ];
    let others = [
        "/h/.local/share/opencode/opencode.db-wal",
        "/h/.local/share/opencode/worktree/w/app.db",
        "/h/.local/share/opencode/storage/message/s/m.json",
    ];
    assert_eq!(corpus::transcripts(&OpenCode, &machine, &[&transcripts[..], &others].concat()), transcripts);
    let plain = Machine::new("/h", [("XDG_DATA_HOME", "/d")]);
    assert_eq!(OpenCode.places(&plain)[0], PathBuf::from("/d/opencode"));
    assert_eq!(OpenCode.places(&Machine::new("/h", [])).len(), 2);
}
