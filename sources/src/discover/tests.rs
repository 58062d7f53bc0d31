//! In a made home folder.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::survey::MAX_ENTRIES;
use super::{Place, What, discover_in};
use crate::foreign::Foreign;
use crate::formats::{Batch, Cursor, Format, ReadError};
use crate::machine::Machine;

/// An agent whose transcripts end in `.log`.
struct Logs {
    name: &'static str,
    place: &'static str,
}

impl Format for Logs {
    fn name(&self) -> &'static str {
        self.name
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        vec![machine.path("LOGS", self.place), machine.home().join(self.place), machine.home().join("nowhere")]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        path.extension().is_some_and(|end| end == "log")
    }

    fn read_file(&self, _: Foreign<'_>, _: Option<&Cursor>) -> Result<Batch, ReadError> {
        Err(ReadError::Unknown("not read here".into()))
    }
}

const LOGS: Logs = Logs { name: "logs", place: ".logs" };

/// A home folder with these files.
fn home(files: &[&str]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for file in files {
        let path = home.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text").unwrap();
    }
    home
}

fn machine(home: &TempDir) -> Machine {
    Machine::new(home.path(), [])
}

/// The places, each as its path below the home folder, what it is, and how many files it has.
fn found(home: &TempDir, working_folder: Option<&str>) -> Vec<(String, &'static str, u64)> {
    let folder = working_folder.map(|folder| home.path().join(folder));
    let places = discover_in(&[&LOGS], &machine(home), folder.as_deref(), &mut |_| {});
    places.iter().map(|place| (below(home, place), name(place.what), place.files)).collect()
}

fn below(home: &TempDir, place: &Place) -> String {
    place.path.strip_prefix(home.path()).unwrap().to_string_lossy().replace('\\', "/")
}

fn name(what: What) -> &'static str {
    match what {
        What::Sessions { format } => format,
        What::Notes { about } => about,
    }
}

fn problems(places: Vec<Place>) -> Vec<String> {
    places.into_iter().filter_map(|place| place.problem).collect()
}

fn place(path: &str, what: &'static str, files: u64) -> (String, &'static str, u64) {
    (path.to_owned(), what, files)
}

#[test]
fn transcripts_are_counted_with_size_and_newest_time() {
    let home = home(&[".logs/a.log", ".logs/2026/.x/b.log", ".logs/notes.md", "other/c.log"]);
    let places = discover_in(&[&LOGS], &machine(&home), None, &mut |_| {});
    let [place] = &places[..] else { panic!("{places:?}") };
    assert_eq!((place.path.clone(), place.what), (home.path().join(".logs"), What::Sessions { format: "logs" }));
    assert_eq!((place.files, place.bytes, place.problem.as_deref()), (2, 8, None));
    let now = jiff::Timestamp::now().as_millisecond();
    assert!(place.newest.is_some_and(|newest| (now - 60_000..=now + 60_000).contains(&newest)), "{place:?}");
}

/// 44.11: the histories that agents leave in a project are found, from a folder below too.
#[test]
fn histories_in_a_project_are_found() {
    let home = home(&[
        "harbor/.git/HEAD", "harbor/.specstory/history/a.md", "harbor/.specstory/.what-is-this.md",
        "harbor/api/.aider.chat.history.md", "other/.specstory/history/b.md",
    ]);
    let folder = home.path().join("harbor/api");
    let places = super::discover(&machine(&home), Some(&folder), &mut |_| {});
    let places: Vec<_> = places.iter().map(|place| (below(&home, place), name(place.what), place.files)).collect();
    let expected =
        [place("harbor/.specstory/history", "specstory", 1), place("harbor/api/.aider.chat.history.md", "aider", 1)];
    assert_eq!(places, expected);
}

#[test]
fn an_environment_variable_moves_a_place_even_to_a_file() {
    let home = home(&["far/a.log", ".logs/b.log"]);
    let far = home.path().join("far/a.log");
    let machine = Machine::new(home.path(), [("LOGS", far.to_str().unwrap())]);
    let places = discover_in(&[&LOGS], &machine, None, &mut |_| {});
    let places: Vec<_> = places.iter().map(|place| (place.path.clone(), place.files)).collect();
    assert_eq!(places, [(far, 1), (home.path().join(".logs"), 1)]);
}

