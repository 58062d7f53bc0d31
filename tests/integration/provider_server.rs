//! A provider on this machine, which speaks OpenAI's protocol, fails and waits on request, and remembers what it was given.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memorist_engine::embed::{Embedder, HashEmbedder, Protocol, RemoteSettings};
use serde_json::{Value, json};

pub const DIMS: usize = 64;
/// An answer is kept back for so long at most: a test that waits for it in vain fails, and does not hang.
const LONGEST: Duration = Duration::from_secs(10);

/// The handle of a provider that runs until the tests end.
pub struct Provider {
    pub url: String,
    state: Arc<ProviderState>,
}

struct ProviderState {
    is_down: AtomicBool,
    is_held: AtomicBool,
    dims: AtomicUsize,
    /// Milliseconds of a request.
    slowness: AtomicUsize,
    /// Requests that came.
    requests: AtomicUsize,
    /// Requests that it refused.
    refusals: AtomicUsize,
    /// The texts of every request that it answered well, or is about to.
    given: Mutex<Vec<Vec<String>>>,
}

impl Provider {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let [slowness, requests, refusals] = [0, 0, 0].map(AtomicUsize::new);
        let [is_down, is_held] = [false, false].map(AtomicBool::new);
        let (dims, given) = (AtomicUsize::new(DIMS), Mutex::default());
        let state = Arc::new(ProviderState { is_down, is_held, dims, slowness, requests, refusals, given });
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                std::thread::spawn(move || answer(stream, &state));
            }
        });
        Provider { url, state }
    }

    pub fn settings(&self, model: &str) -> RemoteSettings {
        let mut settings = RemoteSettings::new("openai", Protocol::OpenAi);
        (settings.url, settings.model, settings.dimensions) = (self.url.clone(), model.into(), Some(DIMS));
        settings
    }

    /// Whether it answers with an error.
    pub fn set_down(&self, is_down: bool) {
        self.state.is_down.store(is_down, Ordering::SeqCst);
    }

    /// Whether it keeps its answers back, for a while.
    pub fn hold(&self, is_held: bool) {
        self.state.is_held.store(is_held, Ordering::SeqCst);
    }

    /// Numbers of its vectors.
    pub fn set_dims(&self, dims: usize) {
        self.state.dims.store(dims, Ordering::SeqCst);
    }

    /// How long a request takes.
    pub fn set_slowness(&self, slowness: Duration) {
        self.state.slowness.store(slowness.as_millis() as usize, Ordering::SeqCst);
    }

    /// Requests that came.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// Waits until this many requests have come.
    pub fn wait_for(&self, requests: usize) {
        while self.requests() < requests {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Requests that it refused.
    pub fn refusals(&self) -> usize {
        self.state.refusals.load(Ordering::SeqCst)
    }

    /// The texts of every request that it answered well, or is about to.
    pub fn given(&self) -> Vec<Vec<String>> {
        self.state.given.lock().unwrap().clone()
    }

    /// How many texts those are.
    pub fn texts(&self) -> usize {
        self.given().iter().map(Vec::len).sum()
    }
}

/// Answers the requests of one connection: a text with "unspeakable" is refused.
fn answer(stream: TcpStream, state: &ProviderState) {
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
        let is_down = state.is_down.load(Ordering::SeqCst);
        if !is_down && !is_refused {
            state.given.lock().unwrap().push(texts.iter().map(|text| (*text).to_owned()).collect());
        }
        state.requests.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(state.slowness.load(Ordering::SeqCst) as u64));
        let held = Instant::now();
        while state.is_held.load(Ordering::SeqCst) && held.elapsed() < LONGEST {
            std::thread::sleep(Duration::from_millis(2));
        }
        let (status, answer) = match (is_down, is_refused) {
            (true, _) => ("401 Unauthorized", json!({ "error": { "message": "the key is revoked" } })),
            (_, true) => {
                state.refusals.fetch_add(1, Ordering::SeqCst);
                ("400 Bad Request", json!({ "error": { "message": "this cannot be said" } }))
            }
            _ => {
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
