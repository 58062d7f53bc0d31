use super::super::{corpus, databases};
use super::*;

const SCRIPT: &str = "threads.sql";
const PATH: &str = "threads/threads.db";

#[test]
fn a_broken_database_is_read() {
    let made = databases::make(&Zed, SCRIPT, PATH);
    let columns = ["id", "summary", "updated_at", "data_type", "data", "parent_id", "folder_paths", "created_at"];
    databases::check_mutations(&Zed, &made, "threads", &columns);
}

#[test]
fn a_missing_table_or_column_is_named() {
    let missing = [
        ("DROP TABLE threads", "the database has no table threads"),
        ("ALTER TABLE threads DROP COLUMN data", "the table threads has no column data"),
    ];
    databases::check_missing(&Zed, SCRIPT, PATH, &missing);
}

#[test]
fn a_thread_that_changes_is_read_again() {
    let made = databases::make(&Zed, SCRIPT, PATH);
    let first = Zed.read(&made.path, None).unwrap();
    let change = "UPDATE threads SET data_type = 'json', updated_at = '2026-11-02T09:30:00+00:00',
        data = '{\"messages\":[{\"User\":{\"id\":\"u1\",\"content\":[{\"Text\":\"Another port?\"}]}}]}' WHERE id = 't1'";
    made.agent.execute_batch(change).unwrap();
    let second = Zed.read(&made.path, Some(&first.cursor)).unwrap();
    assert_eq!(databases::texts(&second), ["Another port?"]);
    assert_eq!(second.turns[0].id, "t1:u1");
}

#[test]
fn a_thread_that_unpacks_to_too_much_is_passed_over() {
    // A frame of blocks of 128 KiB, each in 4 bytes.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 0x58];
    for number in 0..=300_u32 {
        frame.extend(&((128 << 10) << 3 | 1 << 1 | u32::from(number == 300)).to_le_bytes()[..3]);
        frame.push(b' ');
    }
    assert_eq!(unpack(&frame), None);
    assert_eq!(unpack(b"no frame"), None);
}

#[test]
fn threads_are_known_by_their_path() {
    let machine = Machine::new("/h", []);
    let paths = ["/h/.local/share/zed/threads/threads.db", "/h/.local/share/zed/threads/threads.db-wal"];
    assert_eq!(corpus::transcripts(&Zed, &machine, &paths), paths[..1]);
}
