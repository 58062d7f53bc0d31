use super::super::{corpus, databases};
use super::*;

const SCRIPT: &str = "data.sql";
const PATH: &str = "kiro-cli/data.sqlite3";

#[test]
fn a_broken_row_is_read() {
    let made = databases::make(&Kiro, SCRIPT, PATH);
    databases::check_mutations(&Kiro, &made, "conversations_v2", &["key", "value", "updated_at"]);
    databases::check_mutations(&Kiro, &made, "conversations", &["key", "value"]);
}

#[test]
fn a_database_of_another_program_is_named() {
    let missing = [
        ("DROP TABLE conversations; DROP TABLE conversations_v2", "the database has no table conversations"),
        ("ALTER TABLE conversations_v2 DROP COLUMN value", "the table conversations_v2 has no column value"),
    ];
    databases::check_missing(&Kiro, SCRIPT, PATH, &missing);
    let made = databases::make(&Kiro, SCRIPT, PATH);
    made.agent.execute_batch("DROP TABLE conversations").unwrap();
    assert!(!Kiro.read(&made.path, None).unwrap().turns.is_empty());
}

#[test]
fn sessions_are_known_by_their_path() {
    let machine = Machine::new("/h", []);
    let sessions = [
        "/h/.kiro/sessions/cli/7f1a0004-0000-4000-8000-000000000004.jsonl",
        "/h/.local/share/kiro-cli/data.sqlite3",
        "/h/.local/share/amazon-q/data.sqlite3",
    ];
    let others = ["/h/.kiro/sessions/cli/7f1a0004-0000-4000-8000-000000000004.json", "/h/.kiro/steering/a.jsonl"];
    assert_eq!(corpus::transcripts(&Kiro, &machine, &[&sessions[..], &others].concat()), sessions);
}
