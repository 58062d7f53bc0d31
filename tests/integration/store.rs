//! Writes are found, in every mode, before and after they are indexed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use memorist_engine::Error;
use memorist_engine::config::{Config, ModelSource};
use memorist_engine::embed::{self, Embedder, HashEmbedder, Loader, ModelIdentity, Plan};
use memorist_engine::paths::StorePaths;
use memorist_engine::progress::{NoProgress, Progress};
use memorist_engine::records::{AccessKind, Records};
use memorist_engine::sync::WriterLock;
use memorist_engine::types::{Filter, Mode, NewRecord, Query, RecordUpdate, Tier, Viewer};

use crate::support::{DIMS, Store, hashed, with_embedder, words_only};

fn query(text: &str, mode: Mode) -> Query {
    Query { mode, ..Query::new(text) }
}

const MODES: [Mode; 3] = [Mode::Hybrid, Mode::Vector, Mode::Keyword];

#[test]
fn a_write_is_found_at_once_and_in_every_later_state() {
    let store = Store::new(hashed());
    for at in 0..300 {
        store.add(&format!("note {at} about ordinary things"));
    }
    let heron = "the heron stands in the reeds";
    let id = store.add(heron);
    assert_eq!(store.find(&query("heron", Mode::Keyword)), [id], "by words, at once");
    store.engine.embed_pending(&NoProgress).unwrap();
    for mode in MODES {
        assert_eq!(store.find(&query(heron, mode))[0], id, "{mode:?}, embedded");
    }
    store.settle();
    for mode in MODES {
        assert_eq!(store.find(&query(heron, mode))[0], id, "{mode:?}, applied");
    }
    let store = store.reopen(hashed());
    for mode in MODES {
        assert_eq!(store.find(&query(heron, mode))[0], id, "{mode:?}, reopened");
    }
}

/// Z3: a deletion returns whether there was anything, and leaves nothing in either index.
#[test]
fn deleted_and_replaced_texts_are_gone_at_once() {
    let store = Store::new(hashed());
    let (heron, stork) = (store.add("the heron stands in the reeds"), store.add("a stork on the chimney"));
    for settled in [false, true] {
        let id = store.add(&format!("short lived kingfisher {settled}"));
        if settled {
            store.settle();
        }
        assert!(store.engine.viewed_by(&Viewer::OWNER).delete(id).unwrap());
        assert!(!store.engine.viewed_by(&Viewer::OWNER).delete(id).unwrap(), "nothing left to delete");
        for mode in MODES {
            let found = store.find(&query("short lived kingfisher", mode));
            assert!(!found.contains(&id), "{mode:?} settled {settled}");
        }
        assert!(matches!(store.engine.viewed_by(&Viewer::OWNER).access(id), Err(Error::NotFound(gone)) if gone == id));
    }
    let new = RecordUpdate { content: Some("a crane over the marsh".into()), ..RecordUpdate::default() };
    let outcome = store.engine.viewed_by(&Viewer::OWNER).update(heron, &new).unwrap();
    assert_eq!((outcome.record.version, outcome.record.id), (2, heron));
    for settled in [false, true] {
        if settled {
            store.settle();
        }
        assert!(store.find(&query("heron reeds", Mode::Keyword)).is_empty(), "settled {settled}");
        assert_eq!(store.find(&query("crane marsh", Mode::Keyword)), [heron]);
    }
    assert_eq!(store.find(&query("a crane over the marsh", Mode::Vector))[0], heron);
    assert_eq!(store.find(&query("stork", Mode::Keyword)), [stork]);
}

