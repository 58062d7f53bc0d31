//! Gimli's tools over files: which are read, and which are not.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use memorist_engine::types::{Kind, NewRecord, NewSource, Origin, Place, Scope, SourceKind};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::testing::Server;
use crate::args::ProfileName;
use crate::memory_search::MemorySearch;
use crate::wire::Defaults;

/// A server, and a folder of files.
struct Desk {
    server: Server,
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        Desk { server: Server::of(ProfileName::Gimli), folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        // As the files are listed, whatever links lead to the folder.
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Adds a folder as a source.
    fn add(&self, name: &str, kind: SourceKind, scope: Scope) {
        let format = (kind == SourceKind::Sessions).then(|| "gimli".to_owned());
        let path = self.path(name).to_str().unwrap().to_owned();
        self.server.engine.add_source(&NewSource { kind, path, format, globs: Vec::new(), scope }).unwrap();
    }

    fn sync(&self) -> Value {
        self.server.call("memory_sync", json!({}))
    }

    fn search(&self, query: &str) -> Vec<Value> {
        self.server.call("memory_search", json!({ "query": query }))["results"].as_array().unwrap().clone()
    }

    fn get(&self, path: impl AsRef<std::path::Path>) -> Value {
        self.server.call("memory_get", json!({ "path": path.as_ref() }))
    }

    fn refused(&self, path: impl AsRef<std::path::Path>) -> String {
        self.server.refused("memory_get", json!({ "path": path.as_ref() }))
    }

    /// With other settings.
    fn set(&mut self, change: impl FnOnce(&mut MemorySearch)) {
        let mut settings = MemorySearch::clone(&self.server.context.memory_search);
        change(&mut settings);
        self.server.context.memory_search = Arc::new(settings);
    }

    /// A folder of notes that has been read.
    fn of_notes() -> Self {
        let desk = Desk::new();
        desk.write("notes/plan.md", "# Plan\n\nThe zebra deploys on Tuesdays.\n\nAnd rests on Sundays.\n");
        desk.add("notes", SourceKind::Notes, Scope::default());
        let synced = desk.sync();
        assert_eq!((&synced["added"], &synced["sources"][0]["read"]), (&json!(1), &json!(1)), "{synced}");
        desk
    }
}

/// T50, Z12, Q20.
#[test]
fn a_result_points_at_lines_that_can_be_read() {
    let mut desk = Desk::of_notes();
    let hit = &desk.search("when does the zebra deploy")[0];
    assert_eq!(hit["path"], desk.path("notes/plan.md").to_str().unwrap());
    assert_eq!((&hit["startLine"], &hit["endLine"], &hit["source"]), (&json!(1), &json!(5), &json!("memory")));
    assert!((0.35..=1.0).contains(&hit["score"].as_f64().unwrap()), "{hit}");
    assert!(hit["snippet"].as_str().unwrap().contains("zebra deploys"), "{hit}");
    let text = |path: &str, from: u64| {
        let lines = desk.server.call("memory_get", json!({ "path": path, "from": from, "lines": 1 }));
        (lines["text"].as_str().unwrap().to_owned(), lines["from"].clone(), lines["lines"].clone())
    };
    let third = ("The zebra deploys on Tuesdays.".to_owned(), json!(3), json!(1));
    for path in [hit["path"].as_str().unwrap(), "plan.md", "notes/plan.md", "./plan.md"] {
        assert_eq!(text(path, 3), third, "{path}");
    }
    assert_eq!(text("plan.md", 9).0, "");
    // Within the workspace, a path is relative to it.
    let workspace = desk.path("");
    desk.set(|settings| settings.workspace = Some(workspace));
    let within = desk.search("zebra")[0]["path"].as_str().unwrap().to_owned();
    assert_eq!(within, "notes/plan.md");
    assert_eq!(desk.get(within)["lines"], 5);
}

/// T50: a memory that has no file is opened by its id.
#[test]
fn a_memory_without_a_file_has_a_path_too() {
    let desk = Desk::new();
    let id = desk.server.add(Kind::Decision, "We keep lanterns\ngreen", None);
    let hit = &desk.search("lanterns")[0];
    let path = format!("memory:{id}");
    assert_eq!((hit["path"].as_str().unwrap(), &hit["endLine"], &hit["source"]), (&*path, &json!(2), &json!("memory")));
    let read = desk.server.call("memory_get", json!({ "path": path, "from": 2 }));
    assert_eq!(read, json!({ "path": path, "text": "green", "from": 2, "lines": 1 }));
    assert_eq!(desk.refused("memory:99"), "Memory entry not found: 99");
}

/// A8: a threshold above the weight of words drops nothing that the words single out.
#[test]
fn a_threshold_keeps_exact_keyword_hits() {
    let mut desk = Desk { server: Server::with_model(ProfileName::Gimli), folder: tempfile::tempdir().unwrap() };
    for number in 0..40 {
        desk.server.add(Kind::Fact, &format!("lamp {number} hangs in the harbour"), None);
    }
    let id = desk.server.add(Kind::Fact, "ticket QX-4711", None);
    desk.server.engine.embed_pending(&memorist_engine::progress::NoProgress).unwrap();
    desk.server.engine.flush(&memorist_engine::progress::NoProgress).unwrap();
    desk.set(|settings| (settings.max_results, settings.min_score) = (50, 0.0));
    let all = desk.search("which lamp of the harbour was QX-4711 about").len();
    desk.set(|settings| settings.min_score = 0.9);
    let found = desk.search("which lamp of the harbour was QX-4711 about");
    assert!(found.iter().any(|hit| hit["path"] == format!("memory:{id}")), "{found:?}");
    assert!(found.len() < all, "the threshold drops others: {} of {all}", found.len());
}

/// No path leads out of what was read.
#[test]
fn only_files_that_were_read_are_read() {
    let desk = Desk::of_notes();
    desk.write("secret.md", "nobody reads this\n");
    desk.write("notes/.hidden/other.md", "nor this\n");
    fs::create_dir_all(desk.path("notes/sub")).unwrap();
    for path in ["secret.md", "../secret.md", "notes/../secret.md", "sub/../../secret.md", "", ".", "..", "/", "a\0b"] {
        let why = desk.refused(path);
        assert!(why.contains("not an indexed file"), "{path}: {why}");
    }
    for path in [desk.path("secret.md"), desk.path("notes/../secret.md"), desk.path("notes/.hidden/other.md")] {
        assert!(desk.refused(&path).contains("not an indexed file"), "{}", path.display());
    }
}

/// A link where a file was: what was read is answered, and not what the link leads to.
#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    let desk = Desk::of_notes();
    desk.write("secret.md", "nobody reads this\n");
    fs::remove_file(desk.path("notes/plan.md")).unwrap();
    std::os::unix::fs::symlink(desk.path("secret.md"), desk.path("notes/plan.md")).unwrap();
    let read = desk.get("plan.md");
    assert!(read["text"].as_str().unwrap().contains("zebra") && read["warning"].is_string(), "{read}");
    // The same for a folder on the way.
    let desk = Desk::of_notes();
    desk.write("elsewhere/plan.md", "nobody reads this\n");
    fs::rename(desk.path("notes"), desk.path("old")).unwrap();
    fs::create_dir(desk.path("notes")).unwrap();
    desk.write("notes/deep/a.md", "The giraffe is deep.\n");
    desk.sync();
    fs::rename(desk.path("notes/deep"), desk.path("notes/was")).unwrap();
    desk.write("elsewhere/a.md", "nobody reads this\n");
    std::os::unix::fs::symlink(desk.path("elsewhere"), desk.path("notes/deep")).unwrap();
    let read = desk.get("deep/a.md");
    assert!(read["text"].as_str().unwrap().contains("giraffe") && read["warning"].is_string(), "{read}");
}

