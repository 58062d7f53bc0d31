//! The stores of other systems, made by the scripts of their documents, brought into a store: whole, once, and not again
//! after they were deleted.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use memorist_engine::config::Config;
use memorist_engine::progress::{NoProgress, Progress};
use memorist_engine::types::{
    Export, Exported, Kind, NewRecord, Portable, PortableLink, Purge, Query, Record, RecordUpdate, Scope, Viewer,
};
use memorist_engine::{Engine, Error};
use memorist_ingest::moving::{MoveIn, MoveReport, move_in};
use memorist_ingest::sources::moving::{MoveError, System};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

/// 2026-02-02T02:40:00Z, and a minute.
const START: i64 = 1_770_000_000_000;
const MINUTE: i64 = 60_000;

macro_rules! corpus {
    ($name:literal) => {
        include_str!(concat!("../../sources/tests/corpus/moving/", $name))
    };
}

/// A store of memorist, and a folder for that of another system.
struct ImportDesk {
    folder: TempDir,
    engine: Engine,
}

impl ImportDesk {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let engine = Engine::open(folder.path().join("store"), Config::without_model()).unwrap();
        fs::create_dir(folder.path().join("other")).unwrap();
        ImportDesk { folder, engine }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("other").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn database(&self, name: &str, script: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        Connection::open(path).unwrap().execute_batch(script).unwrap();
    }

    /// The store of a system, with something of everything.
    fn make(&self, system: System) {
        match system {
            System::Mudpuppy => self.database("memory.db", corpus!("mudpuppy.sql")),
            System::Memorizer => self.database("memory.db", corpus!("memorizer.sql")),
            System::Krolik => self.database("krolik.db", corpus!("krolik.sql")),
            System::Gimli => self.database("state/memory/main.sqlite", corpus!("gimli.sql")),
            System::Openclaw => self.database("agents/home/agent/openclaw-agent.sqlite", corpus!("openclaw.sql")),
            System::BasicMemory => {
                self.write("Tea.md", corpus!("basic-memory/Tea.md"));
                self.write("coffee.md", corpus!("basic-memory/coffee.md"));
                self.write("drinks/cake.md", corpus!("basic-memory/drinks/cake.md"));
            }
            System::ServerMemory => self.write("memory.jsonl", corpus!("server-memory.jsonl")),
            System::Mem0 => {
                self.write("export.json", corpus!("mem0_export.json"));
                self.database("history.db", corpus!("mem0_history.sql"));
            }
            System::ClaudeMem => self.database("claude-mem.db", corpus!("claude_mem.sql")),
        }
    }

    fn try_move(&self, system: System, defaults: &Scope) -> Result<MoveReport, MoveError<Error>> {
        let mut report = MoveReport::default();
        let store = MoveIn { system, path: &self.path(""), defaults };
        move_in(&self.engine, store, &NoProgress, &mut report).map(|()| report)
    }

    fn move_in(&self, system: System) -> MoveReport {
        self.try_move(system, &Scope::default()).unwrap()
    }

    /// All that the store has.
    fn contents(&self) -> Vec<Exported> {
        let mut all = Vec::new();
        let visit = |one| {
            all.push(one);
            Ok::<_, Error>(())
        };
        self.engine.export(&Export::of(Viewer::OWNER), visit).unwrap();
        all
    }

    fn memories(&self) -> Vec<Portable> {
        let records = self.contents().into_iter().filter_map(|one| match one {
            Exported::Record(record) => Some(*record),
            _ => None,
        });
        records.collect()
    }

    fn memory(&self, content: &str) -> Portable {
        let all = self.memories();
        all.iter()
            .find(|memory| memory.text.content.contains(content))
            .unwrap_or_else(|| panic!("no {content:?}: {all:#?}"))
            .clone()
    }

    /// The links, by the texts of their ends.
    fn links(&self) -> Vec<(String, String, String)> {
        let texts: BTreeMap<String, String> =
            self.memories().into_iter().map(|memory| (memory.ulid, memory.text.content)).collect();
        let links = self.contents().into_iter().filter_map(|one| match one {
            Exported::Link(PortableLink { from, kind, to, .. }) => {
                Some((texts[&from].clone(), kind.as_str().to_owned(), texts[&to].clone()))
            }
            _ => None,
        });
        links.collect()
    }

