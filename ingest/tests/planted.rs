//! 39.6 and 39.7: a text at any position of files that are read. Purged, it is in no file of the store; if it is a secret, it
//! never was.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    Export, Exported, Filter, ListQuery, MAX_LIMIT, NewSource, Purge, Scope, SourceKind, Viewer,
};
use memorist_engine::{Engine, Error};
use memorist_ingest::moving::{MoveIn, MoveReport, move_in};
use memorist_ingest::noted::Noted;
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sources::formats;
use memorist_ingest::sources::moving::System;
use memorist_ingest::sync::{SyncOptions, Syncer};
use rusqlite::Connection;
use tempfile::TempDir;

/// A word that occurs in nothing else.
const MARKER: &str = "xqzvkestrel";
/// Groups of the words of a system's store; one group is replaced at a time.
const GROUPS: usize = 6;

/// A token as a program gives it out.
fn secret() -> String {
    ["ghp", "_Zk3mQx9LpB7vZk3mQx9LpB7vZk3mQx9LpB7v"].concat()
}

/// The files in which a text occurs, or whose path has it. Another process looks: this one has the database open.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let by_text = Command::new("grep").args(["-rliaF", "--", text]).arg(folder).output().unwrap();
    let by_name = Command::new("find").arg(folder).arg("-iname").arg(format!("*{text}*")).output().unwrap();
    let lines = [by_text.stdout, by_name.stdout].concat();
    String::from_utf8_lossy(&lines).lines().map(PathBuf::from).collect()
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sources/tests/corpus")
}

/// All files below a folder of the corpus.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.retain(|path| path.extension().is_none_or(|end| end != "turns"));
    found.sort();
    found
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "_-.".contains(c)
}

fn words(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c| !is_of_word(c));
    words.filter(|word| word.len() > 2 && word.contains(|c: char| c.is_alphabetic())).collect()
}

/// The text with some words replaced by others.
fn replaced<'a>(text: &'a str, other: impl Fn(&'a str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
        out += &other(&rest[..end]).unwrap_or_else(|| rest[..end].to_owned());
        let next = rest[end..].find(is_of_word).map_or(rest.len(), |next| end + next);
        out += &rest[end..next];
        rest = &rest[next..];
    }
    out
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Creates a database from a script. A file that is no longer a database leaves nothing.
fn make(path: &Path, script: &str) -> bool {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made = Connection::open(path).and_then(|agent| {
        agent.pragma_update(None, "foreign_keys", false)?;
        agent.pragma_update(None, "synchronous", false)?;
        agent.execute_batch(&format!("BEGIN; {script}; COMMIT"))
    });
    if made.is_err() {
        fs::remove_file(path).unwrap();
    }
    made.is_ok()
}

/// Where a database of the corpus is, as its agent names it.
fn database(script: &str) -> Option<&'static str> {
    match script {
        "v1.sql" | "v2.sql" => Some("opencode/opencode.db"),
        "agent.sql" => Some("agents/main/agent/openclaw-agent.sqlite"),
        "state.sql" => Some("Cursor/User/globalStorage/state.vscdb"),
        "sessions.sql" => Some("sessions/sessions.db"),
        "crush.sql" => Some(".crush/crush.db"),
        "data.sql" => Some("kiro-cli/data.sqlite3"),
        "threads.sql" => Some("threads/threads.db"),
        _ => None,
    }
}

/// A transcript of the corpus with each word replaced by a text: a copy for each. And one below a folder of that name.
fn plant_transcript(corpus: &Path, file: &Path, folder: &Path, text: &str) {
    let before = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
    let below = file.strip_prefix(corpus).unwrap();
    let at = |folder: &Path| match database(&file.file_name().unwrap().to_string_lossy()) {
        Some(database) => (folder.join(database), true),
        None => (folder.join(below), false),
    };
    let put = |folder: &Path, content: &str| match at(folder) {
        (path, true) => drop(make(&path, content)),
        (path, false) => write(&path, content),
    };
    let name = below.to_string_lossy().replace(['/', '.'], "");
    for (number, word) in words(&before).into_iter().enumerate() {
        // A turn with the same id is the same turn.
        let own_id = |id: &str| (id.len() == 36).then(|| format!("{}{number:06}", &id[..30]));
        let other = |other: &str| if other == word { Some(text.to_owned()) } else { own_id(other) };
        put(&folder.join(format!("{name}{number}")), &replaced(&before, other));
    }
    put(&folder.join(text).join(&name), &before);
}

