//! A read-only store: it can be searched, listed and counted, nothing in its folder changes, and writes are refused
//! with a reason.
//!
//! Nothing is forbidden to root, so if these tests run as root, the commands run as `nobody`.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{ErrorKind, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, SystemTime};

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Filter, NewRecord, RecordUpdate, Scope, Viewer};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Store, document, memorist, text, words_only};

const NOBODY: u32 = 65534;

/// A store that other users may read and not write, and a command that they can run.
struct ReadOnly {
    folder: TempDir,
    is_superuser: bool,
}

impl ReadOnly {
    fn of(store: Store) -> Self {
        let Store { engine, folder } = store;
        engine.close();
        let is_superuser = fs::metadata(folder.path()).unwrap().uid() == 0;
        let read_only = ReadOnly { folder, is_superuser };
        let command = read_only.binary();
        fs::copy(env!("CARGO_BIN_EXE_memorist"), &command).unwrap();
        drop(memorist(read_only.folder.path(), &[])); // makes the settings
        read_only.forbid();
        fs::set_permissions(&command, Permissions::from_mode(0o555)).unwrap();
        read_only
    }

    fn binary(&self) -> PathBuf {
        self.folder.path().join("command")
    }

    fn forbid(&self) {
        set_modes(self.folder.path(), 0o555, 0o444);
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.fed(arguments, "")
    }

    /// Runs a command with this on stdin.
    fn fed(&self, arguments: &[&str], input: &str) -> Output {
        let mut stdin = tempfile::tempfile().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        let ours = memorist(self.folder.path(), arguments);
        let mut command = Command::new(self.binary());
        command.args(ours.get_args()).env_clear().env("HOME", "/nonexistent").arg("--cache").arg("/nonexistent/cache");
        command.current_dir(self.folder.path()); // of no project
        if self.is_superuser {
            command.uid(NOBODY).gid(NOBODY);
        }
        loop {
            stdin.rewind().unwrap();
            command.stdin(stdin.try_clone().unwrap());
            match command.output() {
                // Another test forked while the copy was open for writing.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::sleep(Duration::from_millis(10)),
                output => return output.unwrap(),
            }
        }
    }

    fn says(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        document(&output)
    }

    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(!output.status.success(), "{arguments:?}: {}", text(&output.stdout));
        text(&output.stderr).to_owned()
    }

    /// The files, with their lengths and times.
    fn files(&self) -> BTreeMap<PathBuf, (u64, SystemTime)> {
        let mut files = BTreeMap::new();
        walk(self.folder.path(), &mut |path, found| {
            files.insert(path.to_owned(), (found.len(), found.modified().unwrap()));
        });
        files
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        // So that it can be removed.
        set_modes(self.folder.path(), 0o755, 0o644);
    }
}

fn walk(folder: &Path, visit: &mut impl FnMut(&Path, &fs::Metadata)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let found = path.metadata().unwrap();
        if found.is_dir() {
            walk(&path, visit);
        }
        visit(&path, &found);
    }
}

fn set_modes(folder: &Path, folders: u32, files: u32) {
    fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    walk(folder, &mut |path, found| {
        let mode = if found.is_dir() { folders } else { files };
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    });
    fs::set_permissions(folder, Permissions::from_mode(folders)).unwrap();
}

fn filled() -> Store {
    let store = Store::new(words_only());
    for at in 0..30 {
        let scope = Scope { agent: None, project: Some("atlas".into()) };
        let new = NewRecord { scope, ..NewRecord::new(format!("The harbour office {at} opens at nine")) };
        store.engine.add(&new).unwrap();
    }
    store.engine.flush(&NoProgress).unwrap();
    store
}

fn found(result: &Value) -> usize {
    result["results"].as_array().expect("results").len()
}

#[test]
fn a_read_only_store_is_searched_and_nothing_in_it_changes() {
    let store = ReadOnly::of(filled());
    let before = store.files();
    let all = ["search", "harbour office"];
    assert_eq!(found(&store.says(&all)), 10);
    assert_eq!(store.says(&["get", "7"])["entry"]["accessCount"], 0);
    assert_eq!(store.says(&["stats"])["totalEntries"], 30);
    for command in [&["list"][..], &["digest"], &["export", "-"], &["doctor"]] {
        let output = store.run(command);
        assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    }
    for command in [&["add", "more"][..], &["update", "7", "--importance", "9"], &["delete", "7"], &["rebuild"]] {
        let said = store.refusal(command);
        assert!(said.contains("can only be read") && said.contains("writable"), "{command:?}: {said}");
    }
    assert_eq!(store.files(), before);
}

#[test]
fn a_read_only_store_without_indexes_searches_its_records() {
    let filled = filled();
    let keywords = filled.folder.path().join("keywords");
    let store = ReadOnly::of(filled);
    set_modes(store.folder.path(), 0o755, 0o644);
    fs::remove_dir_all(keywords).unwrap();
    store.forbid();
    fs::set_permissions(store.binary(), Permissions::from_mode(0o555)).unwrap();
    let result = store.says(&["search", "harbour office"]);
    assert_eq!((found(&result), &result["tier"]), (10, &Value::from("keyword")));
}

/// Later writes of the owner are found, whether still in the log or in the database.
#[test]
fn read_only_users_find_later_writes_of_the_owner() {
    let store = ReadOnly::of(filled());
    if !store.is_superuser {
        eprintln!(
            "NOT TESTED: who owns a store can write to it, and nobody else can be had without being the superuser"
        );
        return;
    }
    let said = ["search", "lighthouse"];
    assert_eq!(found(&store.says(&said)), 0);
    let engine = words_only().open(store.folder.path()).unwrap();
    let id = engine.add(&NewRecord::new("The lighthouse keeper has a dog")).unwrap().id;
    assert_eq!(found(&store.says(&said)), 1, "in the log");
    let update = RecordUpdate { importance: Some(9), ..RecordUpdate::default() };
    engine.viewed_by(&Viewer::OWNER).update(id, &update).unwrap();
    assert_eq!(engine.stats(&Filter::default()).unwrap().total, 31);
    // Its index files are private to the owner.
    engine.flush(&NoProgress).unwrap();
    engine.close();
    assert_eq!(found(&store.says(&said)), 1, "in the database");
    assert_eq!(store.says(&["stats"])["totalEntries"], 31);
}

/// Nothing is noted there, so it would come at each action.
#[test]
fn an_action_gets_nothing_from_a_process_that_cannot_note_it() {
    let store = filled();
    let decision = NewRecord { kind: memorist_engine::types::Kind::Decision, ..NewRecord::new("deploy.tf is frozen") };
    store.engine.add(&decision).unwrap();
    store.engine.flush(&NoProgress).unwrap();
    let input = |file: &str| {
        json!({ "session_id": "S", "cwd": "/", "tool_name": "Edit", "tool_input": { "file_path": file } }).to_string()
    };
    let store = ReadOnly::of(store);
    for _ in 0..3 {
        let output = store.fed(&["hook", "claude-code", "before"], &input("/p/deploy.tf"));
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    }
    set_modes(store.folder.path(), 0o777, 0o666);
    fs::set_permissions(store.binary(), Permissions::from_mode(0o555)).unwrap();
    // On a busy machine, one that takes too long gets nothing.
    let mut outputs = (0..20).map(|_| store.fed(&["hook", "claude-code", "before"], &input("/p/deploy.tf")));
    assert!(outputs.any(|output| text(&output.stdout).contains("deploy.tf is frozen")));
}