    fn found(&self, query: &str) -> Vec<Record> {
        self.engine.search_unlogged(&Query::new(query)).unwrap().hits.into_iter().map(|hit| hit.record).collect()
    }

    fn first(&self, query: &str) -> Record {
        self.found(query).into_iter().next().unwrap_or_else(|| panic!("{query:?} finds nothing"))
    }
}

/// A query for each system, and the text of its first hit.
fn expected(system: System) -> (&'static str, &'static str) {
    match system {
        System::Mudpuppy => ("dark mode applications", "User prefers dark mode for all applications"),
        System::Memorizer => ("weather", "User: How is the weather?\nAssistant: Fine."),
        System::Krolik => ("SQLite easy to move", "Use SQLite One file is easy to move."),
        System::Gimli => ("second piece", "The second piece"),
        System::Openclaw => ("bought tea", "Bought tea"),
        System::BasicMemory => ("pour over minutes", "Pour over takes 3 minutes #brewing"),
        System::ServerMemory => ("Anna Polish", "Anna: speaks Polish"),
        System::Mem0 => ("likes tea", "Likes tea"),
        System::ClaudeMem => ("table read at start", "Tax is a table It is read at start."),
    }
}

#[test]
fn every_system_is_brought_whole_and_once() {
    for system in System::ALL {
        let desk = ImportDesk::new();
        desk.make(system);
        let report = desk.move_in(system);
        assert!(report.created > 0 && report.refused.is_empty(), "{system}: {report:#?}");
        assert_eq!(report.memories, report.created + report.expired, "{system}: {report:#?}");
        let (query, content) = expected(system);
        assert_eq!(desk.first(query).content, content, "{system}");
        let before = desk.contents();
        assert_eq!(before.len() as u64, report.created + report.links, "{system}");

        let again = desk.move_in(system);
        let unchanged = (again.unchanged, again.expired, again.memories);
        assert_eq!(unchanged, (report.created, report.expired, report.memories), "{system}: {again:#?}");
        assert_eq!((again.links, &again.not_brought), (0, &report.not_brought), "{system}");
        assert!(desk.contents() == before, "{system}: the second run changed something");
    }
}

#[test]
fn times_uses_and_labels_are_kept() {
    let desk = ImportDesk::new();
    desk.make(System::Mudpuppy);
    let report = desk.move_in(System::Mudpuppy);
    assert_eq!(report.not_brought["embeddings (made again)"], 3);
    const AT: i64 = 1_738_540_800_000;
    let memory = desk.memory("dark mode");
    assert_eq!(
        memory.ulid, "01JK4HPP009NBEZDQ4Z95WWWAS",
        "they are in the stores of users: another rule brings all again"
    );
    assert_eq!((memory.created_at, memory.updated_at, memory.version), (AT, AT + 100_000, 1));
    assert_eq!((memory.access_count, memory.last_accessed_at), (2, Some(AT + 150_000)));
    assert_eq!(memory.accesses[1].query.as_deref(), Some("UI preferences"));
    let NewRecord { kind, importance, confidence, tags, context, .. } = memory.text;
    assert_eq!((kind.as_str(), importance, confidence), ("preference", 7, 0.9));
    assert_eq!((tags, context.as_deref()), (vec!["ui".into(), "theme".into()], Some("settings of the editor")));
    assert_eq!(desk.memory("release").text.expires_at, Some(1_970_000_000_000));
}

#[test]
fn history_scope_and_references_are_kept() {
    let desk = ImportDesk::new();
    desk.make(System::Memorizer);
    desk.move_in(System::Memorizer);
    let profile = desk.memory("likes: tea");
    assert_eq!((profile.version, profile.created_at, profile.updated_at), (3, START, START + 4 * MINUTE));
    let earlier: Vec<_> = profile
        .earlier
        .iter()
        .map(|one| (one.version, one.since, one.replaced.at, one.replaced.reason.as_str(), one.text.content.as_str()))
        .collect();
    let first = (1, START, START + 3 * MINUTE, "full name", "name: A.");
    assert_eq!(earlier, [first, (2, START + 3 * MINUTE, START + 4 * MINUTE, "changed", "name: Ann")]);
    assert_eq!(profile.text.scope.agent.as_deref(), Some("main"));
    assert_eq!(desk.memory("Works with Ada").text.scope.agent.as_deref(), Some("other"));
    let said = desk.memory("How is the weather");
    assert_eq!((said.text.session.as_deref(), said.text.turn), (Some("s1"), Some(1)));
    let [ada, bo] = ["Ada, analyst", "Bo"].map(|name| format!("ulid:{}", desk.memory(name).ulid));
    let project = desk.memory("Engine: Builds it").text.body.unwrap();
    assert_eq!(project["primary_contact_id"], ada);
    assert_eq!(project["participants"], json!(["Cy", bo, "Di", ada]));

    let desk = ImportDesk::new();
    desk.make(System::Mem0);
    desk.move_in(System::Mem0);
    let tea = desk.memory("Likes tea");
    assert_eq!((tea.version, tea.earlier[0].text.content.as_str()), (2, "Likes coffee"));
}

