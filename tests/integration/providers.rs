//! Embeddings of a provider that fails, refuses, and comes back.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use memorist_engine::config::{Config, ModelSource};
use memorist_engine::embed::{CacheSettings, Embedder, HashEmbedder, Protocol, RemoteSettings};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Filter, NewRecord, Purge, Query, Viewer};
use memorist_engine::{Engine, Remedy};
use serde_json::{Value, json};

const DIMS: usize = 64;

/// A provider on this machine, which speaks OpenAI's protocol.
struct Provider {
    url: String,
    state: Arc<State>,
}

/// What it does, and what it was given.
struct State {
    /// Whether it answers with an error.
    is_down: AtomicBool,
    /// Numbers of its vectors.
    dims: AtomicUsize,
    /// Texts that it embedded.
    texts: AtomicUsize,
    /// Requests that it refused.
    refusals: AtomicUsize,
}

impl Provider {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let [texts, refusals] = [0, 0].map(AtomicUsize::new);
        let state = State { is_down: AtomicBool::new(false), dims: AtomicUsize::new(DIMS), texts, refusals };
        let state = Arc::new(state);
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                std::thread::spawn(move || answer(stream, &state));
            }
        });
        Provider { url, state }
    }

    fn settings(&self, model: &str) -> RemoteSettings {
        let mut settings = RemoteSettings::new("openai", Protocol::OpenAi);
        (settings.url, settings.model, settings.dimensions) = (self.url.clone(), model.into(), Some(DIMS));
        settings
    }

    fn set_down(&self, is_down: bool) {
        self.state.is_down.store(is_down, Ordering::SeqCst);
    }

    fn texts(&self) -> usize {
        self.state.texts.load(Ordering::SeqCst)
    }

    fn refusals(&self) -> usize {
        self.state.refusals.load(Ordering::SeqCst)
    }
}

/// Answers the requests of one connection: a text with "unspeakable" is refused.
fn answer(stream: TcpStream, state: &State) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut body = vec![0; length];
        if length == 0 || reader.read_exact(&mut body).is_err() {
            return;
        }
        let body: Value = serde_json::from_slice(&body).unwrap();
        let texts: Vec<&str> = body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        let is_refused = texts.iter().any(|text| text.contains("unspeakable"));
        let (status, answer) = match (state.is_down.load(Ordering::SeqCst), is_refused) {
            (true, _) => ("401 Unauthorized", json!({ "error": { "message": "the key is revoked" } })),
            (_, true) => {
                state.refusals.fetch_add(1, Ordering::SeqCst);
                ("400 Bad Request", json!({ "error": { "message": "this cannot be said" } }))
            }
            _ => {
                state.texts.fetch_add(texts.len(), Ordering::SeqCst);
                let embedder = HashEmbedder::new(state.dims.load(Ordering::SeqCst));
                let entry = |(index, text): (usize, &&str)| json!({ "index": index, "embedding": embedder.embed_query(text).unwrap() });
                ("200 OK", json!({ "data": texts.iter().enumerate().map(entry).collect::<Vec<_>>() }))
            }
        };
        let answer = answer.to_string();
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", answer.len());
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(answer.as_bytes())).is_err() {
            return;
        }
    }
}

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
        assert!(warning.contains("the key is revoked") && warning.contains("openai"), "{warning}");
        assert!(!reply.hits.is_empty() && reply.hits[0].vector_score.is_none());
    }
    // Saving goes on, and waits for nothing.
    add(&engine, "the harbour master is Ana");
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(ask("master").hits.len(), 1);
    assert_eq!(engine.stats(&Filter::default()).unwrap().pending_embeddings, 1);
    let failed = engine.embed_pending(&NoProgress).unwrap_err();
    assert!(failed.to_string().contains("revoked"), "{failed}");
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
        .any(|detail| detail.contains("record 21") && detail.contains("status 400: this cannot be said"));
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
    assert!(reply.warnings[0].contains("cannot be mixed") && reply.hits[0].vector_score.is_none());
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
    second.purge(&Purge::Text("harbour office".into()), &Viewer::OWNER, &NoProgress).unwrap();
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
    let dims = |dims| provider.state.dims.store(dims, Ordering::SeqCst);
    let first = engine();
    add(&first, "the harbour office opens at nine");
    first.embed_pending(&NoProgress).unwrap();
    for (now, is_noticed) in [(48, true), (32, false)] {
        dims(now);
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