/// Notes with a text in all that they have.
fn plant_notes(folder: &Path, text: &str) {
    let parts = [
        format!("---\ntitle: {text}\n---\nbody"),
        format!("---\ntags: [one, {text}]\n---\nbody"),
        format!("---\n{text}: one\nother: {text}\n---\nbody"),
        format!("# {text}\n\nbody\n\n## below {text}\n\nmore"),
        format!("body {text} body"),
        format!("```{text}\ncode {text}\n```"),
        format!("[{text}](http://{text}/{text})"),
        format!("\0{text}"),
    ];
    for (number, part) in parts.iter().enumerate() {
        write(&folder.join(format!("{number}.md")), part);
    }
    write(&folder.join(text).join("a.md"), "below a folder");
    write(&folder.join(format!("named {text}.md")), "of that name");
    write(&folder.join(".memoristignore"), &format!("{text}*.txt\n"));
    write(&folder.join(format!("{text}.txt")), text);
}

struct PlantedDesk {
    folder: TempDir,
    engine: Engine,
    syncer: Syncer,
}

impl PlantedDesk {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let store = folder.path().join("store");
        let config = Config::without_model();
        let model = config.model.clone();
        let syncer = Syncer::new(&store, SyncSettings::default(), model);
        PlantedDesk { engine: Engine::open(&store, config).unwrap(), syncer, folder }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Adds a folder that `fill` has filled.
    fn source(&self, name: &str, format: Option<&str>, fill: impl FnOnce(&Path)) {
        let folder = fs::canonicalize(self.folder.path()).unwrap().join(name);
        fs::create_dir_all(&folder).unwrap();
        fill(&folder);
        let (path, format) = (folder.to_str().unwrap().to_owned(), format.map(str::to_owned));
        let kind = if format.is_some() { SourceKind::Sessions } else { SourceKind::Notes };
        let source = NewSource { kind, path, format, globs: Vec::new(), scope: Scope::default() };
        self.engine.add_source(&source).unwrap();
    }

    /// Sources of all kinds, with a text in every place, read.
    fn with_sources(text: &str) -> Self {
        let desk = PlantedDesk::new();
        desk.source("notes", None, |folder| plant_notes(folder, text));
        for format in formats::all() {
            let corpus = corpus().join(format.name().replace('-', "_"));
            desk.source(format.name(), Some(format.name()), |folder| {
                files(&corpus).iter().for_each(|file| plant_transcript(&corpus, file, folder, text));
            });
        }
        desk.sync();
        desk
    }

    fn sync(&self) {
        self.syncer.sync(&self.engine, &SyncOptions::default(), &NoProgress).unwrap();
    }

    fn purge(&self, text: &str) -> memorist_engine::types::Purged {
        self.engine.viewed_by(&Viewer::OWNER).purge(&Purge::Text(text.into()), &NoProgress).unwrap()
    }

    /// The records and all else that an export has, as text.
    fn exported(&self) -> String {
        let mut text = String::new();
        let take = |exported: Exported| -> Result<(), Error> {
            text += &format!("{exported:?}\n");
            Ok(())
        };
        let export = Export { filter: Filter::default(), ids: None, embeddings: false, accesses: true };
        self.engine.export(&export, take).unwrap();
        text
    }
}

