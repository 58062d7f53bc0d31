//! Embeddings of a provider that fails, refuses, and comes back.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use memorist_engine::config::{Config, ModelSource};
use memorist_engine::embed::{CacheSettings, RemoteSettings};
use memorist_engine::progress::{NoProgress, Progress};
use memorist_engine::types::{Filter, NewRecord, Purge, Query, Viewer};
use memorist_engine::{Engine, Remedy};

use crate::provider_server::Provider;
use crate::support::{memorist, text};

fn remote(settings: RemoteSettings) -> ModelSource {
    ModelSource::Remote(Box::new(settings))
}

fn open(folder: &Path, source: ModelSource, fallback: Option<ModelSource>) -> Engine {
    let mut config = Config::without_model();
    (config.model.source, config.model.fallback) = (source, fallback);
    Engine::open(folder, config).unwrap()
}

fn add(engine: &Engine, text: &str) {
    engine.add(&NewRecord::new(text)).unwrap();
}

/// E14, X5, Q18: no provider is needed to save and to find.
#[test]
fn a_provider_that_fails_is_replaced_by_words_with_a_notice() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::start());
    let engine = open(folder.path(), remote(provider.settings("one")), None);
    add(&engine, "the harbour office opens at nine");
    engine.embed_pending(&NoProgress).unwrap();
    let ask = |text: &str| engine.search(&Query::new(text)).unwrap();
    let reply = ask("harbour office");
    assert!(reply.warnings.is_empty() && reply.hits[0].vector_score.is_some(), "{:?}", reply.warnings);
    provider.set_down(true);
    let started = Instant::now();
    for text in ["office hours", "harbour", "nine"] {
        let reply = ask(text);
        let warning = reply.warnings.first().expect("a notice");
        assert!(
            warning.contains("invalid API key (status 401)")
                && !warning.contains("revoked")
                && warning.contains("openai"),
            "{warning}"
        );
        assert!(!reply.hits.is_empty() && reply.hits[0].vector_score.is_none());
    }
    // Saving goes on, and waits for nothing.
    add(&engine, "the harbour master is Ana");
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(ask("master").hits.len(), 1);
    assert_eq!(engine.stats(&Filter::default()).unwrap().pending_embeddings, 1);
    let failed = engine.embed_pending(&NoProgress).unwrap_err();
    assert!(failed.to_string().contains("invalid API key"), "{failed}");
    engine.close();
    // Another process, when it is back.
    provider.set_down(false);
    let engine = open(folder.path(), remote(provider.settings("one")), None);
    engine.embed_pending(&NoProgress).unwrap();
    assert_eq!(engine.stats(&Filter::default()).unwrap().pending_embeddings, 0);
    assert!(engine.search(&Query::new("harbour master")).unwrap().warnings.is_empty());
}

/// X5: what is refused blocks nothing, is named, and is not sent again.
#[test]
fn a_refused_memory_is_set_aside_with_its_reason() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::start());
    let engine = open(folder.path(), remote(provider.settings("one")), None);
    for number in 0..20 {
        add(&engine, &format!("note {number} about the harbour"));
    }
    add(&engine, "an unspeakable thing happened");
    add(&engine, "the last note");
    engine.embed_pending(&NoProgress).unwrap();
    assert_eq!(engine.stats(&Filter::default()).unwrap().pending_embeddings, 1);
    assert_eq!(engine.index_stats().unwrap().refused, 1);
    let given = provider.texts();
    engine.embed_pending(&NoProgress).unwrap();
    let done = engine.backfill(50, &NoProgress).unwrap();
    assert_eq!((done.embedded, done.remaining), (0, 0), "what is refused does not remain");
    assert_eq!(provider.texts(), given, "nothing is sent again");
    let diagnosis = engine.doctor(false, &NoProgress).unwrap();
    assert!(diagnosis.is_sound(), "{diagnosis:?}");
    let found = diagnosis
        .checks
        .iter()
        .flat_map(|check| &check.details)
        .any(|detail| detail.contains("record 21") && detail.ends_with("status 400"));
    assert!(found, "{diagnosis:?}");
    assert_eq!(engine.search(&Query::new("unspeakable")).unwrap().hits.len(), 1);
    // To another model: it refuses the same, and the change is completed all the same.
    engine.close();
    let engine = open(folder.path(), remote(provider.settings("two")), None);
    let report = engine.reembed(&NoProgress).unwrap();
    assert!(report.changed && report.embedded == 21, "{report:?}");
    assert_eq!(engine.index_stats().unwrap().refused, 1);
    // The same once more tries the refused text again.
    let refusals = provider.refusals();
    assert!(!engine.reembed(&NoProgress).unwrap().changed);
    engine.embed_pending(&NoProgress).unwrap();
    assert!(provider.refusals() > refusals);
}

