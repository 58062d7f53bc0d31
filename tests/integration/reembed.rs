//! Changing the embedding model: the old one serves until the new one is complete, nothing is embedded twice, and
//! vectors of different models are never compared.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memorist_engine::config::Backend;
use memorist_engine::doctor::Diagnosis;
use memorist_engine::embed::{Embedder, HashEmbedder, ModelIdentity};
use memorist_engine::progress::{NoProgress, Progress};
use memorist_engine::types::{EmbeddingState, Mode, NewRecord, Query, RecordUpdate, SearchReply, Viewer};
use memorist_engine::{Engine, Error};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::{DIMS, Setup, Store, number_from, stored, with_embedder, words_only};

/// How long the race lasts, unless MEMORIST_RACE_SECONDS says otherwise.
const SECONDS: u64 = 3;
/// But not before this many changes.
const FEWEST_CHANGES: usize = 4;
/// Texts that the engine embeds and stores at once.
const ROUND: usize = 1_024;

type Hook = Box<dyn FnMut() + Send>;

/// A test model: another name makes other vectors, with the same dimensions.
struct TestModel {
    inner: HashEmbedder,
    identity: ModelIdentity,
    /// How often each text was embedded in a batch.
    embedded: Mutex<BTreeMap<String, usize>>,
    /// Batches that are still embedded; the next one fails.
    batches_left: AtomicUsize,
    /// Runs once, while the next text is embedded.
    meanwhile: Mutex<Option<Hook>>,
    /// How long a batch takes.
    slowness: Duration,
}

impl TestModel {
    fn new(name: &str, dims: usize) -> Self {
        let inner = HashEmbedder::new(dims);
        let identity = ModelIdentity { name: name.into(), pooling: name.into(), ..inner.identity().clone() };
        TestModel {
            inner,
            identity,
            embedded: Mutex::default(),
            batches_left: AtomicUsize::new(usize::MAX),
            meanwhile: Mutex::default(),
            slowness: Duration::ZERO,
        }
    }

    fn embed(&self, text: &str) -> Vec<f32> {
        let words: Vec<String> = text.split_whitespace().map(|word| format!("{word}{}", self.identity.name)).collect();
        self.inner.embed_query(&words.join(" ")).expect("hashes")
    }

    /// The cosine of the query and of the text as a store keeps it.
    fn cosine(&self, query: &str, text: &str) -> f64 {
        let products =
            self.embed(query).into_iter().zip(stored(&self.embed(text))).map(|(a, b)| f64::from(a) * f64::from(b));
        products.sum()
    }

    fn meanwhile(&self, hook: impl FnMut() + Send + 'static) {
        *self.meanwhile.lock().unwrap() = Some(Box::new(hook));
    }

    fn pause(&self) {
        let hook = self.meanwhile.lock().unwrap().take();
        if let Some(mut hook) = hook {
            hook();
        }
    }

    fn texts_embedded(&self) -> usize {
        self.embedded.lock().unwrap().len()
    }
}

impl Embedder for TestModel {
    fn is_measurable(&self) -> bool {
        false
    }

    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> memorist_engine::embed::Result<Vec<f32>> {
        self.pause();
        Ok(self.embed(text))
    }

    fn embed_batch(&self, texts: &[&str]) -> memorist_engine::embed::Result<Vec<Vec<f32>>> {
        self.pause();
        let left = self.batches_left.load(Ordering::SeqCst);
        if left == 0 {
            return Err(memorist_engine::embed::Error::Failed("out of order".into()));
        }
        self.batches_left.store(left - 1, Ordering::SeqCst);
        std::thread::sleep(self.slowness);
        let mut embedded = self.embedded.lock().unwrap();
        texts.iter().for_each(|text| *embedded.entry((*text).into()).or_default() += 1);
        Ok(texts.iter().map(|text| self.embed(text)).collect())
    }
}

fn opened(model: &Arc<TestModel>, backend: Backend) -> Setup {
    let mut setup = with_embedder(model.clone());
    setup.config.backend = backend;
    setup
}

fn open(model: &Arc<TestModel>, folder: &Path) -> Engine {
    opened(model, Backend::Hnsw).open(folder).expect("the store opens")
}

fn search(engine: &Engine, text: &str) -> SearchReply {
    engine.search(&Query { limit: 1_000, ..Query::new(text) }).expect("a sound query")
}

