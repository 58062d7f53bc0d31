//! Requests, and what becomes of each answer.

use super::*;

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
fn a_text_too_long_for_the_server_is_shortened() {
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
    assert_eq!(outcomes[1], Err(Refusal("status 500".to_owned())), "not in the words of the provider");
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
        assert!(said.contains("status 400: it is about `dimensions`") && !said.contains("too many"), "{said}");
        assert_eq!(asked, 2, "the texts, and a text that every model accepts");
    }
}

#[test]
fn errors_that_will_not_pass_are_not_repeated() {
    for protocol in ALL {
        for (status, body, says) in [
            (401, json!({ "error": { "message": format!("Incorrect API key provided: {KEY}") } }), "invalid API key"),
            (403, json!({ "message": "no" }), "invalid API key"),
            // The end of the message is cut, in the middle of the key.
            (403, json!({ "message": format!("{}{KEY}", "no ".repeat(64)) }), "invalid API key"),
            (404, json!({ "error": "model \"mine\" not found, try pulling it first" }), "pulled first"),
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
fn temporary_errors_are_retried_after_the_requested_pause() {
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
fn vectors_made_before_a_failure_are_kept() {
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
        assert!(
            error.contains("status 401") && !error.contains("revoked") && error.contains("tried again in"),
            "{error}"
        );
        assert_eq!(server.requests().len(), 2, "it is left alone");
    }
}

/// Item 16: a provider that repeats the key, in whatever form and place, is not quoted.
#[test]
fn item_16_no_text_of_a_provider_is_in_an_error() {
    const REPEATED: [&str; 5] =
        [KEY, "A-KEY-FOR-TESTS", "YS1rZXktZm9yLXRlc3Rz", "612d6b65792d666f722d7465737473", "a%2Dkey%2Dfor%2Dtests"];
    for protocol in ALL {
        let repeated = REPEATED.join(" ");
        let said = |text: &str| json!({ "message": text, "code": text, "type": text, "status": text });
        let bodies = [
            json!({ "error": said(&format!("{repeated} is too long, or its dimension")) }).to_string(),
            json!({ "error": repeated, "detail": repeated }).to_string(),
            said(&repeated).to_string(),
            // A text where vectors are expected.
            json!({ "data": repeated, "embeddings": repeated }).to_string(),
            json!({ "data": [{ "embedding": repeated }], "embeddings": [repeated] }).to_string(),
            format!("{{\"{repeated}\": {repeated}"),
        ];
        for status in [200, 302, 400, 401, 402, 404, 418] {
            for body in &bodies {
                let answer = ResponseTemplate::new(status).set_body_raw(body.clone(), "application/json");
                let server = Server::start(move |_, _| answer.clone(), protocol);
                let settings = RemoteSettings { max_tokens: Some(100), ..server.settings(protocol) };
                let error = embedder(&settings).embed_each(&["one"], &NoProgress).unwrap_err();
                let said = format!("{error} {error:?}");
                assert!(REPEATED.iter().all(|text| !said.contains(text)), "{protocol:?} {status}: {said}");
            }
        }
    }
}
