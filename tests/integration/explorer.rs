//! The explorer as its page, other programs and attackers see it: who is answered, what changes, and that looking changes
//! nothing.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Model, NewRecord};
use memorist_engine::{Engine, MapFrom};
use serde_json::{Value, json};

use crate::connection::{Connection, TIMEOUT};
use crate::process::signal;
use crate::support::{memorist, text};

/// A function that each name of the contract has, with parameters that it accepts.
const CALLS: &[(&str, &str)] = &[
    ("overview", "{}"),
    ("search", r#"{"query": "heron", "prefix": true}"#),
    ("list", "{}"),
    ("memory", r#"{"id": 1}"#),
    ("graph", r#"{"id": 1, "depth": 2}"#),
    ("similar", r#"{"id": 1}"#),
    ("searches", "{}"),
    ("explain", r#"{"query": "heron", "id": 2}"#),
    ("timeline", "{}"),
    ("cleanup", r#"{"kind": "superseded"}"#),
    ("neighbors", r#"{"id": 1, "k": 3}"#),
    ("history", r#"{"id": 1}"#),
    ("chain", r#"{"id": 1}"#),
    ("outdated", "{}"),
    ("stats", "{}"),
    ("export", "{}"),
];
const WRITES: &[(&str, &str)] = &[
    ("add", r#"{"content": "a new one"}"#),
    ("update", r#"{"id": 1, "importance": 6}"#),
    ("delete", r#"{"id": 3}"#),
    ("undo", r#"{"id": 3}"#),
    ("link", r#"{"fromId": 1, "toId": 2, "linkType": "related"}"#),
    ("unlink", r#"{"fromId": 1, "toId": 2, "linkType": "related"}"#),
    ("rollback", r#"{"id": 1, "version": 1}"#),
    ("merge", r#"{"keep": 1, "expect": 1, "replaced": [{"id": 2, "expect": 1}]}"#),
    ("purge", r#"{"ids": [3], "confirm": true}"#),
];
/// Functions that need no token, go on, or need a map.
const OTHERS: &[&str] = &["session", "events", "map", "mapFilter", "mapLabels", "buildMap"];

/// The headers that every answer has, with what their values have in common.
const SECURITY: [(&str, &str); 7] = [
    ("content-security-policy", "default-src 'none'; script-src 'self'; "),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "deny"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// An explorer of a store. It is killed when it is dropped.
struct Explorer {
    process: Child,
    /// Enter is pressed here.
    keys: ChildStdin,
    said: BufReader<ChildStdout>,
    address: SocketAddr,
    token: String,
}

impl Explorer {
    fn on(store: &Path, arguments: &[&str]) -> Self {
        let arguments = [&["explore", "--no-open", "--json"], arguments].concat();
        let mut command = memorist(store, &arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let (keys, said) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut explorer = Explorer { process, keys, said, address, token: String::new() };
        let (address, code) = explorer.printed();
        explorer.address = address;
        explorer.token = explorer.token_for(&code).1["token"].as_str().unwrap().to_owned();
        explorer
    }

    /// The next address that it prints: where it serves, and the code.
    fn printed(&mut self) -> (SocketAddr, String) {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        let printed: Value = serde_json::from_str(&line).unwrap();
        let url = printed["url"].as_str().unwrap().strip_prefix("http://").unwrap();
        let (address, code) = url.split_once("/#code=").unwrap();
        (address.parse().unwrap(), code.to_owned())
    }

    fn token_for(&self, code: &str) -> (u16, Value) {
        self.send("session", &[("Host", &self.host())], &json!({ "code": code }).to_string())
    }

    fn host(&self) -> String {
        self.address.to_string()
    }

    fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// The answer to a call, as the page makes it.
    fn call(&self, name: &str, parameters: &Value) -> (u16, Value) {
        let (host, authorization) = (self.host(), self.authorization());
        let origin = format!("http://{host}");
        let headers = [
            ("Host", &*host),
            ("Origin", &origin),
            ("Sec-Fetch-Site", "same-origin"),
            ("Authorization", &authorization),
        ];
        self.send(name, &headers, &parameters.to_string())
    }

    /// The answer to a POST of JSON with these headers.
    fn send(&self, name: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
        let headers = [headers, &[("Content-Type", "application/json")]].concat();
        let (status, text) = self.request("POST", &format!("/api/{name}"), &headers, body);
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// The answer to a request, which has the headers that every answer has.
    fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut connection = Connection::to(self.address);
        connection.send(request(method, path, headers, body.len()) + body).unwrap();
        let answer = connection.answer().unwrap();
        assert_secure(&connection, &format!("{method} {path}: {}", answer.0));
        answer
    }

    /// Ends it by Ctrl-C.
    fn end(mut self) -> Option<i32> {
        signal("INT", self.process.id());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], length: usize) -> String {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("{method} {path} HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n")
}

fn assert_secure(connection: &Connection, what: &str) {
    for (name, value) in SECURITY {
        let lines: Vec<_> = connection.head.iter().filter(|line| line.starts_with(&format!("{name}: "))).collect();
        assert!(matches!(&lines[..], [line] if line.contains(value)), "{what}: {name}: {lines:?}");
    }
    let policy = connection.head.iter().find(|line| line.starts_with("content-security-policy")).unwrap();
    assert!(!policy.contains("unsafe") && !policy.contains('*') && policy.contains("trusted-types"), "{policy}");
    let shares = |line: &&String| line.starts_with("access-control-") || line.starts_with("set-cookie");
    assert_eq!(connection.head.iter().find(shares), None, "{what}");
}

/// A store of three memories, of which the second supersedes the first.
fn store() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for content in ["The heron sleeps", "The heron wakes", "<img src=x onerror=alert(1)>\u{202e}"] {
        run(folder.path(), &["add", content]);
    }
    run(folder.path(), &["link", "2", "supersedes", "1"]);
    folder
}

fn run(store: &Path, arguments: &[&str]) -> Value {
    let output = memorist(store, &[arguments, &["--json"]].concat()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_explorer_answers_only_its_own_page() {
    let folder = store();
    let explorer = Explorer::on(folder.path(), &[]);
    let (host, authorization) = (explorer.host(), explorer.authorization());
    let (own, port) = (format!("http://{host}"), explorer.address.port());
    let (elsewhere, neighbor) = (format!("evil.example:{port}"), format!("http://127.0.0.1:{}", port ^ 1));
    let by_name = format!("http://localhost:{port}");
    let other = format!("Bearer {}", "0".repeat(64));
    let names = CALLS.iter().chain(WRITES).copied().chain(OTHERS.iter().map(|name| (*name, "{}")));
    let page = [("Host", &*host), ("Origin", &*own), ("Authorization", &*authorization)];
    for (name, body) in names {
        let with = |changed: &[(&str, &str)]| {
            let kept = page.iter().filter(|(name, _)| changed.iter().all(|(other, _)| name != other));
            let headers: Vec<_> = kept.chain(changed).filter(|(_, value)| !value.is_empty()).copied().collect();
            explorer.send(name, &headers, body)
        };
        for (status, changed) in [
            (403, &[("Host", &*elsewhere)][..]),
            (403, &[("Host", "127.0.0.1"), ("Origin", "")]),
            (400, &[("Host", "")]),
            (403, &[("Origin", "http://evil.example")]),
            (403, &[("Origin", &*neighbor)]),
            (403, &[("Origin", &*by_name)]),
            (403, &[("Origin", "null")]),
            (403, &[("Sec-Fetch-Site", "cross-site")]),
            (403, &[("Sec-Fetch-Site", "same-site")]),
            (401, &[("Authorization", "")]),
            (401, &[("Authorization", &*other)]),
            (401, &[("Authorization", &authorization[..authorization.len() - 1])]),
        ] {
            let (answered, answer) = with(changed);
            assert_eq!(answered, status, "{name} with {changed:?}: {answer}");
            assert!(answer["error"]["message"].is_string(), "{name}: {answer}");
        }
        let path = format!("/api/{name}");
        for (status, method, kind) in [
            (405, "GET", "application/json"),
            (405, "PUT", "application/json"),
            (405, "OPTIONS", "application/json"),
            (415, "POST", "text/plain"),
            (415, "POST", "application/x-www-form-urlencoded"),
            (415, "POST", "multipart/form-data"),
        ] {
            let headers = [&page[..], &[("Content-Type", kind)]].concat();
            let (answered, answer) = explorer.request(method, &path, &headers, body);
            assert_eq!(answered, status, "{method} {name} as {kind}: {answer}");
        }
    }
    let left = explorer.call("list", &json!({})).1;
    assert_eq!(left["results"].as_array().unwrap().len(), 3, "none of it has changed anything");
    assert_eq!(left["results"][2]["importance"], 5);
}

#[test]
fn an_address_lets_one_browser_in_once() {
    let folder = store();
    let mut explorer = Explorer::on(folder.path(), &[]);
    std::io::Write::write_all(&mut explorer.keys, b"\n").unwrap();
    let (address, code) = explorer.printed();
    assert_eq!((address, code.len()), (explorer.address, 64), "Enter prints a new address");
    for wrong in ["", "x", &code[1..], &explorer.token.clone()] {
        let (status, answer) = explorer.token_for(wrong);
        assert_eq!((status, &answer["error"]["kind"]), (401, &json!("unauthorized")), "{wrong}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("memorist explore"), "{answer}");
    }
    let (status, answer) = explorer.token_for(&code);
    assert_eq!(status, 200);
    assert_ne!(answer["token"], explorer.token);
    assert_eq!(explorer.token_for(&code).0, 401, "it was used");
    let first = explorer.call("overview", &json!({})).0;
    explorer.token = answer["token"].as_str().unwrap().to_owned();
    assert_eq!((first, explorer.call("overview", &json!({})).0), (200, 200), "both pages are in");
    assert_eq!(explorer.end(), Some(0));
}

#[test]
fn the_page_is_served_without_a_token_and_nothing_else_is() {
    let folder = store();
    let explorer = Explorer::on(folder.path(), &[]);
    let host = explorer.host();
    let get = |path: &str, headers: &[(&str, &str)]| {
        explorer.request("GET", path, &[&[("Host", &*host)], headers].concat(), "")
    };
    let (status, page) = get("/", &[]);
    assert!(status == 200 && page.contains("<script") && !page.contains("heron"), "{page}");
    assert_eq!(get("/", &[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "document")]).0, 200, "by a link");
    assert_eq!(get("/", &[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "iframe")]).0, 403);
    for file in page.split('"').filter(|text| text.ends_with(".js") || text.ends_with(".css") || text.ends_with(".svg"))
    {
        assert_eq!(get(&format!("/{}", file.trim_start_matches('/')), &[]).0, 200, "{file}");
    }
    for path in ["/index.html", "/memory.db", "/../memory.db", "/app.js.map", "/api", "/mcp", "//", "/%2e%2e/x"] {
        assert_eq!(get(path, &[]).0, 404, "{path}");
    }
    assert_eq!(explorer.request("POST", "/", &[("Host", &host)], "").0, 405);
    assert_eq!(explorer.call("nothing", &json!({})).0, 404);
    // They would count accesses.
    assert_eq!((explorer.call("get", &json!({ "id": 1 })).0, explorer.call("recall", &json!({})).0), (404, 404));
}

#[test]
fn looking_changes_nothing() {
    let folder = store();
    let state = || {
        let export = memorist(folder.path(), &["export", "-"]).output().unwrap();
        (text(&export.stdout).to_owned(), run(folder.path(), &["search-log"]))
    };
    let before = state();
    let explorer = Explorer::on(folder.path(), &[]);
    for _ in 0..2 {
        for (name, parameters) in CALLS {
            let (status, answer) = explorer.call(name, &serde_json::from_str(parameters).unwrap());
            assert_eq!(status, 200, "{name}: {answer}");
        }
    }
    let (_, found) = explorer.call("search", &json!({ "query": "heron", "includeSuperseded": true }));
    assert_eq!(found["results"].as_array().unwrap().len(), 2);
    assert_eq!(explorer.end(), Some(0));
    assert_eq!(before, state(), "neither the access counts and the access log of the export, nor the searches");
}

#[test]
fn earlier_names_of_functions_work() {
    let folder = store();
    let explorer = Explorer::on(folder.path(), &["--read-only"]);
    let (near, heron) = (json!({ "id": 1, "k": 3 }), json!({ "query": "heron", "id": 2 }));
    for (earlier, now, given) in [
        ("why", "explain", heron),
        ("neighbours", "neighbors", near),
        ("mapMask", "mapFilter", json!({})),
        ("makeMap", "buildMap", json!({ "from": "scratch" })),
    ] {
        let answer = explorer.call(now, &given);
        assert_eq!(explorer.call(earlier, &given), answer, "{earlier}");
        assert_ne!(answer.1["error"]["message"], explorer.call("absent", &given).1["error"]["message"], "{now}");
    }
}

#[test]
fn a_change_to_a_stale_version_is_a_conflict() {
    let folder = store();
    let explorer = Explorer::on(folder.path(), &[]);
    run(folder.path(), &["update", "1", "--content", "The heron flies"]);
    let changes = [
        ("merge", json!({ "keep": 1, "expect": 1, "replaced": [{ "id": 2, "expect": 1 }] })),
        ("update", json!({ "id": 1, "content": "The heron swims", "expect": 1 })),
        ("delete", json!({ "id": 1, "expect": 1 })),
        ("rollback", json!({ "id": 1, "version": 1, "expect": 1 })),
    ];
    let replaced = json!({ "keep": 2, "expect": 1, "replaced": [{ "id": 1, "expect": 1 }] });
    for (name, parameters) in changes.iter().chain(&[("merge", replaced)]) {
        let (status, answer) = explorer.call(name, parameters);
        let error = &answer["error"];
        assert_eq!((status, &error["kind"]), (409, &json!("conflict")), "{name}: {answer}");
        assert_eq!((&error["entry"]["version"], &error["entry"]["content"]), (&json!(2), &json!("The heron flies")));
    }
    let (status, answer) = explorer.call("update", &json!({ "id": 1, "content": "The heron wakes", "expect": 2 }));
    assert_eq!((status, answer["error"].get("entry")), (409, None), "another memory has the text: {answer}");
    for wrong in [json!("heron"), json!(1.5), json!([1])] {
        let (status, answer) = explorer.call("update", &json!({ "id": 1, "content": "x", "expect": wrong }));
        assert_eq!((status, &answer["error"]["kind"]), (400, &json!("invalid")), "{answer}");
    }
    for (version, (name, parameters)) in (2..).zip(changes.into_iter().rev().take(2)) {
        let mut parameters = parameters;
        parameters["expect"] = version.into();
        let (status, answer) = explorer.call(name, &parameters);
        assert_eq!(status, 200, "{name}: {answer}");
    }
    assert_eq!(explorer.call("update", &json!({ "id": 1, "content": "x", "expect": 3 })).0, 404, "it was deleted");
    assert_eq!(explorer.call("undo", &json!({ "id": 1 })).1["undone"], "deletion");
    assert_eq!(explorer.call("memory", &json!({ "id": 1 })).1["entry"]["content"], "The heron sleeps");
}

#[test]
fn changes_are_undone_in_the_order_that_is_asked_for() {
    let folder = store();
    let explorer = Explorer::on(folder.path(), &[]);
    let (_, added) = explorer.call("add", &json!({ "content": "The otter dives" }));
    explorer.call("delete", &json!({ "id": 2 }));
    explorer.call("update", &json!({ "id": 3, "content": "plain" }));
    let (status, answer) = explorer.call("undo", &json!({ "ids": [2, added["id"], 3] }));
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(status == 409 && why.contains("memory 4 was not undone") && why.ends_with("undone were: 2"), "{answer}");
    assert_eq!(explorer.call("undo", &json!({ "ids": [added["id"]] })).0, 400, "it was only added");
    run(folder.path(), &["update", "3", "--content", "of somebody else"]);
    for (status, parameters) in [
        (409, json!({ "id": 3, "expect": 2 })),
        (409, json!({ "ids": [3], "expect": [2] })),
        (400, json!({ "ids": [3], "expect": [3, 1] })),
        (400, json!({ "id": 3, "version": 1, "expect": 3 })),
        (200, json!({ "id": 3, "expect": 3 })),
    ] {
        let (answered, answer) = explorer.call("undo", &parameters);
        assert_eq!(answered, status, "{parameters}: {answer}");
    }
    assert_eq!(explorer.call("memory", &json!({ "id": 3 })).1["entry"]["content"], "plain");
    assert_eq!(explorer.call("undo", &json!({ "id": 99 })).0, 404);
    // A link of somebody else leaves the version as it is.
    run(folder.path(), &["link", "3", "related", "1"]);
    for (status, parameters) in [
        (409, json!({ "id": 3, "expect": 4 })),
        (409, json!({ "ids": [3], "expect": [4] })),
        (200, json!({ "id": 3, "linkedId": 1 })),
        (409, json!({ "id": 3, "linkedId": 1 })),
    ] {
        let (answered, answer) = explorer.call("undo", &parameters);
        assert_eq!(answered, status, "{parameters}: {answer}");
    }
}

#[test]
fn an_explorer_that_only_shows_refuses_every_write() {
    let folder = store();
    let explorer = Explorer::on(folder.path(), &["--read-only"]);
    for (name, parameters) in WRITES {
        let (status, answer) = explorer.call(name, &serde_json::from_str(parameters).unwrap());
        assert_eq!((status, &answer["error"]["kind"]), (403, &json!("readOnly")), "{name}: {answer}");
    }
    for (name, parameters) in CALLS {
        assert_eq!(explorer.call(name, &serde_json::from_str(parameters).unwrap()).0, 200, "{name}");
    }
    assert_eq!(explorer.call("buildMap", &json!({ "from": "scratch" })).1["error"]["kind"], "readOnly");
    assert_eq!(explorer.call("map", &json!({})).0, 409);
    let overview = explorer.call("overview", &json!({})).1;
    assert_eq!((&overview["readOnly"], &overview["total"]), (&json!(true), &json!(3)));
}

/// The places of what was saved after the layout are found, and kept in memory alone.
#[test]
fn an_explorer_that_only_shows_leaves_the_map_as_it_is() {
    let folder = store();
    let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
    let model = Model { name: "mine".into(), weights_sha256: "a".repeat(64), pooling: "mine".into(), dims: 8 };
    engine.adopt_model(&model).unwrap();
    let save = |from: usize, to: usize| {
        for at in from..to {
            let vector: Vec<f32> = (0..8).map(|axis| ((at * 7 + axis * axis * 3) % 11) as f32 - 4.5).collect();
            engine.add_with(&NewRecord::new(format!("number {at}")), &vector).unwrap();
        }
        engine.flush(&NoProgress).unwrap();
    };
    save(0, 30);
    engine.build_map(MapFrom::Scratch, &NoProgress).unwrap();
    save(30, 35);
    engine.close();
    let places = || std::fs::read(folder.path().join("map/places")).unwrap();
    let before = places();
    for (arguments, is_kept) in [(&["--read-only"][..], true), (&[], false)] {
        let explorer = Explorer::on(folder.path(), arguments);
        assert_eq!(explorer.call("mapLabels", &json!({})).0, 200);
        assert_eq!(explorer.call("overview", &json!({})).1["map"]["points"], 35);
        assert_eq!(places() == before, is_kept);
    }
}

#[test]
fn the_page_learns_of_writes_elsewhere_within_a_second() {
    let folder = store();
    let explorer = Explorer::on(folder.path(), &[]);
    let mut page = Connection::to(explorer.address);
    let (host, authorization) = (explorer.host(), explorer.authorization());
    let headers = [("Host", &*host), ("Authorization", &authorization), ("Content-Type", "application/json")];
    page.send(request("POST", "/api/events", &headers, 2) + "{}").unwrap();
    let mut lines = Vec::new();
    let mut wait_for = |part: &str| {
        let began = Instant::now();
        loop {
            let line = page.line().unwrap();
            lines.push(line.clone());
            if line.contains(part) {
                return;
            }
            assert!(began.elapsed() < TIMEOUT, "{lines:?}");
        }
    };
    // Something may have changed before the page asked, and before the first look.
    wait_for("event: changed");
    wait_for("event: changed");
    let mut second = Connection::to(explorer.address);
    second.send(request("POST", "/api/events", &headers, 2) + "{}").unwrap();
    let first = (0..40).map(|_| second.line().unwrap()).find(|line| line.starts_with("event: "));
    assert_eq!(first.as_deref().map(str::trim), Some("event: changed"), "also to a second page");
    let waits = ["The otter dives", "The otter eats", "The otter sleeps"].map(|text| {
        std::thread::sleep(Duration::from_secs(1));
        run(folder.path(), &["add", text]);
        let saved = Instant::now();
        wait_for("event: changed");
        saved.elapsed()
    });
    // A machine may be busy once.
    assert!(waits.iter().min() < Some(&Duration::from_secs(1)), "{waits:?}");
    assert_eq!(explorer.end(), Some(0), "an open page does not keep it");
}

#[test]
fn an_explorer_ends_with_its_terminal() {
    let folder = store();
    let mut explorer = Explorer::on(folder.path(), &[]);
    signal("HUP", explorer.process.id());
    assert_eq!(explorer.process.wait().unwrap().code(), Some(0), "it closes the store");
}

#[test]
fn a_page_keeps_to_the_project_of_its_explorer() {
    let folder = store();
    run(folder.path(), &["add", "Of atlas", "--project", "atlas"]);
    run(folder.path(), &["add", "Of borealis", "--project", "borealis"]);
    let all = Explorer::on(folder.path(), &[]);
    assert_eq!(all.call("list", &json!({})).1["results"].as_array().unwrap().len(), 5);
    drop(all);
    let explorer = Explorer::on(folder.path(), &["--project", "atlas"]);
    let listed = explorer.call("list", &json!({})).1;
    assert!(!listed.to_string().contains("borealis") && listed.to_string().contains("Of atlas"), "{listed}");
    assert_eq!(explorer.call("memory", &json!({ "id": 5 })).0, 404);
    for other in ["borealis", "*"] {
        let (status, answer) = explorer.call("list", &json!({ "project": other }));
        assert_eq!((status, &answer["error"]["kind"]), (403, &json!("forbidden")), "{answer}");
    }
    assert_eq!(explorer.call("list", &json!({ "project": "atlas" })).0, 200);
    assert_eq!(explorer.call("stats", &json!({})).1.get("indexes"), None, "they are of everyone");
    let purged = explorer.call("purge", &json!({ "ids": [4], "confirm": true })).1;
    assert_eq!((&purged["records"], purged.get("remainingFiles")), (&json!(1), None));
}

#[test]
fn hostile_texts_are_json_and_too_much_is_refused() {
    let folder = store();
    let explorer = Explorer::on(folder.path(), &[]);
    let (host, authorization) = (explorer.host(), explorer.authorization());
    let headers = [("Host", &*host), ("Authorization", &authorization), ("Content-Type", "application/json")];
    let mut connection = Connection::to(explorer.address);
    connection.send(request("POST", "/api/memory", &headers, 9) + r#"{"id": 3}"#).unwrap();
    let (status, body) = connection.answer().unwrap();
    assert!(connection.head.iter().any(|line| line == "content-type: application/json"), "{:?}", connection.head);
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &answer["entry"]["content"]), (200, &json!("<img src=x onerror=alert(1)>\u{202e}")));
    let long = json!({ "content": "x".repeat(10 << 20) }).to_string();
    let (status, answer) = explorer.send("add", &headers[..2], &long);
    assert_eq!((status, &answer["error"]["kind"]), (413, &json!("invalid")), "{answer}");
    let (status, answer) = explorer.send("session", &headers[..1], &json!({ "code": "x".repeat(5000) }).to_string());
    assert_eq!(status, 413, "{answer}");
    for name in ["export", "timeline", "mapFilter", "mapMask"] {
        let (status, answer) = explorer.send(name, &headers[..2], r#"{"state": "deleted"}"#);
        assert_eq!((status, answer["error"]["message"].to_string().contains("state")), (400, true), "{name}: {answer}");
    }
    for nonsense in ["[]", "{", "1", "\"x\"", r#"{"id": "x"}"#, r#"{"no": 1}"#] {
        let (status, answer) = explorer.send("memory", &headers[..2], nonsense);
        assert_eq!((status, &answer["error"]["kind"]), (400, &json!("invalid")), "{nonsense}: {answer}");
    }
}

#[test]
fn an_export_has_the_chosen_memories_and_the_links_between_them() {
    let folder = store();
    let explorer = Explorer::on(folder.path(), &[]);
    let lines = |parameters: Value| -> Vec<Value> {
        let (host, authorization) = (explorer.host(), explorer.authorization());
        let headers = [("Host", &*host), ("Authorization", &authorization), ("Content-Type", "application/json")];
        let (status, body) = explorer.request("POST", "/api/export", &headers, &parameters.to_string());
        assert_eq!(status, 200, "{body}");
        body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let count = |lines: &[Value], kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
    for (parameters, records, links) in [
        (json!({}), 3, 1),
        (json!({ "ids": [1, 2] }), 2, 1),
        (json!({ "ids": [1, 3] }), 2, 0),
        (json!({ "ids": [2, 1, 2, 9] }), 2, 1),
        (json!({ "ids": [9] }), 0, 0),
        (json!({ "ids": [] }), 0, 0),
        (json!({ "ids": [1, 2], "entryTypes": ["task"] }), 0, 0),
    ] {
        let lines = lines(parameters.clone());
        assert_eq!((count(&lines, "record"), count(&lines, "link")), (records, links), "{parameters}: {lines:?}");
    }
}

/// Item 8: an `xdg-open` of the working folder is not run, nor looked up by the one that is.
#[cfg(target_os = "linux")]
#[test]
fn a_browser_opener_in_the_working_folder_is_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, here) = (store(), tempfile::tempdir().unwrap());
    let trap = here.path().join("bin");
    let real = here.path().join("real");
    for (folder, script) in [(&trap, "touch trapped"), (&real, "echo \"$PATH\" > opened.part; mv opened.part opened")] {
        std::fs::create_dir(folder).unwrap();
        let program = folder.join("xdg-open");
        std::fs::write(&program, format!("#!/bin/sh\ncd '{}' && {script}\n", here.path().display())).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = memorist(folder.path(), &["explore", "--json"]);
    command.current_dir(here.path()).env("DISPLAY", ":0").env_remove("SSH_CONNECTION");
    command.env("PATH", format!("bin:.:{}::/usr/bin:/bin", real.display()));
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let opened = here.path().join("opened");
    let start = std::time::Instant::now();
    while !opened.exists() && !here.path().join("trapped").exists() && start.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let _ = process.kill().and_then(|()| process.wait());
    assert!(!here.path().join("trapped").exists(), "a program of the working folder was run");
    let path = std::fs::read_to_string(&opened).expect("the program of an absolute folder is run");
    assert_eq!(path.trim(), format!("{}:/usr/bin:/bin", real.display()));
}
