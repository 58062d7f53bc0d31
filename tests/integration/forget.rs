//! Purged data is in no file of the store, whatever process has it open and whatever is killed meanwhile; expired
//! records are deleted, and nothing else is.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, thread};

use memorist_engine::config::{Backend, Clock};
use memorist_engine::embed::{Embedder, HashEmbedder, ModelIdentity};
use memorist_engine::paths::StorePaths;
use memorist_engine::progress::{NoProgress, Progress};
use memorist_engine::records::Records;
use memorist_engine::types::{Filter, Mode, NewRecord, Purge, Purged, Query, RecordId, RecordUpdate, Scope, Viewer};
use memorist_engine::{Engine, now};

use crate::support::{DIMS, Setup, Store, another_process, hashed, hashed_with, with_embedder};

/// Words that occur in nothing else.
const WORDS: [&str; 3] = ["xqkestrel", "zvwombat", "jkbandicoot"];
const TIMEOUT: Duration = Duration::from_secs(60);

fn secret() -> String {
    WORDS.join(" ")
}

fn text(text: &str) -> Purge {
    Purge::Text(text.into())
}

fn purge(engine: &Engine, purge: &Purge) -> Purged {
    engine.viewed_by(&Viewer::OWNER).purge(purge, &NoProgress).expect("purges")
}

/// The files of a store in which a text occurs, in any case. Searched by another process: a process that has a database
/// open must not open and close its files, because that would drop its locks.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let grep = Command::new("grep").args(["-rliaF", "--", text]).arg(folder).output().expect("grep runs");
    assert_ne!(grep.status.code(), Some(2), "{}", String::from_utf8_lossy(&grep.stderr));
    String::from_utf8_lossy(&grep.stdout).lines().map(PathBuf::from).collect()
}

/// A copy of a keyword index that tantivy can open.
fn copied(index: &Path) -> std::io::Result<tempfile::TempDir> {
    let copy = tempfile::tempdir()?;
    for file in fs::read_dir(index)? {
        let file = file?.path();
        let bytes = fs::read(&file)?;
        let name = file.file_name().expect("a name");
        // The last line is our seal, which tantivy does not know.
        let end = bytes.trim_ascii_end().iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let bytes = if name == "meta.json" { &bytes[..end] } else { &bytes[..] };
        fs::write(copy.path().join(name), bytes)?;
    }
    Ok(copy)
}

/// The words of the keyword index, as tantivy has them, deleted ones too.
fn indexed_terms(folder: &Path) -> Vec<String> {
    // A process that has the store open may replace files meanwhile: then they are copied again.
    let copies = std::iter::repeat_with(|| copied(&folder.join("keywords")));
    let copy = copies.take(100).find_map(Result::ok).expect("an index that stays for a moment");
    let index = tantivy::Index::open_in_dir(copy.path()).expect("opens");
    let mut terms = Vec::new();
    for segment in index.searchable_segments().expect("segments") {
        let reader = tantivy::SegmentReader::open(&segment).expect("a segment");
        for (field, entry) in index.schema().fields().filter(|(_, entry)| entry.is_indexed()) {
            let inverted = reader.inverted_index(field).expect("terms");
            let mut stream = inverted.terms().stream().expect("terms");
            while stream.advance() {
                terms.push(String::from_utf8_lossy(stream.key()).into_owned());
            }
            assert!(!terms.is_empty(), "{entry:?}");
        }
        if let Some(tags) = reader.fast_fields().str("tag").expect("tags") {
            let mut stream = tags.dictionary().stream().expect("terms");
            while stream.advance() {
                terms.push(String::from_utf8_lossy(stream.key()).into_owned());
            }
        }
    }
    terms
}

/// Nothing of the text is left, in any form.
fn assert_gone(folder: &Path) {
    for word in WORDS {
        assert_eq!(files_with(folder, word), Vec::<PathBuf>::new(), "{word}");
        let terms: Vec<String> = indexed_terms(folder).into_iter().filter(|term| term.contains(word)).collect();
        assert_eq!(terms, Vec::<String>::new());
    }
}