/// E14, E15: the fallback serves a store whose vectors are its own; two spaces are never mixed.
#[test]
fn a_fallback_serves_the_store_that_has_its_vectors() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::start());
    let (old, new) = (provider.settings("old"), provider.settings("new"));
    let engine = open(folder.path(), remote(old.clone()), None);
    add(&engine, "the harbour office opens at nine");
    engine.embed_pending(&NoProgress).unwrap();
    engine.close();
    let ask = |engine: &Engine| engine.search(&Query::new("harbour office")).unwrap();
    let engine = open(folder.path(), remote(new.clone()), None);
    let reply = ask(&engine);
    assert!(reply.warnings[0].contains("embedding model mismatch") && reply.hits[0].vector_score.is_none());
    engine.close();
    let engine = open(folder.path(), remote(new.clone()), Some(remote(old.clone())));
    let reply = ask(&engine);
    assert!(reply.warnings.is_empty() && reply.hits[0].vector_score.is_some(), "{:?}", reply.warnings);
    add(&engine, "a second one");
    engine.embed_pending(&NoProgress).unwrap();
    assert_eq!(engine.index_stats().unwrap().model.as_deref(), Some("old (openai)"));
    assert!(engine.reembed(&NoProgress).unwrap().changed);
    assert_eq!(engine.index_stats().unwrap().model.as_deref(), Some("new (openai)"));
    assert!(ask(&engine).warnings.is_empty());
}

/// E14: a provider that is down from the start leaves a new store to the fallback, also if its dimensions are known.
#[test]
fn a_new_store_gets_its_vectors_from_the_fallback() {
    for knows_dimensions in [false, true] {
        let (folder, dead, fallback) = (tempfile::tempdir().unwrap(), Provider::start(), Provider::start());
        dead.set_down(true);
        let mut dead = dead.settings("dead");
        dead.dimensions = dead.dimensions.filter(|_| knows_dimensions);
        let engine = open(folder.path(), remote(dead.clone()), Some(remote(fallback.settings("spare"))));
        let ask = |engine: &Engine| engine.search(&Query::new("harbour office")).unwrap();
        assert!(ask(&engine).hits.is_empty(), "a search decides nothing");
        add(&engine, "the harbour office opens at nine");
        engine.embed_pending(&NoProgress).unwrap();
        assert_eq!(engine.index_stats().unwrap().model.as_deref(), Some("spare (openai)"), "{knows_dimensions}");
        let reply = ask(&engine);
        assert!(reply.warnings.is_empty() && reply.hits[0].vector_score.is_some(), "{:?}", reply.warnings);
        engine.close();
        // Another store has the vectors of a third model: two are never mixed.
        let (folder, old) = (tempfile::tempdir().unwrap(), Provider::start());
        let engine = open(folder.path(), remote(old.settings("old")), None);
        add(&engine, "the harbour office opens at nine");
        engine.embed_pending(&NoProgress).unwrap();
        engine.close();
        let engine = open(folder.path(), remote(dead), Some(remote(fallback.settings("spare"))));
        let reply = ask(&engine);
        assert!(reply.hits[0].vector_score.is_none() && !reply.warnings.is_empty(), "{:?}", reply.warnings);
        assert_eq!(engine.index_stats().unwrap().model.as_deref(), Some("old (openai)"));
    }
}

/// E14: a provider that answers is the model, whatever the fallback is.
#[test]
fn a_provider_that_answers_needs_no_fallback() {
    let (folder, provider, fallback) = (tempfile::tempdir().unwrap(), Provider::start(), Provider::start());
    let spare = remote(fallback.settings("spare"));
    let engine = open(folder.path(), remote(provider.settings("one")), Some(spare));
    add(&engine, "the harbour office opens at nine");
    engine.embed_pending(&NoProgress).unwrap();
    assert_eq!(engine.index_stats().unwrap().model.as_deref(), Some("one (openai)"));
    assert_eq!(fallback.texts(), 0);
}

/// R21, Z11: nothing is paid twice across stores, and a purge leaves none of it.
#[test]
fn stores_share_a_cache_that_a_purge_empties() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::start());
    let caches = folder.path().join("embeddings");
    let cache = CacheSettings::new(&caches, None, 100);
    let stats = || memorist_engine::embed::cache_stats(&cache);
    let engine = |name: &str| {
        let mut config = Config::without_model();
        let settings = RemoteSettings { cache: Some(cache.clone()), ..provider.settings("one") };
        config.model.source = remote(settings);
        config.model.embeddings_dir = Some(caches.clone());
        Engine::open(folder.path().join(name), config).unwrap()
    };
    let (first, second) = (engine("first"), engine("second"));
    for store in [&first, &second] {
        add(store, "the harbour office opens at nine");
        store.embed_pending(&NoProgress).unwrap();
    }
    assert_eq!((provider.texts(), stats().entries), (1, 1));
    second.viewed_by(&Viewer::OWNER).purge(&Purge::Text("harbour office".into()), &NoProgress).unwrap();
    assert_eq!(stats().entries, 0);
}

