//! The contract of every provider, against a server that speaks its protocol.

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

/// What it makes of the texts until it fails, request by request.
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
    assert!(!said.contains(KEY), "{said}");
    (error.to_string(), server.requests().len())
}

/// E5, E6.
#[test]
fn vectors_come_in_the_order_of_the_texts_and_of_length_one() {
    for protocol in ALL {
        let server = Server::start(good, protocol);
        let embedder = embedder(&server.settings(protocol));
        assert_eq!(embedder.embed_query("a query").unwrap(), expected("a query"), "{protocol:?}");
        let texts = ["one", "two", "a third \u{65e5}\u{672c}"];
        assert_eq!(embedder.embed_batch(&texts).unwrap(), texts.map(expected), "{protocol:?}");
        assert!(embedder.embed_batch(&[]).unwrap().is_empty());
        assert_eq!(server.requests().len(), 2, "{protocol:?}: texts share a request");
        let all = server.runtime.block_on(server.server.received_requests()).unwrap();
        let last = all.last().unwrap();
        let name = if protocol == Protocol::Gemini { "x-goog-api-key" } else { "authorization" };
        assert!(last.headers[name].to_str().unwrap().ends_with(KEY));
        let path = match protocol {
            Protocol::OpenAi => "/base/embeddings",
            Protocol::Gemini => "/base/models/mine:batchEmbedContents",
            Protocol::Ollama => "/base/api/embed",
            Protocol::Cohere => "/base/embed",
        };
        assert_eq!(last.url.path(), path);
    }
}

#[test]
fn each_side_has_its_prefix_and_its_fields() {
    for (protocol, model, query, document) in [
        (Protocol::Ollama, "nomic-embed-text", "search_query: x", "search_document: x"),
        (Protocol::Gemini, "gemini-embedding-2", "task: search result | query: x", "title: none | text: x"),
        (Protocol::Gemini, "gemini-embedding-001", "RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"),
        (Protocol::Cohere, "embed-v4.0", "search_query", "search_document"),
        (Protocol::OpenAi, "voyage-3.5", "\"query\"", "\"document\""),
        (Protocol::OpenAi, "jina-embeddings-v3", "retrieval.query", "retrieval.passage"),
    ] {
        let server = Server::start(good, protocol);
        let embedder = embedder(&RemoteSettings { model: model.into(), ..server.settings(protocol) });
        embedder.embed_query("x").unwrap();
        embedder.embed_batch(&["x"]).unwrap();
        let sent = server.requests().iter().map(Value::to_string).collect::<Vec<_>>();
        assert!(sent[0].contains(query) && sent[1].contains(document), "{model}: {sent:?}");
    }
    let server = Server::start(good, Protocol::OpenAi);
    let mut own = server.settings(Protocol::OpenAi);
    own.query_prefix = Some("Q: ".into());
    own.document_fields = Some(Fields::from_iter([("user".into(), json!("me"))]));
    let embedder = embedder(&own);
    embedder.embed_query("x").unwrap();
    embedder.embed_batch(&["x"]).unwrap();
    let sent = server.requests();
    assert_eq!((texts(&sent[0])[0].as_str(), sent[0].get("user")), ("Q: x", None));
    assert_eq!((texts(&sent[1])[0].as_str(), sent[1]["user"].as_str()), ("x", Some("me")));
    assert_eq!(sent[1]["dimensions"], 4);
}

