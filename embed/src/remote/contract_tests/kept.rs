//! Tests of the vectors and dimensions that are kept.

use super::*;

/// R21: nothing is paid twice.
#[test]
fn kept_embeddings_are_not_requested_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(good, Protocol::OpenAi);
    let mut settings = server.settings(Protocol::OpenAi);
    settings.cache = Some(CacheSettings::new(folder.path(), None, 100));
    let first = embedder(&settings);
    first.embed_batch(&["one", "two"]).unwrap();
    first.embed_query("one").unwrap();
    let second = embedder(&settings);
    assert_eq!(second.embed_batch(&["one", "three", "two"]).unwrap(), ["one", "three", "two"].map(expected));
    assert_eq!(second.embed_query("one").unwrap(), expected("one"));
    let sent: Vec<Vec<String>> = server.requests().iter().map(texts).collect();
    assert_eq!(sent, [vec!["one", "two"], vec!["one"], vec!["three"]]);
    settings.model = "another".into();
    embedder(&settings).embed_batch(&["one"]).unwrap();
    assert_eq!(server.requests().len(), 4);
}

/// Dimensions that nobody names are learnt once.
#[test]
fn the_dimensions_of_an_unknown_model_are_learnt() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(good, Protocol::OpenAi);
    let mut settings = server.settings(Protocol::OpenAi);
    settings.cache = Some(CacheSettings::new(folder.path(), None, 100));
    let host =
        |settings: &RemoteSettings| ModelHost::new(&ModelSource::Remote(Box::new(settings.clone())).into()).unwrap();
    let identity = host(&settings).identity().unwrap();
    assert_eq!((identity.dims, identity.name.as_str()), (4, "mine (openai)"));
    assert_eq!(server.requests().len(), 1);
    assert_eq!(host(&settings).identity().unwrap(), identity);
    assert_eq!(server.requests().len(), 1, "it is kept");
    settings.dimensions = Some(4);
    assert_ne!(host(&settings).identity().unwrap().weights_sha256, identity.weights_sha256);
}

/// Z11: the vector of a text that is purged while the request runs is not kept.
#[test]
fn a_purge_is_not_undone_by_an_answer_that_comes_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let (asked, release) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (count, is_released) = (asked.clone(), release.clone());
    let server = Server::start(
        move |protocol, request| {
            count.fetch_add(1, Ordering::SeqCst);
            while !is_released.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
            }
            good(protocol, request)
        },
        Protocol::OpenAi,
    );
    let mut settings = server.settings(Protocol::OpenAi);
    let cache = CacheSettings::new(folder.path(), None, 100);
    settings.cache = Some(cache.clone());
    let embedder = embedder(&settings);
    let kept = || crate::cache_stats(&cache).entries;
    let ways: [&(dyn Fn() -> bool + Sync); 2] =
        [&|| embedder.embed_query("secret").is_ok(), &|| embedder.embed_batch(&["secret"]).is_ok()];
    for (at, embed) in ways.into_iter().enumerate() {
        release.store(false, Ordering::SeqCst);
        std::thread::scope(|scope| {
            let before = asked.load(Ordering::SeqCst);
            let waiting = scope.spawn(embed);
            while asked.load(Ordering::SeqCst) == before {
                std::thread::yield_now();
            }
            crate::clear_caches(folder.path()).unwrap();
            release.store(true, Ordering::SeqCst);
            assert!(waiting.join().unwrap(), "{at}");
        });
        assert_eq!(kept(), 0, "{at}");
        assert!(embed());
        assert_eq!(kept(), 1, "{at}: later ones are kept");
        crate::clear_caches(folder.path()).unwrap();
    }
    // Nor if the texts were read before the purge, and sent after it.
    embedder.embed_batch(&["secret"]).unwrap();
    assert_eq!(kept(), 0, "purged since the last call, after which texts may have been read");
    embedder.embed_batch(&["secret"]).unwrap();
    assert_eq!(kept(), 1);
}

/// Q18: a search does not wait for the cache, either.
#[test]
fn a_search_does_not_wait_for_a_cache_that_another_process_uses() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(good, Protocol::OpenAi);
    let mut settings = server.settings(Protocol::OpenAi);
    let cache = CacheSettings::new(folder.path(), None, 100);
    settings.cache = Some(cache.clone());
    settings.query_timeout = Duration::from_millis(1_500);
    embedder(&settings).embed_query("kept").unwrap();
    let embedder = embedder(&settings);
    let other = rusqlite::Connection::open(&cache.file).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for text in ["kept", "new"] {
        let started = Instant::now();
        assert_eq!(embedder.embed_query(text).unwrap(), expected(text));
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    }
    other.execute_batch("COMMIT").unwrap();
    let before = server.requests().len();
    embedder.embed_query("kept").unwrap();
    assert_eq!(server.requests().len(), before, "it is used again");
}