/// The results once no index is being rebuilt: the worker of any opener may be at it, and a search does not wait.
#[cfg(unix)]
fn search_whole(engine: &Engine, text: &str) -> SearchReply {
    let started = Instant::now();
    loop {
        let reply = search(engine, text);
        if !reply.warnings.iter().any(|warning| warning.contains("is being rebuilt")) {
            return reply;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", reply.warnings);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Every score of a hit is the cosine of the query and of its text, under this model. Returns the number of hits.
fn assert_cosines(reply: &SearchReply, model: &TestModel, query: &str) -> usize {
    for hit in &reply.hits {
        let (found, expected) = (hit.vector_score, model.cosine(query, &hit.record.content));
        let is_same = found.is_some_and(|found| (found - expected).abs() < 2e-5);
        assert!(is_same, "{}: {found:?} is not {expected} under {}", hit.record.content, model.identity.name);
    }
    reply.hits.len()
}

/// Found by keywords only, with the reason and the remedy.
fn assert_words_alone(reply: &SearchReply) {
    assert!(reply.hits.iter().all(|hit| hit.vector_score.is_none()), "{reply:?}");
    let says_why = |warning: &String| warning.contains("embedding model mismatch");
    assert_eq!(reply.remedy, Some(memorist_engine::Remedy::Reembed));
    assert!(reply.warnings.iter().any(says_why), "{:?}", reply.warnings);
}

fn diagnose(engine: &Engine) -> Diagnosis {
    let diagnosis = engine.doctor(false, &NoProgress).expect("looks");
    assert!(diagnosis.is_sound(), "{diagnosis:#?}");
    diagnosis
}

fn mentions(diagnosis: &Diagnosis, what: &str) -> bool {
    diagnosis.checks.iter().flat_map(|check| &check.details).any(|detail| detail.contains(what))
}

/// A store of `count` texts, embedded by `model` and indexed.
fn filled(model: &Arc<TestModel>, count: usize) -> Store {
    let store = Store::new(opened(model, Backend::Hnsw));
    let texts: Vec<_> =
        (0..count).map(|at| NewRecord::new(format!("heron {at} stands in river {}", at % 13))).collect();
    store.engine.add_batch(&texts).expect("saves");
    store.settle();
    store
}

const QUERY: &str = "heron in river 7";

#[test]
fn the_old_model_serves_until_the_new_one_is_complete() {
    for backend in [Backend::Hnsw, Backend::Exact, Backend::HnswRs] {
        for dims in [DIMS, DIMS * 2] {
            let (old, new) = (Arc::new(TestModel::new("old", DIMS)), Arc::new(TestModel::new("new", dims)));
            let store = filled(&old, 60);
            let folder = store.folder.path().to_owned();
            let open = |model: &Arc<TestModel>| opened(model, backend).open(&folder).expect("opens");
            let (with_old, with_new) = (Arc::new(open(&old)), Arc::new(open(&new)));
            // Has no model: its caller provides the vectors.
            let mut setup = words_only();
            setup.config.backend = backend;
            let with_none = setup.open(&folder).expect("opens");
            let by_vector = |vector| with_none.search_with(&Query { mode: Mode::Vector, ..Query::new(QUERY) }, vector);
            assert!(assert_cosines(&by_vector(Some(old.embed(QUERY))).unwrap(), &old, QUERY) > 0);

            let (during_old, during_new, model) = (with_old.clone(), with_new.clone(), old.clone());
            new.meanwhile(move || {
                assert_eq!(assert_cosines(&search(&during_old, QUERY), &model, QUERY), 60);
                assert_words_alone(&search(&during_new, QUERY));
                assert!(mentions(&diagnose(&during_new), "a change to new is unfinished: 0 of 60 texts"));
            });
            let report = with_new.reembed(&NoProgress).unwrap();
            assert_eq!((report.before.as_deref(), report.model.as_deref()), (Some("old"), Some("new")));
            assert_eq!((report.changed, report.embedded), (true, 60));

            let with_later = open(&new);
            for engine in [&*with_new, &with_later] {
                assert_eq!(assert_cosines(&search(engine, QUERY), &new, QUERY), 60);
                assert!(search(engine, QUERY).warnings.is_empty());
            }
            assert_words_alone(&search(&with_old, QUERY));
            assert!(assert_cosines(&by_vector(Some(new.embed(QUERY))).unwrap(), &new, QUERY) > 0, "of all processes");
            let vector = Some(old.embed(QUERY));
            let brought = with_old.search_with(&Query::new(QUERY), vector).unwrap();
            assert_words_alone(&brought);
            let refused = with_none.search_with(&Query::new(QUERY), Some(vec![1.0; dims + 1])).unwrap_err();
            assert!(refused.to_string().starts_with("embedding: must be"), "{refused}");
            // The index on disk does not matter for the other backends: its next user rebuilds it.
            store.engine.flush(&NoProgress).unwrap();
            for engine in [&*with_old, &*with_new, &with_none, &store.engine] {
                assert!(!mentions(&diagnose(engine), "unfinished"));
                let stats = engine.index_stats().unwrap();
                assert_eq!((stats.model.as_deref(), stats.vectors), (Some("new"), 60));
            }
        }
    }
}

#[test]
fn an_old_model_process_still_saves_and_a_new_one_embeds() {
    let (old, new) = (Arc::new(TestModel::new("old", DIMS)), Arc::new(TestModel::new("new", DIMS)));
    let store = filled(&old, 20);
    {
        let mut setup = opened(&new, Backend::Hnsw);
        setup.config.index_writer = false;
        let brief = setup.open(store.folder.path()).unwrap();
        assert!(brief.reembed(&NoProgress).unwrap().changed);
        assert_eq!(brief.reembed(&NoProgress).unwrap().embedded, 0, "again");
    }
    let text = "a heron that the old model saves";
    let outcome = store.engine.add(&NewRecord::new(text)).unwrap();
    assert_eq!(outcome.embedding, EmbeddingState::Pending);
    let refused = store.engine.add_with(&NewRecord::new("refused"), &old.embed(text)).unwrap_err();
    assert!(matches!(refused, Error::ModelMismatch { .. }), "{refused}");
    store.engine.flush(&NoProgress).unwrap();
    assert_eq!(search(&store.engine, "saves").hits[0].record.id, outcome.id, "by its words");
    assert!(matches!(store.engine.embed_pending(&NoProgress), Err(Error::ModelMismatch { .. })));

    let with_new = open(&new, store.folder.path());
    with_new.embed_pending(&NoProgress).unwrap();
    assert_eq!(assert_cosines(&search(&with_new, text), &new, text), 21);
    assert_eq!(search(&with_new, text).hits[0].record.id, outcome.id);
    diagnose(&with_new);
}

#[test]
fn a_vector_that_the_change_has_overtaken_is_of_no_use() {
    let (old, new) = (Arc::new(TestModel::new("old", DIMS)), Arc::new(TestModel::new("new", DIMS)));
    let store = filled(&old, 20);
    let with_new = Arc::new(open(&new, store.folder.path()));
    let change = || {
        let with_new = with_new.clone();
        old.meanwhile(move || assert!(with_new.reembed(&NoProgress).unwrap().changed));
    };
    change();
    assert_words_alone(&search(&store.engine, QUERY));
    assert_eq!(assert_cosines(&search(&with_new, QUERY), &new, QUERY), 20);

    assert!(store.engine.reembed(&NoProgress).unwrap().changed, "and back");
    change();
    let text = "heron saved by the one while the other came";
    let outcome = store.engine.add(&NewRecord::new(text)).unwrap();
    assert_eq!(outcome.embedding, EmbeddingState::Pending);
    with_new.embed_pending(&NoProgress).unwrap();
    assert_eq!(assert_cosines(&search(&with_new, text), &new, text), 21);
    diagnose(&with_new);
}

#[test]
fn writes_during_a_reembed_are_in_the_new_generation() {
    let (old, new) = (Arc::new(TestModel::new("old", DIMS)), Arc::new(TestModel::new("new", DIMS)));
    let store = filled(&old, 50);
    let with_old = Arc::new(open(&old, store.folder.path()));
    let writer = with_old.clone();
    new.meanwhile(move || {
        let change = |id: i64, text: &str, expires_at| {
            let update = RecordUpdate { content: Some(text.into()), expires_at, ..RecordUpdate::default() };
            writer.viewed_by(&Viewer::OWNER).update(id.into(), &update).unwrap();
        };
        change(3, "heron changed while the model is", None);
        assert!(writer.viewed_by(&Viewer::OWNER).delete(4.into()).unwrap());
        // Longer than the test: the change finds them live. The second has expired before it.
        change(5, "heron that lives on", Some(Some(memorist_engine::now() + 3_600_000)));
        change(6, "heron that is over", Some(Some(memorist_engine::now() + 1)));
        assert_eq!(writer.add(&NewRecord::new("heron added")).unwrap().embedding, EmbeddingState::Ready);
        writer.flush(&NoProgress).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    });
    let with_new = open(&new, store.folder.path());
    with_new.reembed(&NoProgress).unwrap();
    let reply = search(&with_new, QUERY);
    assert_eq!(assert_cosines(&reply, &new, QUERY), 49, "50, less one deleted, less one expired, and one more");
    let text_of =
        |id: i64| reply.hits.iter().find(|hit| hit.record.id.get() == id).map(|hit| hit.record.content.as_str());
    assert_eq!(text_of(3), Some("heron changed while the model is"));
    assert_eq!((text_of(4), text_of(6), text_of(51)), (None, None, Some("heron added")));
    for engine in [&with_new, &*with_old] {
        diagnose(engine);
    }
    with_new.flush(&NoProgress).unwrap();
    assert_eq!(assert_cosines(&search(&with_new, QUERY), &new, QUERY), 49);
    diagnose(&with_new);
}

/// Cancels once this many texts were embedded.
struct StopAfter(AtomicUsize);

impl Progress for StopAfter {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, units: u64) {
        let left = self.0.load(Ordering::SeqCst);
        self.0.store(left.saturating_sub(units as usize), Ordering::SeqCst);
    }
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }
}

#[test]
fn an_interrupted_reembed_continues_and_embeds_nothing_twice() {
    const TEXTS: usize = 2 * ROUND + 500;
    let (old, new) = (Arc::new(TestModel::new("old", 16)), Arc::new(TestModel::new("new", 16)));
    let store = filled(&old, TEXTS);
    let folder = store.folder.path();
    let interrupted = open(&new, folder).reembed(&StopAfter(AtomicUsize::new(1)));
    assert!(matches!(interrupted, Err(Error::Cancelled)), "{interrupted:?}");
    assert_eq!(new.texts_embedded(), ROUND);
    new.batches_left.store(1, Ordering::SeqCst);
    let failed = open(&new, folder).reembed(&NoProgress);
    assert!(matches!(failed, Err(Error::Embedding(_))), "{failed:?}");
    assert_eq!(new.texts_embedded(), 2 * ROUND);
    let unfinished = format!("a change to new is unfinished: {} of {TEXTS} texts", 2 * ROUND);
    assert!(mentions(&diagnose(&store.engine), &unfinished));
    assert_eq!(assert_cosines(&search(&store.engine, QUERY), &old, QUERY), 1_000, "as many as were requested");

    new.batches_left.store(usize::MAX, Ordering::SeqCst);
    let with_new = open(&new, folder);
    assert_eq!(with_new.reembed(&NoProgress).unwrap().embedded, 500);
    assert!(new.embedded.lock().unwrap().values().all(|times| *times == 1), "nothing twice");
    assert_eq!(new.texts_embedded(), TEXTS);
    assert_cosines(&search(&with_new, QUERY), &new, QUERY);
    assert_eq!(with_new.index_stats().unwrap().vectors, TEXTS as u64);
    diagnose(&with_new);
}

#[test]
fn without_another_model_there_is_nothing_to_change() {
    let (old, new) = (Arc::new(TestModel::new("old", DIMS)), Arc::new(TestModel::new("new", DIMS)));
    let store = Store::new(opened(&old, Backend::Hnsw));
    let report = store.engine.reembed(&NoProgress).unwrap();
    assert_eq!((report.before, report.model, report.changed, report.embedded), (None, None, false, 0));

    let Store { engine, folder } = store;
    engine.close();
    let error = words_only().open(folder.path()).unwrap().reembed(&NoProgress).unwrap_err();
    assert!(matches!(error, Error::Embedding(_)), "{error}");

    let store = filled(&old, 20);
    new.batches_left.store(0, Ordering::SeqCst);
    assert!(open(&new, store.folder.path()).reembed(&NoProgress).is_err());
    assert!(mentions(&diagnose(&store.engine), "a change to new is unfinished"));
    let report = store.engine.reembed(&NoProgress).unwrap();
    assert_eq!((report.before.as_deref(), report.changed, report.embedded), (Some("old"), false, 0));
    assert!(!mentions(&diagnose(&store.engine), "unfinished"), "given up");
}

/// Two models take turns under searches and writes of both, in several openers: a score is always the cosine under the
/// model of its process.
#[test]
fn no_search_ever_sees_two_models_at_once() {
    let seconds = number_from("MEMORIST_RACE_SECONDS", SECONDS);
    let seed = number_from("MEMORIST_SEED", memorist_engine::now() as u64);
    eprintln!("MEMORIST_SEED={seed}");
    let models = ["one", "two"].map(|name| Arc::new(TestModel::new(name, DIMS)));
    let store = filled(&models[0], 100);
    let folder = store.folder.path();
    let openers: Vec<(Arc<TestModel>, Engine)> = [(0, Backend::Hnsw), (1, Backend::Hnsw), (0, Backend::Exact)]
        .map(|(model, backend)| (models[model].clone(), opened(&models[model], backend).open(folder).unwrap()))
        .into();
    let stop = AtomicBool::new(false);
    let by_meaning = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let changes = std::thread::scope(|scope| {
        for (at, (_, engine)) in openers.iter().enumerate() {
            let mut random = ChaCha8Rng::seed_from_u64(seed ^ at as u64);
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let text = format!("heron {} beside river {}", random.random::<u16>(), random.random_range(0..13));
                    let id = engine.add(&NewRecord::new(text)).expect("saves").id.get();
                    if random.random_bool(0.7) {
                        engine
                            .viewed_by(&Viewer::OWNER)
                            .delete((id - random.random_range(0..5)).into())
                            .expect("deletes");
                    }
                    std::thread::sleep(Duration::from_millis(random.random_range(0..10)));
                }
            });
        }
        let searchers: Vec<_> = openers
            .iter()
            .map(|(model, engine)| {
                let (stop, by_meaning) = (&stop, &by_meaning);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let reply = search(engine, QUERY);
                        let mut seen = reply;
                        seen.hits.retain(|hit| hit.vector_score.is_some());
                        if assert_cosines(&seen, model, QUERY) > 0 {
                            by_meaning[usize::from(model.identity.name == "two")].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                })
            })
            .collect();
        let (started, mut changes) = (Instant::now(), 0);
        let is_over = |changes| changes >= FEWEST_CHANGES && started.elapsed() > Duration::from_secs(seconds);
        let mut outcome = Ok(());
        while outcome.is_ok() && !is_over(changes) && !searchers.iter().any(|searcher| searcher.is_finished()) {
            let (_, engine) = &openers[(changes + 1) % 2];
            outcome = engine.reembed(&NoProgress).map(drop);
            changes += 1;
            std::thread::sleep(Duration::from_millis(100));
        }
        stop.store(true, Ordering::Relaxed);
        searchers.into_iter().for_each(|searcher| searcher.join().expect("no search fails"));
        outcome.expect("no change fails");
        changes
    });
    let found = by_meaning.map(AtomicUsize::into_inner);
    assert!(found.iter().all(|found| *found > 10), "{changes} changes, {found:?} searches by vectors are not a race");
    let (model, engine) = &openers[changes % 2];
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    assert!(assert_cosines(&search(engine, QUERY), model, QUERY) > 0);
    for (_, engine) in &openers {
        // The index in memory may be behind the log's start: it is filled again then.
        engine.flush(&NoProgress).unwrap();
        search(engine, QUERY);
        diagnose(engine);
    }
    eprintln!("{changes} changes of the model, {found:?} searches by meaning");
}

