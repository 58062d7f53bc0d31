//! A project and an agent in the settings, and what overrules them: at the command line, and in a server.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{document, memorist, text};

/// A store whose settings name the project `atlas`, with a memory of it, one of `borealis`, and a global one.
fn store() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("memorist.toml"), "model = \"none\"\nproject = \"atlas\"\n").unwrap();
    for (line, more) in
        [("harbour one", &[][..]), ("harbour two", &["--project", "borealis"]), ("harbour three", &["--project", ""])]
    {
        let saved = run(folder.path(), &[&["add", line], more].concat(), None);
        assert_eq!(saved["created"], true);
    }
    folder
}

/// What a command prints with this in MEMORIST_PROJECT.
fn run(store: &Path, arguments: &[&str], variable: Option<&str>) -> Value {
    let mut command = memorist(store, &[arguments, &["--json"]].concat());
    if let Some(variable) = variable {
        command.env("MEMORIST_PROJECT", variable);
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stdout));
    document(&output)
}

fn ids(answer: &Value) -> Vec<i64> {
    let mut ids: Vec<_> = answer["results"].as_array().unwrap().iter().map(|hit| hit["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    ids
}

/// R24.
#[test]
fn a_project_of_the_settings_is_overruled_at_the_command_line() {
    let folder = store();
    let found = |arguments: &[&str], variable: Option<&str>| {
        let searched = ids(&run(folder.path(), &[&["search", "harbour"], arguments].concat(), variable));
        assert_eq!(ids(&run(folder.path(), &[&["list"], arguments].concat(), variable)), searched, "list too");
        searched
    };
    assert_eq!(found(&[], None), [1, 3]);
    assert_eq!(found(&["--project", "borealis"], None), [2, 3]);
    for all in ["", "*"] {
        assert_eq!(found(&["--project", all], None), [1, 2, 3], "a person without a project sees all: {all:?}");
        assert_eq!(found(&["--project", all], Some("borealis")), [1, 2, 3], "typed beats the environment");
    }
    assert_eq!(found(&[], Some("*")), [1, 2, 3]);
    assert_eq!(found(&[], Some("")), [1, 3], "an empty variable is one that is not set");

    let saved = |id: &str| run(folder.path(), &["get", id, "--project", "*"], None)["entry"]["project"].clone();
    assert_eq!([saved("1"), saved("2"), saved("3")], [json!("atlas"), json!("borealis"), Value::Null]);
    run(folder.path(), &["add", "harbour four", "--project", "*"], None);
    assert_eq!(saved("4"), Value::Null);
}

#[test]
fn what_no_project_can_be_called_is_refused_before_anything_begins() {
    let folder = store();
    for arguments in [&["serve"][..], &["stats"], &["search", "x"]] {
        for (option, field) in [("--project", "project: "), ("--agent", "agent: ")] {
            let mut command = memorist(folder.path(), &[arguments, &[option, " "]].concat());
            let output = command.stdin(Stdio::null()).output().unwrap();
            let said = text(&output.stderr);
            assert!(output.status.code() == Some(2) && said.contains(field), "{arguments:?}: {said}");
        }
    }
}

/// What memory_search finds in a server of these arguments, started in the work tree of the project `tree`.
fn served(store: &Path, arguments: &[&str]) -> Vec<i64> {
    let tree = store.join("tree");
    std::fs::create_dir_all(tree.join(".git")).unwrap();
    let mut server = memorist(store, &[&["serve"], arguments].concat());
    let mut server = server.current_dir(tree).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let client = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let call = json!({ "name": "memory_search", "arguments": { "query": "harbour" } });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ] {
        writeln!(stdin, "{message}").unwrap();
    }
    let answers = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut answers = answers.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let answer = answers.find(|answer| answer["id"] == 2).expect("an answer");
    drop(stdin);
    server.wait().unwrap();
    ids(&answer["result"]["structuredContent"])
}

/// R24.
#[test]
fn a_server_of_all_projects_or_of_none_is_that_whatever_else_names_one() {
    let folder = store();
    assert_eq!(served(folder.path(), &[]), [1, 3]);
    assert_eq!(served(folder.path(), &["--project", "*"]), [1, 2, 3]);
    assert_eq!(served(folder.path(), &["--project", ""]), [3]);
    assert_eq!(served(folder.path(), &["--no-project"]), [3]);
    assert_eq!(served(folder.path(), &["--no-project", "--project", "*"]), [3]);

    // Without a project in the settings, the work tree would name one.
    std::fs::write(folder.path().join("memorist.toml"), "model = \"none\"\n").unwrap();
    run(folder.path(), &["add", "harbour four", "--project", "tree"], None);
    assert_eq!(served(folder.path(), &[]), [3, 4]);
    assert_eq!(served(folder.path(), &["--project", "*"]), [1, 2, 3, 4]);
    assert_eq!(served(folder.path(), &["--project", ""]), [3]);
}
