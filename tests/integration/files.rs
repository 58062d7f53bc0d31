//! Files that users name: other files beside them stay, and only plain files are accepted.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{document, memorist, text, words_only};

/// Timeout that shows that the program waits for a pipe without a writer.
const TIMEOUT: Duration = Duration::from_secs(60);

fn ended(mut command: Command) -> Output {
    let mut child: Child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > TIMEOUT {
            child.kill().unwrap();
            panic!("{command:?} waits for ever");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn filled(store: &Path, memories: usize) {
    let engine = words_only().open(store).unwrap();
    let texts = (0..memories).map(|number| format!("memory {number} {}", "long ".repeat(200)));
    let news: Vec<_> = texts.map(memorist_engine::types::NewRecord::new).collect();
    for some in news.chunks(500) {
        engine.add_batch(some).unwrap();
    }
    engine.close();
}

#[test]
fn a_backup_or_an_export_removes_nothing_beside_its_target() {
    let folder = tempfile::tempdir().unwrap();
    let (store, out) = (folder.path().join("store"), folder.path().join("out"));
    fs::create_dir(&out).unwrap();
    filled(&store, 10);
    // Every name that an earlier version wrote to, as a file and as a full folder.
    for name in ["a", "b", "e"] {
        for ending in ["part", "tmp", "new"] {
            let beside = out.join(format!("{name}.{ending}"));
            if name == "b" {
                fs::create_dir(&beside).unwrap();
                fs::write(beside.join("precious"), "precious").unwrap();
            } else {
                fs::write(&beside, "precious").unwrap();
            }
        }
    }
    let before = names(&out);
    let nowhere = ended(memorist(&store, &["export", "/no/such/folder/e"]));
    assert!(!text(&nowhere.stderr).contains(".memorist-"), "a name that says nothing: {}", text(&nowhere.stderr));
    for (command, name) in [("backup", "a"), ("backup", "b"), ("export", "e")] {
        let output = ended(memorist(&store, &[command, out.join(name).to_str().unwrap()]));
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let targets = ["a", "b", "e"].map(str::to_owned);
    assert_eq!(names(&out), before.union(&targets.into()).cloned().collect());
    for ending in ["part", "tmp", "new"] {
        assert_eq!(fs::read_to_string(out.join(format!("a.{ending}"))).unwrap(), "precious");
        assert_eq!(fs::read_to_string(out.join(format!("b.{ending}")).join("precious")).unwrap(), "precious");
    }
}

#[test]
fn a_restore_removes_nothing_beside_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let (store, again, backup) =
        (folder.path().join("store"), folder.path().join("again"), folder.path().join("backup"));
    filled(&store, 3);
    assert!(ended(memorist(&store, &["backup", backup.to_str().unwrap()])).status.success());
    fs::create_dir_all(again.join("memory.db.part")).unwrap();
    fs::write(again.join("memory.db.part").join("precious"), "precious").unwrap();
    let output = ended(memorist(&again, &["restore", backup.to_str().unwrap()]));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(again.join("memory.db.part").join("precious")).unwrap(), "precious");
}

/// An unusable index is deleted and rebuilt: but not a folder that only has its name.
#[test]
fn a_folder_that_is_not_ours_is_not_taken_for_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let (store, backup) = (folder.path().join("store"), folder.path().join("backup"));
    filled(&store, 3);
    assert!(ended(memorist(&store, &["backup", backup.to_str().unwrap()])).status.success());
    for name in ["vectors", "keywords", "vectors.old", "keywords.rebuild"] {
        for command in [&["restore", backup.to_str().unwrap()][..], &["add", "text"]] {
            let other = folder.path().join("other");
            fs::create_dir_all(other.join(name)).unwrap();
            fs::write(other.join(name).join("precious"), "precious").unwrap();
            let output = ended(memorist(&other, command));
            let said = text(&output.stderr);
            assert_eq!(
                fs::read_to_string(other.join(name).join("precious")).unwrap(),
                "precious",
                "{command:?} {name}"
            );
            assert!(
                output.status.code() == Some(3) && said.contains("does not belong to memorist"),
                "{command:?} {name}: {said}"
            );
            fs::remove_dir_all(&other).unwrap();
        }
    }
}