/// D1, Z4: duplicates are detected before saving.
#[test]
fn the_same_text_is_kept_once_per_scope() {
    let store = Store::new(words_only());
    let first = store.engine.add(&NewRecord::new("caf\u{e9} at nine")).unwrap();
    let again = store.engine.add(&NewRecord::new("cafe\u{301} at nine")).unwrap();
    assert_eq!((again.id, again.created), (first.id, false), "composed or not, it is the same text");
    let mut elsewhere = NewRecord::new("caf\u{e9} at nine");
    elsewhere.scope.project = Some("atlas".into());
    assert!(store.engine.add(&elsewhere).unwrap().created);
    let clash = RecordUpdate { content: Some("caf\u{e9} at nine".into()), ..RecordUpdate::default() };
    let other = store.add("tea at four");
    assert!(
        matches!(store.engine.viewed_by(&Viewer::OWNER).update(other, &clash), Err(Error::Duplicate(id)) if id == first.id)
    );
}

/// R26.
#[test]
fn expired_records_are_never_shown() {
    let store = Store::new(hashed());
    let past = NewRecord { expires_at: Some(200_000_000_000), ..NewRecord::new("the ferry leaves at six") };
    let id = store.engine.add(&past).unwrap().id;
    let kept = store.add("the ferry takes bicycles");
    for settled in [false, true] {
        if settled {
            store.settle();
        }
        for mode in MODES {
            assert!(!store.find(&query("the ferry", mode)).contains(&id), "{mode:?} settled {settled}");
        }
        assert!(matches!(store.engine.viewed_by(&Viewer::OWNER).access(id), Err(Error::NotFound(_))));
    }
    assert_eq!(store.find(&query("the ferry", Mode::Hybrid)), [kept]);
    assert_eq!(store.engine.stats(&Filter::default()).unwrap().total, 1);
}

#[test]
fn an_indexed_record_is_not_found_after_it_expires() {
    let store = Store::new(hashed());
    let soon = memorist_engine::now() + 1_500;
    let record = NewRecord { expires_at: Some(soon), ..NewRecord::new("the parking ticket is valid") };
    let id = store.engine.add(&record).unwrap().id;
    store.settle();
    assert_eq!(store.find(&query("parking ticket", Mode::Hybrid)), [id]);
    while memorist_engine::now() < soon {
        std::thread::sleep(Duration::from_millis(20));
    }
    for mode in MODES {
        assert!(store.find(&query("parking ticket", mode)).is_empty(), "{mode:?}");
    }
}

/// Z1, Z2: add, get, search and stats, with the fields of the types.
#[test]
fn fetching_counts_and_searching_does_not() {
    let store = Store::new(words_only());
    let id = store.add("the boiler was serviced");
    assert_eq!(store.engine.viewed_by(&Viewer::OWNER).access(id).unwrap().access_count, 1, "the reply counts itself");
    store.find(&Query::new("boiler"));
    let again = store.engine.viewed_by(&Viewer::OWNER).access(id).unwrap();
    assert_eq!(again.access_count, 2);
    assert!(again.last_accessed_at.is_some());
    assert_eq!(store.engine.stats(&Filter::default()).unwrap().total_accesses, 2);
}

#[test]
fn two_engines_on_one_store_see_each_others_writes_at_once() {
    let ours = Store::new(hashed());
    let theirs = hashed().open(ours.folder.path()).unwrap();
    let id = ours.add("the lighthouse keeper's log");
    let found = theirs.search(&query("lighthouse", Mode::Keyword)).unwrap();
    assert_eq!(found.hits[0].record.id, id);
    ours.settle();
    let found = theirs.search(&query("the lighthouse keeper's log", Mode::Vector)).unwrap();
    assert_eq!(found.hits[0].record.id, id);
    theirs.viewed_by(&Viewer::OWNER).delete(id).unwrap();
    for mode in MODES {
        assert!(ours.find(&query("lighthouse", mode)).is_empty(), "{mode:?}");
    }
}