#[test]
fn links_are_kept() {
    let desk = ImportDesk::new();
    desk.make(System::Krolik);
    let report = desk.move_in(System::Krolik);
    let links = desk.links();
    assert_eq!((report.links, links.len()), (6, 6));
    let made = ("Fixed the lock Waited for it.", "implements", "Use SQLite One file is easy to move.");
    assert!(links.contains(&(made.0.into(), made.1.into(), made.2.into())), "{links:#?}");
    assert_eq!(desk.memory("Fixed the lock").text.scope.project.as_deref(), Some("shop"));
}

#[test]
fn chunks_keep_their_location_unless_their_path_is_absolute() {
    let desk = ImportDesk::new();
    desk.make(System::Gimli);
    let absolute =
        "INSERT INTO chunks (id, path, source, start_line, end_line, hash, model, text, embedding, updated_at)
         VALUES ('c9', '/notes/a.md', 'memory', 4, 6, 'h9', 'm', 'Of an absolute path', '[]', 1770000500000)";
    desk.database("state/memory/main.sqlite", absolute);
    desk.move_in(System::Gimli);
    let chunk = desk.first("second piece");
    let place = chunk.place.unwrap();
    assert_eq!((place.path.as_str(), place.first_line, place.last_line), ("MEMORY.md", 20, 31));
    assert_eq!((chunk.session.as_deref(), chunk.turn), (Some("gimli:MEMORY.md"), Some(20)));
    assert_eq!((chunk.created_at, chunk.scope.agent.as_deref()), (START, Some("main")));
    let chunk = desk.first("absolute path");
    assert_eq!((chunk.place, chunk.context.as_deref()), (None, Some("/notes/a.md:4-6")));
    assert_eq!(desk.first("hello").kind, Kind::Conversation, "a chunk of a transcript");
}

#[test]
fn deleted_and_purged_memories_are_not_moved_in_again() {
    let desk = ImportDesk::new();
    desk.make(System::ServerMemory);
    // Another with the text of the first: in place of that, it must not come either.
    desk.database(
        "krolik.db",
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, type TEXT, title TEXT, created_at TEXT);
         INSERT INTO memories VALUES (1, 'fact', 'Twins have one text', '2026-02-02T02:40:00Z');
         INSERT INTO memories VALUES (2, 'fact', 'Twins have one text', '2026-02-02T02:41:00Z');",
    );
    let report = desk.move_in(System::Krolik);
    assert_eq!((report.created, report.duplicates), (1, 1));
    let made = desk.move_in(System::ServerMemory);
    let ids: Vec<_> = ["Twins have", "speaks Polish", "lives in Krakow"].map(|text| desk.first(text).id).into();
    assert!(desk.engine.viewed_by(&Viewer::OWNER).delete(ids[0]).unwrap());
    assert!(desk.engine.viewed_by(&Viewer::OWNER).delete(ids[1]).unwrap());
    desk.engine.viewed_by(&Viewer::OWNER).purge(&Purge::Text("lives in Krakow".into()), &NoProgress).unwrap();
    let before = desk.contents();
    let again = desk.move_in(System::ServerMemory);
    assert_eq!((again.deleted, again.created, again.unchanged), (2, 0, made.created - 2));
    assert_eq!(again.not_brought["links of memories that were left out"], 4);
    let again = desk.move_in(System::Krolik);
    assert_eq!((again.deleted, again.created, again.duplicates), (2, 0, 0));
    assert!(desk.contents() == before);

    desk.engine.viewed_by(&Viewer::OWNER).restore(ids[1]).unwrap();
    let again = desk.move_in(System::ServerMemory);
    assert_eq!((again.deleted, again.unchanged), (1, made.created - 1), "what was restored is there");
}