#[test]
fn deleted_files_are_read_from_records_if_the_name_is_unique() {
    let desk = Desk::of_notes();
    desk.write("notes/old/plan.md", "The giraffe plans.\n");
    desk.sync();
    let why = desk.refused("lan.md");
    assert!(why.contains("not an indexed file"), "{why}");
    fs::remove_file(desk.path("notes/old/plan.md")).unwrap();
    let read = desk.get("old/plan.md");
    assert_eq!((&read["text"], &read["from"], &read["lines"]), (&json!("The giraffe plans."), &json!(1), &json!(1)));
    assert!(read["warning"].as_str().unwrap().contains("missing"), "{read}");
    desk.add("notes/old", SourceKind::Notes, Scope::default());
    let why = desk.refused("plan.md");
    assert!(why.contains(" or ") && why.contains("old"), "{why}");
}

/// A secret of a file is not shown, though the file has it; lines keep their numbers.
#[test]
fn secrets_of_a_file_are_not_shown() {
    let desk = Desk::new();
    let key = [
        "-----BEGIN ",
        "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END ",
        "PRIVATE KEY-----",
    ];
    desk.write(
        "notes/a.md",
        &format!("The zebra logs in: password = {}{}\n{}\nlast\n", "Tr0ub4", "dor&3", key.concat()),
    );
    desk.add("notes", SourceKind::Notes, Scope::default());
    desk.sync();
    let read = desk.get("a.md");
    let text = read["text"].as_str().unwrap();
    assert!(text.contains("[redacted") && !text.contains("Tr0ub4") && !text.contains("MIIE"), "{text}");
    assert_eq!((text.lines().nth(4), &read["lines"]), (Some("last"), &json!(5)), "{text}");
}