#[test]
fn the_memories_and_instructions_of_agents_are_found() {
    let home = home(&[
        ".claude/CLAUDE.md",
        ".claude/projects/-p/memory/MEMORY.md",
        ".claude/projects/-p/memory/builds.md",
        ".claude/projects/-q/session.jsonl",
        ".claude/projects/stray.md",
        ".codex/AGENTS.md",
        ".gemini/GEMINI.md",
        ".openclaw/workspace/MEMORY.md",
        ".openclaw/workspace/memory/2026-11-02.md",
        ".openclaw/workspace-home/memory/2026-11-02.md",
        ".openclaw/state/memory/x.md",
        ".mudpuppy/workspace/MEMORY.md",
        ".mudpuppy/workspace/memory/deep/2026-11-02.md",
        ".gimli/workspace/memory.md",
        ".gimli/state/x.md",
        "memory/other.md",
    ]);
    // Where the case of names does not count, the file has both names.
    let is_there = |path: &&str| home.path().join(path).exists();
    let gimli = [".gimli/workspace/MEMORY.md", ".gimli/workspace/memory.md"].into_iter().find(is_there).unwrap();
    let expected = [
        place(".claude/CLAUDE.md", "Claude Code's instructions", 1),
        place(".claude/projects/-p/memory", "Claude Code's memory", 2),
        place(".codex/AGENTS.md", "Codex's instructions", 1),
        place(".gemini/GEMINI.md", "Gemini's instructions and memory", 1),
        place(".openclaw/workspace/MEMORY.md", "OpenClaw's memory", 1),
        place(".openclaw/workspace/memory", "OpenClaw's memory", 1),
        place(".openclaw/workspace-home/memory", "OpenClaw's memory", 1),
        place(".mudpuppy/workspace", "Mudpuppy's workspace", 2),
        place(gimli, "Gimli's memory", 1),
    ];
    assert_eq!(found(&home, None), expected);
}

#[test]
fn a_working_folder_has_its_memory_and_git_tree_instructions() {
    let home = home(&[
        "code/AGENTS.md",
        "code/harbor/.git/HEAD",
        "code/harbor/.gitignore",
        "code/harbor/AGENTS.md",
        "code/harbor/MEMORY.md",
        "code/harbor/api/CLAUDE.md",
        "code/harbor/api/memory/a.md",
        "code/harbor/api/memory/b.org",
        "code/harbor/api/memory/c.png",
        "code/harbor/web/GEMINI.md",
        "code/harbor/web/node_modules/x/AGENTS.md",
        "code/harbor/build/AGENTS.md",
    ]);
    fs::write(home.path().join("code/harbor/.gitignore"), "build/\n").unwrap();
    let expected = [
        place("code/harbor/api/memory", "this project's memory", 2),
        place("code/harbor/api/CLAUDE.md", "instructions of this project", 1),
        place("code/harbor/AGENTS.md", "instructions of this project", 1),
        place("code/harbor/web/GEMINI.md", "instructions of this project", 1),
    ];
    assert_eq!(found(&home, Some("code/harbor/api")), expected);
    assert_eq!(found(&home, Some("code"))[..], [place("code/AGENTS.md", "instructions of this project", 1)]);
}

#[test]
fn a_home_folder_in_git_is_not_walked() {
    let home = home(&[".git/HEAD", "AGENTS.md", "far/below/AGENTS.md"]);
    let looked = RefCell::new(Vec::new());
    let places = discover_in(&[], &machine(&home), Some(home.path()), &mut |folder| {
        looked.borrow_mut().push(folder.to_owned());
    });
    assert_eq!(places.len(), 1, "{places:?}");
    assert!(!looked.take().contains(&home.path().join("far/below")));
}

#[test]
fn vaults_are_found_in_obsidians_list_and_usual_folders() {
    let home = home(&[
        "deep/down/work/.obsidian/app.json", "deep/down/work/a.md", "Documents/private/.obsidian/app.json",
        "Documents/private/.trash/old.md", "Documents/private/b.md", "Documents/private/sub/c.txt",
        "Documents/plain/d.md", "diary/.obsidian/app.json", "diary/e.md",
    ]);
    let work = home.path().join("deep/down/work");
    let vaults = serde_json::json!({"vaults": {
        "1": {"path": work, "ts": 1, "open": true},
        "2": {"path": home.path().join("diary")},
        "3": {"path": home.path()},
        "4": {"path": home.path().join("gone")},
        "5": {"path": ".."},
    }});
    fs::create_dir_all(home.path().join(".config/obsidian")).unwrap();
    fs::write(home.path().join(".config/obsidian/obsidian.json"), vaults.to_string()).unwrap();
    let expected = [
        place("deep/down/work", "an Obsidian vault", 1),
        place("diary", "an Obsidian vault", 1),
        place("", "an Obsidian vault", 0),
        place("Documents/private", "an Obsidian vault", 2),
    ];
    assert_eq!(found(&home, None), expected);
    let problems = problems(discover_in(&[], &machine(&home), None, &mut |_| {}));
    assert!(problems.len() == 1 && problems[0].contains("whole home folder"), "{problems:?}");
    fs::write(home.path().join(".config/obsidian/obsidian.json"), "{\"vaults\": 7").unwrap();
    assert_eq!(found(&home, None).len(), 2);
}

#[test]
fn obsidians_list_is_read_on_every_system() {
    for folder in [
        ".config", ".var/app/md.obsidian.Obsidian/config", "snap/obsidian/current/.config",
        "Library/Application Support", "AppData/Roaming",
    ] {
        let list = format!("{folder}/obsidian/obsidian.json");
        let home = home(&[&list, "deep/down/work/a.md"]);
        let vaults = serde_json::json!({"vaults": {"1": {"path": home.path().join("deep/down/work")}}});
        fs::write(home.path().join(&list), vaults.to_string()).unwrap();
        assert_eq!(found(&home, None), [place("deep/down/work", "an Obsidian vault", 1)], "{folder}");
    }
}

