//! Files into a store: once, as they are, and only as long as they are there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    FileChanges, FileContent, FileReading, FileStamp, Filter, Kind, ListQuery, NewRecord, NewSource, Origin, Place,
    Query, Record, Scope, SourceFile, SourceId, SourceKind, Viewer,
};
use memorist_ingest::remove::remove_source;
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sync::{SyncOptions, SyncReport, Syncer};
use tempfile::TempDir;

/// A store, and a folder of files.
struct Desk {
    folder: TempDir,
    engine: Engine,
    syncer: Syncer,
}

impl Desk {
    fn new(settings: SyncSettings) -> Self {
        let folder = TempDir::new().unwrap();
        let store = folder.path().join("store");
        let config = Config::without_model();
        let model = config.model.clone();
        let engine = Engine::open(&store, config).unwrap();
        fs::create_dir(folder.path().join("files")).unwrap();
        Desk { engine, syncer: Syncer::new(&store, settings, model), folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("files").join(name)
    }

    /// Writes a file, with another time than before.
    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn source(&self, kind: SourceKind, format: Option<&str>) {
        let new = NewSource {
            kind,
            path: self.folder.path().join("files").to_str().unwrap().into(),
            format: format.map(str::to_owned),
            globs: Vec::new(),
            scope: Scope::default(),
        };
        self.engine.add_source(&new).unwrap();
    }

    fn notes() -> Self {
        let desk = Desk::new(SyncSettings::default());
        desk.source(SourceKind::Notes, None);
        desk
    }

    fn sync(&self) -> SyncReport {
        self.syncer.sync(&self.engine, &SyncOptions::default(), &NoProgress).unwrap()
    }

    fn remove(&self, source: SourceId, with_records: bool) -> Option<u64> {
        remove_source(&self.syncer, &self.engine, source, with_records, &NoProgress).unwrap()
    }

    fn changes(&self) -> FileChanges {
        self.sync().changes()
    }

    /// Has the store know the file as one of another device.
    fn on_another_disk(&self, name: &str) {
        let source = self.engine.sources().unwrap()[0].id;
        let SourceFile { id, path, thread, stamp, hash, cursor, .. } =
            self.engine.source_file(source, self.path(name).to_str().unwrap()).unwrap().unwrap();
        let stamp = FileStamp { identity: (stamp.identity.0.wrapping_add(1), stamp.identity.1), ..stamp };
        let (skipped, content) = (BTreeMap::new(), FileContent::Unchanged);
        let reading =
            FileReading { file: Some(id), path, thread, stamp, hash, cursor, problem: None, skipped, content };
        self.engine.save_readings(source, vec![reading]).unwrap();
    }

    fn records(&self) -> Vec<Record> {
        let query = ListQuery { limit: 1_000, ..ListQuery::default() };
        let mut records = self.engine.list(&query).unwrap();
        records.sort_by_key(|record| (record.session.clone(), record.turn, record.id));
        records
    }

    fn texts(&self) -> Vec<String> {
        self.records().into_iter().map(|record| record.content).collect()
    }

    fn found(&self, query: &str) -> Vec<Record> {
        self.engine.search(&Query::new(query)).unwrap().hits.into_iter().map(|hit| hit.record).collect()
    }
}

/// F9, R19, R20, Z12: a note is chunks with their lines, its name among their tags.
#[test]
fn a_note_is_found_at_its_lines_and_follows_its_file() {
    let desk = Desk::notes();
    desk.write("deep/a.md", "---\ntags: [ops]\n---\n# Plan\n\nThe zebra deploys on Tuesdays.\n");
    assert_eq!(desk.changes().added, 1);
    let found = desk.found("zebra").remove(0);
    let place = found.place.clone().unwrap();
    assert_eq!((found.kind, place.path.as_str()), (Kind::Chunk, desk.path("deep/a.md").to_str().unwrap()));
    assert_eq!((place.first_line, place.last_line), (4, 6));
    assert_eq!(
        (found.tags.as_slice(), found.source.as_str()),
        (&["a.md".to_owned(), "ops".to_owned()][..], "file-index")
    );
    assert!(found.context.unwrap().contains("Plan"));
    assert_eq!(desk.changes(), FileChanges::default(), "nothing changed");
    desk.write("deep/a.md", "# Plan\n\nThe giraffe deploys on Thursdays.\n");
    assert_eq!(desk.changes(), FileChanges { added: 1, removed: 1, ..FileChanges::default() });
    assert!(desk.found("zebra").is_empty());
    fs::remove_file(desk.path("deep/a.md")).unwrap();
    assert_eq!(desk.changes().removed, 1);
    assert!(desk.records().is_empty());
}

/// A note of so many sections, each longer than a quarter of a chunk.
fn long_note(changed: usize) -> String {
    (0..40)
        .map(|section| {
            let words = if section == changed { "changed" } else { "sameness" };
            format!("## Section {section}\n\n{}\n\n", format!("{words} of number {section} goes on. ").repeat(18))
        })
        .collect()
}

/// F6, F13, F16: only what changed is read, and embedded, again.
#[test]
fn an_edit_of_a_paragraph_changes_its_chunk_alone() {
    let desk = Desk::notes();
    desk.write("a.md", &long_note(usize::MAX));
    let first = desk.changes().added;
    assert!(first > 10, "{first}");
    let before: Vec<_> = desk.records().into_iter().map(|record| record.id).collect();
    desk.write("a.md", &format!("A new beginning.\n\n{}", long_note(20)));
    let changes = desk.changes();
    assert!(changes.added <= 4 && changes.kept + 3 >= first, "{changes:?}");
    let after: Vec<_> = desk.records().into_iter().map(|record| record.id).collect();
    assert!(before.iter().filter(|id| after.contains(id)).count() as u64 + 3 >= first, "their ids stay");
    let last = desk.records().pop().unwrap();
    let lines = fs::read_to_string(desk.path("a.md")).unwrap().lines().count() as u64;
    assert!(last.place.unwrap().last_line + 1 >= lines, "their lines follow");
}

#[test]
fn a_renamed_note_keeps_its_memories() {
    let desk = Desk::notes();
    desk.write("a.md", "# One\n\nAlpha.\n");
    desk.sync();
    let id = desk.records()[0].id;
    fs::rename(desk.path("a.md"), desk.path("b.md")).unwrap();
    desk.write("a.md", "# One\n\nAlpha.\n");
    let changes = desk.changes();
    assert_eq!((changes.removed, changes.added), (0, 1));
    let records = desk.records();
    let moved = records.iter().find(|record| record.id == id).unwrap().place.clone().unwrap();
    // The new file may have got the old one's name before the old one was missed: then its chunks are found there.
    assert!(moved.path.ends_with("a.md") || moved.path.ends_with("b.md"));
    assert_eq!(records.len(), 2);
    desk.sync();
    assert_eq!(desk.records().len(), 2);
}

/// F8, F11.
#[test]
fn unreadable_files_and_folders_are_reported_and_memories_stay() {
    let desk = Desk::notes();
    desk.write("a.md", "Alpha beta.\n");
    desk.write("bytes.md", "zero \0 bytes");
    desk.write("bad.md", "x");
    fs::write(desk.path("bad.md"), b"caf\xe9 latin\n").unwrap();
    let report = desk.sync();
    assert_eq!(report.sources[0].skipped.get("no text"), Some(&1));
    assert_eq!(desk.texts().len(), 2);
    let away = desk.folder.path().join("away");
    fs::rename(desk.folder.path().join("files"), &away).unwrap();
    let report = desk.sync();
    assert_eq!((report.sources[0].failed, report.changes()), (1, FileChanges::default()));
    assert_eq!(desk.texts().len(), 2, "the folder is gone, or not mounted");
    fs::rename(&away, desk.folder.path().join("files")).unwrap();
    assert_eq!(desk.changes(), FileChanges::default());
}

/// The folder of a disk that is not mounted is there, and empty. The test says that the file was on another disk.
#[test]
fn an_empty_folder_of_another_disk_has_lost_nothing() {
    for (kind, format, name) in
        [(SourceKind::Notes, None, "a.md"), (SourceKind::Sessions, Some("claude-code"), "-p-atlas/1.jsonl")]
    {
        let desk = Desk::new(SyncSettings::default());
        desk.source(kind, format);
        let text = turn("u1", "the zebra");
        desk.write(name, &text);
        desk.sync();
        desk.on_another_disk(name);
        fs::remove_file(desk.path(name)).unwrap();
        for _ in 0..2 {
            let report = desk.sync().sources.remove(0);
            assert_eq!((report.gone, report.changes, report.failed), (0, FileChanges::default(), 1));
            assert!(report.problems[0].1.contains("may not be mounted"), "{:?}", report.problems);
            assert_eq!(report.skipped.get("on a disk that is not mounted"), Some(&1));
            let stats = desk.engine.source_stats().unwrap().remove(0);
            assert_eq!(stats.source.skipped.counts, report.skipped, "it is said later, too");
            assert_eq!((desk.records().len(), stats.gone), (1, 0));
        }
        desk.write(name, &text);
        let report = desk.sync().sources.remove(0);
        assert_eq!((report.failed, report.changes.added, report.changes.removed), (0, 0, 0), "it is back");
        fs::remove_file(desk.path(name)).unwrap();
        assert_eq!(desk.sync().sources[0].gone, 1, "from its own disk it was deleted");
        assert_eq!(desk.records().is_empty(), kind == SourceKind::Notes);
    }
}

#[test]
fn a_folder_with_files_is_mounted() {
    let desk = Desk::notes();
    desk.write("a.md", "Alpha.\n");
    desk.write("b.md", "Beta.\n");
    desk.sync();
    desk.on_another_disk("a.md");
    fs::remove_file(desk.path("a.md")).unwrap();
    assert_eq!((desk.changes().removed, desk.texts()), (1, vec!["Beta.".to_owned()]));
}

/// A link that leads nowhere but to itself cannot be read by anybody; a folder that may not be listed can be by some.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_examined_keeps_its_memories() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let desk = Desk::notes();
    desk.write("a.md", "Alpha.\n");
    desk.write("deep/b.md", "Beta.\n");
    desk.write("c.md", "Gamma.\n");
    desk.sync();
    let stays = |name: &str| {
        let report = desk.sync().sources.remove(0);
        assert_eq!((report.gone, report.changes, report.failed), (0, FileChanges::default(), 1), "{name}");
        assert!(report.problems[0].0.ends_with(name) && report.problems[0].1.contains("stay"), "{:?}", report.problems);
        assert_eq!(desk.texts().len(), 3);
    };
    fs::remove_file(desk.path("a.md")).unwrap();
    symlink("a.md", desk.path("a.md")).unwrap();
    stays("a.md");
    fs::remove_file(desk.path("a.md")).unwrap();
    desk.write("a.md", "Alpha.\n");
    assert_eq!(desk.sync().sources[0].failed, 0);
    for mode in [0o111, 0] {
        fs::set_permissions(desk.path("deep"), fs::Permissions::from_mode(mode)).unwrap();
        if fs::read_dir(desk.path("deep")).is_err() {
            stays("deep/b.md");
        }
    }
    fs::set_permissions(desk.path("deep"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(desk.changes(), FileChanges::default());
}

/// Removing a source while other processes read it leaves nothing of it.
#[test]
fn a_source_that_is_removed_while_it_is_read_leaves_nothing() {
    let desk = Desk::new(SyncSettings::default());
    for number in 0..10 {
        desk.write(&format!("{number}.md"), &format!("Note {number}.\n"));
    }
    for round in 0..20 {
        desk.source(SourceKind::Notes, None);
        let source = desk.engine.sources().unwrap()[0].id;
        desk.sync();
        let readings: Vec<FileReading> = (0..200_u8)
            .map(|number| {
                let path = desk.path(&format!("late {number}.md")).to_str().unwrap().to_owned();
                let origin = Origin::from_bytes([number; 16]);
                let place = Some(Place::new(origin, path.clone(), 1, 1));
                let chunk = NewRecord { kind: Kind::Chunk, place, ..NewRecord::new(format!("Late {number}.")) };
                FileReading::new(path, FileContent::Chunks(vec![chunk]))
            })
            .collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for reading in readings {
                    if desk.engine.save_readings(source, vec![reading]).unwrap().is_none() {
                        return;
                    }
                }
            });
            std::thread::sleep(std::time::Duration::from_millis(round % 5));
            assert!(desk.remove(source, true) >= Some(10));
        });
        assert_eq!(desk.texts(), Vec::<String>::new(), "in round {round}");
    }
}

