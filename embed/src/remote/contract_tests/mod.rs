//! The contract of every provider, against a server that speaks its protocol.
//!
//! | file | job |
//! |---|---|
//! | `answers.rs` | requests, and the outcome of each answer |
//! | `kept.rs` | vectors and dimensions that are kept |
//! | `connection.rs` | a provider that is slow, endless, cut, or not there |

mod answers;
mod connection;
mod kept;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers};

use super::batches::PROBE;
use super::embedder::RemoteLoader;
use crate::embedder::{Embedder, Refusal};
use crate::error::Error;
use crate::host::ModelHost;
use crate::loader::Loader;
use crate::progress::{NoProgress, Progress};
use crate::provider::{CacheSettings, Fields, Protocol, RemoteSettings, Secret};
use crate::settings::ModelSource;

const ALL: [Protocol; 4] = [Protocol::OpenAi, Protocol::Gemini, Protocol::Ollama, Protocol::Cohere];
const KEY: &str = "a-key-for-tests";

/// A server, with the requests that it got.
struct Server {
    runtime: Runtime,
    server: MockServer,
}

impl Server {
    /// Answers each request with `answer`, which gets the texts of the request.
    fn start(
        respond: impl Fn(Protocol, &Request) -> ResponseTemplate + Send + Sync + 'static,
        protocol: Protocol,
    ) -> Self {
        struct Responder<F>(F, Protocol);
        impl<F: Fn(Protocol, &Request) -> ResponseTemplate + Send + Sync> Respond for Responder<F> {
            fn respond(&self, request: &Request) -> ResponseTemplate {
                (self.0)(self.1, request)
            }
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(async {
            let server = MockServer::start().await;
            Mock::given(matchers::any()).respond_with(Responder(respond, protocol)).mount(&server).await;
            server
        });
        Server { runtime, server }
    }

    /// The requests for vectors.
    fn requests(&self) -> Vec<Value> {
        let all = self.runtime.block_on(self.server.received_requests()).unwrap();
        let asks = all.iter().filter(|request| !request.url.path().ends_with("/api/show"));
        asks.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    }

    fn settings(&self, protocol: Protocol) -> RemoteSettings {
        settings(protocol, &self.server.uri())
    }
}

fn settings(protocol: Protocol, url: &str) -> RemoteSettings {
    let mut settings = RemoteSettings::new(format!("{protocol:?}").to_lowercase(), protocol);
    settings.url = format!("{url}/base");
    settings.model = "mine".into();
    settings.key = Some(Secret::new(KEY));
    settings.timeout = Some(Duration::from_secs(20));
    settings
}

fn embedder(settings: &RemoteSettings) -> Arc<dyn Embedder> {
    let settings = RemoteSettings { dimensions: settings.dimensions.or(Some(4)), ..settings.clone() };
    RemoteLoader::new(&settings).unwrap().load(&mut |_| {}, &NoProgress).unwrap()
}

/// The texts of a request, in whichever protocol.
fn texts(body: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let list = |value: &Value| value.as_array().unwrap().iter().map(text).collect();
    match (body.get("input"), body.get("texts")) {
        (Some(input), _) => list(input),
        (_, Some(texts)) => list(texts),
        _ => {
            let requests = body["requests"].as_array().unwrap().iter();
            requests.map(|request| text(&request["content"]["parts"][0]["text"])).collect()
        }
    }
}

/// A vector of four numbers, by the letters of a text.
fn vector(text: &str) -> Vec<Value> {
    let mut vector = [1u32; 4];
    text.bytes().enumerate().for_each(|(at, byte)| vector[at % 4] += u32::from(byte));
    vector.map(Value::from).to_vec()
}

/// Good vectors in the shape of a protocol. OpenAI's come in reverse, each with its index.
fn shaped(protocol: Protocol, vectors: Vec<Vec<Value>>) -> Value {
    match protocol {
        Protocol::OpenAi => {
            let entries = vectors.into_iter().enumerate().rev();
            let entry = |(index, vector)| json!({ "object": "embedding", "index": index, "embedding": vector });
            json!({ "object": "list", "data": entries.map(entry).collect::<Vec<_>>() })
        }
        Protocol::Gemini => {
            json!({ "embeddings": vectors.into_iter().map(|vector| json!({ "values": vector })).collect::<Vec<_>>() })
        }
        Protocol::Ollama => json!({ "model": "mine", "embeddings": vectors }),
        Protocol::Cohere => json!({ "embeddings": { "float": vectors } }),
    }
}

fn good(protocol: Protocol, request: &Request) -> ResponseTemplate {
    if request.url.path().ends_with("/api/show") {
        return ResponseTemplate::new(200).set_body_json(json!({ "model_info": { "bert.context_length": 100 } }));
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let vectors = texts(&body).iter().map(|text| vector(text)).collect();
    ResponseTemplate::new(200).set_body_json(shaped(protocol, vectors))
}

fn failing(status: u16, body: Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(body)
}

fn expected(text: &str) -> Vec<f32> {
    let numbers = vector(text).iter().map(|number| number.as_f64().unwrap() as f32).collect();
    crate::normalise::normalise(numbers).unwrap()
}

/// Embeds the texts, request by request, until one fails.
fn each(embedder: &dyn Embedder, texts: &[&str]) -> Vec<Result<Vec<f32>, Refusal>> {
    let mut made = embedder.embed_each(texts, &NoProgress).unwrap();
    while made.len() < texts.len() {
        let Ok(more) = embedder.embed_each(&texts[made.len()..], &NoProgress) else { break };
        made.extend(more);
    }
    made
}

/// The error of a server that always answers so, and how often it was asked.
fn error_of(protocol: Protocol, respond: impl Fn() -> ResponseTemplate + Send + Sync + 'static) -> (String, usize) {
    let server = Server::start(move |_, _| respond(), protocol);
    let settings = RemoteSettings { max_tokens: Some(100), ..server.settings(protocol) };
    let error = embedder(&settings).embed_each(&["one", "two"], &NoProgress).unwrap_err();
    assert!(matches!(error.root(), Error::Provider(_)), "{error:?}");
    let said = format!("{error} {error:?}");
    assert!(!said.contains(&KEY[..5]), "{said}");
    (error.to_string(), server.requests().len())
}
