//! The server as its clients and attackers see it: raw bytes over HTTP and on stdio.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::connection::{Connection, TIMEOUT};
use crate::paused::Paused;
use crate::process::Ask;
use crate::process::signal;
use crate::support::memorist;

/// For another server. In two parts, because no source of ours may contain what looks like a secret.
const OTHER_TOKEN: &str = concat!("Authorization: Bear", "er 0123456789abcdef\r\n");

/// A server over HTTP. It is killed when it is dropped.
struct HttpServer {
    /// The folder of its store, unless it is shared.
    folder: Option<TempDir>,
    process: Child,
    _stderr: BufReader<ChildStderr>,
    address: SocketAddr,
    /// Its first output.
    said: String,
    /// The headers that its clients need, with a line end.
    authorization: String,
}

impl HttpServer {
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = HttpServer::on(folder.path(), arguments);
        server.folder = Some(folder);
        server
    }

    fn on(store: &Path, arguments: &[&str]) -> Self {
        let arguments = [&["serve", "--profile", "full", "--http", "127.0.0.1:0"], arguments].concat();
        let mut command = memorist(store, &arguments);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut said = String::new();
        while !said.ends_with("\n}\n") {
            assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "it ended: {said}");
        }
        let settings: Value = serde_json::from_str(&said[said.find('{').unwrap()..]).unwrap();
        let settings = &settings["mcpServers"]["memorist"];
        let address = settings["url"].as_str().unwrap().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        let token = settings["headers"]["Authorization"].as_str();
        let authorization = token.map_or(String::new(), |token| format!("Authorization: {token}\r\n"));
        HttpServer { address: address.parse().unwrap(), folder: None, process, _stderr: stderr, said, authorization }
    }

    fn connect(&self) -> Connection {
        Connection::to(self.address)
    }

    /// The head of a request, with the headers of a client.
    fn head(&self, length: usize) -> String {
        head("localhost", &self.authorization, length)
    }

    /// The response to a request on a separate connection.
    fn ask(&self, message: &Value) -> (u16, Value) {
        self.connect().ask(self, message)
    }

    fn resident_mib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() / 1024
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn head(host: &str, authorization: &str, length: usize) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\n{authorization}Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\nContent-Length: {length}\r\n\r\n"
    )
}

impl Connection {
    fn ask(&mut self, server: &HttpServer, message: &Value) -> (u16, Value) {
        let body = message.to_string();
        self.send(server.head(body.len()) + &body).unwrap();
        let (status, body) = self.answer().unwrap();
        (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
    }
}

fn ping() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })
}