/// E15: a provider that has another model by the same name is not believed, and `reembed` changes the store to that one.
#[test]
fn a_model_that_was_replaced_behind_its_name_is_embedded_again() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::start());
    let cache = CacheSettings::new(&folder.path().join("embeddings"), None, 100);
    let settings = RemoteSettings { dimensions: None, cache: Some(cache), ..provider.settings("one") };
    let store = folder.path().join("store");
    let engine = || open(&store, remote(settings.clone()), None);
    let first = engine();
    add(&first, "the harbour office opens at nine");
    first.embed_pending(&NoProgress).unwrap();
    for (now, is_noticed) in [(48, true), (32, false)] {
        provider.set_dims(now);
        if is_noticed {
            add(&first, "the harbour master is Ana");
            let error = first.embed_pending(&NoProgress).unwrap_err();
            assert!(error.to_string().contains("48 numbers, and had 64"), "{error}");
            assert_eq!(error.remedy(), Some(Remedy::Reembed));
        }
        let next = engine();
        assert!(next.reembed(&NoProgress).unwrap().changed, "{now}");
        assert_eq!(next.index_stats().unwrap().unapplied, 0);
        assert!(next.search(&Query::new("harbour")).unwrap().warnings.is_empty());
        assert!(!next.reembed(&NoProgress).unwrap().changed, "{now}");
        next.close();
    }
}

/// Ends what it works on at once, and remembers what that was.
#[derive(Default)]
struct Impatient(Mutex<Vec<String>>);

impl Progress for Impatient {
    fn start(&self, what: &str, _: Option<u64>) {
        self.0.lock().unwrap().push(what.to_owned());
    }
    fn advance(&self, _: u64) {}
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        !self.0.lock().unwrap().is_empty()
    }
}

/// Others need not wait for a provider: neither this process nor another one.
#[test]
fn the_indexes_are_free_while_a_provider_is_waited_for() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::start());
    let open = |model: &str| open(folder.path(), remote(provider.settings(model)), None);
    let engine = open("one");
    provider.hold(true);
    add(&engine, "the harbour office opens at nine");
    // The background asks.
    provider.wait_for(1);
    let started = Instant::now();
    add(&engine, "a secret of the harbour");
    let others = [&engine, &open("one")];
    for engine in others {
        engine.flush(&NoProgress).unwrap();
        assert_eq!(engine.rebuild(&NoProgress).unwrap().documents, 2);
        // The work is left to who does it.
        let done = engine.backfill(50, &NoProgress).unwrap();
        assert_eq!((done.embedded, done.remaining), (0, 2));
    }
    for purged in ["secret", "nothing"] {
        assert!(engine.viewed_by(&Viewer::OWNER).purge(&Purge::Text(purged.into()), &NoProgress).unwrap().complete);
    }
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    let reported = Impatient::default();
    let changing = open("two");
    assert!(changing.reembed(&reported).is_err());
    let reported = reported.0.into_inner().unwrap();
    assert!(reported[0].starts_with("waiting for the embeddings, held by process"), "{reported:?}");
    provider.hold(false);
    engine.embed_pending(&NoProgress).unwrap();
    assert_eq!(engine.stats(&Filter::default()).unwrap().pending_embeddings, 0);
    assert_eq!(changing.reembed(&NoProgress).unwrap().embedded, 1);
}

/// Nothing is paid twice, however many processes have the store open.
#[test]
fn openers_of_a_store_send_each_text_to_the_provider_once() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::start());
    provider.set_slowness(Duration::from_millis(5));
    let settings = RemoteSettings { batch: Some(4), ..provider.settings("one") };
    let engines = [0, 1, 2].map(|_| open(folder.path(), remote(settings.clone()), None));
    std::thread::scope(|scope| {
        for (number, engine) in engines.iter().enumerate() {
            scope.spawn(move || {
                for text in 0..40 {
                    add(engine, &format!("note {text} of {number} about the harbour"));
                }
                engine.embed_pending(&NoProgress).unwrap();
            });
        }
    });
    let mut given = provider.given().concat();
    given.sort();
    let count = given.len();
    given.dedup();
    assert_eq!((given.len(), count), (120, 120));
    assert_eq!(engines[0].stats(&Filter::default()).unwrap().pending_embeddings, 0);
}

