//! One memory on two machines, carried by exports in both directions: no edit is lost, and both end with the same.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{document, memorist, text};

/// The answer of a command, as JSON.
fn run(store: &Path, arguments: &[&str]) -> Value {
    let output = memorist(store, &[arguments, &["--json"]].concat()).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    document(&output)
}

/// The texts of a memory's versions, oldest first.
fn texts(store: &Path) -> Vec<String> {
    let history = run(store, &["history", "1"]);
    let versions = history["versions"].as_array().unwrap().iter().rev();
    versions.map(|version| version["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn edits_on_two_machines_both_stay() {
    let folder = tempfile::tempdir().unwrap();
    let [laptop, desktop] = ["laptop", "desktop"].map(|name| folder.path().join(name));
    let file = folder.path().join("memories.jsonl");
    let carry = |from: &Path, to: &Path| {
        let output = memorist(from, &["export", file.to_str().unwrap()]).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        run(to, &["import", file.to_str().unwrap()])
    };
    run(&laptop, &["add", "Deploys go out on Tuesdays"]);
    assert_eq!(carry(&laptop, &desktop)["created"], 1);
    run(&laptop, &["update", "1", "--content", "Deploys go out on Wednesdays"]);
    run(&desktop, &["update", "1", "--content", "Deploys go out on Mondays"]);
    run(&desktop, &["update", "1", "--content", "Deploys go out on Fridays"]);

    let there = carry(&laptop, &desktop);
    assert_eq!(
        (&there["united"], &there["replaced"], &there["unchanged"]),
        (&json!(1), &json!(0), &json!(0)),
        "{there}"
    );
    let number = there["changedInBoth"][0]["version"].as_i64().unwrap();
    let wanted = ["Tuesdays", "Wednesdays", "Mondays", "Fridays"].map(|day| format!("Deploys go out on {day}"));
    assert_eq!(texts(&desktop), wanted);
    assert_eq!(number, 2, "the edit of the laptop");
    assert_eq!(carry(&desktop, &laptop)["replaced"], 1, "the laptop lacks versions, and has no other ones");
    assert_eq!(texts(&laptop), wanted);
    for (from, to) in [(&laptop, &desktop), (&desktop, &laptop)] {
        let again = carry(from, to);
        assert_eq!((&again["unchanged"], &again["united"]), (&json!(1), &json!(0)), "{again}");
    }
    let shown = memorist(&desktop, &["get", "1"]).output().unwrap();
    assert!(text(&shown.stdout).contains("on Fridays"), "{}", text(&shown.stdout));
    run(&desktop, &["rollback", "1", "2"]);
    assert_eq!(carry(&desktop, &laptop)["replaced"], 1);
    assert_eq!(texts(&laptop).last(), Some(&wanted[1]), "the other text, taken back, goes the same way");
    run(&laptop, &["doctor"]);
}