/// E9: a memory is saved and found by keywords before it has a vector.
#[test]
fn a_search_says_how_many_memories_wait_for_their_embedding() {
    let mut setup = hashed();
    setup.config.index_writer = false; // nothing is embedded before it is requested
    let store = Store::new(setup);
    store.add("the heron stands in the reeds");
    store.settle();
    let found = |mode| store.engine.search(&query("heron kingfisher", mode)).unwrap();
    assert_eq!(found(Mode::Hybrid).warnings, Vec::<String>::new());
    let waiting = [NewRecord::new("a kingfisher on the bridge"), NewRecord::new("another kingfisher")];
    store.engine.add_batch(&waiting).unwrap();
    let hybrid = found(Mode::Hybrid);
    assert_eq!(hybrid.hits.len(), 3, "words find them");
    assert_eq!(hybrid.warnings, ["2 memories are not embedded yet: keyword search only"]);
    let vector = found(Mode::Vector);
    assert_eq!(vector.hits.len(), 1);
    assert_eq!(vector.warnings, ["2 memories are not embedded yet: not in vector results"]);
    assert_eq!(found(Mode::Keyword).warnings, Vec::<String>::new(), "nothing is missing here");
    store.settle();
    assert_eq!(found(Mode::Vector).hits.len(), 3);
    assert_eq!(found(Mode::Vector).warnings, Vec::<String>::new());
}

/// T37: a few at a time, and at last nothing is left to do.
#[test]
fn a_backfill_embeds_no_more_than_it_should_and_ends() {
    let mut setup = hashed();
    setup.config.index_writer = false;
    let store = Store::new(setup);
    let waiting: Vec<NewRecord> = (0..7).map(|at| NewRecord::new(format!("heron number {at}"))).collect();
    store.engine.add_batch(&waiting).unwrap();
    let next = || store.engine.backfill(3, &NoProgress).unwrap();
    assert_eq!(
        [next(), next(), next(), next()].map(|done| (done.embedded, done.remaining)),
        [(3, 4), (3, 1), (1, 0), (0, 0)]
    );
    assert_eq!(store.engine.search(&query("heron", Mode::Vector)).unwrap().hits.len(), 7, "in the index already");
}

/// R5, R6.
#[test]
fn gets_and_searches_are_in_the_access_log_and_only_gets_count() {
    let store = Store::new(hashed());
    let id = store.add("the ferry leaves at six");
    let rows = || {
        let records = Records::open(&StorePaths::new(store.folder.path())).unwrap();
        let counts = records.snapshot().unwrap().counts(memorist_engine::now()).unwrap();
        counts.accesses
    };
    assert_eq!(store.engine.viewed_by(&Viewer::OWNER).get(id).unwrap().unwrap().access_count, 0);
    assert_eq!(rows(), 0, "`get` is not an access");
    assert_eq!(store.engine.viewed_by(&Viewer::OWNER).access(id).unwrap().access_count, 1);
    assert_eq!(rows(), 1);
    store.find(&query("ferry", Mode::Keyword));
    assert!(within(Duration::from_secs(20), || rows() == 2));
    assert_eq!(
        store.engine.viewed_by(&Viewer::OWNER).get(id).unwrap().unwrap().access_count,
        1,
        "a search does not count"
    );
    store.engine.log_access(id, AccessKind::Search, Some(0.5), Some("ferry")).unwrap();
    assert_eq!((rows(), store.engine.viewed_by(&Viewer::OWNER).get(id).unwrap().unwrap().access_count), (3, 2));
    assert_eq!(store.engine.viewed_by(&Viewer::OWNER).get((id.get() + 1).into()).unwrap(), None);
}