fn content(text: &str) -> RecordUpdate {
    RecordUpdate { content: Some(text.into()), ..RecordUpdate::default() }
}

/// A store with the text wherever a text can be, some of it in the indexes already, and its other records.
struct Holding {
    store: Store,
    kept: Vec<RecordId>,
    /// The record that contained the text earlier.
    changed: RecordId,
}

/// Records that contain the text.
const HOLDERS: u64 = 7;

fn holding(others: usize) -> Holding {
    let store = Store::new(hashed());
    let add = |new: NewRecord| store.engine.add(&new).expect("a sound record").id;
    let news: Vec<_> = (0..others).map(|n| NewRecord::new(format!("common number {n} of many"))).collect();
    let added = store.engine.add_batch(&news).expect("adds");
    let mut kept: Vec<RecordId> = added.into_iter().map(|outcome| outcome.expect("a sound record").id).collect();
    let secret = secret();
    let long = format!("{} {secret} {}", "before ".repeat(1_500), "after ".repeat(1_500));
    let changed = add(NewRecord::new(format!("{secret} once")));
    kept.push(changed);
    add(NewRecord::new(format!("common {secret}")));
    let deleted = add(NewRecord::new(format!("deleted {secret}")));
    add(NewRecord { context: Some(format!("about {secret}")), ..NewRecord::new("common with a context") });
    store.settle();
    store.engine.viewed_by(&Viewer::OWNER).update(changed, &content("common now")).expect("updates");
    assert!(store.engine.viewed_by(&Viewer::OWNER).delete(deleted).expect("deletes"));
    add(NewRecord { tags: WORDS.map(Into::into).to_vec(), ..NewRecord::new(format!("common {secret} with tags")) });
    add(NewRecord { source: secret.clone(), ..NewRecord::new("common with a source") });
    add(NewRecord::new(long));
    add(NewRecord { expires_at: Some(now() - 1_000), ..NewRecord::new(format!("expired {secret}")) });
    store.engine.embed_pending(&NoProgress).expect("embeds");
    // The query is logged.
    let query = Query { mode: Mode::Hybrid, ..Query::new(format!("common {secret}")) };
    assert!(!store.find(&query).is_empty());
    // This one too, though it finds nothing.
    let absent = Filter { tags: vec![secret], ..Filter::default() };
    assert!(store.find(&Query { filter: absent, ..Query::new("no such thing") }).is_empty());
    Holding { store, kept, changed }
}

/// Everything else is there, and is found in every mode.
fn assert_kept(engine: &Engine, kept: &[RecordId]) {
    for mode in [Mode::Keyword, Mode::Vector, Mode::Hybrid] {
        let query = Query { mode, limit: 1_000, ..Query::new("common") };
        let hits = engine.search(&query).expect("a sound query").hits;
        let mut found: Vec<_> = hits.iter().map(|hit| hit.record.id).collect();
        found.sort_unstable();
        assert_eq!(found, kept, "{mode:?}");
    }
    let diagnosis = engine.doctor(false, &NoProgress).expect("looks");
    assert!(diagnosis.is_sound(), "{diagnosis:#?}");
}

/// Searches without logging: a logged search for the text would bring it back.
fn finds(engine: &Engine, word: &str) -> Vec<RecordId> {
    let reply = engine.search_with(&Query::new(word), None).expect("a sound query");
    reply.hits.iter().map(|hit| hit.record.id).collect()
}