/// A store of each system with some of its words replaced by a text, brought into a store of its own.
fn with_moved(text: &str, check: impl Fn(&PlantedDesk)) {
    for system in System::ALL {
        for group in 0..GROUPS {
            let desk = PlantedDesk::new();
            let other = desk.folder.path().join("other");
            fs::create_dir(&other).unwrap();
            plant_store(system, &other, group, text);
            let store = MoveIn { system, path: &other, defaults: &Scope::default() };
            // One whose tables have other names now is refused.
            let _refused = move_in(&desk.engine, store, &NoProgress, &mut MoveReport::default());
            check(&desk);
        }
    }
}

fn plant_store(system: System, other: &Path, group: usize, text: &str) {
    let at = |name: &str| corpus().join("moving").join(name);
    let scripts: &[(&str, &str)] = match system {
        System::Mudpuppy => &[("memory.db", "mudpuppy.sql")],
        System::Memorizer => &[("memory.db", "memorizer.sql")],
        System::Krolik => &[("krolik.db", "krolik.sql")],
        System::Gimli => &[("state/memory/main.sqlite", "gimli.sql")],
        System::Openclaw => &[("agents/home/agent/openclaw-agent.sqlite", "openclaw.sql")],
        System::BasicMemory => &[("Tea.md", "basic-memory/Tea.md"), ("coffee.md", "basic-memory/coffee.md")],
        System::ServerMemory => &[("memory.jsonl", "server-memory.jsonl")],
        System::Mem0 => &[("export.json", "mem0_export.json"), ("history.db", "mem0_history.sql")],
        System::ClaudeMem => &[("claude-mem.db", "claude_mem.sql")],
    };
    for (path, script) in scripts {
        let before = fs::read_to_string(at(script)).unwrap();
        let path = other.join(path);
        if !script.ends_with(".sql") {
            let some: BTreeSet<&str> = words(&before).into_iter().skip(group).step_by(GROUPS).collect();
            write(&path, &replaced(&before, |word| some.contains(word).then(|| text.to_owned())));
            continue;
        }
        // Of a script, what stands in quotes.
        let quoted = |number: usize| number % 2 == 1;
        let parts: Vec<&str> = before.split('\'').collect();
        let all: BTreeSet<&str> =
            parts.iter().enumerate().filter(|(at, _)| quoted(*at)).flat_map(|(_, part)| words(part)).collect();
        let some: BTreeSet<&str> = all.into_iter().skip(group).step_by(GROUPS).collect();
        let parts = parts.iter().enumerate().map(|(at, part)| match quoted(at) {
            true => replaced(part, |word| some.contains(word).then(|| text.to_owned())),
            false => (*part).to_owned(),
        });
        make(&path, &parts.collect::<Vec<_>>().join("'"));
    }
}

/// 39.6
#[test]
fn text_read_from_files_is_purged_everywhere() {
    let desk = PlantedDesk::with_sources(MARKER);
    let sources = desk.engine.source_stats().unwrap();
    assert!(sources.iter().all(|source| source.files > 2), "{sources:?}");
    assert!(!files_with(&desk.store(), MARKER).is_empty(), "the test sees what is there");
    let purged = desk.purge(MARKER);
    assert!(purged.complete && purged.records > 100, "{purged:?}");
    let named = ["the path of a file of a source", "the name of a project"];
    assert!(purged.stays.iter().all(|stays| named.contains(&stays.what)), "{:?}", purged.stays);
    assert!(named.iter().all(|what| purged.stays.iter().any(|stays| stays.what == *what)), "{:?}", purged.stays);
    assert!(purged.stays.iter().any(|stays| stays.text.ends_with(&format!("/{MARKER}/a.md"))), "{:?}", purged.stays);
    // A turn that names no folder is of the project of its session. The name goes with the last memory that has it.
    let query = ListQuery { project: Some(MARKER.into()), limit: MAX_LIMIT, ..ListQuery::default() };
    let ids = desk.engine.list(&query).unwrap().iter().map(|record| record.id).collect();
    desk.engine.viewed_by(&Viewer::OWNER).purge(&Purge::Ids(ids), &NoProgress).unwrap();
    let purged = desk.purge(MARKER);
    assert_eq!(files_with(&desk.store(), MARKER), Vec::<PathBuf>::new());
    assert_eq!(purged.remaining_files, Vec::<PathBuf>::new(), "locks have nothing");
    // The files are there still.
    desk.sync();
    assert!(!desk.exported().contains(MARKER), "no memory comes back");
}