/// Z11: what is purged while its vector is on the way leaves nothing, wherever it arrives.
#[test]
fn a_purge_is_not_undone_by_what_is_on_the_way() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::start());
    let caches = folder.path().join("embeddings");
    let cache = CacheSettings::new(&caches, None, 100);
    let engine = |model: &str| {
        let mut config = Config::without_model();
        config.model.source = remote(RemoteSettings { cache: Some(cache.clone()), ..provider.settings(model) });
        config.model.embeddings_dir = Some(caches.clone());
        Engine::open(folder.path().join("store"), config).unwrap()
    };
    let purge = |engine: &Engine, text: &str| {
        engine.viewed_by(&Viewer::OWNER).purge(&Purge::Text(text.into()), &NoProgress).unwrap()
    };
    let first = engine("one");
    provider.hold(true);
    for text in ["a secret of the harbour", "an unspeakable secret", "the office opens at nine"] {
        add(&first, text);
    }
    // What is refused is sent one by one.
    provider.wait_for(1);
    assert_eq!(purge(&first, "secret").records, 2);
    provider.hold(false);
    first.embed_pending(&NoProgress).unwrap();
    first.flush(&NoProgress).unwrap();
    assert_eq!((first.index_stats().unwrap().vectors, first.index_stats().unwrap().refused), (1, 0));
    let held = memorist_engine::embed::cache_stats(&cache).entries;
    assert_eq!(held, 0, "what was on the way when it was emptied");
    // And in a change of the model.
    add(&first, "another secret");
    first.embed_pending(&NoProgress).unwrap();
    let changing = engine("two");
    provider.hold(true);
    let before = provider.requests();
    std::thread::scope(|scope| {
        let change = scope.spawn(|| changing.reembed(&NoProgress).unwrap());
        // One to see whether it answers, one for the texts.
        provider.hold(false);
        provider.wait_for(before + 1);
        provider.hold(true);
        provider.wait_for(before + 2);
        assert_eq!(purge(&first, "secret").records, 1);
        provider.hold(false);
        assert!(change.join().unwrap().changed);
    });
    changing.flush(&NoProgress).unwrap();
    assert_eq!(changing.index_stats().unwrap().vectors, 1);
    assert_eq!(memorist_engine::embed::cache_stats(&cache).entries, 0);
}

/// Item 13: `doctor` ends soon beside a provider on this machine that takes each connection and never answers.
#[test]
fn doctor_does_not_wait_for_a_provider_that_never_answers() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    std::thread::spawn(move || silent.incoming().flatten().collect::<Vec<_>>());
    for (provider, path) in [("ollama", ""), ("lmstudio", "/v1")] {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
        add(&engine, "the harbour office opens at nine");
        engine.close();
        let settings = format!("[embedding]\nprovider = \"{provider}\"\nurl = \"http://{address}{path}\"\n");
        std::fs::write(folder.path().join("memorist.toml"), settings).unwrap();
        let started = Instant::now();
        let output = memorist(folder.path(), &["doctor"]).env("HOME", folder.path()).output().unwrap();
        let said = [text(&output.stdout), text(&output.stderr)].concat();
        assert!(started.elapsed() < Duration::from_secs(20), "{provider}: {:?}: {said}", started.elapsed());
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("did not answer within 5 s, as long as a check waits"), "{said}");
    }
}

/// 45.8: a command says once that its provider does not answer.
#[test]
fn a_command_warns_of_its_provider_once() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "[embedding]\nprovider = \"ollama\"\nmodel = \"m\"\ndimensions = 8\n";
    let settings = format!("{settings}url = \"http://127.0.0.1:9\"\n");
    std::fs::write(folder.path().join("memorist.toml"), settings).unwrap();
    std::fs::write(folder.path().join("a.jsonl"), "{\"content\":\"the harbour\"}\n").unwrap();
    let note = folder.path().join("a.md");
    std::fs::write(&note, "The zebra.").unwrap();
    for command in [
        &["add", "the harbour office"][..],
        &["search", "harbour"],
        &["recall", "harbour"],
        &["source", "add", note.to_str().unwrap()],
        &["sync"],
        &["import", "a.jsonl"],
        &["backfill"],
        &["reembed"],
        &["doctor"],
    ] {
        let output = memorist(folder.path(), command).output().unwrap();
        let said = [text(&output.stdout), text(&output.stderr)].concat();
        assert_eq!(said.matches("gives no vectors").count(), 1, "{command:?}: {said}");
    }
}
