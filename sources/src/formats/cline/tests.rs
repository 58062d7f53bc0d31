use super::super::corpus;
use super::*;

#[test]
fn transcripts_are_known_by_their_path() {
    let machine = Machine::new("/h", []);
    let storage = "/h/.config/Code/User/globalStorage";
    let tasks = [
        format!("{storage}/saoudrizwan.claude-dev/tasks/1793610000000/ui_messages.json"),
        format!("{storage}/rooveterinaryinc.roo-cline/tasks/T/ui_messages.json"),
        "/h/.config/Cursor/User/globalStorage/kilocode.kilo-code/tasks/T/ui_messages.json".to_owned(),
        "/h/.vscode-server/data/User/globalStorage/saoudrizwan.claude-dev/tasks/T/ui_messages.json".to_owned(),
        "/h/.cline/data/tasks/T/ui_messages.json".to_owned(),
        "/h/.cline/data/sessions/S/S.messages.json".to_owned(),
        "/h/.cline/data/sessions/S/worker.messages.json".to_owned(),
    ];
    let others = [
        format!("{storage}/saoudrizwan.claude-dev/tasks/T/api_conversation_history.json"),
        format!("{storage}/saoudrizwan.claude-dev/settings/ui_messages.json"),
        "/h/.cline/data/sessions/S/S.json".to_owned(),
        "/h/.cline/data/sessions/S/S.compaction.json".to_owned(),
    ];
    let paths: Vec<&str> = tasks.iter().chain(&others).map(String::as_str).collect();
    assert_eq!(corpus::transcripts(&Cline, &machine, &paths), tasks);
    let moved = Machine::new("/h", [("CLINE_DATA_DIR", "/m")]);
    assert!(Cline.places(&moved).contains(&PathBuf::from("/m/tasks")));
}

#[test]
fn a_task_that_did_not_change_is_not_read_again() {
    let path = &corpus::files(&Cline)[0];
    let first = Cline.read(path, None).unwrap();
    assert!(first.whole && !first.turns.is_empty());
    let again = Cline.read(path, Some(&first.cursor)).unwrap();
    assert_eq!(again, Batch { cursor: first.cursor, ..Batch::default() });
}

#[test]
fn a_torn_file_removes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ui_messages.json");
    std::fs::write(&path, "[{\"say\":\"text\",\"te").unwrap();
    let batch = Cline.read(&path, None).unwrap();
    assert_eq!((batch.whole, batch.skipped.counts["unreadable"], batch.cursor), (false, 1, Cursor::default()));
}
