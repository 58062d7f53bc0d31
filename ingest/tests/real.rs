//! Notes and transcripts as they are found on disks: nothing lost, nothing doubled.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    FileContent, FileReading, Kind, ListQuery, NewRecord, NewSource, Origin, Place, Query, Record, Scope, SourceFile,
    SourceKind,
};
use memorist_ingest::refit::replace_format;
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sync::{SourceReport, SyncOptions, Syncer};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A store, and a folder of files that is its only source.
struct RealDesk {
    folder: TempDir,
    engine: Engine,
    syncer: Syncer,
}

impl RealDesk {
    /// `format` is that of the transcripts; without one the files are notes.
    fn new(format: Option<&str>) -> Self {
        let folder = TempDir::new().unwrap();
        let store = folder.path().join("store");
        let config = Config::without_model();
        let model = config.model.clone();
        let engine = Engine::open(&store, config).unwrap();
        fs::create_dir(folder.path().join("files")).unwrap();
        let desk = RealDesk { engine, syncer: Syncer::new(&store, SyncSettings::default(), model), folder };
        let new = NewSource {
            kind: if format.is_some() { SourceKind::Sessions } else { SourceKind::Notes },
            format: format.map(str::to_owned),
            ..with_path(&desk, "")
        };
        desk.engine.add_source(&new).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("files").join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        // A file that is new now is read a second time, lest it changed meanwhile.
        let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
        fs::File::options().write(true).open(path).unwrap().set_modified(hour_ago).unwrap();
    }

    fn sync(&self) -> SourceReport {
        self.syncer.sync(&self.engine, &SyncOptions::default(), &NoProgress).unwrap().sources.remove(0)
    }

    fn records(&self) -> Vec<Record> {
        let query = ListQuery { limit: 1_000, ..ListQuery::default() };
        let mut records = self.engine.list(&query).unwrap();
        records.sort_by_key(|record| (record.session.clone(), record.place.as_ref().map(|place| place.first_line)));
        records
    }

    fn texts(&self) -> Vec<String> {
        self.records().into_iter().map(|record| record.content).collect()
    }

    fn found(&self, query: &str) -> Vec<Record> {
        self.engine.search(&Query::new(query)).unwrap().hits.into_iter().map(|hit| hit.record).collect()
    }

    /// The entry of a file in the store.
    fn known(&self, name: &str) -> SourceFile {
        let source = self.engine.sources().unwrap()[0].id;
        self.engine.source_file(source, self.path(name).to_str().unwrap()).unwrap().unwrap()
    }

    /// Has the store know a file as an older version has read it: with this cursor.
    fn of_older_version(&self, name: &str, cursor: &str, content: FileContent) {
        let source = self.engine.sources().unwrap()[0].id;
        let SourceFile { id, path, thread, stamp, hash, .. } = self.known(name);
        let (skipped, cursor) = (BTreeMap::new(), Some(cursor.to_owned()));
        let reading =
            FileReading { file: Some(id), path, thread, stamp, hash, cursor, problem: None, skipped, content };
        self.engine.save_readings(source, vec![reading]).unwrap();
    }
}

/// A line of Claude Code's.
fn claude(kind: &str, id: &str, content: Value) -> String {
    let message = json!({ "role": kind, "content": content });
    let line = json!({ "type": kind, "uuid": id, "sessionId": "S", "cwd": "/nowhere/atlas",
        "timestamp": "2026-11-02T09:00:00.000Z", "message": message });
    format!("{line}\n")
}