#[test]
fn a_place_inside_another_is_not_listed_twice() {
    let home = home(&["vault/.obsidian/app.json", "vault/p/AGENTS.md", "vault/p/memory/a.md", "vault/.dot/AGENTS.md"]);
    assert_eq!(found(&home, Some("vault/p")), [place("vault", "an Obsidian vault", 2)]);
    // Notes in a hidden folder are not read with the vault.
    let expected =
        [place("vault", "an Obsidian vault", 2), place("vault/.dot/AGENTS.md", "instructions of this project", 1)];
    assert_eq!(found(&home, Some("vault/.dot")), expected);
    // Transcripts of one format, too; another format takes other files.
    let all = Logs { name: "logs", place: "vault" };
    let other = Logs { name: "other", place: "vault/p" };
    let inner = Logs { name: "logs", place: "vault/.dot" };
    fs::write(home.path().join("vault/p/a.log"), "text").unwrap();
    fs::write(home.path().join("vault/.dot/b.log"), "text").unwrap();
    let places = discover_in(&[&inner, &all, &other], &machine(&home), None, &mut |_| {});
    let places: Vec<_> = places.iter().map(|place| (below(&home, place), name(place.what))).collect();
    let expected = [("vault", "logs"), ("vault/p", "other"), ("vault", "an Obsidian vault")];
    assert_eq!(places, expected.map(|(path, name)| (path.to_owned(), name)));
}

#[test]
fn an_unreadable_place_is_listed_with_its_problem() {
    let home = home(&[".logs", ".claude", "p/memory"]);
    let places = discover_in(&[&LOGS], &machine(&home), Some(&home.path().join("p")), &mut |_| {});
    let problems: Vec<_> =
        places.iter().filter(|place| place.problem.is_some()).map(|place| below(&home, place)).collect();
    // To Windows, nothing is below a file.
    let below_a_file = (!cfg!(windows)).then_some(".claude/CLAUDE.md");
    let expected: Vec<_> = [".logs"].into_iter().chain(below_a_file).chain(["p/memory"]).collect();
    assert_eq!(problems, expected, "{places:?}");
    assert!(places.iter().all(|place| place.files == 0));
}

#[cfg(unix)]
#[test]
fn a_folder_without_the_right_to_read_does_not_hide_the_others() {
    use std::os::unix::fs::PermissionsExt;

    let home = home(&[".logs/a.log", ".logs/closed/b.log", ".logs/z.log"]);
    let closed = home.path().join(".logs/closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let is_root = fs::read_dir(&closed).is_ok();
    let places = discover_in(&[&LOGS], &machine(&home), None, &mut |_| {});
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(places.len(), 1, "{places:?}");
    if is_root {
        assert_eq!((places[0].files, &places[0].problem), (3, &None));
    } else {
        assert_eq!(places[0].files, 2);
        assert!(places[0].problem.as_ref().is_some_and(|problem| problem.contains("closed")), "{places:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_out_nor_in_circles() {
    use std::os::unix::fs::symlink;

    let home = home(&["logs/a.log", "logs/sub/b.log", "far/secret.md", "far/c.log", "p/memory.md", "p/.git/HEAD"]);
    let at = |path: &str| home.path().join(path);
    symlink(at("logs"), at(".logs")).unwrap();
    symlink(at("logs"), at("logs/sub/circle")).unwrap();
    symlink(at("far"), at("logs/out")).unwrap();
    symlink(at("far"), at("p/memory")).unwrap();
    symlink(at("p/memory.md"), at("p/AGENTS.md")).unwrap();
    symlink(at("CLAUDE.md"), at("CLAUDE.md")).unwrap();
    let expected = [
        place(".logs", "logs", 2),
        place("p/memory.md", "this project's memory", 1),
        place("p/memory", "this project's memory", 0),
    ];
    assert_eq!(found(&home, Some("p")), expected);
    let problems_of = |folder: &str| problems(discover_in(&[], &machine(&home), Some(&at(folder)), &mut |_| {}));
    assert!(problems_of("p")[0].contains("leads out of"), "{:?}", problems_of("p"));
    assert_eq!(problems_of("").len(), 1, "a link to itself");
}

#[test]
fn a_place_with_too_many_files_says_so() {
    let home = home(&[".logs/a.log"]);
    for number in 0..MAX_ENTRIES {
        fs::write(home.path().join(format!(".logs/b{number}.log")), "").unwrap();
    }
    fs::create_dir(home.path().join(".logs/.git")).unwrap();
    let folder = home.path().join(".logs");
    let places = discover_in(&[&LOGS], &machine(&home), Some(&folder), &mut |_| {});
    assert_eq!(places[0].files, MAX_ENTRIES as u64 - 2);
    let problems: Vec<_> = places.iter().map(|place| place.problem.as_deref().unwrap_or_default()).collect();
    assert!(problems.len() == 2 && problems.iter().all(|problem| problem.contains("500")), "{places:?}");
}
