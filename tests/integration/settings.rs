//! A project and an agent in the settings, and what overrides them: at the command line, and in a server.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
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

/// The output of a command with this in MEMORIST_PROJECT.
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
fn a_project_of_the_settings_is_overridden_at_the_command_line() {
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
fn an_invalid_project_name_is_refused_at_the_start() {
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

/// A folder in the work tree of the project `tree`.
fn work_tree(store: &Path) -> PathBuf {
    let folder = store.join("tree").join("src");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(store.join("tree").join(".git")).unwrap();
    folder
}

/// The results of memory_search in a server with these arguments, started in the work tree of the project `tree`.
fn served(store: &Path, arguments: &[&str]) -> Vec<i64> {
    ids(&asked(store, arguments, &json!({ "query": "harbour" }))["structuredContent"])
}

/// The answer of memory_search there.
fn asked(store: &Path, arguments: &[&str], query: &Value) -> Value {
    let mut server = memorist(store, &[&["serve", "--profile", "full"], arguments].concat());
    let mut server = server.current_dir(work_tree(store)).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let client = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let call = json!({ "name": "memory_search", "arguments": query });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ] {
        writeln!(stdin, "{message}").unwrap();
    }
    let answers = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut answers = answers.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut answer = answers.find(|answer| answer["id"] == 2).expect("an answer");
    drop(stdin);
    server.wait().unwrap();
    answer["result"].take()
}

/// R24.
#[test]
fn all_or_no_projects_override_the_settings_and_work_tree() {
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

/// R24.
#[test]
fn the_git_work_tree_names_the_project_of_commands_and_servers() {
    let folder = store();
    std::fs::write(folder.path().join("memorist.toml"), "model = \"none\"\n").unwrap();
    let tree = work_tree(folder.path());
    let output = |arguments: &[&str]| {
        let mut command = memorist(folder.path(), arguments);
        let output = command.current_dir(&tree).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        [output.stdout, output.stderr].map(|bytes| text(&bytes).to_owned())
    };
    let json =
        |arguments: &[&str]| serde_json::from_str::<Value>(&output(&[arguments, &["--json"]].concat())[0]).unwrap();

    assert_eq!(output(&["add", "harbour four"])[0], "saved as memory 4 in project tree\n");
    assert_eq!(output(&["add", "harbour five", "--no-project"])[0], "saved as memory 5\n");
    assert_eq!(json(&["get", "4"])["entry"]["project"], "tree");

    // The visible memories: its own and the global ones, for a person as for a server.
    assert_eq!(served(folder.path(), &[]), [3, 4, 5]);
    for looks in [&["search", "harbour"][..], &["list"]] {
        assert_eq!(ids(&json(looks)), [3, 4, 5], "{looks:?}");
        for all in [&["--project", "*"][..], &["--project", ""], &["--no-project"]] {
            assert_eq!(ids(&json(&[looks, all].concat())), [1, 2, 3, 4, 5], "{looks:?} {all:?}");
        }
        assert_eq!(ids(&json(&[looks, &["--project", "atlas"]].concat())), [1, 3, 5], "{looks:?}");
    }
    assert_eq!(json(&["stats"])["totalEntries"], 3);
    assert_eq!(json(&["digest"])["project"], "tree");
    let missing = memorist(folder.path(), &["get", "1"]).current_dir(&tree).output().unwrap();
    assert_eq!(missing.status.code(), Some(4), "it is another project's");

    // A note for people, on stderr only.
    let [shown, note] = output(&["list"]);
    assert!(note.contains("in project tree") && note.contains("--project '*'") && !shown.contains("git"), "{note}");
    for quiet in
        [&["list", "--json"][..], &["list", "--quiet"], &["list", "--project", "tree"], &["list", "--no-project"]]
    {
        assert_eq!(output(quiet)[1], "", "{quiet:?}");
    }

    // The settings override the folder, also if they say that there is no project.
    std::fs::write(folder.path().join("memorist.toml"), "model = \"none\"\nproject = \"\"\n").unwrap();
    assert_eq!(ids(&json(&["list"])), [1, 2, 3, 4, 5]);
    assert_eq!(served(folder.path(), &[]), [3, 5]);
}

/// R24.
#[test]
fn commands_on_the_whole_store_ignore_the_work_tree_project() {
    let folder = store();
    std::fs::write(folder.path().join("memorist.toml"), "model = \"none\"\n").unwrap();
    let tree = work_tree(folder.path());
    let run = |arguments: &[&str]| {
        let mut command = memorist(folder.path(), arguments);
        let output = command.current_dir(&tree).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    let lines = |exported: &str| exported.matches("\"type\":\"record\"").count();
    assert_eq!(lines(&run(&["export"])), 3);
    assert_eq!(lines(&run(&["export", "--project", "atlas"])), 2, "but for one that is named");
    std::fs::write(tree.join("line.jsonl"), "{\"content\":\"harbour four\"}\n").unwrap();
    run(&["import", "line.jsonl"]);
    let all: Value = serde_json::from_str(&run(&["list", "--project", "*", "--json"])).unwrap();
    assert_eq!(all["results"][3].get("project").cloned().unwrap_or_default(), Value::Null, "{all}");
    // Of any project.
    let purged: Value = serde_json::from_str(&run(&["purge", "--text", "harbour one", "--yes", "--json"])).unwrap();
    assert_eq!(purged["records"], 1);
    run(&["backup", "copy.db"]);
    run(&["doctor"]);
}

/// R24.
#[test]
fn serve_only_refuses_other_projects() {
    let folder = store();
    let search = |arguments: &[&str], project: Value| {
        asked(folder.path(), arguments, &json!({ "query": "harbour", "project": project }))
    };
    assert_eq!(ids(&search(&[], json!("*"))["structuredContent"]), [1, 2, 3], "without it, a default");
    assert_eq!(served(folder.path(), &["--isolate"]), [1, 3]);
    assert_eq!(ids(&search(&["--isolate"], json!("atlas"))["structuredContent"]), [1, 3]);
    for other in [json!("borealis"), json!("*"), Value::Null] {
        let refused = search(&["--isolate"], other);
        let why = refused["content"][0]["text"].as_str().unwrap();
        assert!(refused["isError"] == true && why.starts_with("project: ") && why.contains("--isolate"), "{refused}");
    }
    // It needs a project or an agent.
    for nobody in [&["--project", ""][..], &["--project", "*"]] {
        let mut command = memorist(folder.path(), &[&["serve", "--isolate"], nobody].concat());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("--isolate needs"), "{nobody:?}: {said}");
    }
}

#[test]
fn searches_are_logged_with_their_tool_unless_disabled() {
    let folder = store();
    let search = || {
        asked(folder.path(), &[], &json!({ "query": "harbour", "limit": 3 }));
        run(folder.path(), &["search", "zebra"], None);
        run(folder.path(), &["search", "harbour", "--project", "borealis"], None);
    };
    let kept = |arguments: &[&str]| -> Vec<Value> {
        let searches = run(folder.path(), &[&["search-log"], arguments].concat(), None);
        let results = searches["results"].as_array().unwrap();
        results.iter().map(|one| json!([one["tool"], one["project"], one["query"], one["hits"]])).collect()
    };
    search();
    let by_tool = json!(["memory_search", "atlas", "harbour", 2]);
    let in_vain = json!(["memorist search", "atlas", "zebra", 0]);
    assert_eq!(kept(&[]), [in_vain.clone(), by_tool.clone()], "those of its project");
    let elsewhere = json!(["memorist search", "borealis", "harbour", 2]);
    assert_eq!(kept(&["--project", "*"]), [elsewhere.clone(), in_vain.clone(), by_tool]);
    assert_eq!(kept(&["--nothing"]), [in_vain]);
    assert_eq!(kept(&["--project", "*", "--limit", "1"]), [elsewhere]);
    let entry = &run(folder.path(), &["search-log"], None)["results"][1];
    assert_eq!((&entry["filters"], &entry["mode"]), (&json!({ "limit": 3 }), &json!("hybrid")));
    let totals = json!({ "logged": 2, "last": 2, "noAnswer": 1 });
    assert_eq!(run(folder.path(), &["stats"], None)["searches"], totals);

    let settings = "model = \"none\"\nproject = \"atlas\"\n[search]\nlog_searches = false\n";
    std::fs::write(folder.path().join("memorist.toml"), settings).unwrap();
    search();
    assert_eq!(kept(&["--project", "*"]).len(), 3, "no more than before");
}
