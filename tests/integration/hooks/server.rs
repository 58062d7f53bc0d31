//! A running server answers; a killed, stopped or strange one stops nobody.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{FACT, QUESTION, World};
use crate::process::signal;

/// A server of the store that answers hooks.
pub struct HookServer(Child);

impl HookServer {
    pub fn start(world: &World, options: &[&str]) -> Self {
        let mut command = world.command(&[&["serve"], options].concat());
        let server =
            HookServer(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let began = Instant::now();
        while options.is_empty() && UnixStream::connect(socket(world)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(30), "no server listens");
            thread::sleep(Duration::from_millis(10));
        }
        server
    }
}

impl Drop for HookServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn socket(world: &World) -> std::path::PathBuf {
    world.store().join("hooks/socket")
}

/// The reply of the server to this line; `None` if it closes the connection.
fn ask(world: &World, line: &str) -> Option<Value> {
    let mut stream = UnixStream::connect(socket(world)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(line.as_bytes()).unwrap();
    let mut reply = String::new();
    BufReader::new(stream).read_line(&mut reply).unwrap();
    (!reply.is_empty()).then(|| serde_json::from_str(&reply).unwrap())
}

fn request(session: &str) -> Value {
    json!({
        "version": 3, "client": "codex", "event": "prompt", "message": QUESTION, "before": [], "session": session, "lostContext": false,
        "resumed": false, "project": "atlas", "agent": null, "maxResults": 5, "maxTokens": 500, "minRelevance": 0.3,
        "wordsOnly": false,
    })
}

#[test]
fn a_running_server_answers_and_gives_nothing_twice() {
    let world = World::new();
    let server = HookServer::start(&world, &[]);
    let text = |reply: Option<Value>| reply.unwrap()["text"].clone();
    let line = |session: &str| request(session).to_string() + "\n";
    assert!(text(ask(&world, &line("S"))).as_str().unwrap().contains(FACT));
    // It is noted when it has been delivered.
    let began = Instant::now();
    while text(ask(&world, &line("S"))) != Value::Null {
        assert!(began.elapsed() < Duration::from_secs(10), "it is not noted");
    }
    assert!(world.hook("codex", "prompt", &world.prompt("S", QUESTION)).is_silent(), "the hook knows, too");
    assert!(world.hook("codex", "prompt", &world.prompt("T", QUESTION)).has_fact());
    let mut other = request("U");
    for (field, value) in [("version", json!(1)), ("more", json!(1)), ("message", json!({}))] {
        let before = other.clone();
        other[field] = value;
        assert_eq!(ask(&world, &(other.to_string() + "\n")), None, "{field}");
        other = before;
    }
    world.save([
        ("fact", "Ledger-sync listens on port 4107".to_owned()),
        ("fact", "Billing-api listens on port 7825".to_owned()),
    ]);
    let ask_after = |before: Value| {
        let mut line = request("W");
        line["message"] = json!("and for ledger-sync?");
        line["before"] = before;
        text(ask(&world, &(line.to_string() + "\n")))
    };
    assert_eq!(ask_after(json!([])), Value::Null);
    let given = ask_after(json!(["which port does billing-api listen on?"]));
    assert!(given.as_str().is_some_and(|given| given.contains("4107")), "{given}");
    for line in ["\n", "garbage\n", "[]\n"] {
        assert_eq!(ask(&world, line), None, "{line:?}");
    }
    // Who says nothing keeps nobody waiting.
    let _mute: Vec<_> = (0..20).map(|_| UnixStream::connect(socket(&world)).unwrap()).collect();
    assert!(world.recalled().has_fact());
    drop(server);
}

#[test]
fn a_killed_or_stopped_server_stops_no_hook_and_is_replaced() {
    let world = World::new();
    let first = HookServer::start(&world, &[]);
    signal("STOP", first.0.id());
    let ran = world.recalled();
    assert!(ran.has_fact() && ran.took > Duration::from_millis(100), "{ran:?}");
    signal("KILL", first.0.id());
    drop(first);
    assert!(socket(&world).exists(), "as it leaves it");
    assert!(world.recalled().has_fact());
    let second = HookServer::start(&world, &[]);
    assert!(ask(&world, &(request("S").to_string() + "\n")).unwrap()["text"].as_str().unwrap().contains(FACT));
    drop(second);
}

#[test]
fn a_server_that_keeps_to_one_project_answers_no_hook() {
    let world = World::new();
    let mut server = HookServer::start(&world, &["--isolate", "--project", "borealis"]);
    thread::sleep(Duration::from_millis(1_500));
    assert!(server.0.try_wait().unwrap().is_none() && !socket(&world).exists());
}

/// Whatever answers on the socket: it is used if it is understood, and else done without.
#[test]
fn a_strange_server_is_done_without() {
    let world = World::new();
    fs::create_dir_all(world.store().join("hooks")).unwrap();
    fs::set_permissions(world.store().join("hooks"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(socket(&world)).unwrap();
    let replies = [
        "{\"version\":3,\"text\":\"from the server\"}\n",
        "{\"version\":3,\"text\":null}\n",
        "{\"version\":1,\"text\":\"of another version\"}\n",
        "garbage\n",
        "{\"version\":3,\"text\":\"never ends",
        "",
    ];
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    thread::spawn(move || {
        let mut open = Vec::new();
        for (stream, reply) in listener.incoming().zip(replies) {
            let mut stream = stream.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            let _ = stream.write_all(reply.as_bytes());
            // It is never closed.
            open.push(stream);
        }
        thread::sleep(Duration::from_secs(60));
    });
    assert_eq!(world.recalled().out, "from the server");
    assert!(world.recalled().is_silent());
    for reply in &replies[2..] {
        assert!(world.recalled().has_fact(), "{reply:?}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), replies.len());
}

/// A hook whose socket would be another user's does not ask it.
#[test]
fn a_folder_that_others_can_write_to_is_not_trusted() {
    let world = World::new();
    let hooks = world.store().join("hooks");
    fs::create_dir_all(&hooks).unwrap();
    let listener = UnixListener::bind(socket(&world)).unwrap();
    fs::set_permissions(&hooks, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.write_all(b"{\"version\":3,\"text\":\"theirs\"}\n");
            open.push(stream);
        }
    });
    let ran = world.recalled();
    assert!(ran.has_fact() && !ran.out.contains("theirs"), "{ran:?}");
}
