//! `memorist import --from`, as a user runs it: another system's store comes in once, and the report says what did not.

use std::path::Path;
use std::process::{Output, Stdio};

use rusqlite::Connection;
use serde_json::json;

use crate::support::{document, memorist, text};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    memorist(folder, arguments).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn the_store_of_another_system_comes_in_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("krolik.db");
    let script = include_str!("../../sources/tests/corpus/moving/krolik.sql");
    Connection::open(&store).unwrap().execute_batch(script).unwrap();
    let path = store.to_str().unwrap();
    let arguments = ["import", "--from", "krolik", path, "--agent", "scout"];

    let first = run(folder.path(), &arguments);
    assert!(first.status.success(), "{}", text(&first.stderr));
    let shown = text(&first.stdout);
    for part in [
        "5 memories of krolik", "5 saved", "4 of agent scout, project shop", "6 links", "not imported",
        "1 embeddings (made again)",
    ] {
        assert!(shown.contains(part), "{part:?} is missing in\n{shown}");
    }
    let again = document(&run(folder.path(), &[&arguments[..], &["--json"]].concat()));
    assert_eq!((&again["created"], &again["unchanged"], &again["links"]), (&0.into(), &5.into(), &0.into()), "{again}");
    assert_eq!(
        again["owners"],
        json!([
            { "agent": "scout", "project": "shop", "memories": 4 }, { "agent": "scout", "project": null, "memories": 1 }
        ])
    );
    assert_eq!(again["notBrought"]["embeddings (made again)"], 1);

    let found = document(&run(folder.path(), &["search", "easy to move", "--json"]));
    let memory = &found["results"][0];
    assert_eq!((&memory["project"], &memory["agent"]), (&"shop".into(), &"scout".into()), "{found}");
}

#[test]
fn import_refuses_a_foreign_file_and_an_unknown_system() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("notes.db");
    std::fs::write(&wrong, "no database").unwrap();
    let path = wrong.to_str().unwrap();
    let refused = run(folder.path(), &["import", "--from", "mudpuppy", path]);
    assert_eq!(refused.status.code(), Some(2));
    let shown = text(&refused.stderr);
    assert!(shown.contains("notes.db") && shown.contains("memory_entries"), "{shown}");
    let unknown = run(folder.path(), &["import", "--from", "elephant", path]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("server-memory"), "it lists the systems: {}", text(&unknown.stderr));
}