/// A session of two turns in a file, as Gimli writes it.
fn session(desk: &Desk) {
    let line = |role: &str, text: &str| json!({ "type": "message", "message": { "role": role, "content": text } });
    let lines = [
        line("user", "where do the   giraffes\nsleep"),
        line("assistant", &(0..80).map(|number| format!("In the barn, box {number}. ")).collect::<String>()),
    ];
    desk.write("sessions/one.jsonl", &lines.map(|line| line.to_string() + "\n").concat());
    desk.add("sessions", SourceKind::Sessions, Scope::default());
}

/// T50, F12: a turn says who said it.
#[test]
fn turns_of_a_session_say_who_spoke() {
    let desk = Desk::new();
    session(&desk);
    desk.sync();
    let [question, answer] = ["giraffes", "barn"].map(|word| desk.search(word).remove(0));
    assert_eq!((&question["source"], &answer["source"]), (&json!("sessions"), &json!("sessions")));
    assert_eq!(question["snippet"], "User: where do the giraffes sleep");
    let long = answer["snippet"].as_str().unwrap();
    assert!(long.starts_with("Assistant: ") && long.chars().count() <= 700 && long.contains("barn"), "{long}");
    assert_eq!(answer["startLine"], 2);
    assert_eq!(answer["path"], "one.jsonl", "within its source");
    let all = desk.get("one.jsonl");
    let text = all["text"].as_str().unwrap();
    assert!(text.starts_with("User: where do the giraffes sleep\nAssistant: In the barn"), "{text}");
    assert_eq!((text.matches("barn").count(), text.matches("Assistant").count()), (80, 1), "{text}");
    let one = desk.server.call("memory_get", json!({ "path": "one.jsonl", "from": 1, "lines": 1 }));
    assert_eq!(one["text"], "User: where do the giraffes sleep");
    assert_eq!((&one["from"], &one["lines"]), (&json!(1), &json!(1)));
}

/// R25: an index for each workspace and agent, in one store.
#[test]
fn a_workspace_has_its_own_notes() {
    let mut desk = Desk::new();
    desk.write("a/MEMORY.md", "The zebra of the first\n");
    desk.write("b/memory/deep/x.md", "The zebra of the second\n");
    desk.server.add(Kind::Fact, "The zebra of all", None);
    let mut found = |name: &str, agent: Option<&str>| -> Vec<String> {
        let workspace = desk.path(name);
        let project = workspace.to_str().unwrap().to_owned();
        desk.set(|settings| settings.workspace = Some(workspace));
        desk.server.context.defaults = Defaults::named(Some(project), agent.map(str::to_owned)).unwrap();
        desk.sync();
        let mut paths: Vec<String> =
            desk.search("zebra").iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect();
        paths.sort();
        paths
    };
    assert_eq!(found("a", None), ["MEMORY.md", "memory:1"]);
    assert_eq!(found("b", Some("ops")), ["memory/deep/x.md", "memory:1"]);
    assert_eq!(found("b", Some("quiet")), ["memory:1"], "another agent's");
    assert_eq!(found("a", None), ["MEMORY.md", "memory:1"]);
}

/// T50: a path that came from another index is read by that path.
#[test]
fn paths_that_were_moved_in_are_read() {
    let desk = Desk::of_notes();
    let add = |kind: Kind, number: u8, path: &str, content: &str| {
        let place = Place::new(Origin::from_bytes([number; 16]), path, 3, 4);
        desk.server.engine.add(&NewRecord { kind, place: Some(place), ..NewRecord::new(content) }).unwrap();
    };
    add(Kind::Conversation, 1, "sessions/old.jsonl", "User: where do herons sleep?\nAssistant: In the reeds.");
    add(Kind::Chunk, 2, "memory/old.md", "The walrus\n\nrests.");
    let hit = &desk.search("herons")[0];
    assert_eq!((&hit["path"], &hit["source"]), (&json!("sessions/old.jsonl"), &json!("sessions")));
    let read = desk.get("sessions/old.jsonl");
    assert_eq!(read["text"], "User: where do herons sleep?\nAssistant: In the reeds.");
    assert_eq!((&read["from"], &read["lines"]), (&json!(3), &json!(2)));
    assert_eq!(desk.get("memory/old.md")["text"], "The walrus\n\nrests.");
    assert!(desk.refused("memory/older.md").contains("not an indexed file"));
}

