//! Notes and transcripts as they are found on disks: nothing lost, nothing doubled.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    FileContent, FileReading, ListQuery, NewSource, Query, Record, Scope, SourceFile, SourceKind,
};
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sync::{SourceReport, SyncOptions, Syncer};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A store, and a folder of files that is its only source.
struct Desk {
    folder: TempDir,
    engine: Engine,
    syncer: Syncer,
}

impl Desk {
    /// `format` is that of the transcripts; without one the files are notes.
    fn new(format: Option<&str>) -> Self {
        let folder = TempDir::new().unwrap();
        let store = folder.path().join("store");
        let config = Config::without_model();
        let model = config.model.clone();
        let engine = Engine::open(&store, config).unwrap();
        fs::create_dir(folder.path().join("files")).unwrap();
        let desk = Desk { engine, syncer: Syncer::new(&store, SyncSettings::default(), model), folder };
        let new = NewSource {
            kind: if format.is_some() { SourceKind::Sessions } else { SourceKind::Notes },
            path: desk.path("").to_str().unwrap().trim_end_matches('/').into(),
            format: format.map(str::to_owned),
            globs: Vec::new(),
            scope: Scope::default(),
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
        fs::write(path, bytes).unwrap();
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

    /// What the store knows of a file.
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
    let desk = Desk::new(Some("claude-code"));
    let name = "-p/S.jsonl";
    let lines = claude("user", "u1", json!("why?")) + &claude("assistant", "a1", json!(MENTION));
    desk.write(name, &lines);
    assert_eq!(desk.sync().changes.added, 2);
    let cut = |record: Record, text: &str, id: u8| {
        let mut place = record.place.unwrap();
        if id > 0 {
            place.origin = memorist_engine::types::Origin::from_bytes([id; 16]);
        }
        let new = memorist_engine::types::NewRecord::new(text);
        memorist_engine::types::NewRecord { kind: record.kind, session: record.session, place: Some(place), ..new }
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
fn what_is_no_more_in_a_shorter_file_stays() {
    let desk = Desk::new(Some("claude-code"));
    desk.write("-p/S.jsonl", claude("user", "u1", json!("one")) + &claude("user", "u2", json!("two")));
    desk.sync();
    desk.write("-p/S.jsonl", claude("user", "u1", json!("one")));
    desk.of_older_version("-p/S.jsonl", "{}", FileContent::Unchanged);
    desk.sync();
    assert_eq!(desk.texts(), ["one", "two"]);
}