/// A server whose vectors have as many numbers as `dims` says.
fn sized(dims: &Arc<AtomicUsize>) -> Server {
    let dims = dims.clone();
    let sized = move |protocol, request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let of = |text: &String| vector(text).into_iter().cycle().take(dims.load(Ordering::SeqCst)).collect();
        ResponseTemplate::new(200).set_body_json(shaped(protocol, texts(&body).iter().map(of).collect()))
    };
    Server::start(sized, Protocol::OpenAi)
}

/// E15: a model that was replaced behind its name is noticed; the next process learns its dimensions.
#[test]
fn a_model_of_other_dimensions_behind_the_same_name_is_another() {
    let (folder, dims) = (tempfile::tempdir().unwrap(), Arc::new(AtomicUsize::new(4)));
    let server = sized(&dims);
    let mut settings = server.settings(Protocol::OpenAi);
    settings.cache = Some(CacheSettings::new(folder.path(), None, 100));
    let host =
        |settings: &RemoteSettings| ModelHost::new(&ModelSource::Remote(Box::new(settings.clone())).into()).unwrap();
    let embedder = host(&settings).embedder().unwrap();
    embedder.embed_batch(&["one", "two"]).unwrap();
    dims.store(3, Ordering::SeqCst);
    let verified = host(&settings);
    assert_eq!(verified.embedder().unwrap().dims(), 4);
    let error = verified.verify().unwrap_err();
    assert!(matches!(error, Error::Replaced(_)) && error.to_string().contains("3 numbers, and had 4"), "{error}");
    assert_eq!(verified.identity().unwrap().dims, 3, "it is learnt");
    dims.store(5, Ordering::SeqCst);
    let embedder = verified.embedder().unwrap();
    let error = embedder.embed_batch(&["three", "four"]).unwrap_err();
    assert!(matches!(error.root(), Error::Replaced(_)) && !embedder.is_available(), "{error}");
    let next = host(&settings).embedder().unwrap();
    assert_eq!((next.dims(), next.embed_batch(&["one", "two"]).unwrap()[1].len()), (5, 5), "not the kept ones");
    dims.store(4, Ordering::SeqCst);
    settings.dimensions = Some(7);
    let error = host(&settings).embedder().unwrap().embed_batch(&["one"]).unwrap_err().to_string();
    assert!(error.contains("set `dimensions = 4`") && error.contains("should have 7"), "{error}");
    assert!(host(&settings).verify().is_err());
    settings = RemoteSettings { dimensions: None, model: "text-embedding-3-small".into(), ..settings };
    let error = host(&settings).embedder().unwrap().embed_query("one").unwrap_err().to_string();
    assert!(error.contains("set `dimensions = 4`") && error.contains("1536"), "{error}");
}

/// Kept vectors say nothing of the provider.
#[test]
fn a_check_asks_the_provider_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (down, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (is_down, count) = (down.clone(), asked.clone());
    let server = Server::start(
        move |protocol, request| {
            count.fetch_add(1, Ordering::SeqCst);
            match is_down.load(Ordering::SeqCst) {
                true => failing(401, json!({ "error": { "message": "revoked" } })),
                false => good(protocol, request),
            }
        },
        Protocol::OpenAi,
    );
    for dimensions in [None, Some(4)] {
        let mut settings = RemoteSettings { dimensions, ..server.settings(Protocol::OpenAi) };
        settings.cache = Some(CacheSettings::new(folder.path(), None, 100));
        let host = || ModelHost::new(&ModelSource::Remote(Box::new(settings.clone())).into()).unwrap();
        embedder(&settings).embed_batch(&[PROBE]).unwrap();
        let before = asked.load(Ordering::SeqCst);
        assert!(host().verify().unwrap().unwrap().contains("answers"));
        assert!(asked.load(Ordering::SeqCst) > before);
        down.store(true, Ordering::SeqCst);
        let host = host();
        assert!(host.verify().unwrap_err().to_string().contains("invalid API key (status 401)"), "{dimensions:?}");
        down.store(false, Ordering::SeqCst);
        assert!(host.verify().is_ok(), "whatever it was a moment ago");
    }
}

#[test]
fn a_missing_key_is_an_error_that_says_where_to_set_it() {
    let mut settings = settings(Protocol::OpenAi, "https://example.invalid");
    (settings.key, settings.key_from) = (None, Some("set OPENAI_API_KEY".into()));
    let host = ModelHost::new(&ModelSource::Remote(Box::new(settings)).into()).unwrap();
    assert!(!host.is_available());
    assert!(host.why_unavailable().to_string().contains("needs a key: set OPENAI_API_KEY"));
    assert!(host.embedder().is_err());
}