fn initialize() -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn save(id: usize, content: &str) -> Value {
    let params = json!({ "name": "memory_add", "arguments": { "content": content } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// 43.3
#[test]
fn clients_are_answered_in_a_form_that_they_accept() {
    let server = HttpServer::start(&[]);
    let post = |accept: &str, more: &str, message: &Value| {
        let body = message.to_string();
        let head = server.head(body.len()).replace("Accept: application/json, text/event-stream\r\n", accept);
        let mut connection = server.connect();
        connection.send(head.replace("\r\n\r\n", &format!("\r\n{more}\r\n")) + &body).unwrap();
        connection.answer().unwrap()
    };
    for accept in ["", "Accept: */*\r\n", "Accept: application/json\r\n", "Accept: application/*\r\n"] {
        let (status, body) = post(accept, "", &ping());
        assert_eq!((status, serde_json::from_str::<Value>(&body).unwrap()["id"].clone()), (200, json!(1)), "{accept}");
        assert_eq!(post(accept, "Mcp-Session-Id: of-another-server\r\n", &initialize()).0, 200, "{accept}");
    }
    let (status, body) = post("Accept: text/event-stream\r\n", "", &ping());
    let event = body.strip_prefix("event: message\ndata: ").unwrap_or_else(|| panic!("an event: {body}"));
    assert_eq!((status, serde_json::from_str::<Value>(event.trim()).unwrap()["id"].clone()), (200, json!(1)));
    assert_eq!(post("Accept: text/html\r\n", "", &ping()).0, 406);
}

#[test]
fn a_server_on_loopback_wants_the_token_of_its_store() {
    let server = HttpServer::start(&[]);
    for authorization in ["", OTHER_TOKEN] {
        let body = ping().to_string();
        let mut stranger = server.connect();
        stranger.send(head("localhost", authorization, body.len()) + &body).unwrap();
        assert_eq!(stranger.answer().unwrap().0, 401, "{authorization:?}");
    }
    assert_eq!(server.ask(&ping()).0, 200);

    let file = server.folder.as_ref().unwrap().path().join("http-token");
    let token = fs::read_to_string(&file).unwrap();
    assert_eq!(server.authorization, format!("Authorization: Bearer {}\r\n", token.trim()), "{}", server.said);
    assert!(server.said.contains("http-token"), "{}", server.said);
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn servers_of_one_store_have_one_token() {
    let folder = tempfile::tempdir().unwrap();
    drop(memorist(folder.path(), &[])); // writes their settings
    let servers: Vec<HttpServer> = thread::scope(|scope| {
        let starting: Vec<_> = (0..4).map(|_| scope.spawn(|| HttpServer::on(folder.path(), &[]))).collect();
        starting.into_iter().map(|server| server.join().unwrap()).collect()
    });
    assert!(servers.windows(2).all(|pair| pair[0].authorization == pair[1].authorization));
}

#[test]
fn without_a_token_it_says_who_may_use_the_store() {
    let server = HttpServer::start(&["--no-token"]);
    assert!(server.said.contains("every user of this machine"), "{}", server.said);
    assert_eq!((server.authorization.as_str(), server.ask(&ping()).0), ("", 200));
}

#[test]
fn a_given_token_is_not_shown() {
    const TOKEN: &str = "sixteen-letters-at-least";
    let server = HttpServer::start(&["--token", TOKEN]);
    assert!(!server.said.contains(TOKEN), "{}", server.said);
    assert_eq!(server.ask(&ping()).0, 401, "the settings have a place for it");
    let body = ping().to_string();
    let mut client = server.connect();
    client.send(head("localhost", &format!("Authorization: Bearer {TOKEN}\r\n"), body.len()) + &body).unwrap();
    assert_eq!(client.answer().unwrap().0, 200);
}

#[test]
fn half_sent_requests_keep_out_nobody() {
    let server = HttpServer::start(&[]);
    let mut client = server.connect();
    assert_eq!(client.ask(&server, &ping()).0, 200);
    let mut halves: Vec<Connection> = (0..240).map(|_| server.connect()).collect();
    for half in &mut halves {
        // Evicted ones cannot be written to.
        let _ = half.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
    }
    let start = Instant::now();
    for number in 0..20 {
        assert_eq!(client.ask(&server, &save(number, &format!("old connection {number}"))).0, 200);
        assert_eq!(server.ask(&save(number, &format!("new connection {number}"))).0, 200);
    }
    assert!(start.elapsed() < Duration::from_secs(10), "40 calls took {:?}", start.elapsed());
    let open = halves.iter_mut().filter_map(|half| (!half.is_closed(Duration::from_millis(1))).then_some(())).count();
    assert!(open <= 64, "{open} half-sent requests have a place");
    assert!(halves.iter_mut().all(|half| half.is_closed(TIMEOUT / 4)), "none is waited for");
    assert_eq!(client.ask(&server, &ping()).0, 200, "who has sent the token stays");
}

#[test]
fn bodies_of_pending_connections_are_not_kept() {
    const BODY: usize = 4_000_000;
    let server = HttpServer::start(&[]);
    assert_eq!(server.ask(&ping()).0, 200);
    let before = server.resident_mib();
    let body = "x".repeat(BODY);
    let mut most = 0;
    for (host, authorization, wanted) in
        [("evil.example", server.authorization.as_str(), 403), ("localhost", OTHER_TOKEN, 401)]
    {
        let mut answers: HashMap<Option<u16>, usize> = HashMap::new();
        thread::scope(|scope| {
            let attack = || {
                let mut stranger = server.connect();
                // All but the last byte, so that none is complete before all have come.
                let sent = stranger.send(head(host, authorization, BODY)).and_then(|()| stranger.send(&body[1..]));
                stranger.answer().ok().map(|(status, _)| status).or(sent.err().map(|_| 0))
            };
            let strangers: Vec<_> = (0..150).map(|_| scope.spawn(attack)).collect();
            while strangers.iter().any(|stranger| !stranger.is_finished()) {
                most = most.max(server.resident_mib());
                thread::sleep(Duration::from_millis(5));
            }
            for stranger in strangers {
                *answers.entry(stranger.join().unwrap()).or_default() += 1;
            }
        });
        // The oldest of many pending connections are evicted without a response.
        assert!(
            answers.keys().all(|answer| matches!(answer, None | Some(0)) || *answer == Some(wanted)),
            "{answers:?}"
        );
        assert!(answers.contains_key(&Some(wanted)), "{answers:?}");
    }
    assert!(most < before + 40, "{before} MiB became {most} MiB");
    assert_eq!(server.ask(&ping()).0, 200);
}

#[test]
fn a_refusal_is_read_after_the_whole_body_was_sent() {
    let server = HttpServer::start(&[]);
    for length in [100, 100_000, 4_000_000, 5_000_000] {
        let mut stranger = server.connect();
        stranger.send(head("localhost", "", length) + &"x".repeat(length)).unwrap();
        assert_eq!(stranger.answer().unwrap().0, 401, "{length}");
    }
    let mut client = server.connect();
    client.send(server.head(5_000_000) + &"x".repeat(5_000_000)).unwrap();
    assert_eq!(client.answer().unwrap().0, 413);
    let mut asking = server.connect();
    asking.send(head("evil.example", "Expect: 100-continue\r\n", 4_000_000)).unwrap();
    assert_eq!(asking.answer().unwrap().0, 403, "it gets no 100-continue");
}

#[test]
fn large_bodies_share_a_bounded_memory() {
    let server = HttpServer::start(&[]);
    assert_eq!(server.ask(&ping()).0, 200);
    let before = server.resident_mib();
    // All but the last byte of it: it stays in memory until the server has reached its limit.
    let mut held: Vec<Connection> = (0..60).map(|_| server.connect()).collect();
    thread::scope(|scope| {
        for client in &mut held {
            scope.spawn(|| {
                let _ = client.send(server.head(4_000_000) + &"x".repeat(3_999_999));
            });
        }
        let mut most = 0;
        for _ in 0..100 {
            most = most.max(server.resident_mib());
            thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(server.ask(&ping()).0, 200, "small requests do not wait for large ones");
        assert!(most < before + 120, "{before} MiB became {most} MiB");
    });
}

#[test]
fn handshakes_leave_nothing_behind() {
    let server = HttpServer::start(&[]);
    let mut client = server.connect();
    let handshakes = |client: &mut Connection, count: usize| {
        for _ in 0..count {
            assert_eq!(client.ask(&server, &initialize()).0, 200);
        }
    };
    // The sessions of the last ones stay, as many as may be.
    handshakes(&mut client, 4_000);
    let before = server.resident_mib();
    handshakes(&mut client, 5_000);
    let after = server.resident_mib();
    assert!(after < before + 20, "{before} MiB became {after} MiB");
    assert_eq!(client.ask(&server, &save(1, "after many handshakes")).0, 200);
}

#[test]
fn a_call_over_http_waits_for_no_acknowledgement() {
    let server = HttpServer::start(&[]);
    let mut client = server.connect();
    let mut took: Vec<Duration> = (0..101)
        .map(|_| {
            let start = Instant::now();
            assert_eq!(client.ask(&server, &ping()).0, 200);
            start.elapsed()
        })
        .collect();
    took.sort();
    // A system waits 40 ms before it acknowledges data without a response.
    assert!(took[50] < Duration::from_millis(20), "half of the calls took {:?} and more", took[50]);
}

#[test]
fn a_text_cut_inside_an_emoji_is_saved_over_http() {
    let server = HttpServer::start(&[]);
    let body = save(1, "cut here: @").to_string().replace('@', "\\ud83d");
    let mut client = server.connect();
    client.send(server.head(body.len()) + &body).unwrap();
    let (status, answer) = client.answer().unwrap();
    assert!(status == 200 && answer.contains("\"created\":true"), "{status} {answer}");
    for (body, code) in [("junk", -32700), (r#"{"id":7,"method":"x","a":NaN}"#, -32700), ("[]", -32600)] {
        client.send(server.head(body.len()) + body).unwrap();
        let (status, answer) = client.answer().unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(code)), "{body}");
    }
}

fn search() -> Value {
    let params = json!({ "name": "memory_search", "arguments": { "query": "heron", "mode": "keyword" } });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

#[test]
fn http_writes_behind_a_paused_process_do_not_block_searches() {
    const WRITES: usize = 40;
    const LONGEST: Duration = Duration::from_secs(20);
    let server = HttpServer::start(&[]);
    let store = server.folder.as_ref().unwrap().path();
    assert_eq!(server.ask(&save(0, "a heron in the reeds")).0, 200);
    let paused = Paused::holding(store, &Ask::HoldWrite);
    let began = Instant::now();
    thread::scope(|scope| {
        let server = &server;
        let asked = move |at| {
            let (_, answer) = server.ask(&save(at, &format!("note {at}")));
            (began.elapsed(), answer)
        };
        let writes: Vec<_> = (0..WRITES).map(|at| scope.spawn(move || asked(at))).collect();
        thread::sleep(Duration::from_secs(1));
        let searched = Instant::now();
        let (_, found) = server.ask(&search());
        assert_eq!(found["result"]["structuredContent"]["results"][0]["id"], 1, "{found}");
        assert!(searched.elapsed() < Duration::from_secs(3), "a search waited {:?}", searched.elapsed());
        let mut busy = 0;
        for write in writes {
            let (took, answer) = write.join().unwrap();
            assert!(took < LONGEST, "{answer} took {took:?}");
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            busy += usize::from(answer.to_string().contains("no write succeeded"));
        }
        assert!(busy > 0 && busy < WRITES, "{busy} of {WRITES} found no place");
    });
    drop(paused);
    let (_, saved) = server.ask(&save(1, "the other is gone"));
    assert_eq!(saved["result"]["structuredContent"]["created"], true, "{saved}");
}

#[test]
fn a_call_in_hand_is_answered_when_the_server_is_asked_to_stop() {
    let mut server = HttpServer::start(&[]);
    assert_eq!(server.ask(&save(0, "the first")).0, 200);
    let paused = Paused::holding(server.folder.as_ref().unwrap().path(), &Ask::HoldWrite);
    let mut client = server.connect();
    let body = save(1, "saved while it ends").to_string();
    client.send(server.head(body.len()) + &body).unwrap();
    thread::sleep(Duration::from_millis(500));
    signal("TERM", server.process.id());
    thread::sleep(Duration::from_millis(500));
    drop(paused);
    let (status, answer) = client.answer().unwrap();
    assert!(status == 200 && answer.contains("\"created\":true"), "{status} {answer}");
    assert!(server.process.wait().unwrap().success());
}

#[test]
fn short_bodies_of_unknown_length_take_little_room() {
    let server = HttpServer::start(&[]);
    assert_eq!(server.ask(&save(0, "the first")).0, 200);
    let paused = Paused::holding(server.folder.as_ref().unwrap().path(), &Ask::HoldWrite);
    let mut waiting: Vec<Connection> = (0..8).map(|_| server.connect()).collect();
    for (at, client) in waiting.iter_mut().enumerate() {
        let body = save(at, &format!("note {at}")).to_string();
        let head = server.head(0).replace("Content-Length: 0", "Transfer-Encoding: chunked");
        client.send(format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len())).unwrap();
    }
    thread::sleep(Duration::from_secs(1));
    let began = Instant::now();
    let long = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": { "x": "x".repeat(1 << 20) } });
    assert_eq!(server.ask(&long).0, 200);
    assert!(began.elapsed() < Duration::from_secs(3), "a long body waited {:?}", began.elapsed());
    drop(paused);
    for mut client in waiting {
        assert_eq!(client.answer().unwrap().0, 200);
    }
}

#[test]
fn a_body_with_a_byte_order_mark_is_read() {
    let server = HttpServer::start(&[]);
    let body = format!("\u{FEFF}{}", ping());
    let mut client = server.connect();
    client.send(server.head(body.len()) + &body).unwrap();
    assert_eq!(client.answer().unwrap().0, 200);
}

/// 40.9: a probe has neither a token nor the name of the server, and learns nothing else.
#[test]
fn a_probe_learns_whether_the_server_answers() {
    let server = HttpServer::start(&[]);
    let probe = |method: &str, path: &str| {
        let mut connection = server.connect();
        connection.send(format!("{method} {path} HTTP/1.1\r\nHost: 10.1.2.3:8765\r\n\r\n")).unwrap();
        connection.answer().unwrap()
    };
    assert_eq!(probe("GET", "/healthz"), (200, "running\n".into()));
    assert_eq!(probe("GET", "/readyz"), (200, "ready\n".into()));
    assert_eq!(["/metrics", "/mcp", "/healthz/x"].map(|path| probe("GET", path).0), [403; 3]);
    assert_eq!(probe("POST", "/readyz").0, 403);
    fs::rename(server.folder.as_ref().unwrap().path(), server.folder.as_ref().unwrap().path().with_extension("away"))
        .unwrap();
    assert_eq!(probe("GET", "/readyz"), (503, "not ready\n".into()));
    assert_eq!(probe("GET", "/healthz").0, 200);
    fs::rename(server.folder.as_ref().unwrap().path().with_extension("away"), server.folder.as_ref().unwrap().path())
        .unwrap();
}

/// Starts a server on pipes whose responses nobody reads, and waits until they fill its stdout.
fn unread() -> (TempDir, Child, ChildStdin) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = memorist(folder.path(), &["serve", "--profile", "full"]);
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut requests = process.stdin.take().unwrap();
    writeln!(requests, "{}", initialize()).unwrap();
    for id in 1..20 {
        // Each list is longer than a tenth of a pipe.
        writeln!(requests, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" })).unwrap();
    }
    thread::sleep(Duration::from_secs(2));
    (folder, process, requests)
}

fn ends(process: &mut Child, timeout: Duration) -> bool {
    let began = Instant::now();
    while began.elapsed() < timeout {
        if process.try_wait().unwrap().is_some() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    false
}

#[test]
fn a_server_whose_answers_nobody_reads_ends_when_it_is_asked_to() {
    let (_folder, mut process, _requests) = unread();
    signal("TERM", process.id());
    assert!(ends(&mut process, Duration::from_secs(20)));
}

#[test]
fn a_server_with_unread_answers_ends_with_its_client() {
    let (_folder, mut process, requests) = unread();
    drop(requests);
    assert!(ends(&mut process, Duration::from_secs(25)));
}

#[test]
fn an_invalid_message_before_the_handshake_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = memorist(folder.path(), &["serve"]);
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (requests, answers) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
    let mut pipes = Pipes { _folder: folder, process, requests, answers };
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    pipes.send(ping().to_string());
    assert_eq!(pipes.answer()["result"], json!({}));
    pipes.send(cancelled.to_string());
    pipes.send(json!({ "jsonrpc": "2.0", "id": 5, "result": {} }).to_string());
    pipes.send(json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/list" }).to_string());
    assert_eq!(pipes.answer()["id"], 8);
    pipes.send(cancelled.to_string());
    pipes.send(initialize().to_string());
    assert!(pipes.answer()["result"]["serverInfo"].is_object());
    pipes.end();
}

/// A server on pipes, after the handshake.
struct Pipes {
    _folder: TempDir,
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Pipes {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = memorist(folder.path(), &["serve", "--profile", "full"]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (requests, answers) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut pipes = Pipes { _folder: folder, process, requests, answers };
        pipes.send(initialize().to_string());
        pipes.answer();
        pipes.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        pipes
    }

    fn send(&mut self, line: impl AsRef<[u8]>) {
        self.requests.write_all(line.as_ref()).and_then(|()| self.requests.write_all(b"\n")).unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn end(mut self) {
        drop(self.requests);
        assert!(self.process.wait().unwrap().success());
    }
}

#[test]
fn a_text_cut_inside_an_emoji_is_saved_on_stdio() {
    let mut pipes = Pipes::start();
    pipes.send(save(5, "cut here: @").to_string().replace('@', "\\ud83d"));
    let answer = pipes.answer();
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["created"]),
        (&json!(5), &json!(true)),
        "{answer}"
    );
    pipes.end();
}

#[test]
fn every_request_on_stdio_is_answered_once_however_it_is_broken() {
    const LINES: usize = 1_500;
    let mut random = ChaCha8Rng::seed_from_u64(13);
    let mut below = |limit: usize| random.next_u32() as usize % limit;
    let mut pipes = Pipes::start();
    let mut wanted = 0;
    for number in 0..LINES {
        let mut line = match below(3) {
            0 => json!({ "jsonrpc": "2.0", "id": number, "method": "tools/list" }).to_string(),
            1 => {
                json!({ "method": "ping", "params": { "x": "\u{1f600}" }, "jsonrpc": "2.0", "id": format!("{number}") })
                    .to_string()
            }
            _ => {
                let arguments = json!({ "query": "words", "mode": "keyword", "limit": 1 });
                let params = json!({ "name": "memory_search", "arguments": arguments });
                json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params }).to_string()
            }
        }
        .into_bytes();
        for _ in 0..below(4) {
            const PIECES: [&[u8]; 12] = [
                b"\xff", b"\0", b"\"", b"\\", b"{", b"]", b"\\ud800", b"1e999", b"NaN", b",",
                b"[[[[[[[[[[[[[[[[[[[[[[", b" ",
            ];
            let at = below(line.len());
            let until = (at + below(3)).min(line.len());
            line.splice(at..until, PIECES[below(PIECES.len())].iter().copied());
        }
        pipes.send(&line);
        // A request that has lost its id is a notification. It gets no response.
        let repaired = str::from_utf8(&line).map(|line| line.replace("\\ud800", "\\ufffd"));
        let read: Option<Value> = repaired.ok().and_then(|line| serde_json::from_str(&line).ok());
        let notifies =
            read.is_some_and(|read| read.get("id").is_none() && read["method"].is_string() && read["jsonrpc"] == "2.0");
        if !notifies {
            wanted += 1;
            pipes.answer();
        }
    }
    pipes.send(json!({ "jsonrpc": "2.0", "id": "last", "method": "ping" }).to_string());
    assert_eq!(pipes.answer()["id"], "last", "and no more than once");
    assert!(wanted > LINES * 9 / 10, "{wanted}");
    pipes.end();
}