/// 44.1, 44.5: what an older version has cut off, or has kept of a program, is mended when the file is read again, and
/// nothing is doubled.
#[test]
fn a_transcript_of_an_older_version_is_read_again_once() {
    const MENTION: &str = "The harness adds a \"<system-reminder>\" block. The fix is to strip it.";
    let desk = RealDesk::new(Some("claude-code"));
    let name = "-p/S.jsonl";
    let lines = claude("user", "u1", json!("why?")) + &claude("assistant", "a1", json!(MENTION));
    desk.write(name, &lines);
    assert_eq!(desk.sync().changes.added, 2);
    let cut = |record: Record, text: &str, id: u8| {
        let mut place = record.place.unwrap();
        if id > 0 {
            place.origin = Origin::from_bytes([id; 16]);
        }
        let new = NewRecord::new(text);
        NewRecord { kind: record.kind, session: record.session, place: Some(place), ..new }
    };
    let of_agent = || desk.records().into_iter().find(|record| record.content == MENTION).unwrap();
    let turns = vec![cut(of_agent(), "The harness adds a", 0), cut(of_agent(), "of a program", 7)];
    let old = r#"{"offset":600,"line":2,"head":[0,""]}"#;
    desk.of_older_version(name, old, FileContent::Turns { turns, whole: false });
    assert_eq!(desk.texts().len(), 3, "{:?}", desk.texts());

    let changes = desk.sync().changes;
    assert_eq!((changes.changed, changes.kept, changes.added, changes.removed), (1, 1, 0, 1), "{changes:?}");
    assert_eq!(desk.texts(), ["why?", MENTION]);
    assert_eq!(desk.found("fix is to strip it")[0].content, MENTION);
    assert_eq!(desk.sync().read, 0, "once");
    desk.write(name, lines + &claude("user", "u2", json!("thanks")));
    assert_eq!((desk.sync().changes.added, desk.texts().len()), (1, 3), "it is read on where it ended");
}

/// A file that was replaced has not taken back what it said before.
#[test]
fn turns_missing_from_a_shortened_file_are_kept() {
    let desk = RealDesk::new(Some("claude-code"));
    desk.write("-p/S.jsonl", claude("user", "u1", json!("one")) + &claude("user", "u2", json!("two")));
    desk.sync();
    desk.write("-p/S.jsonl", claude("user", "u1", json!("one")));
    desk.of_older_version("-p/S.jsonl", "{}", FileContent::Unchanged);
    desk.sync();
    assert_eq!(desk.texts(), ["one", "two"]);
}

/// 44.2: outside an agent's own folder a file is known by its records, and one of another agent is left to its own source.
#[test]
fn transcripts_with_any_name_are_read_by_their_records() {
    let desk = RealDesk::new(Some("codex"));
    let item = json!({ "type": "message", "role": "user", "content": "why?" });
    let rollout = json!({ "type": "response_item", "payload": item });
    desk.write("export.jsonl", format!("{rollout}\n"));
    desk.write("rollout-x.jsonl", claude("user", "u1", json!("of claude")));
    desk.write("rollout-y.jsonl", "nothing that is known\n");
    desk.write("other.jsonl", "nothing that is known\n");
    let report = desk.sync();
    assert_eq!((report.files, desk.texts()), (2, vec!["why?".to_owned()]), "{report:?}");
    assert_eq!(report.skipped.get("of another agent"), Some(&1), "{report:?}");
}

/// 44.2: a source whose format was guessed wrong is read again with another one; one that has transcripts of its format stays.
#[test]
fn another_format_reads_a_source_again() {
    let desk = RealDesk::new(Some("cursor"));
    desk.write("agent-transcripts/a.jsonl", format!("{}\n", json!({ "role": "user", "content": "why?" })));
    desk.engine.add(&NewRecord::new("saved by hand")).unwrap();
    desk.sync();
    // An older version has read it as what it was taken for.
    let (source, path) = (desk.engine.sources().unwrap()[0].id, desk.path("agent-transcripts/a.jsonl"));
    let path = path.to_str().unwrap().to_owned();
    let place = Some(Place::new(Origin::from_bytes([7; 16]), path.clone(), 1, 1));
    let turn = NewRecord { kind: Kind::Conversation, place, ..NewRecord::new("why?") };
    let reading = FileReading::new(path, FileContent::Turns { turns: vec![turn], whole: false });
    desk.engine.save_readings(source, vec![reading]).unwrap();
    assert_eq!(desk.texts().len(), 2);
    let replaced = replace_format(&desk.engine, &with_path(&desk, "gimli")).unwrap();
    desk.engine.add_source(&with_path(&desk, "gimli")).unwrap();
    desk.sync();
    let formats: Vec<_> = desk.engine.sources().unwrap().into_iter().map(|source| source.source.format).collect();
    assert_eq!((replaced, formats), (1, vec![Some("gimli".to_owned())]));
    let mut texts = desk.texts();
    texts.sort();
    assert_eq!(texts, ["saved by hand", "why?"]);
    assert_eq!(replace_format(&desk.engine, &with_path(&desk, "codex")).unwrap(), 0, "it is of gimli");
}

