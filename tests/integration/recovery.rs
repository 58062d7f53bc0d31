//! Missing, damaged and foreign indexes: searches continue, and everything is rebuilt from the records.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memorist_engine::Engine;
use memorist_engine::config::Backend;
use memorist_engine::embed::{Embedder, HashEmbedder, ModelIdentity};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Filter, Mode, NewRecord, Query, RecordId, Viewer};

use crate::support::{DIMS, Setup, Store, document, hashed, memorist, text, with_embedder, words_only};

/// Counts how many texts it embeds.
struct CountingEmbedder {
    inner: HashEmbedder,
    texts: AtomicUsize,
}

impl Embedder for CountingEmbedder {
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
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        self.inner.embed_batch(texts)
    }
}

fn counting() -> (Arc<CountingEmbedder>, Setup) {
    let embedder = Arc::new(CountingEmbedder { inner: HashEmbedder::new(DIMS), texts: AtomicUsize::new(0) });
    (embedder.clone(), with_embedder(embedder))
}

type Answers = Vec<(Vec<RecordId>, Vec<f64>)>;

fn answers(engine: &Engine) -> Answers {
    let questions = ["birds near the water", "topic 3 with team 5", "meeting 77", "snake_case_99"];
    let modes = [Mode::Hybrid, Mode::Vector, Mode::Keyword];
    let ask = |(text, mode): (&str, Mode)| {
        let hits = engine.search(&Query { mode, ..Query::new(text) }).unwrap().hits;
        hits.iter().map(|hit| (hit.record.id, hit.score)).unzip()
    };
    questions.iter().flat_map(|text| modes.map(|mode| (*text, mode))).map(ask).collect()
}

fn fill(store: &Store) {
    for at in 0..400 {
        store.add(&format!("meeting {at} on topic {} with team {} about snake_case_{at}", at % 7, at % 11));
    }
    store.settle();
}

fn assert_sound(engine: &Engine) {
    let diagnosis = engine.doctor(false, &NoProgress).unwrap();
    assert!(diagnosis.is_sound(), "{diagnosis:#?}");
}

#[test]
fn deleted_indexes_are_rebuilt_without_embedding_again() {
    let (embedder, setup) = counting();
    let store = Store::new(setup.clone());
    fill(&store);
    let before = answers(&store.engine);
    let embedded = embedder.texts.load(Ordering::Relaxed);
    let Store { engine, folder } = store;
    engine.close();
    fs::remove_dir_all(folder.path().join("vectors")).unwrap();
    fs::remove_dir_all(folder.path().join("keywords")).unwrap();

    let engine = setup.open(folder.path()).unwrap();
    assert_eq!(answers(&engine), before);
    assert_eq!(embedder.texts.load(Ordering::Relaxed), embedded, "nothing was embedded again");
    assert_sound(&engine);
}

#[derive(Debug, Clone, Copy)]
enum Damage {
    Flip,
    Truncate,
    Empty,
}

impl Damage {
    fn done_to(self, whole: &[u8]) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        match self {
            Damage::Flip => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x55;
            }
            Damage::Truncate => bytes.truncate(whole.len() / 2),
            Damage::Empty => bytes.clear(),
        }
        bytes
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.is_file() && path.metadata().unwrap().len() > 0).collect();
    files.sort();
    files
}

#[test]
fn a_damaged_index_returns_no_wrong_record_and_is_rebuilt() {
    let store = Store::new(hashed());
    fill(&store);
    let before = answers(&store.engine);
    let Store { engine, folder } = store;
    engine.close();
    for index in ["vectors", "keywords"] {
        let count = files(&folder.path().join(index)).len();
        assert!(count > 1, "{index} has files to damage");
        for at in 0..count {
            for damage in [Damage::Flip, Damage::Truncate, Damage::Empty] {
                // A repair rewrites the files, so list them again.
                let Some(file) = files(&folder.path().join(index)).get(at).cloned() else { continue };
                fs::write(&file, damage.done_to(&fs::read(&file).unwrap())).unwrap();
                let engine = hashed().open(folder.path()).unwrap();
                // Before any repair: a result with existing records, and no panic.
                for (ids, _) in answers(&engine) {
                    assert!(ids.iter().all(|id| (1..=400).contains(&id.get())), "{file:?} {damage:?}");
                }
                let diagnosis = engine.doctor(true, &NoProgress).unwrap();
                assert!(diagnosis.is_sound(), "{file:?} {damage:?}: {diagnosis:#?}");
                assert_eq!(answers(&engine), before, "{file:?} {damage:?}");
                engine.close();
            }
        }
    }
}