#[test]
fn texts_are_split_into_requests_by_number_and_by_tokens() {
    for protocol in ALL {
        let server = Server::start(good, protocol);
        let settings = RemoteSettings { batch: Some(10), ..server.settings(protocol) };
        let many: Vec<String> = (0..25).map(|number| format!("text {number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(embedder(&settings).embed_batch(&many).unwrap().len(), 25);
        let sizes: Vec<usize> = server.requests().iter().map(|body| texts(body).len()).collect();
        assert_eq!(sizes, [10, 10, 5], "{protocol:?}");
    }
    let server = Server::start(good, Protocol::OpenAi);
    let settings = RemoteSettings { model: "text-embedding-3-small".into(), ..server.settings(Protocol::OpenAi) };
    let long = "many words ".repeat(2_200);
    embedder(&settings).embed_batch(&vec![long.as_str(); 60]).unwrap();
    let most = server.requests().iter().map(|body| texts(body).len()).max().unwrap();
    assert!((20..60).contains(&most), "{most}");
}

#[test]
fn a_text_that_is_too_long_is_cut_first() {
    let server = Server::start(good, Protocol::Ollama);
    let embedder = embedder(&server.settings(Protocol::Ollama));
    embedder.embed_batch(&[&"long ".repeat(500)]).unwrap();
    assert_eq!(texts(&server.requests()[0])[0].len(), 300, "the server reads 100 tokens");
}

/// X5.
#[test]
fn a_refused_text_is_shortened_or_set_aside_and_blocks_no_other() {
    for protocol in ALL {
        let refusing = move |protocol, request: &Request| {
            if request.url.path().ends_with("/api/show") {
                return good(protocol, request);
            }
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            match texts(&body).iter().find(|text| text.contains("bad") || text.len() > 200) {
                Some(text) => failing(400, json!({ "error": { "message": format!("cannot embed {text}") } })),
                None => good(protocol, request),
            }
        };
        let server = Server::start(refusing, protocol);
        let embedder = embedder(&RemoteSettings { max_tokens: Some(1_000), ..server.settings(protocol) });
        let long = "x".repeat(700);
        let outcomes = each(&*embedder, &["one", "this is a bad text", "two", &long, "", "three"]);
        let Refusal(why) = outcomes[1].clone().unwrap_err();
        assert!(why.contains("status 400") && !why.contains("bad text"), "{protocol:?}: {why}");
        assert_eq!(outcomes[3], Ok(expected(&"x".repeat(175))), "halved twice");
        assert!(outcomes[4].is_err(), "an empty text has no meaning");
        for (at, text) in [(0, "one"), (2, "two"), (5, "three")] {
            assert_eq!(outcomes[at], Ok(expected(text)), "{protocol:?}");
        }
        assert!(embedder.is_available(), "the provider is sound");
    }
}

/// As llama-server does at a text that is longer than its batch.
#[test]
fn a_server_that_fails_at_the_length_of_a_text_gets_a_shorter_one() {
    for protocol in ALL {
        for (status, message) in [
            (500, "input is too large to process. increase the physical batch size"),
            (500, "This model's maximum context length is 200 tokens"),
            (503, "Input Too Long"),
        ] {
            let server = Server::start(
                move |protocol, request| {
                    let body: Value = serde_json::from_slice(&request.body).unwrap();
                    match texts(&body).iter().any(|text| text.len() > 200) {
                        true => failing(status, json!({ "error": { "message": message } })),
                        false => good(protocol, request),
                    }
                },
                protocol,
            );
            let embedder = embedder(&RemoteSettings { max_tokens: Some(1_000), ..server.settings(protocol) });
            let outcomes = each(&*embedder, &["one", &"x".repeat(700), "two"]);
            let wanted = [expected("one"), expected(&"x".repeat(175)), expected("two")].map(Ok);
            assert_eq!(outcomes, wanted, "{protocol:?} {message}");
            assert_eq!(server.requests().len(), 8, "none is repeated");
        }
    }
}

/// X5: whatever it says.
#[test]
fn a_server_that_fails_at_one_text_gives_the_others() {
    let failures = Arc::new(AtomicUsize::new(0));
    let count = failures.clone();
    let server = Server::start(
        move |protocol, request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            match texts(&body).iter().any(|text| text.contains("bad")) {
                true => {
                    count.fetch_add(1, Ordering::SeqCst);
                    failing(500, json!({ "error": { "message": "list index out of range" } }))
                }
                false => good(protocol, request),
            }
        },
        Protocol::OpenAi,
    );
    let embedder = embedder(&server.settings(Protocol::OpenAi));
    let outcomes = each(&*embedder, &["one", "bad", "two"]);
    assert_eq!((&outcomes[0], &outcomes[2]), (&Ok(expected("one")), &Ok(expected("two"))));
    assert_eq!(outcomes[1], Err(Refusal("status 500: list index out of range".to_owned())));
    assert!(embedder.is_available());
    let alone = each(&*embedder, &["bad"]);
    assert!(alone[0].is_err(), "nor may one alone be sent for ever");
}

/// A server that recovers while another text is tried has refused nothing.
#[test]
fn a_server_that_was_down_for_a_moment_has_refused_no_text() {
    let asked = AtomicUsize::new(0);
    let server = Server::start(
        move |protocol, request| match asked.fetch_add(1, Ordering::SeqCst) {
            0..3 => failing(500, json!({})),
            _ => good(protocol, request),
        },
        Protocol::OpenAi,
    );
    let embedder = embedder(&server.settings(Protocol::OpenAi));
    assert_eq!(each(&*embedder, &["one"]), [Ok(expected("one"))]);
}

/// An account that is closed in the middle refuses every text: none is to blame.
#[test]
fn an_account_that_is_closed_in_the_middle_sets_no_text_aside() {
    for protocol in ALL {
        for (status, before) in [(400, 1), (403, 1), (404, 1), (400, 4), (400, 6), (403, 6), (404, 6)] {
            let accepted = AtomicUsize::new(0);
            let closing = move |protocol, request: &Request| {
                let body: Value = serde_json::from_slice(&request.body).unwrap();
                if texts(&body).iter().any(|text| text.starts_with("bad")) {
                    return failing(400, json!({ "error": { "message": "a bad text" } }));
                }
                match accepted.fetch_add(1, Ordering::SeqCst) {
                    at if at < before => good(protocol, request),
                    _ => failing(status, json!({ "error": { "message": "the account is closed" } })),
                }
            };
            let server = Server::start(closing, protocol);
            let settings = RemoteSettings { batch: Some(8), max_tokens: Some(1_000), ..server.settings(protocol) };
            let embedder = embedder(&settings);
            let long = "long ".repeat(100);
            let texts: Vec<String> = (0..32)
                .map(|number| if number == 13 { format!("bad {number}") } else { format!("{number} {long}") })
                .collect();
            let outcomes = each(&*embedder, &texts.iter().map(String::as_str).collect::<Vec<_>>());
            let made = outcomes.len();
            assert!((8..32).contains(&made), "{protocol:?} {status} {before}: {made}");
            for (at, outcome) in outcomes.into_iter().enumerate() {
                let is_right = if at == 13 { outcome.is_err() } else { outcome == Ok(expected(&texts[at])) };
                assert!(is_right, "{protocol:?} {status} {before}: {at}");
            }
            assert!(!embedder.is_available(), "the provider has failed");
            assert!(server.requests().len() < 24, "{}", server.requests().len());
        }
    }
}

/// A wrong setting must not set every text aside.
#[test]
fn a_provider_that_refuses_every_text_has_failed() {
    for protocol in ALL {
        let (said, asked) =
            error_of(protocol, || failing(400, json!({ "error": { "message": "dimensions: too many" } })));
        assert!(said.contains("dimensions: too many"), "{said}");
        assert_eq!(asked, 2, "the texts, and a text that every model accepts");
    }
}

#[test]
fn errors_that_will_not_pass_are_not_repeated() {
    for protocol in ALL {
        for (status, body, says) in [
            (
                401,
                json!({ "error": { "message": format!("Incorrect API key provided: {KEY}") } }),
                "does not accept the key",
            ),
            (403, json!({ "message": "no" }), "does not accept the key"),
            (404, json!({ "error": "model \"mine\" not found, try pulling it first" }), "try pulling it"),
            (
                429,
                json!({ "error": { "message": "You exceeded your quota", "type": "insufficient_quota" } }),
                "quota is exhausted",
            ),
            (307, json!({}), "another address"),
            (302, json!({}), "another address"),
        ] {
            let (said, asked) = error_of(protocol, move || {
                failing(status, body.clone()).insert_header("location", "https://elsewhere.example/take")
            });
            assert!(said.contains(says), "{protocol:?} {status}: {said}");
            assert_eq!(asked, 1, "{protocol:?} {status}");
        }
    }
}

/// X5.
#[test]
fn errors_that_may_pass_are_repeated_after_the_pause_that_is_demanded() {
    for protocol in ALL {
        for (status, pause) in [(429, Some("0.2")), (500, None), (503, Some("0"))] {
            let asked = AtomicUsize::new(0);
            let recovering = move |protocol, request: &Request| match asked.fetch_add(1, Ordering::SeqCst) {
                0 => {
                    let answer = failing(status, json!({ "error": { "message": "slow down" } }));
                    pause.map_or(answer.clone(), |pause| answer.insert_header("retry-after", pause))
                }
                _ => good(protocol, request),
            };
            let server = Server::start(recovering, protocol);
            let started = Instant::now();
            let settings = RemoteSettings { max_tokens: Some(9), ..server.settings(protocol) };
            assert_eq!(embedder(&settings).embed_batch(&["one"]).unwrap(), [expected("one")], "{protocol:?} {status}");
            let least = pause.map_or(0.5, |pause| pause.parse().unwrap());
            assert!(started.elapsed() >= Duration::from_secs_f64(least) && server.requests().len() == 2);
        }
    }
    let (said, asked) = error_of(Protocol::OpenAi, || failing(429, json!({})).insert_header("retry-after", "3600"));
    assert!(said.contains("status 429") && asked == 1, "too long to wait for: {said}");
    let (said, asked) = error_of(Protocol::OpenAi, || failing(500, json!({})));
    assert!(said.contains("status 500") && asked == 4, "the texts three times, another once: {said}");
}

#[test]
fn answers_that_cannot_be_right_are_refused() {
    for protocol in ALL {
        let short = |vectors: Vec<Vec<Value>>| shaped(protocol, vectors);
        let three = || vec![json!(1), json!(2), json!(3)];
        for (what, asked_at_most, body) in [
            ("too few", 1, short(vec![vector("one")])),
            ("too many", 1, short(vec![vector("one"); 3])),
            ("of other dimensions", 2, short(vec![three(), three()])),
            ("without numbers", 2, short(vec![Vec::new(), Vec::new()])),
            ("no vectors", 1, json!({ "ok": true })),
        ] {
            let (said, asked) = error_of(protocol, move || ResponseTemplate::new(200).set_body_json(&body));
            assert!(said.contains("cannot be used") && asked <= asked_at_most, "{protocol:?} {what}: {said}");
        }
        for (what, text) in [("HTML", "<html>hello</html>"), ("NaN", "{\"embeddings\": [[NaN]]}"), ("nothing", "")] {
            let (said, _) = error_of(protocol, move || ResponseTemplate::new(200).set_body_raw(text, "text/html"));
            assert!(said.contains("cannot be used"), "{protocol:?} {what}: {said}");
        }
    }
    let twice =
        json!({ "data": [{ "index": 0, "embedding": [1, 2, 3, 4] }, { "index": 0, "embedding": [1, 2, 3, 4] }] });
    let (said, _) = error_of(Protocol::OpenAi, move || ResponseTemplate::new(200).set_body_json(&twice));
    assert!(said.contains("index"), "{said}");
}

/// X5: one bad vector does not spoil the answer.
#[test]
fn a_vector_that_is_none_sets_its_text_aside() {
    let bad = [
        ("null", "numbers"),
        ("zero", "direction"),
        ("none", "no vector"),
        ("empty", "no vector"),
        ("short", "3 numbers"),
    ];
    for protocol in ALL {
        let server = Server::start(
            |protocol, request| {
                let Ok(body) = serde_json::from_slice::<Value>(&request.body) else { return failing(400, json!({})) };
                if request.url.path().ends_with("/api/show") {
                    return good(protocol, request);
                }
                let of = |text: &String| match text.as_str() {
                    "null" => vec![json!(1), Value::Null, json!(1), json!(1)],
                    "nan" => vec![json!("nan"), json!(1), json!(1), json!(1)],
                    "zero" => vec![json!(0); 4],
                    "none" => vec![json!("no vector")],
                    "empty" => Vec::new(),
                    "short" => vec![json!(1); 3],
                    other => vector(other),
                };
                let answer = shaped(protocol, texts(&body).iter().map(of).collect()).to_string();
                let answer = answer.replace("[\"no vector\"]", "null").replace("\"nan\"", "NaN");
                ResponseTemplate::new(200).set_body_raw(answer, "application/json")
            },
            protocol,
        );
        let embedder = embedder(&server.settings(protocol));
        let sent: Vec<&str> = ["one"].into_iter().chain(bad.map(|(text, _)| text)).chain(["nan", "two"]).collect();
        let outcomes = each(&*embedder, &sent);
        for (at, (text, says)) in bad.into_iter().chain([("nan", "numbers")]).enumerate() {
            let Refusal(why) = outcomes[at + 1].clone().unwrap_err();
            assert!(why.contains(says), "{protocol:?} {text}: {why}");
        }
        assert_eq!((&outcomes[0], &outcomes[7]), (&Ok(expected("one")), &Ok(expected("two"))), "{protocol:?}");
        assert_eq!(server.requests().len(), 1, "the other texts show that the provider is sound");
        assert!(each(&*embedder, &["nan"])[0].is_err(), "{protocol:?}: nor may one alone spoil the next call");
        assert!(embedder.is_available());
    }
}

/// E14: what was made is not lost, and a provider that is down is left alone.
#[test]
fn what_was_made_before_a_failure_is_kept() {
    for protocol in ALL {
        let asked = AtomicUsize::new(0);
        let failing_second = move |protocol, request: &Request| {
            let is_ask = !request.url.path().ends_with("/api/show");
            match is_ask && asked.fetch_add(1, Ordering::SeqCst) > 0 {
                true => failing(401, json!({ "error": { "message": "revoked" } })),
                false => good(protocol, request),
            }
        };
        let server = Server::start(failing_second, protocol);
        let embedder = embedder(&RemoteSettings { batch: Some(1), ..server.settings(protocol) });
        assert_eq!(each(&*embedder, &["one", "two", "three"]), [Ok(expected("one"))], "{protocol:?}");
        assert!(!embedder.is_available());
        let error = embedder.embed_query("x").unwrap_err().to_string();
        assert!(error.contains("revoked") && error.contains("tried again in"), "{error}");
        assert_eq!(server.requests().len(), 2, "it is left alone");
    }
}

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

/// Z11: what is purged while its vector is on the way is not kept.
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

/// Q18: nor for the cache.
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

/// E15: a model that was replaced behind its name is noticed, and learnt by the next process.
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

/// What is kept says nothing of the provider.
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
        assert!(host.verify().unwrap_err().to_string().contains("revoked"), "{dimensions:?}");
        down.store(false, Ordering::SeqCst);
        assert!(host.verify().is_ok(), "whatever it was a moment ago");
    }
}

#[test]
fn without_the_key_that_is_needed_the_error_says_where_to_put_it() {
    let mut settings = settings(Protocol::OpenAi, "https://example.invalid");
    (settings.key, settings.key_from) = (None, Some("set OPENAI_API_KEY".into()));
    let host = ModelHost::new(&ModelSource::Remote(Box::new(settings)).into()).unwrap();
    assert!(!host.is_available());
    assert!(host.why_unavailable().to_string().contains("needs a key: set OPENAI_API_KEY"));
    assert!(host.embedder().is_err());
}

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
fn a_search_does_not_wait_for_a_provider_that_is_slow_endless_or_cut() {
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
fn nobody_at_the_address_is_a_failure_that_names_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let settings = settings(Protocol::OpenAi, &url);
    let error = embedder(&settings).embed_batch(&["x"]).unwrap_err().to_string();
    assert!(error.contains(&url) && error.contains("gives no vectors"), "{error}");
}