fn with_path(desk: &RealDesk, format: &str) -> NewSource {
    NewSource {
        kind: SourceKind::Sessions,
        path: desk.path("").to_str().unwrap().trim_end_matches('/').into(),
        format: Some(format.to_owned()),
        globs: Vec::new(),
        scope: Scope::default(),
    }
}

/// 44.4: a note is found by its properties, by the name of its file, and if it has nothing else.
#[test]
fn notes_are_found_by_their_properties_and_names() {
    let desk = RealDesk::new(None);
    desk.write(
        "Quarterly zebra.md",
        "---\naliases: [Stripes, \"Horse, wild\"]\ntags: work/savanna\nstatus: overdue\n---\n# Plan\n\nText.\n\nowner:: Beatrix\n",
    );
    desk.write("Only front.md", "---\ntype: person\nphone: 555-0100-77\n---\n");
    desk.write("Empty giraffe.md", "");
    assert_eq!(desk.sync().changes.added, 3);
    let first = |query: &str| desk.found(query).first().unwrap().place.clone().unwrap();
    let is_in = |query: &str, name: &str| {
        let path = first(query).path;
        assert!(path.ends_with(name), "{query} is in {path}");
    };
    for query in ["stripes", "wild horse", "status overdue", "quarterly zebra", "beatrix", "savanna"] {
        is_in(query, "Quarterly zebra.md");
    }
    for query in ["555-0100-77", "type person"] {
        is_in(query, "Only front.md");
        assert_eq!((first(query).first_line, first(query).last_line), (1, 4));
    }
    is_in("giraffe", "Empty giraffe.md");
    let records = desk.records();
    let plan = records.iter().find(|record| record.content.starts_with("# Plan")).unwrap();
    assert!(
        plan.tags.contains(&"work".to_owned()) && plan.tags.contains(&"work/savanna".to_owned()),
        "{:?}",
        plan.tags
    );
    desk.write("Empty giraffe.md", "A neck.\n");
    let changes = desk.sync().changes;
    assert_eq!((changes.added, changes.removed, desk.records().len()), (1, 1, 3), "it is empty no more");
}

/// 44.4: only the first chunk of a note has its properties.
#[test]
fn a_property_is_in_the_first_chunk_alone() {
    let desk = RealDesk::new(None);
    let sections: String =
        (0..30).map(|number| format!("## Part {number}\n\n{}\n\n", "words go on. ".repeat(90))).collect();
    desk.write("a.md", format!("---\nclient: Borealis\n---\n{sections}"));
    desk.sync();
    let contexts: Vec<_> = desk.records().into_iter().filter_map(|record| record.context).collect();
    assert!(contexts.len() > 5);
    assert_eq!(contexts.iter().filter(|context| context.contains("client: Borealis")).count(), 1, "{contexts:?}");
    assert!(contexts[0].contains("client: Borealis"));
}

/// 44.8: notes in other encodings are read, a guess is counted, and a file that is no text is named with its reason.
#[test]
fn notes_in_other_encodings_are_read() {
    let desk = RealDesk::new(None);
    let utf16: Vec<u8> = "\u{feff}# Zebra\n\nstripes\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    desk.write("utf16.md", utf16);
    desk.write("nul.md", "The giraffe has\0a neck, and more than that.\n");
    desk.write("latin.md", b"Die Gr\xF6\xDFe der T\xFCr w\xE4re f\xFCr \xDCberg\xE4nge sch\xF6n.\n");
    desk.write("picture.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0");
    let report = desk.sync();
    assert_eq!((report.changes.added, report.skipped.get("in a guessed encoding")), (3, Some(&1)), "{report:?}");
    assert_eq!(report.skipped.get("no text"), Some(&1));
    for (query, text) in [("stripes", "stripes"), ("giraffe", "has a neck"), ("Größe", "Größe der Tür")] {
        assert!(desk.found(query)[0].content.contains(text), "{query}");
    }
    assert_eq!(desk.sync().read, 0);
}