/// E11: a model of other dimensions.
#[test]
fn another_model_is_refused_and_keyword_search_continues() {
    let store = Store::new(hashed());
    fill(&store);
    let store = store.reopen(with_embedder(Arc::new(HashEmbedder::new(DIMS * 2))));
    let reply = store.engine.search(&Query::new("snake_case_99")).unwrap();
    assert_eq!(reply.hits[0].record.content, "meeting 99 on topic 1 with team 0 about snake_case_99");
    assert!(reply.warnings.iter().any(|warning| warning.contains("embedding model mismatch")), "{:?}", reply.warnings);
}

/// E9.
#[test]
fn memories_saved_without_a_model_are_embedded_by_a_later_one() {
    let store = Store::new(words_only());
    for at in 0..50 {
        store.add(&format!("saved early {at}"));
    }
    store.engine.flush(&NoProgress).unwrap();
    assert_eq!(store.engine.stats(&Filter::default()).unwrap().pending_embeddings, 50);
    let store = store.reopen(hashed());
    store.settle();
    assert_eq!(store.engine.stats(&Filter::default()).unwrap().pending_embeddings, 0);
    assert_eq!(store.engine.index_stats().unwrap().vectors, 50);
    let found = store.find(&Query { mode: Mode::Vector, ..Query::new("saved early 17") });
    assert_eq!(found[0].get(), 18);
    assert_sound(&store.engine);
}

#[test]
fn the_exact_backend_gives_the_same_first_places() {
    let store = Store::new(hashed());
    fill(&store);
    let ours = answers(&store.engine);
    let mut exact = hashed();
    exact.config.backend = Backend::Exact;
    let store = store.reopen(exact);
    let scanned = answers(&store.engine);
    for (ours, scanned) in ours.iter().zip(&scanned) {
        assert_eq!(ours.0.first(), scanned.0.first());
    }
    let id = store.add("an addition to the scanned store");
    store.settle();
    let query = Query { mode: Mode::Vector, ..Query::new("an addition to the scanned store") };
    assert_eq!(store.find(&query)[0], id);
    assert_sound(&store.engine);

    // Back to the index on disk, to which the log no longer reaches back.
    let store = store.reopen(hashed());
    assert_eq!(store.find(&query)[0], id);
    assert_sound(&store.engine);
}

#[test]
fn an_old_copy_of_an_index_is_detected() {
    let store = Store::new(hashed());
    store.add("the first heron");
    store.settle();
    let Store { engine, folder } = store;
    engine.close();
    let write = |store: &Engine, text: &str| {
        let id = store.add(&NewRecord::new(text)).unwrap().id;
        store.embed_pending(&NoProgress).unwrap();
        store.flush(&NoProgress).unwrap();
        id
    };
    for (index, searched_first) in [("vectors", true), ("vectors", false), ("keywords", true), ("keywords", false)] {
        let (folder, old) = (folder.path(), folder.path().join("old"));
        copy_folder(&folder.join(index), &old);
        let store = hashed().open(folder).unwrap();
        let text = format!("a heron that the old {index} do not know, {searched_first}");
        let id = write(&store, &text);
        store.close();
        fs::remove_dir_all(folder.join(index)).unwrap();
        fs::rename(&old, folder.join(index)).unwrap();

        let store = hashed().open(folder).unwrap();
        if !searched_first {
            // It must not be applied on top of the gap.
            write(&store, &format!("written after the old {index} came back"));
        }
        for mode in [Mode::Hybrid, Mode::Vector, Mode::Keyword] {
            let hits = store.search(&Query { mode, ..Query::new(text.clone()) }).unwrap().hits;
            assert_eq!(hits[0].record.id, id, "{mode:?} with old {index}");
        }
        assert_sound(&store);
    }
}

#[test]
fn a_foreign_file_at_the_path_of_an_index_is_replaced() {
    for index in ["vectors", "keywords"] {
        let store = Store::new(hashed());
        fill(&store);
        let before = answers(&store.engine);
        let Store { engine, folder } = store;
        engine.close();
        fs::remove_dir_all(folder.path().join(index)).unwrap();
        fs::write(folder.path().join(index), "a file").unwrap();
        let engine = hashed().open(folder.path()).unwrap();
        assert_eq!(answers(&engine), before, "{index}");
        assert_sound(&engine);
    }
}

