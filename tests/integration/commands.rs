//! The commands for bodies, links, versions, digests and purging, each run as a separate process: as text for people,
//! and with `--json`, which is the structured result of the tool of the same name.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use memorist_engine::types::{Link, LinkKind, NewRecord, Viewer};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{document, memorist, text, words_only};

/// A store that is used only by its commands. It is beside the settings, which are not part of the store.
struct Shell {
    folder: TempDir,
}

impl Shell {
    fn new() -> Self {
        Shell { folder: tempfile::tempdir().unwrap() }
    }

    /// One with three decisions, each linked with the previous one.
    fn with_links() -> Self {
        let shell = Shell::new();
        for line in ["We keep records in files", "We keep records in SQLite", "Write the migration"] {
            shell.says(&["add", line, "--kind", "decision", "--project", "atlas"], &["saved as memory"]);
        }
        shell.says(&["link", "2", "supersedes", "1"], &["linked: 2 → supersedes 1"]);
        shell.says(&["link", "3", "implements", "2"], &["linked: 3 → implements 2"]);
        shell
    }

    fn run(&self, arguments: &[&str]) -> Output {
        memorist(self.folder.path(), arguments).stdin(Stdio::null()).output().unwrap()
    }

    /// Its output for people, which contains all of `parts`.
    fn says(&self, arguments: &[&str], parts: &[&str]) -> String {
        let output = self.run(arguments);
        let shown = text(&output.stdout).to_owned();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        for part in parts {
            assert!(shown.contains(part), "{arguments:?}: {part:?} is missing in\n{shown}");
        }
        shown
    }

    /// Its output for programs.
    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stdout));
        document(&output)
    }

    /// Checks that it ends with `code`, and that stderr contains all of `parts`.
    fn fails(&self, arguments: &[&str], code: i32, parts: &[&str]) {
        let output = self.run(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{arguments:?}: {said}");
    }
}