/// Processes that are killed.
#[cfg(unix)]
mod killed {
    use std::process::{Child, Command, Stdio};

    use memorist_engine::paths::StorePaths;
    use memorist_engine::records::Records;

    use super::*;

    const FOLDER: &str = "MEMORIST_REEMBED_STORE";
    const SLOWNESS: &str = "MEMORIST_REEMBED_MILLIS";
    /// Three rounds, and a store that is filled quickly.
    const MANY: usize = 2 * ROUND + 1;
    const SOME: usize = 150;

    /// Every step of `memorist_durable::crash::point` from the last embedding on, and whether the model is changed
    /// then.
    const STEPS: [(&str, bool); 7] = [
        ("file written", false),
        ("file renamed", false),
        ("next model embedded", false),
        ("model changed", true),
        ("old index retired", true),
        ("new index in place", true),
        ("log trimmed", true),
    ];

    fn old_and_new() -> [Arc<TestModel>; 2] {
        [Arc::new(TestModel::new("old", 16)), Arc::new(TestModel::new("new", 16))]
    }

    #[test]
    #[ignore = "the others run it in a process of its own"]
    fn a_child() {
        let Some(folder) = std::env::var_os(FOLDER) else { return };
        let slowness = Duration::from_millis(number_from(SLOWNESS, 0));
        let model = Arc::new(TestModel { slowness, ..TestModel::new("new", 16) });
        let mut setup = opened(&model, Backend::Hnsw);
        setup.config.index_writer = false;
        setup.open(Path::new(&folder)).expect("opens").reembed(&NoProgress).expect("changes the model");
    }