/// T51: a turn is given what it needs, of the sources that are on.
#[test]
fn a_turn_is_given_what_it_needs() {
    let mut desk = Desk { server: Server::with_model(ProfileName::Gimli), folder: tempfile::tempdir().unwrap() };
    desk.server.add(Kind::Fact, "The zebra deploys on Tuesdays at 9", None);
    desk.server.engine.embed_pending(&memorist_engine::progress::NoProgress).unwrap();
    let asked = json!({ "userMessage": "When does the zebra deploy on Tuesdays?", "maxResults": 5, "maxTokens": 500,
        "minScore": 0.3 });
    let given = desk.server.call("memory_recall", asked.clone());
    assert!(given["context"].as_str().unwrap().contains("zebra deploys"), "{given}");
    desk.set(|settings| settings.memory = false);
    assert_eq!(desk.server.call("memory_recall", asked.clone())["context"], Value::Null);
    desk.set(|settings| settings.enabled = false);
    let off = desk.server.call("memory_recall", asked);
    assert!(off["context"].is_null() && off["warnings"][0].as_str().unwrap().contains("enabled"), "{off}");
}

/// H4: without the experiment, nothing of sessions is found or read.
#[test]
fn sessions_that_are_off_are_neither_found_nor_read() {
    let mut desk = Desk::of_notes();
    session(&desk);
    desk.sync();
    desk.set(|settings| settings.sessions = false);
    assert_eq!(desk.search("giraffes").len(), 0);
    assert!(desk.refused("one.jsonl").contains("source that is off"));
    assert_eq!(desk.search("zebra").len(), 1);
    desk.set(|settings| settings.memory = false);
    let off = desk.server.call("memory_search", json!({ "query": "zebra" }));
    assert_eq!((&off["results"], &off["disabled"], &off["unavailable"]), (&json!([]), &json!(true), &json!(true)));
    assert!(["error", "warning", "action"].iter().all(|field| off[field].is_string()), "{off}");
    assert_eq!(desk.get("plan.md")["disabled"], true);
}

/// T52, R24: a server that keeps to its own reads its own sources, and nobody sees another's.
#[test]
fn a_sync_says_nothing_of_the_sources_of_others() {
    let mut desk = Desk::new();
    let scope = |name: &str| Scope { project: Some(name.into()), agent: None };
    for name in ["atlas", "borealis"] {
        desk.write(&format!("{name}/a.md"), &format!("The zebra of {name}\n"));
        desk.add(name, SourceKind::Notes, scope(name));
    }
    let named = |synced: &Value| -> Vec<String> {
        let sources = synced["sources"].as_array().unwrap().iter();
        sources.map(|source| source["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()).collect()
    };
    let defaults = || Defaults::named(Some("atlas".into()), None).unwrap();
    desk.server.context.defaults = defaults().only().unwrap();
    let own = desk.sync();
    assert_eq!((named(&own), &own["added"]), (vec!["atlas".to_owned()], &json!(1)));
    desk.server.context.defaults = defaults();
    let all = desk.sync();
    assert_eq!((named(&all), &all["added"]), (vec!["atlas".to_owned()], &json!(0)), "the other's count is not shown");
    desk.server.context.defaults = Defaults::named(Some("*".into()), None).unwrap();
    assert_eq!(desk.search("zebra").len(), 2, "but they were read");
    let force = desk.server.call("memory_sync", json!({ "force": true }));
    assert_eq!(force["sources"].as_array().unwrap().iter().map(|one| &one["read"]).collect::<Vec<_>>(), [1, 1]);
}

/// Q20, Z8: the defaults, and what overrides them.
#[test]
fn six_results_unless_more_are_wanted() {
    let mut desk = Desk::new();
    for number in 0..20 {
        desk.server.add(Kind::Fact, &format!("zebra {number}"), None);
    }
    assert_eq!(desk.search("zebra").len(), 6);
    let count = |desk: &Desk, arguments: Value| {
        desk.server.call("memory_search", arguments)["results"].as_array().unwrap().len()
    };
    assert_eq!(count(&desk, json!({ "query": "zebra", "maxResults": 9, "minScore": null })), 9);
    desk.set(|settings| settings.max_results = 2);
    assert_eq!(count(&desk, json!({ "query": "zebra" })), 2);
    assert_eq!(
        desk.server.refused("memory_search", json!({ "query": "x", "maxResults": 0 })),
        "maxResults: 0 is outside 1 to 1000"
    );
}