#[test]
fn a_later_move_does_not_overwrite_a_changed_memory() {
    let desk = ImportDesk::new();
    desk.make(System::Mudpuppy);
    desk.move_in(System::Mudpuppy);
    let id = desk.first("dark mode").id;
    let update = RecordUpdate { content: Some("Prefers light mode".into()), ..RecordUpdate::default() };
    desk.engine.viewed_by(&Viewer::OWNER).update(id, &update).unwrap();
    let before = desk.contents();
    desk.move_in(System::Mudpuppy);
    assert!(desk.contents() == before);
}

#[test]
fn secrets_are_taken_out() {
    let desk = ImportDesk::new();
    desk.make(System::Mudpuppy);
    let secret = "UPDATE memory_entries SET content = 'The pass' || 'word: hunter2secret' WHERE id = 2;
         UPDATE memory_access_log SET query_text = 'pass' || 'word: hunter2secret' WHERE query_text IS NOT NULL";
    desk.database("memory.db", secret);
    let report = desk.move_in(System::Mudpuppy);
    assert_eq!((report.redacted, report.refused.len()), (2, 0));
    assert!(desk.memory("The password").text.content.contains("[redacted"));
    assert!(!format!("{:?}", desk.contents()).contains("hunter2secret"));
}

#[test]
fn a_project_and_an_agent_are_those_of_memories_without_one() {
    let desk = ImportDesk::new();
    desk.make(System::Krolik);
    let defaults = Scope { agent: Some("scout".into()), project: Some("garden".into()) };
    desk.try_move(System::Krolik, &defaults).unwrap();
    let scope = |content: &str| desk.memory(content).text.scope;
    assert_eq!(scope("Slow start"), defaults);
    assert_eq!(scope("Use SQLite"), Scope { project: Some("shop".into()), ..defaults.clone() });
    let elsewhere = desk.move_in(System::Krolik);
    let why = elsewhere.refused.keys().next().unwrap();
    assert!(why.contains("another project or agent") && elsewhere.created == 0, "{elsewhere:#?}");
}

#[test]
fn a_store_of_undated_memories_is_not_taken_for_another() {
    let script = |title: &str| {
        format!(
            "CREATE TABLE memories (id INTEGER PRIMARY KEY, type TEXT, title TEXT);
             INSERT INTO memories VALUES (1, 'fact', '{title}')"
        )
    };
    let desk = ImportDesk::new();
    desk.database("krolik.db", &script("The first"));
    desk.move_in(System::Krolik);
    fs::remove_file(desk.path("krolik.db")).unwrap();
    desk.database("krolik.db", &script("The second"));
    assert_eq!(desk.move_in(System::Krolik).created, 1);
    assert_eq!(desk.memories().len(), 2);
}

#[test]
fn an_invalid_store_is_an_error_that_names_its_path() {
    for system in System::ALL {
        let desk = ImportDesk::new();
        desk.write("memory.db", "no database");
        desk.write("memory.jsonl", "no graph");
        desk.write("export.json", "{");
        let error = desk.try_move(system, &Scope::default()).unwrap_err();
        assert!(matches!(error, MoveError::Store(_)), "{system}: {error}");
        assert!(error.to_string().contains("other"), "{system}: it names the path: {error}");
        assert!(desk.memories().is_empty());
    }
}

#[test]
fn an_interrupted_run_is_continued_by_the_next() {
    struct Stopped;
    impl Progress for Stopped {
        fn start(&self, _: &str, _: Option<u64>) {}
        fn advance(&self, _: u64) {}
        fn finish(&self) {}
        fn cancelled(&self) -> bool {
            true
        }
    }
    let desk = ImportDesk::new();
    desk.make(System::Krolik);
    let path = desk.path("");
    let store = MoveIn { system: System::Krolik, path: &path, defaults: &Scope::default() };
    let stopped = move_in(&desk.engine, store, &Stopped, &mut MoveReport::default());
    assert!(matches!(stopped, Err(MoveError::Visit(Error::Cancelled))), "{stopped:?}");
    assert_eq!(desk.move_in(System::Krolik).created, 5);
}
