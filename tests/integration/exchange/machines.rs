//! One memory on two machines, carried by exports in both directions: no edit is lost, and both end with the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

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

/// Two machines, and a file that is carried between them.
struct Machines {
    folder: TempDir,
    laptop: PathBuf,
    desktop: PathBuf,
}

impl Machines {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [laptop, desktop] = ["laptop", "desktop"].map(|name| folder.path().join(name));
        Machines { folder, laptop, desktop }
    }

    fn file(&self) -> String {
        self.folder.path().join("memories.jsonl").to_str().unwrap().to_owned()
    }

    fn export(&self, from: &Path) {
        let output = memorist(from, &["export", &self.file()]).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }

    fn carry(&self, from: &Path, to: &Path) -> Value {
        self.export(from);
        run(to, &["import", &self.file()])
    }
}

/// 46: a deleted memory stays deleted, unless somebody changed it later, or asks for it.
#[test]
fn a_deleted_memory_stays_deleted() {
    let machines = Machines::new();
    let Machines { laptop, desktop, .. } = &machines;
    run(laptop, &["add", "The proxy listens on 8080"]);
    run(laptop, &["add", "The cache is on the second disk"]);
    machines.carry(laptop, desktop);
    machines.export(desktop);
    run(laptop, &["delete", "1"]);
    let output = memorist(laptop, &["import", &machines.file()]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("1 skipped (deleted here); --restore-deleted restores them"), "{said}");

    let back = run(laptop, &["import", &machines.file(), "--restore-deleted"]);
    assert_eq!((&back["replaced"], &back["deleted"]), (&json!(1), &json!(0)), "{back}");
    assert_eq!(texts(laptop).last().unwrap(), "The proxy listens on 8080");
    assert_eq!(run(laptop, &["import", &machines.file()])["deleted"], 0, "it lives on");

    run(laptop, &["delete", "1"]);
    run(desktop, &["update", "1", "--content", "The proxy listens on 9090"]);
    assert_eq!(machines.carry(desktop, laptop)["united"], 1, "it was changed after it was deleted");
    assert_eq!(texts(laptop).last().unwrap(), "The proxy listens on 9090");
    run(laptop, &["purge", "2", "--yes"]);
    assert_eq!(run(laptop, &["import", &machines.file()])["deleted"], 1, "also what was purged");
    run(laptop, &["doctor"]);
}

/// 46: the same text, saved on both, is one memory on both. Links lead to it by either of its ids.
#[test]
fn a_text_that_was_saved_twice_is_one_memory() {
    let machines = Machines::new();
    let Machines { laptop, desktop, .. } = &machines;
    run(laptop, &["add", "Tests run with nextest"]);
    run(desktop, &["add", "Unit tests are fast"]);
    run(desktop, &["add", "Tests run with nextest"]);
    run(desktop, &["link", "1", "related", "2"]);
    machines.carry(laptop, desktop);
    machines.carry(desktop, laptop);
    let ulids = |store: &Path| {
        machines.export(store);
        let lines = fs::read_to_string(machines.file()).unwrap();
        let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let records = records.filter(|line| line["type"] == "record");
        records.map(|line| (line["content"].to_string(), line["ulid"].to_string())).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(ulids(laptop), ulids(desktop));
    assert_eq!(ulids(laptop).len(), 2);
    assert_eq!(machines.carry(desktop, laptop)["links"], 0, "the link came with the first import");
    assert_eq!(machines.carry(laptop, desktop)["unchanged"], 2);
    run(laptop, &["doctor"]);
    run(desktop, &["doctor"]);
}

/// 46: each machine says that its own memory is the newer one. The older link goes, and both end alike.
#[test]
fn a_circle_of_superseding_memories_is_broken() {
    let machines = Machines::new();
    let Machines { laptop, desktop, .. } = &machines;
    run(laptop, &["add", "Deploys go out on Tuesdays"]);
    run(laptop, &["add", "Deploys go out on Fridays"]);
    machines.carry(laptop, desktop);
    run(laptop, &["link", "1", "supersedes", "2"]);
    run(desktop, &["link", "2", "supersedes", "1"]);
    let there = machines.carry(laptop, desktop);
    assert_eq!((&there["circles"], &there["refused"]), (&json!(1), &json!(0)), "{there}");
    assert_eq!(machines.carry(desktop, laptop)["circles"], 1);
    for store in [laptop, desktop] {
        let current = memorist(store, &["search", "deploys"]).output().unwrap();
        let current = text(&current.stdout);
        assert!(current.contains("Fridays") && !current.contains("Tuesdays"), "{current}");
    }
    assert_eq!(machines.carry(laptop, desktop)["circles"], 0);
}

#[test]
fn edits_on_two_machines_both_stay() {
    let machines = Machines::new();
    let (laptop, desktop) = (machines.laptop.clone(), machines.desktop.clone());
    let carry = |from: &Path, to: &Path| machines.carry(from, to);
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
    let back = carry(&desktop, &laptop);
    assert_eq!(
        (&back["united"], &back["changedInBoth"][0]["version"]),
        (&json!(1), &json!(2)),
        "its own edit is not the newest"
    );
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