#[test]
fn backups_to_one_target_at_once_leave_a_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    let (store, target) = (folder.path().join("store"), folder.path().join("out").join("backup"));
    fs::create_dir(target.parent().unwrap()).unwrap();
    filled(&store, 2_000);
    for round in 0..2 {
        let children: Vec<_> = (0..3)
            .map(|_| {
                let mut command = memorist(&store, &["backup", target.to_str().unwrap()]);
                command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        assert_eq!(names(target.parent().unwrap()), ["backup".to_owned()].into(), "nothing is left");
        let again = folder.path().join(format!("again-{round}"));
        let output = ended(memorist(&again, &["restore", target.to_str().unwrap(), "--json"]));
        assert_eq!(document(&output)["totalEntries"], 2_000, "{}", text(&output.stderr));
    }
}

#[cfg(unix)]
#[test]
fn only_plain_files_are_imported_or_restored() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let store = at("store");
    filled(&store, 1);
    fs::write(at("secret"), "{\"content\": \"of somebody else\"}\n").unwrap();
    std::os::unix::fs::symlink(at("secret"), at("link")).unwrap();
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    for (path, what) in
        [(at("link"), "a link"), (at("pipe"), "a pipe"), ("/dev/zero".into(), "a device"), (at(""), "a folder")]
    {
        let path = path.to_str().unwrap();
        for command in [memorist(&store, &["import", path]), memorist(&at("again"), &["restore", path])] {
            let output = ended(command);
            let said = text(&output.stderr);
            assert!(output.status.code() == Some(6) && said.contains(what), "{path}: {said}");
        }
    }
    let output = ended(memorist(&store, &["stats", "--json"]));
    assert_eq!(document(&output)["totalEntries"], 1);
    assert!(!at("again").join("memory.db").exists());
}

/// The result of the tool `name`, from a server over stdio.
#[cfg(unix)]
fn call(store: &Path, name: &str, arguments: serde_json::Value) -> serde_json::Value {
    use serde_json::json;
    use std::io::{BufRead, BufReader, Write};
    let client =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let requests = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": name, "arguments": arguments } }),
    ];
    let mut command = memorist(store, &["serve", "--profile", "full", "--no-project"]);
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = server.stdin.take().unwrap();
    requests.iter().for_each(|request| writeln!(stdin, "{request}").unwrap());
    let (answers, answered) = std::sync::mpsc::channel();
    let stdout = BufReader::new(server.stdout.take().unwrap());
    std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| answers.send(line)));
    let answer = loop {
        let line = answered.recv_timeout(TIMEOUT).unwrap_or_else(|_| {
            server.kill().unwrap();
            panic!("{name} does not answer")
        });
        let message: serde_json::Value = serde_json::from_str(&line).unwrap();
        if message["id"] == 2 {
            break message;
        }
    };
    drop(stdin);
    server.wait().unwrap();
    answer
}

#[cfg(unix)]
#[test]
fn tools_use_no_folder_that_others_can_write_to_and_no_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (store, secret) = (folder.path().join("store"), folder.path().join("secret"));
    filled(&store, 2);
    let exported = call(&store, "memory_export", serde_json::json!({ "file": "own.jsonl" }));
    assert_eq!(exported["result"]["structuredContent"]["memories"], 2, "{exported}");
    let exports = store.join("exports");
    assert_eq!(names(&exports), ["own.jsonl".to_owned()].into(), "nothing else is left");
    assert_eq!(fs::metadata(&exports).unwrap().permissions().mode() & 0o777, 0o700);
    fs::write(&secret, "{\"content\": \"of somebody else\"}\n").unwrap();
    symlink(&secret, exports.join("link.jsonl")).unwrap();
    assert!(Command::new("mkfifo").arg(exports.join("pipe.jsonl")).status().unwrap().success());
    for (file, why) in [("link.jsonl", "a link"), ("pipe.jsonl", "a pipe")] {
        let refused = call(&store, "memory_import", serde_json::json!({ "file": file })).to_string();
        assert!(refused.contains(why), "{refused}");
    }
    // A link is replaced, and its target stays.
    call(&store, "memory_export", serde_json::json!({ "file": "link.jsonl" }));
    assert!(fs::read_to_string(&secret).unwrap().contains("of somebody else"));

    fs::set_permissions(&exports, fs::Permissions::from_mode(0o777)).unwrap();
    for (tool, file) in [("memory_import", "own.jsonl"), ("memory_export", "new.jsonl")] {
        let refused = call(&store, tool, serde_json::json!({ "file": file })).to_string();
        assert!(refused.contains("others can write to it") && refused.contains("export_folder"), "{refused}");
    }
    assert!(!exports.join("new.jsonl").exists());
}