/// R12 to R15.
#[test]
fn a_body_is_saved_shown_and_removed() {
    let shell = Shell::new();
    let body = r#"{"name":"Ana Torres","email":"ana@example.org"}"#;
    shell.says(&["add", "--kind", "contact", "--body", body], &["saved as memory 1"]);
    shell.says(
        &["get", "1"],
        &["Ana Torres", "\nname         Ana Torres\n", "\nemail        ana@example.org\n", "kind         contact"],
    );
    assert_eq!(shell.json(&["get", "1"])["entry"]["body"]["type"], "work", "as the server has it");
    shell.says(&["search", "torres"], &["Ana Torres"]);
    shell.fails(&["add", "--kind", "contact", "--body", r#"{"mail":"x"}"#], 2, &["body", "mail", "email"]);
    shell.fails(&["add", "--body", "Ana"], 2, &["body: ", "a JSON object"]);
    shell.fails(&["add"], 2, &["TEXT", "--body"]);
    shell.fails(&["add", "-", "--kind", "contact", "--body", "-"], 2, &["only one argument can be `-`"]);

    let updated =
        shell.json(&["update", "1", "--body", r#"{"name":"Ana Torres","role":"lead"}"#, "--reason", "promoted"]);
    assert_eq!(updated["version"], 2);
    let shown = shell.says(&["get", "1"], &["\nrole         lead\n"]);
    assert!(!shown.contains("email"), "{shown}");
    shell.says(&["history", "1"], &["promoted", "body"]);
    shell.says(&["update", "1", "--no-body", "--kind", "fact"], &["now version 3"]);
    assert_eq!(shell.json(&["get", "1"])["entry"].get("body"), None);

    let mut command = memorist(shell.folder.path(), &["add", "Ben is a designer", "--kind", "contact", "--body", "-"]);
    let mut adding = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    adding.stdin.take().unwrap().write_all(br#"{"name":"Ben"}"#).unwrap();
    assert!(adding.wait().unwrap().success());
    assert_eq!(shell.json(&["get", "2"])["entry"]["body"]["name"], "Ben");
}

/// 47.3.
#[test]
fn metadata_is_saved_shown_filtered_by_and_removed() {
    let shell = Shell::new();
    let metadata = r#"{"year": 2024, "of": ["log", "survey"]}"#;
    shell.says(&["add", "The harbour was dredged", "--metadata", metadata], &["saved as memory 1"]);
    shell.says(&["add", "The harbour froze", "--kind", "event"], &["saved as memory 2"]);
    shell.says(&["get", "1"], &[r#"metadata     {"year":2024,"of":["log","survey"]}"#]);
    let found = |condition: &str| {
        let ids = |reply: &Value| {
            let ids = reply["results"].as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap());
            ids.collect::<BTreeSet<_>>()
        };
        let listed = ids(&shell.json(&["list", "--where", condition]));
        assert_eq!(ids(&shell.json(&["search", "harbour", "--where", condition])), listed, "{condition}");
        listed
    };
    assert_eq!(found(r#"{"year": {"$gte": 2020}, "of": "log"}"#), BTreeSet::from([1]));
    assert_eq!(found(r#"{"year": {"$ne": 2024}}"#), BTreeSet::from([2]));
    shell.says(&["update", "2", "--metadata", r#"{"year": 1999}"#], &["updated memory 2"]);
    assert_eq!(found(r#"{"year": {"$lt": 2000}}"#), BTreeSet::from([2]));
    shell.says(&["update", "2", "--no-metadata"], &["updated memory 2"]);
    assert_eq!(found(r#"{"year": {"$exists": false}}"#), BTreeSet::from([2]));
    shell.fails(&["add", "x", "--metadata", "[1]"], 2, &["body.metadata: must be an object"]);
    shell.fails(&["search", "x", "--where", r#"{"year": {"$near": 1}}"#], 2, &["$near", "$gte"]);
}

/// R16, T41, T42.
#[test]
fn links_are_made_shown_from_both_ends_and_removed() {
    let shell = Shell::with_links();
    shell.says(&["link", "2", "supersedes", "1"], &["linked already: 2 → supersedes 1"]);
    assert_eq!(shell.json(&["link", "2", "supersedes", "1"]), json!({ "created": false }));
    shell.says(&["get", "2"], &["→ supersedes", "We keep records in files", "← implemented by", "Write the migration"]);
    let entry = shell.json(&["get", "2"]);
    let links = json!([
        { "id": 1, "linkType": "supersedes", "direction": "forward" },
        { "id": 3, "linkType": "implements", "direction": "backward" },
    ]);
    assert_eq!(entry["entry"]["links"], links);

    shell.fails(&["link", "2", "likes", "1"], 2, &["likes", "contradicts"]);
    shell.fails(&["link", "2", "caused", "2"], 2, &["cannot link memory 2 to itself"]);
    shell.fails(&["link", "2", "caused", "99"], 4, &["99"]);
    // Another project's memories do not exist for it.
    shell.fails(&["link", "2", "caused", "3", "--project", "borealis"], 4, &["2"]);

    shell.says(&["unlink", "3", "implements", "2"], &["removed the link 3 → implements 2"]);
    let again = shell.run(&["unlink", "3", "implements", "2"]);
    assert_eq!((again.status.code(), text(&again.stdout)), (Some(4), "no such link 3 → implements 2\n"));
    let again = shell.run(&["unlink", "3", "implements", "2", "--json"]);
    assert_eq!((again.status.code(), document(&again)), (Some(4), json!({ "removed": false })));
}

/// T43, T44, T45.
#[test]
fn a_chain_is_a_tree_and_what_is_superseded_is_listed() {
    let shell = Shell::with_links();
    let tree = shell.says(&["chain", "1"], &["3 memories"]);
    let lines: Vec<_> = tree.lines().filter(|line| line.contains("decision")).map(str::trim_end).collect();
    let [start, near, far] = lines.as_slice() else { panic!("{tree}") };
    assert!(start.contains("We keep records in files"), "{tree}");
    assert!(near.starts_with(" └─ ← superseded by ") && near.contains(" 2 "), "{tree}");
    assert!(far.starts_with("    └─ ← implemented by ") && far.ends_with("Write the migration"), "{tree}");
    let chain = shell.json(&["chain", "3", "--direction", "forward", "--depth", "1"]);
    assert_eq!((&chain["total"], &chain["results"][1]["id"]), (&json!(2), &json!(2)));
    assert_eq!(chain["results"][1]["path"], json!([{ "id": 2, "linkType": "implements", "direction": "forward" }]));
    shell.says(&["chain", "1", "--limit", "2"], &["2 memories; more with --limit"]);
    let cut =
        shell.says(&["chain", "1", "--max-tokens", "1"], &["1 memory\nnote: 1 of 3 results fit into maxTokens 1"]);
    assert!(!cut.contains("--limit"), "that would not help: {cut}");
    let ids = shell.json(&["chain", "1", "--detail", "ids"]);
    assert_eq!((&ids["results"][2]["id"], ids["results"][2].get("content")), (&json!(3), None));
    shell.fails(&["chain", "99"], 4, &["Memory entry not found: 99"]);
    let missing = shell.run(&["chain", "99", "--json"]);
    assert_eq!((missing.status.code(), &document(&missing)["error"]), (Some(4), &json!("Memory entry not found: 99")));
    shell.fails(&["chain", "1", "--depth", "11"], 2, &["--depth: "]);

    shell.says(&["outdated"], &["superseded by", "We keep records in files"]);
    assert_eq!(shell.json(&["outdated"])["results"][0]["supersededBy"], json!([2]));
    assert_eq!(shell.json(&["outdated", "--detail", "ids"])["results"][0].get("content"), None);
    let found = shell.says(&["search", "records"], &["SQLite"]);
    assert!(!found.contains("in files"), "{found}");
    shell.says(&["search", "records", "--include-superseded"], &["SQLite", "in files"]);
    shell.says(&["outdated", "--project", "borealis"], &["nothing is outdated"]);
}

#[test]
fn the_turns_of_a_session_are_found_and_shown_together() {
    let shell = Shell::new();
    for (turn, text) in [("1", "Where is the amber key?"), ("2", "Under the third stone"), ("3", "Good to know")] {
        shell.says(&["add", text, "--session", "talk", "--turn", turn], &["saved as memory"]);
    }
    shell.says(&["add", "And the silver one?", "--session", "talk"], &["saved as memory 4"]);
    shell.says(&["get", "4"], &["talk", "turn 4"]);
    let found = shell.json(&["search", "amber key", "--explain", "--neighbours", "1"]);
    let hits = found["results"].as_array().unwrap();
    let answer = hits.iter().find(|hit| hit["id"] == 2).expect("the answer is found by its question");
    assert_eq!((&answer["session"], &answer["turn"]), (&"talk".into(), &2.into()));
    assert_eq!(answer["boostedBy"], serde_json::json!([1]));
    let around: Vec<_> = answer["neighbors"].as_array().unwrap().iter().map(|turn| &turn["id"]).collect();
    assert_eq!(around, [1, 3]);
    let silent = shell.json(&["search", "amber key"]);
    assert!(silent["results"].as_array().unwrap().iter().all(|hit| hit.get("boostedBy").is_none()), "{silent}");
    let shown = shell.says(&["search", "amber key", "--neighbours", "1", "--explain"], &["before", "after", "session"]);
    let line = |part: &str| shown.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {shown}"));
    assert!(line("Good to know").contains("after") && line("Good to know").contains('3'), "{shown}");
    shell.fails(&["search", "amber key", "--neighbours", "6"], 2, &["--neighbors: ", "0 to 5"]);
    shell.fails(&["add", "x", "--turn", "3"], 2, &["--session"]);
}

#[test]
fn a_search_shows_one_number_and_counts_what_it_leaves_out() {
    let shell = Shell::new();
    for text in ["The ferry leaves at nine from the old harbour", "The harbour is deep", "Harbour fees rise in May"] {
        shell.says(&["add", text], &["saved as memory"]);
    }
    let scores = ["score", "cosine", "bm25", "found by"];
    let shown = shell.says(&["search", "ferry at nine from the harbour"], &["relevance", "ferry leaves", "deep"]);
    assert!(scores.iter().all(|score| !shown.contains(score)) && !shown.contains("weaker"), "{shown}");
    shell.says(&["search", "ferry", "--explain"], &[&scores[..], &["relevance"]].concat());

    let strict = ["search", "ferry at nine from the harbour", "--min-relevance", "0.8"];
    let shown = shell.says(&strict, &["ferry leaves", "2 weaker ones: --min-relevance 0", "1 memory in"]);
    assert!(!shown.contains("deep"), "{shown}");
    let found = shell.json(&strict);
    assert_eq!((&found["weaker"], found["total"].as_i64()), (&json!(2), Some(1)), "{found}");
    shell.says(&["search", "quartz"], &["nothing found"]);
    assert_eq!(shell.json(&["search", "harbour"]).get("weaker"), None);
}

#[test]
fn the_newer_of_two_conflicting_statements_ranks_first() {
    for days in [["Tuesdays", "Thursdays"], ["Thursdays", "Tuesdays"]] {
        let shell = Shell::new();
        for day in days {
            shell.says(&["add", &format!("Deploys go out on {day}")], &["saved as memory"]);
        }
        let found = shell.json(&["search", "when do deploys go out"]);
        assert_eq!((&found["results"][0]["id"], &found["results"][1]["id"]), (&json!(2), &json!(1)), "{found}");
    }
}

/// T8.
#[test]
fn a_search_says_that_there_is_more_and_continues_there() {
    let shell = Shell::new();
    let engine = words_only().open(shell.folder.path()).unwrap();
    let memories: Vec<_> = (0..7).map(|number| NewRecord::new(format!("harbour {number}"))).collect();
    assert!(engine.add_batch(&memories).unwrap().into_iter().all(|added| added.is_ok()));
    engine.close();
    let said = |arguments: &[&str]| {
        let output = shell.run(&[&["search", "harbour", "--limit", "3"], arguments].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr).to_owned()
    };
    let mut cursor = None;
    let mut found = BTreeSet::new();
    for (number, shown) in [3, 3, 1].into_iter().enumerate() {
        let further = cursor.as_ref().map_or(Vec::new(), |cursor: &String| vec!["--cursor", cursor]);
        let page = shell.json(&[&["search", "harbour", "--limit", "3"], &further[..]].concat());
        let ids: Vec<_> = page["results"].as_array().unwrap().iter().map(|hit| hit["id"].as_i64().unwrap()).collect();
        assert_eq!(ids.len(), shown, "page {number}: {page}");
        found.extend(ids);
        let note = said(&further);
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        match &cursor {
            Some(next) => {
                assert!(note.contains("more results") && note.contains(&format!("--cursor {next}")), "{note}")
            }
            None => assert_eq!((number, note.as_str()), (2, "")),
        }
    }
    assert_eq!(found.len(), 7);
    assert_eq!((said(&["--json"]), said(&["--quiet"])), (String::new(), String::new()));
    shell.fails(&["search", "harbour", "--cursor", "3-50-x"], 2, &["cursor"]);
}

/// R17.
#[test]
fn a_memory_with_more_links_than_are_shown_says_so() {
    let shell = Shell::new();
    let engine = words_only().open(shell.folder.path()).unwrap();
    let ids: Vec<_> = (0..52).map(|number| engine.add(&NewRecord::new(format!("note {number}"))).unwrap().id).collect();
    let links: Vec<_> = ids[1..].iter().map(|&to| Link { from: ids[0], kind: LinkKind::Related, to }).collect();
    assert!(engine.viewed_by(&Viewer::OWNER).link_batch(&links).unwrap().into_iter().all(|made| made.is_ok()));
    engine.close();
    shell.says(&["get", "1"], &["more links: memorist chain 1 --depth 1"]);
    shell.says(&["unlink", "1", "related", "2"], &["removed"]);
    let shown = shell.says(&["get", "1"], &["→ related to"]);
    assert!(!shown.contains("more links"), "all 50 are shown: {shown}");
}

/// T46, T47.
#[test]
fn a_digest_is_a_page_about_a_project() {
    let shell = Shell::with_links();
    for (title, feature) in [("JWT", "login"), ("Wind", "sailing")] {
        let body = json!({ "title": title, "description": format!("{title} it is"), "feature": feature }).to_string();
        let memory = ["add", "--kind", "decision", "--importance", "high", "--project", "atlas", "--body", &body];
        shell.says(&memory, &["saved"]);
    }
    let page = shell
        .says(&["digest", "--project", "atlas"], &["# Digest: atlas\n\n5 memories", "## Key decisions", "**JWT**"]);
    assert!(page.contains("1 outdated") && page.contains("**Wind**"), "{page}");
    let page = shell.says(&["digest", "--project", "atlas", "--feature", "login"], &["**JWT** (#4, from ", "): it is"]);
    assert!(!page.contains("Wind"), "{page}");
    let digest = shell.json(&["digest", "--project", "atlas", "--max-tokens", "1"]);
    assert_eq!((&digest["project"], &digest["summary"]["totalMemories"]), (&json!("atlas"), &json!(5)));
    assert_eq!((&digest["keyDecisions"], digest["omitted"].as_i64() > Some(0)), (&json!([]), true));
    shell.fails(&["digest", "--max-tokens", "-1"], 2, &["--max-tokens: "]);
}

/// R11.
#[test]
fn a_memory_goes_back_to_an_earlier_version() {
    let shell = Shell::new();
    shell.says(&["add", "The deploy is on Friday"], &[]);
    shell.says(&["update", "1", "--content", "The deploy is on Monday", "--tag", "ops", "--reason", "moved"], &[]);
    let table = shell.says(&["history", "1"], &["version", "why"]);
    let rows: Vec<_> = table.lines().filter(|line| line.contains("The deploy")).collect();
    let [newest, first] = rows.as_slice() else { panic!("{table}") };
    assert!(newest.contains("text, tags") && newest.contains("moved") && newest.contains("Monday"), "{table}");
    assert!(!first.contains("moved") && first.contains("Friday"), "{table}");
    let versions = shell.json(&["history", "1", "--before", "2", "--limit", "5"]);
    assert_eq!((&versions["versions"][0]["version"], &versions["versions"][0]["reason"]), (&json!(1), &json!("moved")));

    shell.says(&["rollback", "1", "1", "--reason", "no, it stays"], &["restored version 1 of memory 1, as version 3"]);
    shell.says(&["get", "1"], &["The deploy is on Friday"]);
    let rolled = shell.json(&["rollback", "1", "2"]);
    assert_eq!((&rolled["updated"], &rolled["version"]), (&json!(true), &json!(4)));
    shell.fails(&["rollback", "1", "9"], 2, &["version"]);
    for missing in [&["history", "99"][..], &["rollback", "99", "1"]] {
        shell.fails(missing, 4, &["Memory entry not found: 99"]);
    }
}

#[test]
fn purge_erases_memories_and_requires_confirmation() {
    let shell = Shell::with_links();
    for arguments in [&["purge", "1"][..], &["purge", "--text", "SQLite"]] {
        shell.fails(arguments, 2, &["cannot be undone", "--yes"]);
    }
    assert_eq!(shell.json(&["stats"])["totalEntries"], 3, "nothing was purged");
    shell.fails(&["purge"], 2, &["--text"]);
    shell.fails(&["purge", "1", "--text", "x"], 2, &["--text"]);

    shell.says(&["purge", "1", "--yes"], &["purged: 1 memory", "memorist.toml"]);
    shell.fails(&["get", "1"], 4, &["1"]);
    let again = shell.run(&["purge", "1", "--yes", "--json"]);
    assert_eq!((again.status.code(), &document(&again)["records"]), (Some(4), &json!(0)));

    let mut command = memorist(shell.folder.path(), &["purge", "--text", "-", "--yes", "--json"]);
    let mut purging = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    purging.stdin.take().unwrap().write_all(b"SQLite\n").unwrap();
    let output = purging.wait_with_output().unwrap();
    let purged = document(&output);
    assert!(output.status.success(), "{purged}");
    let config: PathBuf = shell.folder.path().join("memorist.toml");
    assert_eq!(
        purged,
        json!({ "records": 1, "versions": 0, "queries": 0, "complete": true, "remainingFiles": [config] })
    );
    assert_eq!(shell.json(&["purge", "--text", "SQLite", "--yes"])["records"], 0, "nothing has it any more: as wanted");
    assert_eq!(shell.json(&["stats"])["totalEntries"], 1);
}

/// 43.8: other names of commands, dates, what was there, and what a project or an agent hides.
#[test]
fn commands_say_what_was_there_and_what_is_hidden() {
    let shell = Shell::with_links();
    shell.says(&["add", "Mend the lamp", "--kind", "task", "--due", "2027-03-01", "--agent", "ana"], &["saved as"]);
    let shown = shell.says(&["show", "4", "--agent", "ana"], &["due          2027-03-01"]);
    assert!(!shown.contains("18034") && !shown.contains("18035"), "milliseconds: {shown}");
    shell.says(&["ls", "--project", "atlas"], &["(superseded by 2) We keep records in files"]);
    shell.says(
        &["edit", "3", "--content", "Write it twice", "--project", "atlas"],
        &["version 2; it was: Write the migration"],
    );
    let noted = |arguments: &[&str]| text(&shell.run(arguments).stderr).to_owned();
    for command in [&["ls"][..], &["search", "records"]] {
        let with = |more: &[&'static str]| noted(&[command, more].concat());
        let said = with(&["--project", "atlsa"]);
        assert!(said.contains("no memory belongs to a project \"atlsa\": did you mean \"atlas\"?"), "{said}");
        assert!(with(&["--project", "zebra"]).contains("`memorist stats` names the projects"));
        assert!(!with(&["--project", "atlas"]).contains("no memory belongs"));
    }
    let said = noted(&["search", "lamp", "--agent", "ben"]);
    assert!(said.contains("only memories of agent \"ben\" and those without an agent"), "{said}");
    shell.says(&["forget", "4", "--agent", "ana"], &["deleted memory 4", "`memorist undo 4`"]);
    shell.fails(&["get", "4", "--agent", "ana"], 4, &["Memory entry not found: 4"]);
}

/// 43.12
#[test]
fn discover_names_what_it_has_looked_for() {
    let shell = Shell::new();
    let mut command = memorist(shell.folder.path(), &["source", "discover"]);
    let output = command.env("HOME", shell.folder.path()).current_dir(shell.folder.path()).output().unwrap();
    let shown = text(&output.stdout);
    assert!(shown.contains("claude-code, codex") && shown.contains("Obsidian") && !shown.contains("--add"), "{shown}");
}

/// Z9: the commands of the guide show why a search does not find what was saved.
#[test]
fn the_guide_finds_what_a_search_leaves_out() {
    let shell = Shell::with_links();
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/runbook.md")).unwrap();
    let (_, guide) = guide.split_once("## A memory was saved but is not found").unwrap();
    let asked = |arguments: &[&str], parts: &[&str]| {
        let written = ["memorist", arguments[0]].join(" ");
        assert!(guide.contains(&written) && arguments.iter().skip(2).all(|part| guide.contains(part)), "{arguments:?}");
        shell.says(arguments, parts)
    };
    let search = |more: &[&str]| shell.says(&[&["search", "records in files"], more].concat(), &[]);
    assert!(!search(&["--project", "borealis"]).contains("in files"));
    assert!(!search(&["--project", "atlas"]).contains("in files"));
    asked(&["outdated"], &["We keep records in files"]);
    asked(&["search", "files", "--include-superseded"], &["We keep records in files"]);
    asked(&["search", "migration", "--project", "*", "--agent", "*"], &["Write the migration"]);
    asked(&["get", "3", "--project", "*", "--agent", "*"], &["Write the migration"]);
    asked(&["stats"], &["pending embeddings   3"]);
    shell.says(&["delete", "3"], &[]);
    asked(&["list", "--state", "deleted"], &["Write the migration"]);
    asked(&["undo", "3"], &[]);
    asked(&["search", "migration"], &["Write the migration"]);
}
