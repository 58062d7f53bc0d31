//! 39.9: a store whose `memory.db` is missing or empty, beside indexes that show that there were memories, is no new one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::{document, memorist, text};

/// How the database is lost.
type Loss = (&'static str, fn(&Path));

const LOSSES: [Loss; 2] = [
    ("missing", |database| fs::remove_file(database).unwrap()),
    ("empty", |database| fs::write(database, "").unwrap()),
];

fn run(store: &Path, arguments: &[&str]) -> Output {
    memorist(store, arguments).output().unwrap()
}

/// A store with an index, and a backup of it.
fn store(folder: &Path) {
    let store = folder.join("store");
    for arguments in [
        &["add", "The harbour office opens at nine"][..],
        &["rebuild"],
        &["backup", folder.join("copy.db").to_str().unwrap()],
    ] {
        let output = run(&store, arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

/// Every file below the store, but for the settings that the tests put there.
fn files(folder: &Path) -> BTreeMap<String, u64> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: std::path::PathBuf| match path.is_dir() {
        true => files(&path),
        false => BTreeMap::from([(path.display().to_string(), path.metadata().unwrap().len())]),
    };
    entries.flat_map(of).collect()
}

#[test]
fn every_command_refuses_a_store_that_lost_its_database() {
    for (how, lose) in LOSSES {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path());
        let store = folder.path().join("store");
        lose(&store.join("memory.db"));
        let before = files(&store);
        let commands = [
            &["stats"][..],
            &["list"],
            &["search", "harbour"],
            &["add", "another"],
            &["export"],
            &["serve"],
            &["rebuild"],
            &["doctor"],
            &["doctor", "--repair"],
        ];
        for arguments in commands {
            let output = run(&store, arguments);
            let said = [text(&output.stdout), text(&output.stderr)].concat();
            assert_eq!(output.status.code(), Some(3), "{how}, {arguments:?}: {said}");
            for part in
                ["is missing or empty", "keywords", "in no index", "`memorist restore FILE`", "move its folder away"]
            {
                assert!(said.contains(part), "{how}, {arguments:?}: no {part:?} in {said}");
            }
            assert_eq!(files(&store), before, "{how}, {arguments:?}");
        }
        let doctor = document(&run(&store, &["doctor", "--json"]));
        assert_eq!((&doctor["ok"], &doctor["checks"][0]["ok"]), (&false.into(), &false.into()), "{doctor}");
        assert_eq!(doctor["checks"][0]["name"], "database");
    }
}

#[test]
fn both_ways_out_of_a_lost_database_lead_out() {
    for (how, lose) in LOSSES {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path());
        let (store, backup) = (folder.path().join("store"), folder.path().join("copy.db"));
        lose(&store.join("memory.db"));
        fs::write(folder.path().join("wrong.db"), "no backup").unwrap();
        let before = files(&store);
        let refused = run(&store, &["restore", folder.path().join("wrong.db").to_str().unwrap()]);
        assert_eq!(refused.status.code(), Some(3), "{how}");
        assert_eq!(files(&store), before, "{how}: a restore that fails changes nothing");
        let restored = run(&store, &["restore", backup.to_str().unwrap()]);
        assert!(restored.status.success(), "{how}: {}", text(&restored.stderr));
        assert_eq!(document(&run(&store, &["stats", "--json"]))["totalEntries"], 1, "{how}");
        assert_eq!(document(&run(&store, &["doctor", "--json"]))["checks"][0]["ok"], true, "{how}");

        lose(&store.join("memory.db"));
        fs::rename(&store, folder.path().join("moved away")).unwrap();
        assert!(run(&store, &["add", "A new beginning"]).status.success(), "{how}");
        assert_eq!(document(&run(&store, &["stats", "--json"]))["totalEntries"], 1, "{how}");
    }
}