#[test]
fn no_file_of_a_store_that_is_open_has_a_purged_text() {
    let Holding { store, kept, changed } = holding(300);
    let folder = store.folder.path();
    let second = hashed().open(folder).expect("a second opener");
    assert!(!finds(&second, WORDS[0]).is_empty());
    assert!(!files_with(folder, &secret()).is_empty(), "the test sees what is there");
    assert!(indexed_terms(folder).iter().any(|term| term.contains(WORDS[1])), "in the index too");

    let purged = purge(&store.engine, &text(&secret()));
    assert_eq!((purged.records, purged.versions), (HOLDERS, 1));
    assert!(purged.queries > 0 && purged.complete, "{purged:?}");
    assert_eq!(purged.remaining_files, Vec::<PathBuf>::new());
    assert_gone(folder);

    for engine in [&store.engine, &second] {
        assert_eq!(WORDS.map(|word| finds(engine, word).len()), [0; 3]);
        assert_kept(engine, &kept);
        let record = engine.viewed_by(&Viewer::OWNER).get(changed).expect("reads").expect("it stays");
        assert_eq!((record.content.as_str(), record.version), ("common now", 2));
    }
    drop(second);
    let store = store.reopen(hashed());
    assert_kept(&store.engine, &kept);
}

#[test]
fn a_large_index_forgets_a_few_vectors() {
    let store = Store::new(hashed());
    let news: Vec<_> = (0..3_000).map(|n| NewRecord::new(format!("common number {n}"))).collect();
    let added = store.engine.add_batch(&news).expect("adds");
    let ids: Vec<RecordId> = added.into_iter().map(|outcome| outcome.expect("a sound record").id).collect();
    store.settle();
    let segments = || {
        let names = fs::read_dir(store.folder.path().join("vectors")).expect("an index");
        names.map(|file| file.expect("a file").file_name()).collect::<Vec<_>>()
    };
    let before = segments();
    // Less than one in a hundred, so that no regular merge would rewrite the graph.
    let purged = purge(&store.engine, &Purge::Ids(ids[..3].to_vec()));
    assert_eq!((purged.records, purged.complete), (3, true));
    let after = segments();
    assert!(before.iter().filter(|name| after.contains(name)).count() < before.len(), "{before:?} {after:?}");
    let found = store.find(&Query { mode: Mode::Vector, limit: 5, ..Query::new("common number 2") });
    assert!(found.iter().all(|id| !ids[..3].contains(id)));
    assert!(store.engine.doctor(false, &NoProgress).expect("looks").is_sound());
}

#[test]
fn purge_erases_deleted_memories_in_the_trash() {
    let store = Store::new(hashed());
    let id = store.add(&format!("common {}", secret()));
    store.settle();
    assert!(store.engine.viewed_by(&Viewer::OWNER).delete(id).expect("deletes"));
    let purged = purge(&store.engine, &text(&secret()));
    assert_eq!((purged.records, purged.complete), (1, true), "the one in the trash");
    assert_gone(store.folder.path());
}

#[test]
fn an_index_that_is_no_longer_kept_in_step_is_removed() {
    let store = Store::new(hashed());
    store.add(&secret());
    store.settle();
    let vectors = store.folder.path().join("vectors");
    assert!(vectors.exists());
    let store = store.reopen(hashed_with(|config| config.backend = Backend::Exact));
    assert!(purge(&store.engine, &text(&secret())).complete);
    assert!(!vectors.exists());
    assert_gone(store.folder.path());
}

#[test]
fn purge_names_unowned_files_without_touching_them() {
    let store = Store::new(hashed());
    store.add(&secret());
    let beside = ["memory.db.damaged-2026", "memory.db.doubtful-2026.jsonl", "my backup"];
    let beside = beside.map(|name| store.folder.path().join(name));
    for file in &beside {
        fs::write(file, secret()).expect("writes");
    }
    let purged = purge(&store.engine, &text(&secret()));
    assert!(purged.complete);
    assert_eq!(purged.remaining_files.iter().collect::<std::collections::BTreeSet<_>>(), beside.iter().collect());
    let mut found = files_with(store.folder.path(), &secret());
    found.sort();
    assert_eq!(found, purged.remaining_files);
}