#[test]
fn an_index_built_while_a_memory_was_expired_still_has_it() {
    let store = Store::new(hashed());
    let soon = memorist_engine::now() + 700;
    let record = NewRecord { expires_at: Some(soon), ..NewRecord::new("the ticket is valid for a moment") };
    let id = store.engine.add(&record).unwrap().id;
    store.add("the ferry leaves at six");
    store.settle();
    while memorist_engine::now() <= soon {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    store.engine.rebuild(&NoProgress).unwrap();
    assert_sound(&store.engine);
    assert!(!store.find(&Query::new("ticket")).contains(&id));
}

#[test]
fn a_restored_backup_answers_alike_without_embedding_again() {
    let (embedder, setup) = counting();
    let store = Store::new(setup.clone());
    fill(&store);
    let before = answers(&store.engine);
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("backup.db");
    store.engine.back_up(&file, &NoProgress).unwrap();
    store.add("written after the backup");
    let embedded = embedder.texts.load(Ordering::Relaxed);

    let again = elsewhere.path().join("store");
    memorist_engine::restore(&file, &again, &NoProgress).unwrap();
    let engine = setup.open(&again).unwrap();
    assert_eq!(answers(&engine), before);
    assert_eq!(embedder.texts.load(Ordering::Relaxed), embedded, "nothing was embedded again");
    assert_sound(&engine);
}

/// R28, Z5: `memory.db` alone is the whole store.
#[test]
fn the_database_file_alone_is_the_whole_store() {
    let (embedder, setup) = counting();
    let store = Store::new(setup.clone());
    fill(&store);
    let before = answers(&store.engine);
    let embedded = embedder.texts.load(Ordering::Relaxed);
    let Store { engine, folder } = store;
    engine.close();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::copy(folder.path().join("memory.db"), elsewhere.path().join("memory.db")).unwrap();
    let engine = setup.open(elsewhere.path()).unwrap();
    assert_eq!(answers(&engine), before);
    assert_eq!(embedder.texts.load(Ordering::Relaxed), embedded, "nothing was embedded again");
    assert_sound(&engine);
}

#[test]
fn indexes_of_a_newer_memory_db_are_not_believed() {
    let store = Store::new(hashed());
    fill(&store);
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("backup.db");
    store.engine.back_up(&file, &NoProgress).unwrap();
    let before = answers(&store.engine);
    let ghosts: Vec<_> = (0..30).map(|at| store.add(&format!("topic 3 with team 5, written later {at}"))).collect();
    store.settle();
    let Store { engine, folder } = store;
    engine.close();

    // As users restore by hand: the database alone, over the old one.
    for name in ["memory.db-wal", "memory.db-shm"] {
        let _ = fs::remove_file(folder.path().join(name));
    }
    fs::copy(&file, folder.path().join("memory.db")).unwrap();
    // A process that writes no index sees it first, and its records reuse the ids of the lost ones.
    let mut reader = hashed();
    reader.config.index_writer = false;
    let engine = reader.open(folder.path()).unwrap();
    for at in 0..40 {
        engine.add(&NewRecord::new(format!("entirely different {at}"))).unwrap();
    }
    engine.close();
    let engine = hashed().open(folder.path()).unwrap();
    let found = engine.search(&Query { limit: 1_000, ..Query::new("written later") }).unwrap();
    assert!(found.hits.iter().all(|hit| !hit.record.content.contains("written later")));
    engine.flush(&NoProgress).unwrap();
    assert_sound(&engine);
    for id in ghosts.iter().chain(&(401..=440).map(RecordId::from).collect::<Vec<_>>()) {
        engine.viewed_by(&Viewer::OWNER).delete(*id).unwrap();
    }
    assert_eq!(answers(&engine).len(), before.len());
    assert_sound(&engine);
}

/// Two stores with as many changes each: their indexes have applied the same number, and have the same model.
#[test]
fn indexes_of_another_store_of_the_same_length_are_not_believed() {
    let (embedder, setup) = counting();
    let fill = |what: &str| {
        let store = Store::new(setup.clone());
        for at in 0..30 {
            store.add(&format!("{what} number {at}"));
        }
        store.settle();
        let Store { engine, folder } = store;
        engine.close();
        folder
    };
    for swapped in [&["vectors"][..], &["keywords"], &["vectors", "keywords"]] {
        let (ours, theirs) = (fill("a heron on the river"), fill("an invoice of the landlord"));
        for index in swapped {
            fs::remove_dir_all(ours.path().join(index)).unwrap();
            copy_folder(&theirs.path().join(index), &ours.path().join(index));
        }
        let embedded = embedder.texts.load(Ordering::Relaxed);
        let engine = setup.open(ours.path()).unwrap();
        for mode in [Mode::Vector, Mode::Keyword, Mode::Hybrid] {
            let reply = engine.search(&Query { mode, ..Query::new("a heron on the river number 17") }).unwrap();
            assert_eq!(
                reply.hits.first().map(|hit| hit.record.id.get()),
                Some(18),
                "{swapped:?} {mode:?}: {:?}",
                reply.warnings
            );
            let invoice = engine.search(&Query { mode, ..Query::new("invoice landlord") }).unwrap();
            assert!(mode != Mode::Keyword || invoice.hits.is_empty(), "words of another store: {:?}", invoice.hits);
        }
        assert_sound(&engine);
        assert_eq!(embedder.texts.load(Ordering::Relaxed), embedded, "nothing was embedded again");
    }
}

/// Two copies of one store diverge.
#[test]
fn an_index_of_a_restored_copy_is_not_believed() {
    let store = Store::new(words_only());
    store.add("what both have");
    let copies = tempfile::tempdir().unwrap();
    let backup = copies.path().join("backup");
    store.engine.back_up(&backup, &NoProgress).unwrap();
    let copy = copies.path().join("copy");
    memorist_engine::restore(&backup, &copy, &NoProgress).unwrap();
    let engine = words_only().open(&copy).unwrap();
    engine.add(&NewRecord::new("gamma in the copy")).unwrap();
    engine.flush(&NoProgress).unwrap();
    engine.close();
    store.add("alpha in the original");
    store.engine.flush(&NoProgress).unwrap();
    let Store { engine, folder } = store;
    engine.close();
    fs::remove_dir_all(copy.join("keywords")).unwrap();
    copy_folder(&folder.path().join("keywords"), &copy.join("keywords"));
    let engine = words_only().open(&copy).unwrap();
    let found = |text: &str| engine.search(&Query::new(text)).unwrap().hits.len();
    assert_eq!((found("gamma"), found("alpha")), (1, 0));
    assert_sound(&engine);
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for file in files(from) {
        fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
}

/// A deleted store acknowledges no write, and returns no record.
#[cfg(unix)]
#[test]
fn a_moved_store_refuses_calls_and_spares_its_replacement() {
    let store = Store::new(words_only());
    store.add("a heron stands near the water");
    store.engine.flush(&NoProgress).unwrap();
    let aside = tempfile::tempdir().unwrap();
    let root = store.folder.path();
    let assert_refused = |how: &str| {
        let refused = [
            store.engine.add(&NewRecord::new("lost")).map(drop),
            store.engine.search(&Query::new("heron")).map(drop),
            store.engine.stats(&Filter::default()).map(drop),
        ];
        for (at, outcome) in refused.into_iter().enumerate() {
            let said = outcome.expect_err(&format!("{at} of a store that was {how}")).to_string();
            assert!(said.contains(how) && said.contains("restart"), "{said}");
        }
    };
    fs::rename(root, aside.path().join("moved")).unwrap();
    assert_refused("moved");
    let other = words_only().open(root).unwrap();
    for at in 0..3 {
        other.add(&NewRecord::new(format!("an otter swims near bank {at}"))).unwrap();
    }
    other.flush(&NoProgress).unwrap();
    assert_refused("replaced");
    // Long enough for the background thread of the old one to act.
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(other.search(&Query::new("otter")).unwrap().hits.len(), 3);
    assert!(other.doctor(false, &NoProgress).unwrap().is_sound());
}

/// A command may end before the background has rebuilt anything: it rebuilds what it needs, and says so.
#[test]
fn a_search_command_rebuilds_a_missing_large_keyword_index() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let run = |arguments: &[&str]| {
        let output = memorist(&store, arguments).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        output
    };
    let lines: Vec<String> = (0..5_100).map(|at| format!("{{\"content\":\"lantern number {at}\"}}\n")).collect();
    let file = folder.path().join("lanterns.jsonl");
    fs::write(&file, lines.concat()).unwrap();
    run(&["import", file.to_str().unwrap()]);
    fs::remove_dir_all(store.join("keywords")).unwrap();
    for rebuilds in [true, false] {
        let output = run(&["search", "lantern 4711", "--limit", "1", "--json"]);
        assert_eq!(document(&output)["results"][0]["content"], "lantern number 4711");
        assert_eq!(text(&output.stderr).contains("indexing words (5,100)"), rebuilds, "{}", text(&output.stderr));
    }
}
