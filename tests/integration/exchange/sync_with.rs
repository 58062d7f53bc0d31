//! `memorist sync-with` as a person uses it: over a stand-in for ssh, and over a folder.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{document, memorist, text};

/// The host names a home below; the last argument is the command, which a shell runs, as the shell of an account does.
const SSH: &str = r#"#!/bin/sh
while [ $# -gt 2 ]; do case "$1" in -o|-p) shift 2;; *) host=$1; shift;; esac; done
echo "Welcome to $host"
export MEMORIST_STORE="$HOMES/$host" MEMORIST_CONFIG="$HOMES/$host/memorist.toml"
exec /bin/sh -c "$2"
"#;

/// The machines of a person.
struct Homes(TempDir);

impl Homes {
    fn new() -> Self {
        let homes = tempfile::tempdir().unwrap();
        let bin = homes.path().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::create_dir(homes.path().join("shared")).unwrap();
        let ssh = bin.join("ssh");
        fs::write(&ssh, SSH).unwrap();
        fs::set_permissions(ssh, fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_memorist"), bin.join("memorist")).unwrap();
        let homes = Homes(homes);
        // A machine has its settings before anybody calls it.
        for machine in ["laptop", "desktop", "stick"] {
            let _ = homes.command(machine, &[]);
        }
        homes
    }

    fn store(&self, machine: &str) -> PathBuf {
        self.0.path().join(machine)
    }

    fn shared(&self) -> String {
        self.store("shared").canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    fn command(&self, machine: &str, arguments: &[&str]) -> Command {
        let mut command = memorist(&self.store(machine), arguments);
        command.env("PATH", format!("{}:/usr/bin:/bin", self.store("bin").display())).env("HOMES", self.0.path());
        command.stdin(Stdio::null());
        command
    }

    /// The answer for people.
    fn say(&self, machine: &str, arguments: &[&str]) -> String {
        let output = self.command(machine, arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout).to_owned()
    }

    /// The answer as JSON.
    fn run(&self, machine: &str, arguments: &[&str]) -> Value {
        let output = self.command(machine, &[arguments, &["--json"]].concat()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
        document(&output)
    }

    /// The error and the exit code.
    fn fail(&self, machine: &str, arguments: &[&str]) -> (String, Option<i32>) {
        let output = self.command(machine, arguments).output().unwrap();
        (format!("{}{}", text(&output.stdout), text(&output.stderr)), output.status.code())
    }

    fn texts(&self, machine: &str) -> Vec<String> {
        let listed = self.run(machine, &["list", "-n", "100"]);
        let each = listed["results"].as_array().unwrap().iter();
        let mut texts: Vec<_> = each.map(|one| one["content"].as_str().unwrap().to_owned()).collect();
        texts.sort_unstable();
        texts
    }

    /// The files of all machines in the shared folder.
    fn files(&self) -> Vec<PathBuf> {
        let machines = fs::read_dir(self.store("shared").join("memorist-sync")).into_iter().flatten();
        let folders = machines.map(|machine| machine.unwrap().path()).filter(|path| path.is_dir());
        let mut files: Vec<_> =
            folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path()).collect();
        files.sort_unstable();
        files
    }
}

fn has_bytes(folder: &Path, text: &str) -> bool {
    Command::new("grep").args(["-rqaF", "--", text]).arg(folder).status().unwrap().success()
}

/// 46: two machines over ssh; a conflict is shown with both texts, and settled by an ordinary command.
#[test]
fn two_machines_over_ssh_have_the_same() {
    let homes = Homes::new();
    homes.run("laptop", &["add", "Deploys go out on Tuesdays"]);
    homes.run("desktop", &["add", "Tests run with nextest"]);
    let met = homes.run("laptop", &["sync-with", "ssh://desktop"]);
    assert_eq!(
        (&met["machines"][0]["here"]["created"], &met["machines"][0]["there"]["created"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(homes.texts("laptop"), homes.texts("desktop"));
    assert!(homes.say("laptop", &["sync-with"]).contains("nothing is new"), "the place is remembered");

    let id = homes.run("desktop", &["search", "deploys"])["results"][0]["id"].to_string();
    homes.run("laptop", &["update", "1", "--content", "Deploys go out on Wednesdays"]);
    homes.run("desktop", &["update", &id, "--content", "Deploys go out on Mondays"]);
    let said = homes.say("laptop", &["sync-with"]);
    assert!(said.contains("sync-with --conflicts"), "{said}");
    for machine in ["laptop", "desktop"] {
        let said = homes.say(machine, &["sync-with", "--conflicts"]);
        assert!(
            said.contains("Mondays") && said.contains("Wednesdays") && said.contains("rollback"),
            "{machine}: {said}"
        );
    }
    let stats = homes.run("laptop", &["stats"]);
    assert_eq!(stats["machines"]["conflicts"][0]["id"], 1);
    assert_eq!(stats["machines"]["places"][0]["address"], "ssh://desktop");
    homes.run("laptop", &["rollback", "1", "2"]);
    homes.run("laptop", &["sync-with"]);
    for machine in ["laptop", "desktop"] {
        assert_eq!(homes.run(machine, &["sync-with", "--conflicts"]), json!([]), "{machine}");
        assert_eq!(homes.texts(machine), ["Deploys go out on Wednesdays", "Tests run with nextest"]);
        homes.run(machine, &["doctor"]);
    }
    assert_eq!(homes.run("laptop", &["sync-with", "--forget", "ssh://desktop"])["forgotten"], "ssh://desktop");
    assert_eq!(homes.run("laptop", &["sync-with", "--list"]), json!([]));
    assert!(!homes.store("laptop").join("machines.lock").exists(), "no hook looks for a machine");
}

/// 46: what goes wrong over ssh is said, with the way out, and nothing is changed.
#[test]
fn trouble_with_another_machine_is_said() {
    let homes = Homes::new();
    homes.run("laptop", &["add", "a heron"]);
    let cases: [(&[&str], &str, i32); 6] = [
        (&["sync-with", "ssh://-oProxyCommand=x"], "ssh://HOST", 2),
        (&["sync-with", "laptop"], "ssh://HOST", 6),
        (&["sync-with", "ssh://desktop", "--program", "no-such-program"], "--program", 6),
        (&["sync-with", "ssh://desktop", "--program", "echo hello; false"], "hello", 6),
        (&["sync-with", "ssh://laptop"], "the store itself", 6),
        (&["sync-with", "--keep", "1"], "no conflict", 4),
    ];
    for (arguments, wanted, code) in cases {
        let (said, ended) = homes.fail("laptop", arguments);
        assert!(said.contains(wanted) && ended == Some(code), "{arguments:?}: {ended:?} {said}");
    }
    assert_eq!(homes.run("laptop", &["sync-with", "--list"]), json!([]), "no place that was never met is remembered");
    assert_eq!(homes.texts("laptop"), ["a heron"]);
    // No file that somebody is sent deletes a memory.
    let ulid = {
        let lines = homes.say("laptop", &["export", "-"]);
        let record: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
        record["ulid"].as_str().unwrap().to_owned()
    };
    let file = homes.store("tombstone.jsonl");
    fs::write(&file, json!({ "type": "tombstone", "ulid": ulid, "purged": true }).to_string()).unwrap();
    let (said, code) = homes.fail("laptop", &["import", file.to_str().unwrap()]);
    assert!(said.contains("an import does not") && code == Some(2), "{said}");
    assert_eq!(homes.texts("laptop"), ["a heron"]);
}

/// 46: machines that meet in a folder; a purge leaves no bytes in any file; what is absent deletes nothing.
#[test]
fn machines_meet_in_a_folder() {
    let homes = Homes::new();
    let shared = homes.shared();
    homes.run("laptop", &["add", "a heron"]);
    homes.run("laptop", &["add", "a secret kestrel"]);
    homes.run("laptop", &["sync-with", &shared]);
    homes.run("desktop", &["add", "a stork"]);
    homes.run("desktop", &["sync-with", &shared]);
    homes.run("laptop", &["sync-with"]);
    assert_eq!(homes.texts("laptop"), ["a heron", "a secret kestrel", "a stork"]);
    assert_eq!(homes.texts("desktop"), homes.texts("laptop"));
    let before = homes.files();
    assert!(homes.say("desktop", &["sync-with"]).contains("nothing is new"));
    assert_eq!(homes.files(), before, "without news nothing is written");

    let id = homes.run("desktop", &["search", "kestrel"])["results"][0]["id"].to_string();
    homes.run("desktop", &["purge", &id, "--yes"]);
    homes.run("desktop", &["sync-with"]);
    homes.run("laptop", &["sync-with"]);
    for place in ["shared", "laptop", "desktop"] {
        assert!(!has_bytes(&homes.store(place), "kestrel"), "{place}");
    }

    // The folder is emptied, as when a stick is another one.
    fs::remove_dir_all(homes.store("shared").join("memorist-sync")).unwrap();
    homes.run("laptop", &["sync-with"]);
    assert_eq!(homes.texts("laptop"), ["a heron", "a stork"]);
    homes.run("stick", &["sync-with", &shared]);
    assert_eq!(homes.texts("stick"), ["a heron", "a stork"], "everything was left there anew");
    fs::remove_dir_all(homes.store("shared")).unwrap();
    let (said, code) = homes.fail("laptop", &["sync-with"]);
    assert!(said.contains("No such file") && code == Some(6), "{said}");
    assert!(homes.say("laptop", &["sync-with", "--list"]).contains("the last try failed"));
    assert!(!homes.store("shared").exists(), "a folder that is not there is not made");
}

/// 46: a file that is cut, a copy of another machine's folder, a pipe and a link change nothing and stop nobody.
#[test]
fn hostile_files_in_a_folder_change_nothing() {
    let homes = Homes::new();
    let shared = homes.shared();
    homes.run("laptop", &["add", "a heron"]);
    homes.run("laptop", &["sync-with", &shared]);
    let file = homes.files().pop().unwrap();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 10]).unwrap();
    let waits = homes.run("desktop", &["sync-with", &shared]);
    assert!(waits["machines"][0]["notes"][0].as_str().unwrap().contains("are incomplete"), "{waits}");
    assert_eq!(homes.texts("desktop"), [""; 0]);

    let other = homes.store("shared").join("memorist-sync/00ff");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("000001.jsonl"), &whole).unwrap();
    let said = homes.run("desktop", &["sync-with"]).to_string();
    assert!(said.contains("belongs to another machine"), "{said}");
    assert_eq!(homes.texts("desktop"), [""; 0]);
    fs::remove_file(other.join("000001.jsonl")).unwrap();
    for hostile in ["mkfifo \"$0\"", "ln -s /dev/zero \"$0\"", "mkdir \"$0\""] {
        let path = other.join("000001.jsonl");
        assert!(Command::new("sh").arg("-c").arg(hostile).arg(&path).status().unwrap().success());
        let began = Instant::now();
        let (said, code) = homes.fail("desktop", &["sync-with"]);
        assert!(code == Some(6) && said.contains("000001.jsonl"), "{hostile}: {code:?} {said}");
        assert!(began.elapsed() < Duration::from_secs(20), "{hostile}");
        if path.is_dir() { fs::remove_dir(&path).unwrap() } else { fs::remove_file(&path).unwrap() }
    }
    let mut newer = String::from_utf8(whole.clone()).unwrap();
    newer = newer.replacen("\"format\":1", "\"format\":9", 1);
    fs::write(&file, newer).unwrap();
    assert!(homes.fail("desktop", &["sync-with"]).0.contains("update memorist"));
    fs::write(&file, &whole).unwrap();
    homes.run("desktop", &["sync-with"]);
    assert_eq!(homes.texts("desktop"), ["a heron"], "it is read once it is whole");
}

/// 46: a copied store is another machine, and meets the first one without doubling anything.
#[test]
fn a_copied_store_is_another_machine() {
    let homes = Homes::new();
    let shared = homes.shared();
    homes.run("laptop", &["add", "a heron"]);
    homes.run("laptop", &["sync-with", &shared]);
    fs::remove_dir_all(homes.store("stick")).unwrap();
    let copied = Command::new("cp").arg("-r").args([homes.store("laptop"), homes.store("stick")]).status().unwrap();
    assert!(copied.success());
    homes.run("stick", &["add", "a stork"]);
    homes.run("stick", &["sync-with"]);
    homes.run("laptop", &["sync-with"]);
    assert_eq!(homes.texts("laptop"), ["a heron", "a stork"]);
    assert_eq!(homes.texts("stick"), homes.texts("laptop"));
    let machines: BTreeSet<_> = homes.files().iter().map(|file| file.parent().unwrap().to_owned()).collect();
    assert_eq!(machines.len(), 2);
}

/// 46: with one project, nothing of another one leaves or comes.
#[test]
fn a_project_alone_is_exchanged() {
    let homes = Homes::new();
    let shared = homes.shared();
    homes.run("laptop", &["add", "of atlas", "--project", "atlas"]);
    homes.run("laptop", &["add", "of apollo", "--project", "apollo"]);
    homes.run("laptop", &["sync-with", &shared, "--only-project", "atlas"]);
    assert!(has_bytes(&homes.store("shared"), "of atlas") && !has_bytes(&homes.store("shared"), "apollo"));
    homes.run("desktop", &["add", "of apollo, there", "--project", "apollo"]);
    homes.run("desktop", &["sync-with", &shared]);
    let met = homes.run("laptop", &["sync-with"]);
    assert_eq!(met["machines"][0]["here"]["refused"], 0, "{met}");
    assert_eq!(homes.texts("laptop"), ["of apollo", "of atlas"]);
    let over = homes.run("laptop", &["sync-with", "ssh://desktop", "--only-project", "atlas"]);
    assert_eq!(over["machines"][0]["here"]["created"], 0, "{over}");
    assert_eq!(homes.texts("desktop"), ["of apollo, there", "of atlas"]);
}

/// 46: the hook of a client that starts meets the other machines, if the last try was long ago.
#[test]
fn a_hook_meets_other_machines() {
    let homes = Homes::new();
    homes.run("laptop", &["add", "a heron"]);
    homes.run("laptop", &["sync-with", "ssh://desktop"]);
    homes.run("desktop", &["add", "a stork"]);
    let lock = homes.store("laptop").join("machines.lock");
    let start = || {
        let mut hook = homes.command("laptop", &["hook", "claude-code", "start"]);
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let said = json!({ "session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/" });
        hook.stdin.take().unwrap().write_all(said.to_string().as_bytes()).unwrap();
        assert!(hook.wait().unwrap().success());
    };
    start();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(homes.texts("laptop"), ["a heron"], "the last try was just now");
    let long_ago = SystemTime::now() - Duration::from_secs(601);
    fs::File::options().write(true).open(&lock).unwrap().set_modified(long_ago).unwrap();
    start();
    let began = Instant::now();
    while homes.texts("laptop").len() < 2 {
        assert!(began.elapsed() < Duration::from_secs(60), "nobody has met the other machine");
        std::thread::sleep(Duration::from_millis(100));
    }
}