/// 39.6
#[test]
fn text_of_another_system_is_purged_everywhere() {
    with_moved(MARKER, |desk| {
        let had = !files_with(&desk.store(), MARKER).is_empty();
        let purged = desk.purge(MARKER);
        let left = if purged.stays.is_empty() { files_with(&desk.store(), MARKER) } else { Vec::new() };
        assert!(left.is_empty() && purged.complete, "{left:?} {had}");
    });
}

/// 39.6
#[test]
fn paths_noted_by_hooks_are_purged() {
    let desk = PlantedDesk::new();
    let hooks = desk.store().join("hooks");
    fs::create_dir(&hooks).unwrap();
    let noted = Noted::of(&desk.store());
    let other = Path::new("/home/ana/other.jsonl");
    noted.note(&Path::new("/home/ana").join(MARKER).join("taken.jsonl")).unwrap();
    drop(noted.take().unwrap());
    noted.note(Path::new(&format!("/home/ana/a \"{MARKER}\".jsonl"))).unwrap();
    noted.note(other).unwrap();
    assert_eq!(files_with(&desk.store(), MARKER).len(), 2);
    desk.purge(MARKER);
    assert_eq!(files_with(&desk.store(), MARKER), Vec::<PathBuf>::new());
    assert_eq!(noted.take().unwrap().paths(), [other.to_owned()].into());
}

/// 39.7
#[test]
fn no_secret_of_a_file_is_kept_wherever_it_stands() {
    let secret = secret();
    let desk = PlantedDesk::with_sources(&secret);
    let stats = desk.engine.source_stats().unwrap();
    let left_out = |at: usize| stats[at].source.skipped.counts.get("a path with a secret").copied();
    assert_eq!(left_out(0), Some(2), "{stats:?}");
    assert!((1..stats.len()).all(|at| left_out(at) > Some(0) && stats[at].files > 2), "{stats:?}");
    assert!(desk.exported().contains("[redacted: "), "the rest is kept");
    desk.purge("of nothing that is there");
    assert_eq!(files_with(&desk.store(), &secret), Vec::<PathBuf>::new());
    let path = fs::canonicalize(desk.folder.path()).unwrap().join(&secret);
    fs::create_dir(&path).unwrap();
    let path = path.to_str().unwrap().to_owned();
    let new = NewSource {
        kind: SourceKind::Notes,
        path: "/notes".into(),
        format: None,
        globs: Vec::new(),
        scope: Scope::default(),
    };
    let scope = |scope: Scope| NewSource { scope, ..new.clone() };
    for source in [
        NewSource { path: path.clone(), ..new.clone() },
        NewSource { globs: vec![format!("{secret}/*.md")], ..new.clone() },
        scope(Scope { agent: Some(secret.clone()), project: None }),
        scope(Scope { agent: None, project: Some(secret.clone()) }),
    ] {
        let why = desk.engine.add_source(&source).unwrap_err().to_string();
        assert!(why.contains("contains a secret") && !why.contains(&secret), "{why}");
    }
    assert!(!Noted::of(&desk.store()).is_wanted(&Path::new(&path).join("a.jsonl")).unwrap());
}

/// 39.7
#[test]
fn no_secret_of_another_system_is_kept_wherever_it_stands() {
    let secret = secret();
    with_moved(&secret, |desk| {
        desk.purge("of nothing that is there");
        assert_eq!(files_with(&desk.store(), &secret), Vec::<PathBuf>::new());
        assert!(!desk.exported().contains(&secret));
    });
}