/// 44.8: each file that is passed over is named with its reason.
#[cfg(unix)]
#[test]
fn files_that_are_passed_over_are_named() {
    let mut desk = RealDesk::new(None);
    let mut settings = SyncSettings::default();
    settings.max_file_bytes = 1_000;
    let store = desk.folder.path().join("store");
    desk.syncer = Syncer::new(&store, settings, Config::without_model().model);
    desk.write("a.md", "The zebra.\n");
    desk.write("b.md", "\0\0\0");
    desk.write("c.md", "long ".repeat(400));
    desk.write("d.png", "no note");
    desk.write(&format!("{}_16C7e42F292c6912E7710c838347Ae178B4a.md", "ghp"), "long ".repeat(400));
    std::os::unix::fs::symlink("/etc/hostname", desk.path("e.md")).unwrap();
    std::os::unix::fs::symlink("nowhere", desk.path("f.md")).unwrap();
    for _ in 0..2 {
        desk.sync();
        let stats = desk.engine.source_stats().unwrap().remove(0);
        let mut named: Vec<_> = stats.unread.iter().map(|(path, why)| (&path[path.len() - 4..], &why[..])).collect();
        named.sort_unstable();
        let outside = "the link points outside the source folder";
        let expected =
            [("b.md", "it is no text"), ("c.md", "too large"), ("e.md", outside), ("f.md", "link to nothing")];
        assert_eq!((named, stats.all_unread), (expected.to_vec(), 5), "a secret path is counted alone");
        assert_eq!(stats.source.skipped.counts["too large"], 2);
    }
    for number in 0..30 {
        desk.write(&format!("{number}.md"), "long ".repeat(400));
    }
    desk.sync();
    let stats = desk.engine.source_stats().unwrap().remove(0);
    assert_eq!((stats.unread.len(), stats.all_unread), (20, 35));
}

/// 44.4: an inline property of a later chunk is found with the first one, and once in each.
#[test]
fn inline_properties_are_in_the_first_chunk() {
    let desk = RealDesk::new(None);
    let sections: String =
        (0..12).map(|number| format!("## Part {number}\n\n{}\n\n", "words go on. ".repeat(90))).collect();
    desk.write("a.md", format!("---\nclient: Borealis\n---\nstage:: early\n\n{sections}\nowner:: Quillfeather\n"));
    desk.sync();
    let records = desk.records();
    assert!(records.len() > 3);
    let context = records[0].context.clone().unwrap();
    assert!(context.ends_with("client: Borealis; owner: Quillfeather"), "{context}");
    let found = desk.found("Quillfeather");
    assert!(found[..2].iter().any(|record| record.id == records[0].id));
    assert!(records[1..].iter().all(|record| !record.context.as_ref().unwrap().contains("Quillfeather")));
}

/// 44.11: notes of other formats are found where they stand in their file.
#[test]
fn notes_of_other_formats_are_found_at_their_places() {
    let desk = RealDesk::new(None);
    desk.write("a.mdx", "import A from 'a'\n\n# Zebra\n\n{/* lion */}\n\nIt sleeps <B />.\n");
    desk.write("b.adoc", "= Giraffe\n:owner: Ana\n\n////\nlion\n////\n\nIt eats.\n");
    desk.write("c.canvas", "{\"nodes\":[\n{\"id\":\"1\",\"type\":\"text\",\"text\":\"Otter\"}]}");
    desk.write("d.adoc", "= Heron\n");
    let report = desk.sync();
    assert_eq!((report.files, report.changes.added, report.failed), (4, 4, 0), "{report:?}");
    let place = |query: &str| {
        let found = desk.found(query);
        let place = found[0].place.clone().unwrap();
        (place.path.rsplit('/').next().unwrap().to_owned(), place.first_line, place.last_line)
    };
    assert_eq!(place("zebra"), ("a.mdx".into(), 3, 7));
    assert_eq!(place("giraffe").1, 8);
    assert_eq!(desk.found("giraffe Ana")[0].content, "It eats.");
    assert_eq!(place("otter"), ("c.canvas".into(), 2, 2));
    assert_eq!(place("heron").1, 1);
    assert!(desk.found("lion").is_empty());
}