/// The program that the engine is part of keeps all of rayon's own threads busy.
#[test]
fn a_search_does_not_wait_for_other_work_of_its_program() {
    let store = Store::new(hashed());
    let id = store.add("a heron in the reeds");
    store.settle();
    let (begun, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (beginning, end) = (begun.clone(), done.clone());
    rayon::spawn_broadcast(move |_| {
        beginning.fetch_add(1, Ordering::SeqCst);
        while !end.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    while begun.load(Ordering::SeqCst) < rayon::current_num_threads() {
        std::thread::yield_now();
    }
    let (answer, answered) = std::sync::mpsc::channel();
    let found = std::thread::scope(|scope| {
        scope.spawn(|| answer.send(store.find(&query("a heron", Mode::Hybrid))));
        let found = answered.recv_timeout(Duration::from_secs(20));
        done.store(true, Ordering::SeqCst);
        found
    });
    assert_eq!(found.expect("an answer meanwhile"), [id]);
}

/// X1.
#[test]
fn a_search_says_why_there_is_no_model() {
    let missing = |model| {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.model.source = model;
        let engine = memorist_engine::Engine::open(folder.path(), config).unwrap();
        engine.add(&NewRecord::new("a heron")).unwrap();
        engine.search(&Query::new("heron")).unwrap().warnings.join("; ")
    };
    assert!(missing(ModelSource::None).contains("`model = \"none\"`"), "{}", missing(ModelSource::None));
    let nowhere = missing(ModelSource::Folder("/nowhere/at/all".into()));
    assert!(nowhere.contains("/nowhere/at/all"), "{nowhere}");
}

/// Loads an embedder, and counts how often.
struct CountingLoader(Arc<AtomicUsize>);

impl Loader for CountingLoader {
    fn identity(&self) -> Option<ModelIdentity> {
        Some(HashEmbedder::new(DIMS).identity().clone())
    }

    fn is_local(&self) -> embed::Result<bool> {
        Ok(true)
    }

    fn verify(&self) -> embed::Result<Option<String>> {
        Ok(None)
    }

    fn load(&self, _: &mut dyn FnMut(&Plan), _: &dyn Progress) -> embed::Result<Arc<dyn Embedder>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Arc::new(HashEmbedder::new(DIMS)))
    }
}

#[test]
fn a_custom_model_is_loaded_when_it_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let loads = Arc::new(AtomicUsize::new(0));
    let loader = Box::new(CountingLoader(loads.clone()));
    let engine = memorist_engine::Engine::open_with_loader(folder.path(), Config::default(), loader).unwrap();
    assert_eq!((engine.is_model_loaded(), loads.load(Ordering::SeqCst)), (false, 0));
    let id = engine.add(&NewRecord::new("a heron at the lake")).unwrap().id;
    engine.embed_pending(&NoProgress).unwrap();
    let reply = engine.search(&Query { mode: Mode::Vector, ..Query::new("heron lake") }).unwrap();
    assert_eq!((reply.hits[0].record.id, reply.tier), (id, Tier::Full));
    assert_eq!((engine.is_model_loaded(), loads.load(Ordering::SeqCst)), (true, 1));
}

/// An embedder that is asked and fails.
struct Failing(HashEmbedder);

impl Embedder for Failing {
    fn identity(&self) -> &ModelIdentity {
        self.0.identity()
    }

    fn embed_query(&self, _: &str) -> embed::Result<Vec<f32>> {
        Err(embed::Error::Failed("it always fails".into()))
    }

    fn embed_batch(&self, _: &[&str]) -> embed::Result<Vec<Vec<f32>>> {
        Err(embed::Error::Failed("it always fails".into()))
    }
}

