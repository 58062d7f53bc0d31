//! Notes and transcripts, as a newcomer meets them: found on the machine, read, searched, and opened at their line. And
//! whatever happens while they are read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use bench_data::transcripts::{Agent, Database};
use bench_data::{SessionFact, note_facts, session, vault};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;

use crate::support::{document, memorist, number_from, text};

const SEED: u64 = 42;
const NOTES: usize = 60;
const TURNS: usize = 12;
/// Kills of a process that reads, unless MEMORIST_CRASH_ROUNDS asks for more.
const KILLS: u64 = 12;

/// A home folder with the transcripts of every agent and a vault, and what to ask for: a fact of each.
struct Home {
    folder: tempfile::TempDir,
    /// By agent: the fact, and the file that it stands in.
    facts: Vec<(String, SessionFact, PathBuf)>,
}

fn create(path: &Path) -> BufWriter<File> {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    BufWriter::new(File::create(path).unwrap())
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(home.join("Documents/vault/.obsidian")).unwrap();
        for note in vault(SEED, NOTES) {
            create(&home.join("Documents/vault").join(note.path)).write_all(note.text.as_bytes()).unwrap();
        }
        let mut facts = Vec::new();
        for (index, agent) in Agent::ALL.into_iter().enumerate() {
            let session = session(SEED, index, TURNS);
            let path = home.join(agent.path(&session));
            agent.write(&session, &mut create(&path)).unwrap();
            facts.push((format!("{agent:?}"), session.fact.clone().unwrap(), path));
        }
        for (index, database) in Database::ALL.into_iter().enumerate() {
            let session = session(SEED, Agent::ALL.len() + index, TURNS);
            let path = home.join(database.path());
            let mut sql = database.schema().as_bytes().to_vec();
            database.write(&session, &mut sql).unwrap();
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            Connection::open(&path).unwrap().execute_batch(text(&sql)).unwrap();
            facts.push((format!("{database:?}"), session.fact.clone().unwrap(), path));
        }
        Home { folder, facts }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// A command of a user with this home.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = memorist(&self.store(), arguments);
        for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCLAW_STATE_DIR"] {
            command.env_remove(variable);
        }
        command.env("HOME", self.folder.path()).stdin(Stdio::null()).output().unwrap()
    }
}

/// Z12, T50, F12: a hit points at a file and a line.
#[test]
fn a_newcomer_finds_a_line_of_an_old_session_of_every_agent() {
    let home = Home::new();
    let found = document(&home.run(&["source", "discover", "--json"]));
    assert!(found["places"].as_array().unwrap().len() >= 9, "{found}");
    let added = home.run(&["source", "discover", "--add", "all", "--json"]);
    assert!(added.status.success(), "{}", text(&added.stderr));
    for (agent, fact, path) in &home.facts {
        let reply = document(&home.run(&["search", &fact.question, "--sources", "sessions", "-n", "3", "--json"]));
        let hits = reply["results"].as_array().unwrap();
        let hit = hits.iter().find(|hit| hit["content"].as_str().is_some_and(|text| text.contains(&fact.mark)));
        let hit = hit.unwrap_or_else(|| panic!("{agent}: {:?} is not found: {reply}", fact.question));
        let place = &hit["place"];
        assert_eq!(place["path"].as_str(), path.to_str(), "{agent}: {hit}");
        assert_eq!(place["role"], if fact.is_user { "user" } else { "assistant" }, "{agent}");
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let line = place["startLine"].as_u64().unwrap() as usize;
            let file = fs::read_to_string(path).unwrap();
            let line = file.lines().nth(line - 1).unwrap();
            assert!(line.contains(&fact.mark), "{agent}: another line: {line}");
        }
    }
    for fact in note_facts(SEED, NOTES) {
        let reply = document(&home.run(&["search", &fact.question, "--sources", "notes", "-n", "3", "--json"]));
        let hits = reply["results"].as_array().unwrap();
        let has_line = |hit: &serde_json::Value| {
            let place = &hit["place"];
            place["path"].as_str().is_some_and(|path| path.ends_with(&fact.path))
                && place["startLine"].as_u64() <= Some(fact.line as u64)
                && place["endLine"].as_u64() >= Some(fact.line as u64)
        };
        assert!(hits.iter().any(has_line), "{fact:?} is not found at its line: {reply}");
    }
    let again = document(&home.run(&["sync", "--json"]));
    for source in again["sources"].as_array().unwrap() {
        assert_eq!((&source["added"], &source["read"]), (&0.into(), &0.into()), "{source}");
    }
    let left_out = document(&home.run(&["search", bench_data::LEFT_OUT, "--json"]));
    let hits = left_out["results"].as_array().unwrap();
    assert!(hits.iter().all(|hit| !hit["content"].as_str().unwrap_or_default().contains(bench_data::LEFT_OUT)));
    let plain = home.run(&["search", &home.facts[0].1.question, "--sources", "sessions", "-n", "3"]);
    assert!(text(&plain.stdout).contains(".jsonl:"), "path:line is shown: {}", text(&plain.stdout));
}