#[test]
fn an_empty_purge_is_refused() {
    let store = Store::new(hashed());
    store.add("common");
    for nothing in [Purge::Ids(Vec::new()), text(""), text(" \n")] {
        assert!(store.engine.viewed_by(&Viewer::OWNER).purge(&nothing, &NoProgress).is_err(), "{nothing:?}");
    }
    assert_eq!(purge(&store.engine, &Purge::Ids(vec![99.into()])).records, 0);
    assert_eq!(finds(&store.engine, "common").len(), 1);
}

#[test]
fn a_purge_blocked_by_a_reader_ends_when_the_reader_closes() {
    let Holding { store, kept, .. } = holding(20);
    let folder = store.folder.path();
    let records = Records::open(&StorePaths::new(folder)).expect("another opener");
    let reader = records.snapshot().expect("a snapshot");
    let purged = purge(&store.engine, &text(&secret()));
    assert_eq!((purged.records, purged.complete), (HOLDERS, false), "the reader has it still");
    assert_eq!(finds(&store.engine, WORDS[0]).len(), 0, "but nobody finds it");
    drop(reader);
    wait_until_finished(&records);
    assert_gone(folder);
    assert_kept(&store.engine, &kept);
}

fn wait_until_finished(records: &Records) {
    let started = Instant::now();
    while records.unfinished_purge().expect("reads").is_some() {
        assert!(started.elapsed() < TIMEOUT, "the purge does not end");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Every step of `memorist_durable::crash::point` in a purge, except those of publishing, of which there are some.
const STEPS: [&str; 9] = [
    "some purged", "words applied", "vectors applied", "log trimmed", "words forgotten", "file written",
    "vectors forgotten", "log emptied", "database rewritten",
];

/// The process that is killed.
#[test]
#[ignore = "the others run it in a process of its own"]
fn a_child() {
    let Some(folder) = std::env::var_os("MEMORIST_CRASH_STORE") else { return };
    let engine = hashed().open(Path::new(&folder)).expect("opens");
    if std::env::var_os("MEMORIST_ONLY_OPEN").is_none() {
        purge(&engine, &text(&secret()));
    } else {
        wait_until_finished(&Records::open(&StorePaths::new(folder)).expect("another opener"));
    }
}

/// Lets a child purge until it reaches this step.
fn crash(folder: &Path, step: &str, only_open: bool) {
    let mut child = another_process("forget::a_child");
    child.env("MEMORIST_CRASH_STORE", folder).env("MEMORIST_CRASH_AT", format!("{step}:1"));
    child.envs(only_open.then_some(("MEMORIST_ONLY_OPEN", "1"))).stdin(Stdio::null());
    let ended = child.output().expect("a child");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended.status), Some(6), "{step} is not reached: {said}");
}

#[test]
fn a_killed_purge_is_finished_by_the_next_opener() {
    for (at, step) in STEPS.into_iter().enumerate() {
        let Holding { store: Store { engine, folder }, kept, .. } = holding(20);
        engine.close();
        let folder = folder.path();
        match step {
            // A process that continues does not know what was purged.
            "database rewritten" => {
                crash(folder, "words forgotten", false);
                crash(folder, step, true);
            }
            _ => crash(folder, step, false),
        }
        let engine = hashed().open(folder).unwrap_or_else(|error| panic!("{step}: {error}"));
        // Killed before all is removed from the tables: only a caller who knows the text can find the rest.
        if step == "some purged" || at % 2 == 1 {
            assert!(purge(&engine, &text(&secret())).complete, "{step}");
        } else {
            wait_until_finished(&Records::open(&StorePaths::new(folder)).expect("another opener"));
        }
        assert_gone(folder);
        assert_kept(&engine, &kept);
    }
}