/// X1.
#[test]
fn a_process_whose_model_fails_keeps_nobody_out_of_the_indexes() {
    let store = Store::new(with_embedder(Arc::new(Failing(HashEmbedder::new(DIMS)))));
    // The first builds the index, the second is applied to it.
    for documents in 1..=2 {
        store.engine.add_batch(&[NewRecord::new(format!("saved by the one whose model fails {documents}"))]).unwrap();
        let applied = || store.engine.index_stats().unwrap().documents == documents;
        assert!(within(Duration::from_secs(20), applied), "its words are applied all the same");
    }
    let other = hashed().open(store.folder.path()).unwrap();
    for at in 0..5 {
        other.add(&NewRecord::new(format!("saved by the other {at}"))).unwrap();
        other.embed_pending(&NoProgress).unwrap();
        other.flush(&NoProgress).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(other.index_stats().unwrap().unapplied, 0);
}

#[test]
fn endless_searches_do_not_block_the_worker() {
    let store = Store::new(hashed());
    store.add("something to be found");
    store.settle();
    let waiting: Vec<_> = (0..20).map(|at| NewRecord::new(format!("found by meaning later {at}"))).collect();
    store.engine.add_batch(&waiting).unwrap();
    let embedded = || {
        store.find(&query("something", Mode::Keyword));
        store.engine.stats(&Filter::default()).unwrap().pending_embeddings == 0
    };
    assert!(within(Duration::from_secs(20), embedded));
}

/// X2.
#[test]
fn a_search_does_not_wait_for_another_index_writer() {
    let store = Store::new(words_only());
    store.add("found without an index");
    store.engine.flush(&NoProgress).unwrap();
    let Store { engine, folder } = store;
    engine.close();
    let _ = std::fs::remove_dir_all(folder.path().join("keywords"));
    let lock = WriterLock::new(StorePaths::new(folder.path()).writer_lock());
    let held = lock.try_acquire().unwrap().expect("free");
    let engine = words_only().open(folder.path()).unwrap();
    let started = std::time::Instant::now();
    let reply = engine.search(&query("found without", Mode::Keyword)).unwrap();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!((reply.hits.len(), reply.tier), (1, Tier::Substring), "{:?}", reply.warnings);
    assert!(reply.warnings.iter().any(|warning| warning.contains("keyword index is unusable")), "{:?}", reply.warnings);
    drop(held);
}

/// The indexes of a new store are built in the background. Until then nothing is missing: everything is searched
/// exactly.
#[test]
fn the_first_search_of_a_new_store_warns_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lock = WriterLock::new(StorePaths::new(folder.path()).writer_lock());
    let held = lock.try_acquire().unwrap().expect("free");
    let store = Store { engine: hashed().open(folder.path()).unwrap(), folder };
    for mode in [Mode::Hybrid, Mode::Vector, Mode::Keyword] {
        let reply = store.engine.search(&query("an empty store", mode)).unwrap();
        assert_eq!((reply.hits.len(), reply.warnings), (0, Vec::new()), "{mode:?}");
    }
    let heron = store.add("a heron in the reeds");
    store.add("the ferry leaves at six");
    for mode in [Mode::Hybrid, Mode::Vector, Mode::Keyword] {
        let reply = store.engine.search(&query("heron reeds", mode)).unwrap();
        assert_eq!((reply.hits[0].record.id, reply.tier, reply.warnings), (heron, Tier::Full, Vec::new()), "{mode:?}");
    }
    drop(held);
    store.settle();
    assert_eq!(store.find(&query("heron reeds", Mode::Hybrid))[0], heron);
}

/// Whether `condition` becomes true in time.
fn within(timeout: Duration, condition: impl Fn() -> bool) -> bool {
    let started = std::time::Instant::now();
    while started.elapsed() < timeout {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(30));
    }
    false
}

#[cfg(unix)]
#[test]
fn everything_in_a_store_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;

    fn check(folder: &std::path::Path) -> usize {
        let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
        let check_one = |entry: std::fs::DirEntry| {
            let metadata = entry.metadata().expect("its metadata");
            let wanted = if metadata.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(metadata.permissions().mode() & 0o777, wanted, "{}", entry.path().display());
            if metadata.is_dir() { check(&entry.path()) } else { 1 }
        };
        entries.map(check_one).sum()
    }

    // The permissions of an existing folder stay; new files in it are private.
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("notes"), "").expect("writes");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("opens up");
    let store = Store { engine: hashed().open(folder.path()).expect("opens"), folder };
    for n in 0..30 {
        store.add(&format!("memory {n}"));
    }
    store.settle();
    assert!(store.engine.viewed_by(&Viewer::OWNER).delete(3.into()).expect("deletes"));
    store.settle();
    std::fs::remove_file(store.folder.path().join("notes")).expect("removes");
    let files = check(store.folder.path());
    assert!(files > 15, "{files}");
}
