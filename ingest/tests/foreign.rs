//! Sources whose files change while a sync reads them, or would block it.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memorist_engine::config::Config;
use memorist_engine::progress::{NoProgress, Progress};
use memorist_engine::types::{ListQuery, NewSource, Scope, SourceKind};
use memorist_engine::{Engine, Error};
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sync::{SourceReport, SyncOptions, Syncer};
use tempfile::TempDir;

/// A store, and a folder of files.
struct ForeignDesk {
    folder: TempDir,
    engine: Engine,
    syncer: Syncer,
}

impl ForeignDesk {
    fn new(kind: SourceKind, format: Option<&str>) -> Self {
        let folder = TempDir::new().unwrap();
        let (store, files) = (folder.path().join("store"), folder.path().join("files"));
        fs::create_dir(&files).unwrap();
        let config = Config::without_model();
        // Few records, so that long texts are saved fast.
        let mut settings = SyncSettings::default();
        settings.chunk_tokens = 100_000;
        let syncer = Syncer::new(&store, settings, config.model.clone());
        let engine = Engine::open(&store, config).unwrap();
        let path = files.to_str().unwrap().to_owned();
        let source =
            NewSource { kind, path, format: format.map(str::to_owned), globs: Vec::new(), scope: Scope::default() };
        engine.add_source(&source).unwrap();
        ForeignDesk { folder, engine, syncer }
    }

    fn path(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join("files").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn sync(&self) -> SourceReport {
        self.syncer.sync(&self.engine, &SyncOptions::default(), &NoProgress).unwrap().sources.remove(0)
    }

    fn texts(&self) -> Vec<String> {
        let query = ListQuery { limit: 500, ..ListQuery::default() };
        let mut texts: Vec<String> = self.engine.list(&query).unwrap().into_iter().map(|one| one.content).collect();
        texts.sort();
        texts
    }
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A line of Codex.
fn turn(text: &str) -> String {
    let content = format!("[{{\"type\":\"input_text\",\"text\":\"{text}\"}}]");
    format!(
        "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":{content}}}}}\n"
    )
}

/// Item 2 of the issue: a check of the path loses this race.
#[test]
fn a_note_that_is_swapped_for_a_link_is_never_read() {
    let desk = ForeignDesk::new(SourceKind::Notes, None);
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("secret.md"), "The lighthouse is ours.").unwrap();
    let (note, next) = (desk.path("note.md"), desk.path("next"));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                fs::write(&next, format!("Note {round}.")).unwrap();
                fs::rename(&next, &note).unwrap();
                if over.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::sleep(Duration::from_micros(200));
                symlink(outside.path().join("secret.md"), &next).unwrap();
                fs::rename(&next, &note).unwrap();
            }
        });
        let leaked = (0..150).any(|_| {
            desk.sync();
            desk.texts().iter().any(|text| text.contains("lighthouse"))
        });
        over.store(true, Ordering::Relaxed);
        assert!(!leaked);
    });
    desk.sync();
    assert!(desk.texts()[0].starts_with("Note "), "{:?}", desk.texts());
}

/// Item 3: none of these stops the others.
#[test]
fn special_files_do_not_stop_a_source_of_sessions() {
    let desk = ForeignDesk::new(SourceKind::Sessions, Some("codex"));
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("rollout-x.jsonl"), turn("outside")).unwrap();
    let work = outside.path().join("work");
    fs::create_dir(&work).unwrap();
    pipe(&work.join(".git"));
    pipe(&desk.path("p/rollout-pipe.jsonl"));
    symlink("/dev/random", desk.path("p/rollout-random.jsonl")).unwrap();
    symlink("/dev/zero", desk.path("p/rollout-zero.jsonl.zst")).unwrap();
    symlink(outside.path().join("rollout-x.jsonl"), desk.path("p/rollout-out.jsonl")).unwrap();
    let meta =
        format!("{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"s\",\"cwd\":{:?}}}}}\n", work.to_str().unwrap());
    fs::write(desk.path("kept/rollout-a.jsonl"), meta + &turn("kept")).unwrap();
    symlink("../kept/rollout-a.jsonl", desk.path("p/rollout-in.jsonl")).unwrap();
    let report = desk.sync();
    assert_eq!((report.files, report.read, report.failed), (2, 2, 0), "{report:?}");
    let outside = report.skipped["the link points outside the source folder"];
    assert_eq!((report.skipped["not a regular file"], outside), (1, 3));
    assert_eq!(desk.texts(), ["kept"], "the link has the same session");
}

/// Item 4: what is read is saved before the rest is read.
#[test]
fn a_long_transcript_is_read_in_parts_and_counted_once() {
    let desk = ForeignDesk::new(SourceKind::Sessions, Some("codex"));
    let long = "word ".repeat(200_000);
    let lines: String = (10..46).map(|number| turn(&format!("{number} {long}"))).collect();
    fs::write(desk.path("rollout-a.jsonl"), &lines).unwrap();
    let report = desk.sync();
    assert_eq!((report.read, report.failed, report.bytes), (1, 0, lines.len() as u64));
    let all = report.changes.added;
    assert!(all >= 36, "{all} records");
    let again = desk.sync();
    assert_eq!((again.changes.added, again.changes.removed), (0, 0));
    // As much is added as when it is read by itself, so nothing was read twice.
    let (alone, short) = (ForeignDesk::new(SourceKind::Sessions, Some("codex")), &lines[..lines.len() / 9]);
    fs::write(alone.path("rollout-a.jsonl"), short).unwrap();
    assert_eq!(alone.sync().changes.added * 9, all);
}

/// Wants to stop soon after it began.
struct Impatient(Instant);

impl Progress for Impatient {
    fn start(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        self.0.elapsed() > Duration::from_millis(300)
    }
}

/// Item 3: within a file, too.
#[test]
fn a_sync_that_is_stopped_ends_within_a_file() {
    let desk = ForeignDesk::new(SourceKind::Sessions, Some("codex"));
    fs::write(desk.path("rollout-a.jsonl"), "{}\n".repeat(20 << 20)).unwrap();
    let begun = Instant::now();
    let ended = desk.syncer.sync(&desk.engine, &SyncOptions::default(), &Impatient(begun));
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}