#[test]
fn sources_are_listed_and_removed_by_number_or_path() {
    let home = Home::new();
    let vault = home.folder.path().join("Documents/vault");
    let path = vault.to_str().unwrap();
    assert!(home.run(&["source", "add", path]).status.success());
    let list = document(&home.run(&["source", "list", "--json"]));
    assert_eq!(list["sources"][0]["files"], NOTES, "{list}");
    assert!(text(&home.run(&["source", "list"]).stdout).contains("notes"));
    assert_eq!(home.run(&["source", "remove", "7"]).status.code(), Some(4));
    assert_eq!(home.run(&["source", "add", "/no/such/place"]).status.code(), Some(6));
    assert_eq!(home.run(&["source", "add", path, "--format", "elephant"]).status.code(), Some(2));
    let removed = document(&home.run(&["source", "remove", path, "--records", "--json"]));
    assert!(removed["records"].as_u64() > Some(NOTES as u64), "{removed}");
    assert_eq!(document(&home.run(&["stats", "--json"]))["totalEntries"], 0);
    assert!(text(&home.run(&["sync"]).stderr).contains("memorist source discover"), "the way on is said");
}

/// The texts of a store, with how often each is there.
fn texts(home: &Home) -> BTreeMap<String, usize> {
    let exported = home.run(&["export"]);
    let mut texts = BTreeMap::new();
    for line in text(&exported.stdout).lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        *texts.entry(record["content"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    texts
}

/// F16, F17: a reading that is killed is continued by the next, and leaves nothing double and nothing out.
#[test]
fn a_reading_that_is_killed_is_continued() {
    let seed = number_from("MEMORIST_SEED", memorist_engine::now() as u64);
    eprintln!("MEMORIST_SEED={seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let home = Home::new();
    assert!(home.run(&["source", "discover", "--add", "all", "--no-sync"]).status.success());
    let vault = home.folder.path().join("Documents/vault");
    for round in 0..KILLS.max(number_from("MEMORIST_CRASH_ROUNDS", 0) / 10) {
        for number in 0..40 {
            let path = vault.join(format!("{}.md", random.random_range(0..60)));
            match random.random_range(0..4) {
                0 => drop(fs::remove_file(&path)),
                1 => drop(fs::rename(&path, vault.join(format!("{}.md", random.random_range(0..60))))),
                _ => fs::write(&path, format!("# {round}\n\nText {number} of round {round}.\n")).unwrap(),
            }
        }
        let mut process = memorist(&home.store(), &["sync"])
            .env("HOME", home.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(random.random_range(1..150)));
        // It may have ended by itself.
        let _ended = process.kill();
        process.wait().unwrap();
    }
    let synced = home.run(&["sync"]);
    assert!(synced.status.success(), "{}", text(&synced.stderr));
    let interrupted = texts(&home);
    let doctor = home.run(&["doctor"]);
    assert!(doctor.status.success(), "{}", text(&doctor.stdout));
    fs::remove_dir_all(home.store()).unwrap();
    assert!(home.run(&["source", "discover", "--add", "all"]).status.success());
    let fresh = texts(&home);
    let differing: Vec<_> = interrupted
        .iter()
        .filter(|(text, count)| fresh.get(*text) != Some(count))
        .chain(fresh.iter().filter(|(text, _)| !interrupted.contains_key(*text)))
        .collect();
    assert!(differing.is_empty(), "{differing:?}");
}

/// A disk that is full stops a reading with an error, and the next one continues, where the machine lets a small file system be
/// made.
#[test]
fn a_full_disk_stops_a_reading_and_loses_nothing() {
    let home = Home::new();
    let disk = home.folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    fs::write(home.folder.path().join("memorist.toml"), "model = \"none\"\n").unwrap();
    let mount = "mount -t tmpfs -o size=2m tmpfs \"$DISK\"";
    let unshare = |script: &str| {
        let mut command = std::process::Command::new("unshare");
        command.args(["-rm", "sh", "-c", script]).env("DISK", &disk).env("MEMORIST", env!("CARGO_BIN_EXE_memorist"));
        command.env("HOME", home.folder.path()).stdin(Stdio::null()).output()
    };
    if !unshare(mount).is_ok_and(|tried| tried.status.success()) {
        eprintln!("no small file system can be made here: a full disk is not tried");
        return;
    }
    // Without any room it cannot begin; with some, the disk is full while it saves.
    let exports = ["0", "64K", "128K"].map(|room| {
        let script = format!(
            "{mount} || exit 90
             memorist() {{ \"$MEMORIST\" \"$@\" --store \"$DISK/store\" --config \"$HOME/memorist.toml\"; }}
             memorist source add \"$HOME/Documents/vault\" --no-sync || exit 91
             dd if=/dev/zero of=\"$DISK/ballast\" bs=4096 2>/dev/null
             truncate -s -{room} \"$DISK/ballast\" || exit 92
             memorist sync --json && exit 93
             rm \"$DISK/ballast\"; mount -o remount,size=200m \"$DISK\" || exit 94
             memorist sync --json || exit 95
             memorist doctor || exit 96
             memorist export > \"$HOME/exported\""
        );
        let output = unshare(&script).unwrap();
        let (out, log) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{room}: {:?}: {out} {log}", output.status);
        assert!(out.contains(r#"{"error":{"kind":"store""#), "{room}: the reading ends with an error: {out}");
        let began = log.matches("reading /").count();
        assert_eq!(began, if room == "0" { 1 } else { 2 }, "{room}: it was reading: {log}");
        fs::read_to_string(home.folder.path().join("exported")).unwrap()
    });
    assert!(
        home.run(&["source", "add", home.folder.path().join("Documents/vault").to_str().unwrap()]).status.success()
    );
    let whole: usize = texts(&home).values().sum();
    for exported in exports {
        assert_eq!(exported.lines().count() - 1, whole, "as a store that had room");
    }
}

/// 44.8, 45.8: a file that is passed over is named, and so is why a folder has no transcript, once.
#[test]
fn files_that_are_not_read_are_named() {
    let home = Home::new();
    let notes = home.folder.path().join("notes");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("a.md"), "The zebra.").unwrap();
    fs::write(notes.join("b.md"), [0; 100]).unwrap();
    let add = |more: &[&str]| home.run(&[&["source", "add", notes.to_str().unwrap()], more].concat());
    assert!(add(&["--no-embed"]).status.success());
    let named = format!("{}: it is no text", notes.join("b.md").display());
    for command in [&["stats"][..], &["source", "list"]] {
        let output = home.run(command);
        assert!(text(&output.stdout).contains(&named), "{}", text(&output.stdout));
    }
    let stats = document(&home.run(&["stats", "--json"]));
    assert_eq!((&stats["unread"]["count"], &stats["unread"]["files"][0]["why"]), (&1.into(), &"it is no text".into()));
    let list = document(&home.run(&["source", "list", "--json"]));
    assert_eq!(list["sources"][0]["allUnread"], 1);
    let output = add(&["--kind", "sessions", "--format", "gimli", "--no-embed"]);
    let said = [text(&output.stdout), text(&output.stderr)].concat();
    assert_eq!(said.matches("no file looks like a transcript of gimli").count(), 1, "{said}");
    let added = document(&add(&["--kind", "sessions", "--format", "gimli", "--no-embed", "--json"]));
    assert_eq!(added["sync"]["warnings"].as_array().unwrap().len(), 1, "{added}");
}

/// 45.8: who points the store at the data of another system learns how to bring it in.
#[test]
fn the_data_of_another_system_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("sources/tests/corpus/moving");
    for system in ["gimli", "mudpuppy", "krolik"] {
        let store = folder.path().join(system);
        fs::create_dir(&store).unwrap();
        let sql = fs::read_to_string(corpus.join(format!("{system}.sql"))).unwrap();
        Connection::open(store.join("memory.db")).unwrap().execute_batch(&sql).unwrap();
        let output = memorist(&store, &["add", "The zebra."]).stdin(Stdio::null()).output().unwrap();
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(&format!("import --from {system} FILE")), "{said}");
        assert_eq!(fs::read_dir(&store).unwrap().count(), 2, "{system}: a file beside the settings");
    }
}