#[test]
fn a_purge_that_was_killed_is_not_forgotten_over_the_next_one() {
    let Holding { store: Store { engine, folder }, kept, .. } = holding(20);
    engine.close();
    let folder = folder.path();
    crash(folder, "words forgotten", false);
    // The next one finds no trace of its own, but does not know what the first one left.
    crash(folder, "database rewritten", false);
    let engine = hashed().open(folder).expect("opens");
    let purged = purge(&engine, &text("of nothing that is there"));
    assert!(purged.records == 0 && purged.complete, "{purged:?}");
    wait_until_finished(&Records::open(&StorePaths::new(folder)).expect("another opener"));
    assert_gone(folder);
    assert_kept(&engine, &kept);
}

/// Pauses once something is removed, and watches the mark.
struct Slow {
    records: Records,
    has_waited: AtomicBool,
}

impl Progress for Slow {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self) {}

    fn cancelled(&self) -> bool {
        let mark = || self.records.unfinished_purge().expect("reads");
        if let Some(before) = mark()
            && !self.has_waited.swap(true, Ordering::Relaxed)
        {
            thread::sleep(Duration::from_millis(1_200));
            assert_eq!(mark(), Some(before), "it removes still");
        }
        false
    }
}

#[test]
fn another_opener_does_not_finish_a_running_purge() {
    let store = Store::new(hashed());
    store.add(&secret());
    store.settle();
    let records = Records::open(&StorePaths::new(store.folder.path())).expect("another opener");
    let slow = Slow { records, has_waited: AtomicBool::new(false) };
    let purged = store.engine.viewed_by(&Viewer::OWNER).purge(&text(&secret()), &slow).expect("purges");
    assert!(slow.has_waited.into_inner() && purged.complete, "{purged:?}");
    assert_gone(store.folder.path());
}

/// Embeds nothing while the lock is held.
struct Held {
    inner: HashEmbedder,
    is_asked: AtomicBool,
    gate: Mutex<()>,
}

impl Embedder for Held {
    fn is_measurable(&self) -> bool {
        self.inner.is_measurable()
    }

    fn identity(&self) -> &ModelIdentity {
        self.inner.identity()
    }

    fn embed_query(&self, text: &str) -> memorist_engine::embed::Result<Vec<f32>> {
        self.inner.embed_query(text)
    }

    fn embed_batch(&self, texts: &[&str]) -> memorist_engine::embed::Result<Vec<Vec<f32>>> {
        self.is_asked.store(true, Ordering::Relaxed);
        let _held = self.gate.lock().expect("nobody panics with it");
        self.inner.embed_batch(texts)
    }
}

#[test]
fn records_are_gone_at_once_while_many_others_are_embedded() {
    let embedder =
        Arc::new(Held { inner: HashEmbedder::new(DIMS), is_asked: AtomicBool::new(false), gate: Mutex::new(()) });
    let store = Store::new(with_embedder(embedder.clone()));
    let wait_until = |what: &dyn Fn() -> bool| {
        let started = Instant::now();
        while !what() {
            assert!(started.elapsed() < Duration::from_secs(20), "it does not come");
            thread::sleep(Duration::from_millis(20));
        }
    };
    let purged = thread::scope(|scope| {
        let held = embedder.gate.lock().expect("nobody panics with it");
        // Many at once are embedded in the background.
        let both = ["common and kept".to_owned(), format!("common {}", secret())].map(NewRecord::new);
        let saved = store.engine.add_batch(&both).expect("adds");
        let kept = saved[0].as_ref().expect("a sound record").id;
        wait_until(&|| embedder.is_asked.load(Ordering::Relaxed));
        let query = Query { mode: Mode::Keyword, ..Query::new(format!("common {}", secret())) };
        assert!(store.find(&query).contains(&kept), "this is logged later");
        let purge = scope.spawn(|| purge(&store.engine, &text(&secret())));
        wait_until(&|| finds(&store.engine, WORDS[0]).is_empty());
        assert!(!purge.is_finished(), "the worker is not done yet");
        drop(held);
        purge.join().expect("purges")
    });
    assert!(purged.records == 1 && purged.queries > 0 && purged.complete, "{purged:?}");
    assert_gone(store.folder.path());
}