#[test]
fn secrets_in_files_are_redacted() {
    let desk = Desk::notes();
    let secret = concat!("Tr0ub4", "dor&3");
    desk.write("a.md", &format!("# Keys\n\nlogin: password = {secret}\n"));
    desk.sync();
    assert!(desk.texts()[0].contains("[redacted: "), "{:?}", desk.texts());
    assert!(!desk.texts()[0].contains(secret));
}

fn turn(id: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{id}\",\"sessionId\":\"S\",\"timestamp\":\"2026-11-02T09:00:00.000Z\",\"cwd\":\"/p/atlas\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

/// F12, F18: a transcript is read on where it ended.
#[test]
fn a_session_grows_is_copied_and_outlives_its_file() {
    let desk = Desk::new(SyncSettings::default());
    desk.source(SourceKind::Sessions, Some("claude-code"));
    let file = "-p-atlas/0f8fad5b-d9cb-469f-a165-70867728950e.jsonl";
    desk.write(file, &turn("u1", "why is the zebra red"));
    assert_eq!(desk.changes().added, 1);
    desk.write(file, &(turn("u1", "why is the zebra red") + &turn("u2", "go on")));
    assert_eq!(desk.changes(), FileChanges { added: 1, ..FileChanges::default() });
    let copy = "-p-atlas/7c9e6679-7425-40de-944b-e07fc1f90ae7.jsonl";
    desk.write(copy, &(turn("u1", "why is the zebra red") + &turn("u3", "and then")));
    assert_eq!(desk.changes().added, 1, "the copy of a turn is no other turn");
    fs::remove_file(desk.path(file)).unwrap();
    let report = desk.sync();
    assert_eq!((report.sources[0].gone, desk.texts().len()), (1, 3), "what was said stays");
    let said = desk.found("zebra").remove(0);
    assert_eq!((said.scope.project.as_deref(), said.tags.as_slice()), (Some("atlas"), &["user".to_owned()][..]));
    let place = said.place.unwrap();
    assert_eq!((place.role.as_deref(), place.cwd.as_deref(), place.first_line), (Some("user"), Some("/p/atlas"), 1));
    assert!(desk.engine.viewed_by(&Viewer::OWNER).delete(said.id).unwrap());
    let options = SyncOptions { force: true, ..SyncOptions::default() };
    let again = desk.syncer.sync(&desk.engine, &options, &NoProgress).unwrap().changes();
    assert_eq!((again.added, desk.texts().len()), (0, 2), "what was deleted does not come back");
}

#[test]
fn a_rewind_removes_turns_but_an_emptied_file_removes_none() {
    let desk = Desk::new(SyncSettings::default());
    desk.source(SourceKind::Sessions, Some("gemini"));
    let file = "atlas/chats/session-2026-11-02T09-00-0f8fad5b.jsonl";
    let said = "{\"sessionId\":\"S\",\"projectHash\":\"p\"}\n\
                {\"id\":\"m1\",\"type\":\"user\",\"content\":\"why is the zebra red\"}\n";
    desk.write(file, said);
    assert_eq!((desk.changes().added, desk.texts().len()), (1, 1));
    desk.write(file, "");
    assert_eq!((desk.changes(), desk.texts().len()), (FileChanges::default(), 1));
    desk.write(file, "{\"sessionId\":\n");
    assert_eq!((desk.changes(), desk.texts().len()), (FileChanges::default(), 1));
    desk.write(file, &format!("{said}{{\"$rewindTo\":\"m1\"}}\n"));
    assert_eq!((desk.changes().removed, desk.texts().len()), (1, 0));
    desk.write(file, &format!("{said}{{\"$rewindTo\":\"m1\"}}\n{}\n", said.lines().last().unwrap()));
    assert_eq!((desk.changes().added, desk.texts().len()), (1, 1), "it is said again");
}

/// Lines without ids of their own are numbered in each file.
#[test]
fn files_of_one_name_do_not_replace_each_other() {
    let desk = Desk::new(SyncSettings::default());
    desk.source(SourceKind::Sessions, Some("gimli"));
    for agent in ["a", "b"] {
        let line = format!("{{\"type\":\"message\",\"role\":\"user\",\"content\":\"said to {agent}\"}}\n");
        desk.write(&format!("{agent}/sessions/main.jsonl"), &line);
    }
    assert_eq!((desk.changes().added, desk.texts().len()), (2, 2));
    let options = SyncOptions { force: true, ..SyncOptions::default() };
    assert_eq!(desk.syncer.sync(&desk.engine, &options, &NoProgress).unwrap().changes().kept, 2);
}

#[test]
fn a_source_goes_with_or_without_its_memories() {
    let desk = Desk::notes();
    desk.write("a.md", "Alpha.\n");
    desk.sync();
    let source = desk.engine.sources().unwrap()[0].id;
    assert_eq!(desk.remove(source, false), Some(0));
    assert_eq!(desk.texts().len(), 1);
    desk.source(SourceKind::Notes, None);
    assert_eq!(desk.changes().kept, 1, "they are known when it is added again");
    let source = desk.engine.sources().unwrap()[0].id;
    assert_eq!(desk.remove(source, true), Some(1));
    assert!(desk.texts().is_empty());
    desk.source(SourceKind::Notes, None);
    assert_eq!(desk.changes().added, 1);
}

#[test]
fn a_turn_that_another_source_repeats_stays_with_it() {
    let desk = Desk::new(SyncSettings::default());
    let add = |folder: &str, kind, format: Option<&str>| {
        let path = desk.path(folder).to_str().unwrap().to_owned();
        let format = format.map(str::to_owned);
        desk.engine.add_source(&NewSource { kind, path, format, globs: Vec::new(), scope: Scope::default() }).unwrap().0
    };
    let file = "-p-atlas/0f8fad5b-d9cb-469f-a165-70867728950e.jsonl";
    let copy = "-p-atlas/7c9e6679-7425-40de-944b-e07fc1f90ae7.jsonl";
    desk.write(&format!("one/{file}"), &(turn("u1", "why is the zebra red") + &turn("u2", "go on")));
    let one = add("one", SourceKind::Sessions, Some("claude-code"));
    desk.sync();
    desk.write(&format!("two/{copy}"), &(turn("u1", "why is the zebra red") + &turn("u3", "and then")));
    let two = add("two", SourceKind::Sessions, Some("claude-code"));
    desk.sync();
    let id = desk.found("zebra")[0].id;
    assert_eq!(desk.remove(one, true), Some(1));
    assert_eq!((desk.texts().len(), desk.found("zebra")[0].id), (2, id));
    let place = desk.found("zebra")[0].place.clone().unwrap();
    assert!(place.path.starts_with(desk.path("two").to_str().unwrap()), "{}", place.path);
    assert_eq!((desk.changes(), desk.remove(two, true)), (FileChanges::default(), Some(2)));
    desk.write("notes/in/a.md", "Alpha.\n");
    let inner = add("notes/in", SourceKind::Notes, None);
    desk.sync();
    let outer = add("notes", SourceKind::Notes, None);
    desk.sync();
    assert_eq!((desk.remove(inner, true), desk.changes().added), (Some(1), 1), "a file is of one source at a time");
    assert_eq!(desk.remove(outer, true), Some(1));
}

/// The thread of a note is the path that it had at first, which another note may have by now.
#[test]
fn a_renamed_note_is_known_when_its_source_is_added_again() {
    let desk = Desk::notes();
    desk.write("a.md", "# One\n\nAlpha.\n");
    desk.sync();
    fs::rename(desk.path("a.md"), desk.path("b.md")).unwrap();
    desk.sync();
    let id = desk.records()[0].id;
    let source = desk.engine.sources().unwrap()[0].id;
    desk.remove(source, false);
    desk.write("a.md", "# Two\n\nBeta.\n");
    desk.source(SourceKind::Notes, None);
    assert_eq!((desk.changes().added, desk.texts().len()), (1, 2));
    let record = |text: &str| desk.records().into_iter().find(|record| record.content.contains(text)).unwrap();
    assert_eq!((record("Alpha").id, record("Alpha").place.unwrap().path.ends_with("b.md")), (id, true));
    assert!(record("Beta").place.unwrap().path.ends_with("a.md"));
    fs::remove_file(desk.path("b.md")).unwrap();
    assert_eq!((desk.changes().removed, desk.texts().len()), (1, 1));
}

/// Memories are saved already. Notes that people write between their lines are not.
#[test]
fn lines_of_the_daily_log_are_not_read() {
    let desk = Desk::notes();
    let log = "# 2026-11-25\n\n- **14:30:00** [fact] (manual) zebra\n";
    desk.write("memory/2026-11-25.md", log);
    desk.write("a.md", "Alpha.\n");
    let report = desk.sync();
    assert_eq!((report.changes().added, report.sources[0].skipped.get("the daily log")), (1, Some(&1)));
    desk.write("memory/2026-11-25.md", &format!("{log}Ben wants the lamp green.\n{}", log.lines().last().unwrap()));
    desk.write("memory/people.md", "Ben is a cook.\n");
    let report = desk.sync();
    assert_eq!((report.changes().added, report.sources[0].skipped.get("lines of the daily log")), (2, Some(&2)));
    let texts = desk.texts();
    assert!(texts.iter().any(|text| text.contains("Ben wants the lamp green.")), "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains("zebra")), "{texts:?}");
}

#[test]
fn many_processes_read_a_file_once() {
    let desk = Desk::notes();
    for number in 0..200 {
        desk.write(&format!("{number}.md"), &format!("# Note {number}\n\nText of {number}.\n"));
    }
    let store = desk.folder.path().join("store");
    let added: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let store: &Path = &store;
                scope.spawn(move || {
                    let config = Config::without_model();
                    let syncer = Syncer::new(store, SyncSettings::default(), config.model.clone());
                    let engine = Engine::open(store, config).unwrap();
                    syncer.sync(&engine, &SyncOptions::default(), &NoProgress).unwrap().changes().added
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((added, desk.texts().len()), (200, 200));
}

#[test]
fn an_ignore_file_removes_the_memories_of_excluded_notes() {
    let desk = Desk::notes();
    desk.write("a.md", "Alpha.\n");
    desk.write("private/b.md", "Beta.\n");
    desk.sync();
    desk.write(".memoristignore", "private/\n");
    assert_eq!((desk.changes().removed, desk.texts()), (1, vec!["Alpha.".to_owned()]));
    fs::remove_file(desk.path(".memoristignore")).unwrap();
    assert_eq!(desk.changes().added, 1);
}

/// Every third place of an answer is kept for what somebody saved, if it has to do with the question.
#[test]
fn notes_do_not_drown_memories() {
    let desk = Desk::notes();
    for number in 0..40 {
        desk.write(&format!("{number}.md"), &format!("The zebra release {number} of the harbour team is planned.\n"));
    }
    desk.sync();
    let save = |text: &str| desk.engine.add(&NewRecord::new(text)).unwrap().id;
    let related = save("Ana decides about each zebra release, whoever asks, and in whatever week it is");
    save("Lunch is at noon");
    let query = Query { limit: 9, ..Query::new("zebra release harbour team") };
    let reply = desk.engine.search(&query).unwrap();
    let memories: Vec<_> = reply.hits.iter().filter(|hit| !hit.record.kind.is_read()).collect();
    assert_eq!(memories.iter().map(|hit| hit.record.id).collect::<Vec<_>>(), [related]);
    assert_eq!((reply.hits.len(), reply.reserved, reply.more), (9, 1, true));
    assert!(reply.hits.is_sorted_by(|before, after| before.score >= after.score));
    let next = desk.engine.search(&Query { offset: 8, ..query.clone() }).unwrap();
    assert!(
        !next.hits.is_empty()
            && next.hits.iter().all(|hit| reply.hits.iter().take(8).all(|first| first.record.id != hit.record.id)),
        "what was displaced comes next"
    );
    let small = desk.engine.search(&Query { limit: 2, ..query.clone() }).unwrap();
    assert_eq!(small.reserved, 0);
    let kinds = vec![Kind::Chunk];
    let notes = Query { filter: Filter { kinds, ..Filter::default() }, ..query };
    assert_eq!(desk.engine.search(&notes).unwrap().reserved, 0, "a query that names kinds gets these");
}
