//! Item 10: a command that needs a store does not create one. It says that the store is missing, and how to create it.

use std::fs;
use std::process::Command;

use crate::support::{document, memorist, text};

/// Commands that read or change what is there, with what they need.
const READING: &[&[&str]] = &[
    &["stats"],
    &["search", "anything"],
    &["list"],
    &["get", "1"],
    &["export"],
    &["export", "all.jsonl"],
    &["backup", "copy.db"],
    &["history", "1"],
    &["chain", "1"],
    &["outdated"],
    &["digest"],
    &["recall", "anything"],
    &["search-log"],
    &["source", "list"],
    &["bench"],
    &["doctor"],
    &["doctor", "--repair"],
    &["explore", "--no-open", "--read-only"],
    &["delete", "1"],
    &["undo", "1"],
    &["rebuild"],
];

#[test]
fn item_10_commands_that_read_make_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("memorist.toml");
    fs::write(&config, "model = \"none\"\n").unwrap();
    let names = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    for arguments in READING {
        for json in [false, true] {
            let mut command = memorist(folder.path(), arguments);
            if json {
                command.arg("--json");
            }
            let output = command.env("HOME", folder.path()).output().unwrap();
            let said = [text(&output.stdout), text(&output.stderr)].concat();
            assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
            assert!(said.contains("no store in ") && said.contains("memorist add"), "{arguments:?}: {said}");
            assert_eq!(names(), ["memorist.toml"], "{arguments:?} made something");
        }
    }
}

/// Item 10.
#[test]
fn a_missing_store_stays_missing_and_a_file_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let run = |store: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memorist"));
        command.args(arguments).args(["--store", store]).current_dir(folder.path());
        command.env("HOME", folder.path()).env_remove("XDG_CONFIG_HOME").output().unwrap()
    };
    // Where nobody has named one, nothing is wrong.
    let doctor = Command::new(env!("CARGO_BIN_EXE_memorist"))
        .args(["doctor", "--json"])
        .env("HOME", folder.path())
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(doctor.status.success(), "{}", text(&doctor.stderr));
    assert!(document(&doctor)["checks"][0]["details"][0].as_str().unwrap().starts_with("no store in "));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let output = run("README.md", &["stats", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(!folder.path().join("README.md").exists());
    fs::write(folder.path().join("README.md"), "# Read me\n").unwrap();
    let output = run("README.md", &["stats"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(folder.path().join("README.md")).unwrap(), "# Read me\n");
}

/// The first save makes the store as before, and then the memory is read.
#[test]
fn item_10_the_first_save_makes_the_store() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(memorist(folder.path(), &["list"]).output().unwrap().status.code(), Some(3));
    let saved = memorist(folder.path(), &["add", "The harbour office opens at nine"]).output().unwrap();
    assert!(saved.status.success(), "{}", text(&saved.stderr));
    let output = memorist(folder.path(), &["stats", "--json"]).output().unwrap();
    assert_eq!(document(&output)["totalEntries"], 1);
}