/// 44.9: an image in the text is no text.
#[test]
fn images_in_notes_are_left_out() {
    let desk = RealDesk::new(None);
    let image = "iVBORw0KGgoAAAANSUhEUgAA".repeat(500);
    desk.write("a.md", format!("# A\n\n![shot](data:image/png;base64,{image})\n\nThe zebra is below it.\n"));
    desk.sync();
    let records = desk.records();
    assert_eq!((records.len(), records[0].place.as_ref().unwrap().last_line), (1, 5));
    assert!(records[0].content.len() < 100, "{}", records[0].content);
    assert!(desk.found("zebra").len() == 1);
}

/// 44.4, 44.8: the notes of an older version are read again once, and nothing is doubled.
#[test]
fn notes_of_an_older_version_are_read_again_once() {
    let desk = RealDesk::new(None);
    desk.write("a.md", "---\nstatus: open\n---\n# Plan\n\nText.\n");
    desk.sync();
    desk.of_older_version("a.md", "{\"chunker\":\"1:400:80\",\"cuts\":[]}", FileContent::Unchanged);
    let report = desk.sync();
    assert_eq!((report.read, report.changes.kept, desk.records().len()), (1, 1, 1));
    assert_eq!(desk.sync().read, 0);
}

/// 44.7: a session is one project, wherever the agent and its subagents go, and also when its folder is gone.
#[test]
fn a_session_is_one_project() {
    let desk = RealDesk::new(Some("claude-code"));
    let git = desk.folder.path().join("borealis/.git");
    fs::create_dir_all(&git).unwrap();
    let at = |id: &str, cwd: &str| {
        let line = claude("user", id, json!(id));
        line.replace("/nowhere/atlas", cwd)
    };
    let there = desk.folder.path().join("borealis/src");
    let there = there.to_str().unwrap();
    desk.write("-p/S.jsonl", at("u1", "/nowhere/atlas") + &at("u2", "/nowhere/atlas/crates/x") + &at("u3", "/tmp/y"));
    desk.write("-p/S/subagents/agent-a1.jsonl", at("u4", "/nowhere/atlas/.claude/worktrees/agent-a1"));
    desk.write("-p/T.jsonl", at("u5", there));
    desk.sync();
    fs::remove_dir_all(desk.folder.path().join("borealis")).unwrap();
    desk.write(
        "-p/S.jsonl",
        at("u1", "/nowhere/atlas") + &at("u2", "/nowhere/atlas/crates/x") + &at("u3", "/tmp/y") + &at("u6", "/var/z"),
    );
    desk.write("-p/T.jsonl", at("u5", there) + &at("u7", there));
    desk.sync();
    let projects: BTreeMap<String, Option<String>> =
        desk.records().into_iter().map(|record| (record.content, record.scope.project)).collect();
    let of = |name: &str| Some(name.to_owned());
    for (id, project) in [
        ("u1", "atlas"),
        ("u2", "atlas"),
        ("u3", "atlas"),
        ("u4", "atlas"),
        ("u6", "atlas"),
        ("u5", "borealis"),
        ("u7", "borealis"),
    ] {
        assert_eq!(projects[id], of(project), "{id}");
    }
    let cwds: Vec<_> = desk.records().into_iter().filter_map(|record| record.place?.cwd).collect();
    assert!(cwds.contains(&"/tmp/y".to_owned()), "{cwds:?}");
}

/// 44.9: a last line without an end is read when the file is still, and is no second turn with its end.
#[test]
fn a_last_line_without_an_end_is_one_turn() {
    let desk = RealDesk::new(Some("claude-code"));
    let lines = claude("user", "u1", json!("one")) + &claude("user", "u2", json!("two"));
    desk.write("-p/S.jsonl", lines.trim_end());
    desk.sync();
    assert_eq!(desk.texts(), ["one", "two"]);
    desk.write("-p/S.jsonl", lines.clone() + &claude("user", "u3", json!("three")));
    desk.sync();
    assert_eq!(desk.texts(), ["one", "two", "three"]);
    // One that is being written waits, and is looked at again.
    fs::write(desk.path("-p/S.jsonl"), (lines + &claude("user", "u4", json!("four"))).trim_end()).unwrap();
    desk.sync();
    assert!(!desk.texts().contains(&"four".to_owned()));
    fs::File::options()
        .write(true)
        .open(desk.path("-p/S.jsonl"))
        .unwrap()
        .set_modified(SystemTime::now() - Duration::from_secs(70))
        .unwrap();
    desk.sync();
    assert_eq!(desk.texts().len(), 4);
}