fn with_grace(expiry_grace: Duration) -> Setup {
    hashed_with(|config| config.expiry_grace = expiry_grace)
}

/// The clock of the settings decides what has expired.
#[test]
fn a_record_expires_by_the_clock_of_the_settings() {
    let time = Arc::new(AtomicI64::new(now()));
    let clock = time.clone();
    let store = Store::new(hashed_with(|config| config.clock = Clock::new(move || clock.load(Ordering::SeqCst))));
    let hour = 60 * 60 * 1_000;
    let expires_at = Some(now() + hour);
    let id = store.engine.add(&NewRecord { expires_at, ..NewRecord::new("a heron, for an hour") }).expect("saves").id;
    let found = || store.engine.search(&Query::new("heron")).expect("answers").hits.len();
    assert_eq!((found(), store.engine.viewed_by(&Viewer::OWNER).get(id).expect("reads").is_some()), (1, true));
    time.fetch_add(2 * hour, Ordering::SeqCst);
    assert_eq!((found(), store.engine.viewed_by(&Viewer::OWNER).get(id).expect("reads").is_some()), (0, false));
    time.fetch_sub(2 * hour, Ordering::SeqCst);
    assert_eq!(found(), 1, "nothing was deleted");
}

#[test]
fn only_memories_expired_beyond_the_grace_are_deleted() {
    let day = Duration::from_secs(24 * 60 * 60);
    let store = Store::new(with_grace(day));
    let add = |text: &str, expires_at| {
        store.engine.add(&NewRecord { expires_at, ..NewRecord::new(text) }).expect("a sound record").id
    };
    let (hour, day) = (60 * 60 * 1_000, day.as_millis() as i64);
    let gone: Vec<_> = (0..250).map(|n| add(&format!("common gone {n}"), Some(now() - day - 1_000 * n))).collect();
    let recent = add("common recent", Some(now() - day + hour));
    let later = add("common later", Some(now() + hour));
    let old = add("common twin", Some(now() - 2 * day));
    let twin = add("common twin", None);
    assert_ne!(old, twin, "an expired one does not count");
    let kept = [later, twin, add("common", None)];
    let store = store.reopen(with_grace(Duration::from_millis(day as u64)));
    let records = Records::open(&StorePaths::new(store.folder.path())).expect("another opener");
    let ids = || records.snapshot().expect("reads").live_ids_after(0.into(), 1_000, i64::MIN).expect("reads");
    let started = Instant::now();
    while ids().len() > 4 {
        assert!(started.elapsed() < TIMEOUT, "{} are left", ids().len());
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(ids(), [&[recent], &kept[..]].concat(), "{} have gone", gone.len());
    store.settle();
    assert_kept(&store.engine, &kept);

    let store = store.reopen(with_grace(Duration::ZERO));
    let started = Instant::now();
    while ids().contains(&recent) {
        assert!(started.elapsed() < TIMEOUT);
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(ids(), kept);
    assert_kept(&store.engine, &kept);
}

#[test]
fn a_viewer_purges_what_he_sees() {
    let store = Store::new(hashed());
    let of = |project: &str| Scope { agent: None, project: Some(project.into()) };
    let add = |project| {
        store.engine.add(&NewRecord { scope: of(project), ..NewRecord::new(secret()) }).expect("a sound record").id
    };
    let (mine, theirs) = (add("mine"), add("theirs"));
    let viewer = Viewer::in_project("mine");
    let both = Purge::Ids(vec![mine, theirs]);
    for what in [&text(&secret()), &both] {
        let purged = store.engine.viewed_by(&viewer).purge(what, &NoProgress).expect("purges");
        assert!(purged.records <= 1 && purged.complete, "{purged:?}");
    }
    assert_eq!(finds(&store.engine, WORDS[0]), [theirs]);
}
