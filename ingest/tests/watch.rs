//! Files are read when they change, by one process, and never in the way of anything else.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::types::{NewSource, Query, Scope, SourceKind};
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sync::Syncer;
use memorist_ingest::watch::Watcher;
use tempfile::TempDir;

/// Longer than any operation takes, however busy the machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A store, and a folder of files.
struct WatchDesk {
    folder: TempDir,
    engine: Arc<Engine>,
    settings: SyncSettings,
    syncs: Arc<AtomicU64>,
    read: Arc<AtomicU64>,
    /// The files that the last sync looked at.
    looked_at: Arc<AtomicU64>,
}

impl WatchDesk {
    fn new(change: impl FnOnce(&mut SyncSettings)) -> Self {
        let folder = TempDir::new().unwrap();
        let engine = Arc::new(Engine::open(folder.path().join("store"), Config::without_model()).unwrap());
        fs::create_dir(folder.path().join("files")).unwrap();
        let mut settings = SyncSettings::default();
        settings.watch_debounce_ms = 50;
        change(&mut settings);
        WatchDesk { folder, engine, settings, syncs: Arc::default(), read: Arc::default(), looked_at: Arc::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("files").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn source(&self, name: &str, kind: SourceKind, format: Option<&str>) {
        let path = self.path(name).to_str().unwrap().trim_end_matches('/').to_owned();
        let format = format.map(str::to_owned);
        self.engine.add_source(&NewSource { kind, path, format, globs: Vec::new(), scope: Scope::default() }).unwrap();
    }

    fn watcher(&self) -> Watcher {
        let store = self.folder.path().join("store");
        let syncer = Arc::new(Syncer::new(&store, self.settings.clone(), Config::without_model().model));
        let (syncs, read, looked_at) = (self.syncs.clone(), self.read.clone(), self.looked_at.clone());
        Watcher::start_with(self.engine.clone(), syncer, move |report| {
            syncs.fetch_add(1, Ordering::Relaxed);
            looked_at.store(report.sources.iter().map(|source| source.files).sum(), Ordering::Relaxed);
            read.fetch_add(report.sources.iter().map(|source| source.read).sum(), Ordering::Relaxed);
        })
    }

    /// A watcher of the folder's notes, which has read and watches them.
    fn watched(&self) -> Watcher {
        self.source("", SourceKind::Notes, None);
        let watcher = self.watcher();
        // The second sync finds what changed before the folders were watched.
        wait("it watches", || self.syncs() >= 2);
        self.rest();
        watcher
    }

    fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Waits until nothing is read any more.
    fn rest(&self) {
        loop {
            let before = self.syncs();
            std::thread::sleep(Duration::from_millis(400));
            if self.syncs() == before {
                return;
            }
        }
    }

    fn finds(&self, query: &str) -> bool {
        !self.engine.search(&Query::new(query)).unwrap().hits.is_empty()
    }

    /// How long until a search finds this, or does not.
    fn until(&self, query: &str, found: bool) -> Duration {
        let began = Instant::now();
        wait(query, || self.finds(query) == found);
        began.elapsed()
    }
}

fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < TIMEOUT, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// However many notes there are, the edit of one costs no look at the others; a new one does.
#[test]
fn an_edit_looks_at_its_file_alone() {
    let desk = WatchDesk::new(|_| ());
    for number in 0..30 {
        desk.write(&format!("{number}.md"), &format!("Note {number}.\n"));
    }
    let _watcher = desk.watched();
    let looked_at = || desk.looked_at.load(Ordering::Relaxed);
    assert_eq!(looked_at(), 30);
    desk.write("7.md", "The zebra sleeps.\n");
    desk.until("zebra", true);
    desk.rest();
    assert_eq!(looked_at(), 1);
    desk.write("new.md", "The heron wades.\n");
    desk.until("heron", true);
    desk.rest();
    assert_eq!(looked_at(), 31);
    fs::remove_file(desk.path("7.md")).unwrap();
    desk.until("zebra", false);
}

/// F5, F14.
#[test]
fn files_that_change_come_and_go_are_found_as_they_are() {
    let desk = WatchDesk::new(|_| ());
    desk.write("a.md", "The zebra sleeps.\n");
    let watcher = desk.watched();
    assert!(desk.finds("zebra") && watcher.leads(), "read at the start");
    desk.write("a.md", "The giraffe sleeps.\n");
    desk.until("giraffe", true);
    assert!(!desk.finds("zebra"));
    desk.write("new/deep/b.md", "The heron wades.\n");
    desk.until("heron", true);
    desk.rest();
    desk.write("new/deep/c.md", "The otter dives.\n");
    desk.until("otter", true);
    fs::rename(desk.path("new"), desk.path("old")).unwrap();
    wait("its place", || {
        let hits = desk.engine.search(&Query::new("otter")).unwrap().hits;
        hits.iter().any(|hit| hit.record.place.as_ref().is_some_and(|place| place.path.contains("/old/deep/")))
    });
    desk.rest();
    desk.write("old/deep/c.md", "The badger digs.\n");
    desk.until("badger", true);
    fs::remove_file(desk.path("old/deep/c.md")).unwrap();
    desk.until("badger", false);
    fs::remove_dir_all(desk.path("old")).unwrap();
    desk.until("heron", false);
    desk.rest();
    desk.write("old/deep/d.md", "The lynx hides.\n");
    desk.until("lynx", true);
}

/// F15: within the debounce and 100 ms, on a machine that is not busy: the best of some tries.
#[test]
fn an_edit_is_found_soon() {
    let desk = WatchDesk::new(|_| ());
    desk.write("a.md", "x\n");
    let _watcher = desk.watched();
    let mut best = Duration::MAX;
    for number in 0..20 {
        desk.write("a.md", &format!("The word is number{number}.\n"));
        best = best.min(desk.until(&format!("number{number}"), true));
        if best < Duration::from_millis(150) {
            break;
        }
        desk.rest();
    }
    assert!(best < Duration::from_millis(150), "{best:?}");
    assert!(best >= Duration::from_millis(45), "it was not left alone yet: {best:?}");
}

#[test]
fn changes_to_ignored_files_and_non_notes_start_no_sync() {
    let desk = WatchDesk::new(|_| ());
    desk.write("a.md", "x\n");
    desk.write(".gitignore", "drafts/\n");
    for name in [".git/HEAD", "node_modules/a/b.md", "drafts/c.md", "src/main.rs"] {
        desk.write(name, "x\n");
    }
    let _watcher = desk.watched();
    let before = desk.syncs();
    for name in [".git/index", "node_modules/a/c.md", "drafts/d.md", "src/lib.rs", "main.rs", "memory.db-wal", ".b.md"]
    {
        desk.write(name, "y\n");
    }
    desk.rest();
    assert_eq!(desk.syncs(), before);
    desk.write(".gitignore", "\n");
    desk.until("c.md", true);
}

#[test]
fn a_folder_and_a_source_may_appear_later() {
    let desk = WatchDesk::new(|_| ());
    let _watcher = desk.watcher();
    desk.source("later", SourceKind::Notes, None);
    wait("it is looked for", || desk.syncs() > 0);
    desk.write("later/a.md", "The zebra sleeps.\n");
    desk.until("zebra", true);
    desk.rest();
    desk.write("later/a.md", "The giraffe sleeps.\n");
    desk.until("giraffe", true);
    fs::remove_dir_all(desk.path("later")).unwrap();
    desk.rest();
    assert!(desk.finds("giraffe"), "a folder that is gone may come back");
    desk.write("later/a.md", "The heron wades.\n");
    desk.until("heron", true);
}

#[test]
fn a_source_may_be_a_file_and_transcripts_are_watched() {
    let desk = WatchDesk::new(|_| ());
    desk.write("one.md", "The zebra sleeps.\n");
    desk.write("chats/p/s.jsonl", "");
    desk.source("one.md", SourceKind::Notes, None);
    desk.source("chats", SourceKind::Sessions, Some("claude-code"));
    let _watcher = desk.watcher();
    desk.until("zebra", true);
    desk.rest();
    // As many editors save.
    desk.write("one.tmp", "The giraffe sleeps.\n");
    fs::rename(desk.path("one.tmp"), desk.path("one.md")).unwrap();
    desk.until("giraffe", true);
    let turn = r#"{"type":"user","uuid":"u1","sessionId":"S","timestamp":"2026-11-02T09:00:00.000Z","cwd":"/p/atlas","message":{"role":"user","content":"why is the heron red"}}"#;
    desk.write("chats/p/0f8fad5b-d9cb-469f-a165-70867728950e.jsonl", &format!("{turn}\n"));
    desk.until("heron", true);
    desk.rest();
    let before = desk.syncs();
    desk.write("two.md", "The otter dives.\n");
    desk.rest();
    assert_eq!(desk.syncs(), before, "only that file is watched");
}

/// A source may be below a folder that another source reads or ignores.
#[test]
fn every_source_below_a_moved_folder_is_watched_again() {
    for ignored in ["", "chats/\n"] {
        let desk = WatchDesk::new(|settings| settings.rescan_minutes = 0);
        desk.write("a.md", "The zebra sleeps.\n");
        desk.write(".memoristignore", ignored);
        let turn = |text: &str| {
            format!(
                "{{\"type\":\"user\",\"uuid\":\"{text}\",\"sessionId\":\"S\",\"timestamp\":\"2026-11-02T09:00:00.000Z\",\
                 \"message\":{{\"role\":\"user\",\"content\":\"the {text} is red\"}}}}\n"
            )
        };
        let chat = "chats/claude/p/0f8fad5b-d9cb-469f-a165-70867728950e.jsonl";
        desk.write(chat, &turn("giraffe"));
        desk.source("chats/claude", SourceKind::Sessions, Some("claude-code"));
        let _watcher = desk.watched();
        wait("both are watched", || desk.finds("zebra") && desk.finds("giraffe"));
        desk.rest();
        fs::rename(desk.path("chats"), desk.path("old")).unwrap();
        desk.rest();
        desk.write(chat, &turn("heron"));
        desk.until("heron", true);
        desk.rest();
        desk.write(chat, &(turn("heron") + &turn("otter")));
        desk.until("otter", true);
    }
}

/// F5.
#[test]
fn polling_finds_new_and_changed_files() {
    let desk = WatchDesk::new(|settings| {
        settings.poll = true;
        settings.poll_interval_ms = 200;
    });
    desk.write("a.md", "x\n");
    let _watcher = desk.watched_by_polling();
    desk.write("a.md", "The zebra sleeps.\n");
    desk.until("zebra", true);
    desk.write("new/b.md", "The heron wades.\n");
    desk.until("heron", true);
}

impl WatchDesk {
    fn watched_by_polling(&self) -> Watcher {
        self.source("", SourceKind::Notes, None);
        let watcher = self.watcher();
        wait("it looks again", || self.syncs() >= 3);
        watcher
    }
}

/// F7, F10, F14, Z7.
#[test]
fn each_trigger_can_be_switched_off() {
    let desk = WatchDesk::new(|settings| {
        settings.on_start = false;
        settings.watch = false;
        settings.poll_interval_ms = 50;
    });
    desk.write("a.md", "The zebra sleeps.\n");
    desk.source("", SourceKind::Notes, None);
    let watcher = desk.watcher();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(desk.syncs(), 0);
    watcher.searched();
    desk.until("zebra", true);
    drop(watcher);
    let desk = WatchDesk::new(|settings| settings.on_start = false);
    desk.write("a.md", "The zebra sleeps.\n");
    desk.source("", SourceKind::Notes, None);
    let watcher = desk.watcher();
    wait("it leads", || watcher.leads());
    desk.rest();
    assert_eq!(desk.syncs(), 0);
    watcher.searched();
    desk.until("zebra", true);
    desk.rest();
    desk.write("a.md", "The giraffe sleeps.\n");
    desk.until("giraffe", true);
}

/// Q19.
#[test]
fn a_search_has_what_changed_read_at_once() {
    let desk = WatchDesk::new(|settings| settings.watch_debounce_ms = 60_000);
    desk.write("a.md", "x\n");
    let watcher = desk.watched();
    let before = desk.syncs();
    watcher.searched();
    desk.rest();
    assert_eq!(desk.syncs(), before, "nothing is dirty");
    desk.write("a.md", "The zebra sleeps.\n");
    std::thread::sleep(Duration::from_millis(500));
    assert!(!desk.finds("zebra"), "it is not left alone yet");
    watcher.searched();
    assert!(desk.until("zebra", true) < Duration::from_secs(30));
}

/// Q19: the first search after an edit finds it.
#[test]
fn a_search_waits_for_what_is_known_to_have_changed() {
    let desk = WatchDesk::new(|settings| settings.watch_debounce_ms = 60_000);
    desk.write("a.md", "x\n");
    let watcher = desk.watched();
    assert!(watcher.unread().is_none(), "nothing has changed");
    let animals = ["zebra", "giraffe", "heron", "walrus", "otter"];
    let found = animals.into_iter().filter(|animal| {
        desk.write("a.md", &format!("The {animal} sleeps.\n"));
        wait("the change is known", || watcher.unread().is_some());
        watcher.unread().into_iter().for_each(|unread| unread.wait());
        let found = desk.finds(animal);
        desk.until(animal, true);
        desk.rest();
        found
    });
    // On a busy machine, a file may not be read within the wait.
    assert!(found.count() >= 3, "the first search finds what was read");
    drop(watcher);
    let desk = WatchDesk::new(|settings| settings.on_search = false);
    desk.write("a.md", "x\n");
    let watcher = desk.watched();
    desk.write("a.md", "The zebra sleeps.\n");
    while !desk.finds("zebra") {
        assert!(watcher.unread().is_none(), "searches read nothing");
    }
}

#[test]
fn a_watcher_stops_at_once() {
    let desk = WatchDesk::new(|_| ());
    for number in 0..500 {
        desk.write(&format!("{number}/a.md"), &"text and text\n".repeat(200));
    }
    desk.source("", SourceKind::Notes, None);
    for pause in [0, 20, 200] {
        let watcher = desk.watcher();
        std::thread::sleep(Duration::from_millis(pause));
        let began = Instant::now();
        drop(watcher);
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
    let idle = desk.watcher();
    wait("all is read", || desk.finds("text"));
    desk.rest();
    let began = Instant::now();
    drop(idle);
    assert!(began.elapsed() < Duration::from_millis(400), "{:?}", began.elapsed());
    assert_eq!(Arc::strong_count(&desk.engine), 1, "its thread has ended");
}

#[test]
fn a_single_watcher_leads_and_another_takes_over() {
    let desk = WatchDesk::new(|_| ());
    for number in 0..50 {
        desk.write(&format!("{number}.md"), &format!("Note number{number}.\n"));
    }
    let first = desk.watched();
    let others: Vec<Watcher> = (0..3).map(|_| desk.watcher()).collect();
    std::thread::sleep(Duration::from_millis(500));
    assert!(first.leads() && others.iter().all(|watcher| !watcher.leads()));
    let (syncs, read) = (desk.syncs(), desk.read.load(Ordering::Relaxed));
    for number in 0..50 {
        desk.write(&format!("{number}.md"), &format!("Text number{number} zebra.\n"));
    }
    desk.until("zebra", true);
    desk.rest();
    assert_eq!(desk.read.load(Ordering::Relaxed) - read, 50, "each is read once");
    assert!(desk.syncs() - syncs < 8, "{}", desk.syncs() - syncs);
    drop(first);
    desk.write("0.md", "The giraffe sleeps.\n");
    desk.until("giraffe", true);
    assert_eq!(others.iter().filter(|watcher| watcher.leads()).count(), 1);
}
