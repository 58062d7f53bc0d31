//! `memorist tidy`, as a user runs it: killed in between, and over thousands of memories.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{document, memorist, text};

fn run(store: &Path, arguments: &[&str]) -> String {
    let output = memorist(store, arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

fn add(store: &Path, lines: &[Value]) {
    let file = store.with_extension("jsonl");
    fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    run(store, &["import", "--no-embed", file.to_str().unwrap()]);
}

/// The proposals that are certain.
fn certain(store: &Path) -> Vec<Value> {
    let plan = document(&memorist(store, &["tidy", "--json", "-n", "1"]).output().unwrap());
    let mut proposals = plan["proposals"].as_array().unwrap().clone();
    proposals.retain(|one| one["apply"] == true);
    proposals
}

/// Texts and links, without versions and times.
fn state(store: &Path) -> BTreeSet<String> {
    let exported = run(store, &["export", "-"]);
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        for field in ["version", "versions", "updatedAt", "createdAt", "accesses", "accessCount", "lastAccessedAt"] {
            line.as_object_mut().unwrap().remove(field);
        }
        line.to_string()
    };
    exported.lines().map(line).collect()
}

#[test]
fn a_killed_run_is_undone_as_far_as_it_came() {
    for step in ["tidy noted", "tidy applied"] {
        let above = tempfile::tempdir().unwrap();
        let store = above.path().join("store");
        let subjects = ["ferry", "harbour", "crane", "lighthouse"];
        let texts =
            subjects.iter().flat_map(|one| [format!("The {one} opens at nine"), format!("the {one} opens at nine.")]);
        add(&store, &texts.map(|content| json!({ "content": content })).collect::<Vec<_>>());
        let before = state(&store);
        assert_eq!(certain(&store).len(), 4);
        let mut killed = memorist(&store, &["tidy", "--apply", "--yes"]);
        let output = killed.env("MEMORIST_CRASH_AT", format!("{step}:3")).stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success(), "{step}: it was not killed");
        let left = if step == "tidy noted" { 2 } else { 1 };
        assert_eq!(certain(&store).len(), left, "{step}");
        assert_ne!(state(&store), before, "{step}");
        run(&store, &["tidy", "--undo"]);
        assert_eq!(state(&store), before, "{step}");
        assert_eq!(certain(&store).len(), 4, "{step}");
    }
}

/// Copies are found among thousands of memories, and nothing else is certain.
#[test]
fn planted_copies_are_certain_and_nothing_else_is() {
    const MEMORIES: usize = 5_000;
    const PLANTED: usize = 100;
    let above = tempfile::tempdir().unwrap();
    let store = above.path().join("store");
    let mut lines: Vec<Value> =
        bench_data::memories(11, MEMORIES).map(|record| serde_json::to_value(record).unwrap()).collect();
    // Neither expired, nor said or read somewhere.
    let is_kept = |line: &Value| {
        line["expiresAt"].is_null() && !["chunk", "turn", "conversation"].map(Value::from).contains(&line["entryType"])
    };
    lines.retain(is_kept);
    let mut copies = BTreeSet::new();
    let mut originals = lines.clone().into_iter();
    while copies.len() < PLANTED {
        let mut line = originals.next().expect("enough of them end with a word");
        let original = line["content"].as_str().unwrap().to_owned();
        let copy = match original.strip_suffix('.') {
            Some(sentence) if sentence.ends_with(char::is_alphabetic) => sentence.to_owned(),
            None if original.ends_with(char::is_alphabetic) => format!("{original}."),
            _ => continue,
        };
        // Near it, and not the same.
        let others = [format!("{copy} 7"), format!("{copy}! Not any more"), format!("\"{copy}\""), copy.to_uppercase()];
        for content in [&copy, &others[copies.len() % 4]] {
            line["content"] = content.as_str().into();
            lines.push(line.clone());
        }
        copies.insert(copy);
    }
    add(&store, &lines);
    let proposals = certain(&store);
    let mut found = 0;
    for proposal in &proposals {
        let texts: Vec<&str> =
            proposal["memories"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect();
        let without_stop = |text: &str| text.strip_suffix('.').unwrap_or(text).to_owned();
        assert!(texts.iter().all(|text| without_stop(text) == without_stop(texts[0])), "{texts:?}");
        found += texts.iter().filter(|text| copies.remove(**text)).count();
    }
    eprintln!("{found} of {PLANTED} planted copies are certain, in {} groups", proposals.len());
    assert!(found == PLANTED, "{found} of {PLANTED}, without {copies:?}");
    let applied = run(&store, &["tidy", "--apply", "--yes"]);
    assert!(applied.starts_with(&format!("applied: {} proposals", proposals.len())), "{applied}");
    assert_eq!(certain(&store).len(), 0);
}
