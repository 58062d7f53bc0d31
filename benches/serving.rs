//! Latency of an agent's call, over stdio and over HTTP, and throughput with concurrent clients.
//!
//! The program itself, on a store of 2,000 memories with their embeddings: `ping`, which shows the cost of the
//! transport, a keyword search, and a hybrid one, which embeds its query. Over HTTP 1, 4 and 16 clients share one
//! server; on stdio each has a separate server. Needs the model (`memorist setup`).
//! Run: `cargo bench --bench serving`

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const SEED: u64 = 42;
const MEMORIES: usize = 2_000;
const CLIENTS: [usize; 3] = [1, 4, 16];
/// Duration of each measurement.
const SPAN: Duration = Duration::from_secs(5);

fn memorist(store: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memorist"));
    command.args(["--quiet", "--project", "", "--store"]).arg(store);
    command
}

/// One client, which sends a request and waits for the response.
enum Client {
    Stdio { server: Child, requests: ChildStdin, answers: BufReader<ChildStdout> },
    Http { stream: BufReader<TcpStream>, address: String },
}

impl Client {
    fn stdio(store: &Path) -> Self {
        let mut server =
            memorist(store).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server");
        let requests = server.stdin.take().expect("its stdin");
        let answers = BufReader::new(server.stdout.take().expect("its stdout"));
        let mut client = Client::Stdio { server, requests, answers };
        let info = json!({ "name": "bench", "version": "1" });
        client.ask("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }));
        client
    }

    fn http(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        Client::Http { stream: BufReader::new(stream), address: address.to_owned() }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let answer = match self {
            Client::Stdio { requests, answers, .. } => {
                writeln!(requests, "{request}").expect("a reader");
                let mut line = String::new();
                answers.read_line(&mut line).expect("an answer");
                line.into_bytes()
            }
            Client::Http { stream, address } => {
                let head = format!(
                    "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
                     Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n\
                     Content-Length: {}\r\n\r\n",
                    request.len()
                );
                stream.get_mut().write_all((head + &request).as_bytes()).expect("a reader");
                let mut length = 0;
                let mut line = String::new();
                while line != "\r\n" {
                    line.clear();
                    stream.read_line(&mut line).expect("a head");
                    if let Some(value) = line.strip_prefix("content-length: ") {
                        length = value.trim().parse().expect("a length");
                    }
                }
                let mut body = vec![0; length];
                stream.read_exact(&mut body).expect("a body");
                body
            }
        };
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        assert!(answer.get("result").is_some_and(|result| result["isError"] != true), "{answer}");
        answer
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Client::Stdio { server, .. } = self {
            // It has no more work that matters.
            let _ = server.kill().and_then(|()| server.wait());
        }
    }
}

/// The requests of the clients, each with separate queries.
fn call(kind: &str, queries: &[String], number: usize) -> (&'static str, Value) {
    if kind == "ping" {
        return ("ping", json!({}));
    }
    let arguments = json!({ "query": queries[number % queries.len()], "mode": kind, "limit": 5 });
    ("tools/call", json!({ "name": "memory_search", "arguments": arguments }))
}

/// Lets all clients send requests as fast as they can; prints latency and throughput.
fn measure(name: &str, kind: &str, clients: &mut [Client], queries: &[String]) {
    let count = clients.len();
    let ready = Barrier::new(count);
    let mut took: Vec<Duration> = thread::scope(|scope| {
        let ready = &ready;
        let ask = |(index, client): (usize, &mut Client)| {
            // The first one loads the model.
            let (method, params) = call(kind, queries, index);
            client.ask(method, &params);
            ready.wait();
            let end = Instant::now() + SPAN;
            let mut took = Vec::new();
            while Instant::now() < end {
                let (method, params) = call(kind, queries, index * 131 + took.len());
                let start = Instant::now();
                client.ask(method, &params);
                took.push(start.elapsed());
            }
            took
        };
        let asking: Vec<_> = clients.iter_mut().enumerate().map(|one| scope.spawn(move || ask(one))).collect();
        asking.into_iter().flat_map(|client| client.join().expect("no panic")).collect()
    });
    took.sort_unstable();
    let at = |part: f64| took[(took.len() as f64 * part) as usize].as_secs_f64() * 1000.0;
    let rate = took.len() as f64 / SPAN.as_secs_f64();
    eprintln!("{kind:<8} {name:<5} {count:>2} clients: p50 {:.2} ms, p99 {:.2} ms, {rate:.0}/s", at(0.5), at(0.99));
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store");
    let mut import = memorist(&store).args(["import", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let import = import.as_mut().expect("an import");
    let mut lines = import.stdin.take().expect("its stdin");
    for memory in bench_data::memories(SEED, MEMORIES) {
        writeln!(lines, "{}", json!({ "content": memory.content })).expect("a reader");
    }
    drop(lines);
    assert!(import.wait().expect("it ends").success());
    let queries: Vec<String> =
        bench_data::questions(SEED, MEMORIES, 500).into_iter().map(|question| question.text).collect();

    let mut server = Command::new(env!("CARGO_BIN_EXE_memorist"));
    server.arg("--store").arg(&store).args(["serve", "--http", "127.0.0.1:0", "--no-token"]);
    let mut server = server.stderr(Stdio::piped()).spawn().expect("a server");
    let mut said = BufReader::new(server.stderr.take().expect("its stderr"));
    let mut line = String::new();
    said.read_line(&mut line).expect("where it serves");
    let address = line.trim().trim_start_matches("serving MCP at http://").trim_end_matches("/mcp").to_owned();

    for kind in ["ping", "keyword", "hybrid"] {
        for count in CLIENTS {
            let mut clients: Vec<Client> = (0..count).map(|_| Client::stdio(&store)).collect();
            measure("stdio", kind, &mut clients, &queries);
            drop(clients);
            let mut clients: Vec<Client> = (0..count).map(|_| Client::http(&address)).collect();
            measure("HTTP", kind, &mut clients, &queries);
        }
    }
    // It has no more work that matters.
    let _ = server.kill().and_then(|()| server.wait());
}
