//! A provider that is slow, endless, cut, or not there.

use super::*;

/// A server that gets each connection, and does with it what `act` does.
fn raw(act: impl Fn(std::net::TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let act = Arc::new(act);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let act = act.clone();
            std::thread::spawn(move || {
                let mut stream = stream;
                let _ = stream.read(&mut [0; 65_536]);
                act(stream);
            });
        }
    });
    url
}

/// Q18, E14: a search waits briefly, whatever the provider does.
#[test]
fn a_search_does_not_wait_for_a_slow_endless_or_cut_response() {
    let slow = raw(|stream| {
        std::thread::sleep(Duration::from_secs(30));
        drop(stream);
    });
    let endless = raw(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let cut = raw(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"data\":");
    });
    for (url, says) in [(&slow, "within 0.3 s"), (&endless, "within 0.3 s"), (&cut, "")] {
        for protocol in ALL {
            let mut settings = settings(protocol, url);
            (settings.query_timeout, settings.max_tokens) = (Duration::from_millis(300), Some(9));
            let embedder = embedder(&settings);
            let started = Instant::now();
            let error = embedder.embed_query("x").unwrap_err().to_string();
            assert!(started.elapsed() < Duration::from_secs(2) && error.contains(says), "{protocol:?} {error}");
            let again = Instant::now();
            assert!(embedder.embed_query("x").is_err());
            assert!(again.elapsed() < Duration::from_millis(50), "it is left alone");
        }
    }
}

/// Q18.
#[test]
fn a_request_ends_in_time_and_at_a_sign_of_the_caller() {
    struct Stopped(Instant);
    impl Progress for Stopped {
        fn start(&self, _: &str, _: Option<u64>) {}
        fn advance(&self, _: u64) {}
        fn finish(&self) {}
        fn cancelled(&self) -> bool {
            self.0.elapsed() > Duration::from_millis(200)
        }
    }
    let slow = raw(|stream| {
        std::thread::sleep(Duration::from_secs(30));
        drop(stream);
    });
    let mut settings = settings(Protocol::OpenAi, &slow);
    let started = Instant::now();
    let error = embedder(&settings).embed_each(&["x"], &Stopped(started)).unwrap_err();
    assert!(matches!(error, Error::Cancelled) && started.elapsed() < Duration::from_secs(2), "{error}");
    settings.timeout = Some(Duration::from_millis(200));
    let error = embedder(&settings).embed_batch(&["x"]).unwrap_err().to_string();
    assert!(error.contains("longer than 0.2 s") && started.elapsed() < Duration::from_secs(5), "{error}");
}

/// A hostile server neither fills the memory nor gets the key of another.
#[test]
fn a_huge_answer_is_cut_off() {
    let written = Arc::new(AtomicUsize::new(0));
    let count = written.clone();
    let huge = raw(move |mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n");
        let block = vec![b' '; 1 << 20];
        for _ in 0..1_000 {
            if stream.write_all(&block).is_err() {
                return;
            }
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let error = embedder(&settings(Protocol::OpenAi, &huge)).embed_batch(&["x"]).unwrap_err().to_string();
    assert!(error.contains("longer than"), "{error}");
    assert!(written.load(Ordering::SeqCst) < 50, "{written:?} MB");
}

/// Q18: a search is not held up by a service that is down.
#[test]
fn a_search_learns_at_once_that_nobody_is_there() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for protocol in ALL {
        let embedder = embedder(&settings(protocol, &url));
        let started = Instant::now();
        assert!(embedder.embed_query("x").is_err());
        assert!(started.elapsed() < Duration::from_millis(450), "{protocol:?} {:?}", started.elapsed());
    }
}

#[test]
fn an_unreachable_provider_is_an_error_that_names_its_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let settings = settings(Protocol::OpenAi, &url);
    let error = embedder(&settings).embed_batch(&["x"]).unwrap_err().to_string();
    assert!(error.contains(&url) && error.contains("gives no vectors"), "{error}");
}

/// Item 13: what it answers is said, also if it asks for a longer pause than a check has, and at whatever request.
#[test]
fn item_13_a_check_reports_the_answer_of_a_busy_provider() {
    for seconds in ["2", "20"] {
        let busy = move |_, _: &Request| ResponseTemplate::new(503).insert_header("retry-after", seconds);
        for protocol in ALL {
            let server = Server::start(busy, protocol);
            let host = ModelHost::new(&ModelSource::Remote(Box::new(server.settings(protocol))).into()).unwrap();
            let error = host.verify_within(Duration::from_secs(1)).unwrap_err().to_string();
            let said = format!("gives no vectors: status 503; it asks to wait {seconds} s");
            assert!(error.contains(&said), "{protocol:?}: {error}");
        }
    }
}

/// Item 13: a check of a provider that takes the connection and never answers says so soon.
#[test]
fn item_13_a_check_stops_waiting_for_a_silent_provider() {
    let silent = raw(|stream| {
        std::thread::sleep(Duration::from_secs(60));
        drop(stream);
    });
    for protocol in ALL {
        let mut settings = settings(protocol, &silent);
        settings.timeout = None;
        let host = ModelHost::new(&ModelSource::Remote(Box::new(settings)).into()).unwrap();
        let started = Instant::now();
        let error = host.verify_within(Duration::from_millis(500)).unwrap_err().to_string();
        assert!(started.elapsed() < Duration::from_secs(3), "{protocol:?}: {:?}", started.elapsed());
        assert!(error.contains("did not answer within 0.5 s, as long as a check waits"), "{error}");
    }
}