    fn spawn(folder: &Path, slowness: u64, crash_at: Option<String>) -> Child {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args(["--exact", "reembed::killed::a_child", "--ignored", "--test-threads=1"]);
        command.env(FOLDER, folder).env(SLOWNESS, slowness.to_string()).env_remove("MEMORIST_CRASH_AT");
        command.envs(crash_at.map(|step| ("MEMORIST_CRASH_AT", step)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("a child")
    }

    /// The store answers with the old model or with the new one, and the change continues after the last embedding.
    fn verify(folder: &Path, left_at_most: usize, changed: Option<bool>, what: &str) {
        let [old, new] = old_and_new();
        let (with_old, with_new) = (open(&old, folder), open(&new, folder));
        let (of_old, of_new) = (search_whole(&with_old, QUERY), search_whole(&with_new, QUERY));
        let is_changed = of_new.hits.iter().any(|hit| hit.vector_score.is_some());
        assert_eq!(is_changed, changed.unwrap_or(is_changed), "{what}");
        if is_changed {
            assert!(assert_cosines(&of_new, &new, QUERY) > 0, "{what}");
            assert_words_alone(&of_old);
        } else {
            assert!(assert_cosines(&of_old, &old, QUERY) > 0, "{what}");
            assert_words_alone(&of_new);
        }
        diagnose(&with_old);
        with_new.reembed(&NoProgress).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(new.texts_embedded() <= left_at_most, "{what}: {} texts", new.texts_embedded());
        assert!(assert_cosines(&search_whole(&with_new, QUERY), &new, QUERY) > 0, "{what}");
        assert_words_alone(&search_whole(&with_old, QUERY));
        diagnose(&with_new);
        diagnose(&with_old);
    }

    #[test]
    fn a_crashed_reembed_leaves_the_old_or_the_new_model() {
        use std::os::unix::process::ExitStatusExt;
        for (step, changed) in STEPS {
            let [old, _] = old_and_new();
            let store = filled(&old, SOME);
            let folder = store.folder.path();
            let status = spawn(folder, 0, Some(format!("{step}:1"))).wait().expect("ends");
            assert_eq!(status.signal(), Some(6), "{step}: {status}");
            verify(folder, 0, Some(changed), step);
        }
    }

    #[test]
    fn a_killed_reembed_continues_with_its_current_round() {
        let seed = number_from("MEMORIST_SEED", memorist_engine::now() as u64);
        eprintln!("MEMORIST_SEED={seed}");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let [old, _] = old_and_new();
        for _ in 0..4 {
            let store = filled(&old, MANY);
            let folder = store.folder.path();
            let mut child = spawn(folder, 400, None);
            // Once a round is stored, at any moment.
            let records = Records::open(&StorePaths::new(folder)).expect("opens");
            let next = || records.snapshot().and_then(|view| view.next_model(memorist_engine::now())).expect("reads");
            while next().is_none_or(|next| next.missing == next.texts) {
                assert!(child.try_wait().expect("its state").is_none(), "it ended before");
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(random.random_range(0..1_500)));
            child.kill().expect("kills");
            child.wait().expect("ends");
            verify(folder, MANY - ROUND, None, &format!("seed {seed}"));
        }
    }
}
