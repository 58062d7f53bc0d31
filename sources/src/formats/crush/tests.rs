use super::super::{corpus, databases};
use super::*;

const SCRIPT: &str = "crush.sql";

#[test]
fn the_folder_of_a_turn_is_that_of_its_project() {
    let made = databases::make(&Crush, SCRIPT, "atlas/.crush/crush.db");
    let atlas = made.path.parent().and_then(Path::parent).unwrap();
    let batch = Crush.read(&made.path, None).unwrap();
    assert!(!batch.turns.is_empty() && batch.turns.iter().all(|turn| turn.cwd.as_deref() == atlas.to_str()));
}

#[test]
fn a_broken_database_is_read() {
    let made = databases::make(&Crush, SCRIPT, "crush.db");
    let columns = ["id", "session_id", "role", "parts", "model", "created_at", "updated_at", "is_summary_message"];
    databases::check_mutations(&Crush, &made, "messages", &columns);
    databases::check_mutations(&Crush, &made, "sessions", &["id", "parent_session_id"]);
}

#[test]
fn a_missing_table_or_column_is_named() {
    databases::check_missing(
        &Crush,
        SCRIPT,
        "crush.db",
        &[
            ("DROP TABLE sessions", "the database has no table sessions"),
            ("ALTER TABLE messages DROP COLUMN parts", "the table messages has no column parts"),
        ],
    );
}

#[test]
fn a_message_that_changes_is_read_again() {
    let made = databases::make(&Crush, SCRIPT, "crush.db");
    let first = Crush.read(&made.path, None).unwrap();
    made.agent
        .execute_batch(
            "UPDATE messages SET parts = '[{\"type\":\"text\",\"data\":{\"text\":\"It takes 9443.\"}}]', updated_at = 1793610100
                WHERE id = 'm2'",
        )
        .unwrap();
    let second = Crush.read(&made.path, Some(&first.cursor)).unwrap();
    assert_eq!(databases::texts(&second), ["It takes 9443."]);
    assert_eq!(second.turns[0].id, "m2");
}

#[test]
fn databases_are_found_by_the_list_of_projects() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join(".local/share/crush");
    std::fs::create_dir_all(&data).unwrap();
    // On Windows, a path without a drive is not absolute.
    let top = if cfg!(windows) { "C:/w" } else { "/w" };
    let list =
        r#"{"projects":[{"path":"/w/atlas","data_dir":"/w/atlas/.crush"},{"path":"/w/x","data_dir":".crush"},7]}"#;
    std::fs::write(data.join("projects.json"), list.replace("/w", top)).unwrap();
    let machine = Machine::new(home.path(), []);
    assert_eq!(Crush.places(&machine), [Path::new(top).join("atlas/.crush/crush.db")]);
    let moved = Machine::new("/h", [("CRUSH_GLOBAL_DATA", data.to_str().unwrap())]);
    assert_eq!(Crush.places(&moved).len(), 1);
    assert_eq!(Crush.places_in(Path::new("/w")), [PathBuf::from("/w/.crush/crush.db")]);
    let files = ["crush.db", "x.db"].map(|name| format!("{top}/atlas/.crush/{name}"));
    assert_eq!(corpus::transcripts(&Crush, &machine, &files.each_ref().map(String::as_str)).len(), 1);
}
