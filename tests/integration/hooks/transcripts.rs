//! Transcripts are noted, and read at the next start, if somebody has added them. What a short question continues is read at once.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use memorist_ingest::noted::Noted;
use serde_json::json;

use super::server::HookServer;
use super::{QUESTION, Ran, World};
use crate::support::document;

/// A session of Claude Code in a folder of sessions, which says this.
fn session(world: &World, folder: &str, name: &str, text: &str) -> std::path::PathBuf {
    let folder = fs::canonicalize(world.folder.path()).unwrap().join(folder).join("-p");
    fs::create_dir_all(&folder).unwrap();
    let line = json!({
        "type": "user", "uuid": name, "sessionId": name, "timestamp": "2026-11-02T09:00:00.000Z", "cwd": world.project(),
        "message": { "role": "user", "content": text },
    });
    let path = folder.join(format!("{name}.jsonl"));
    fs::write(&path, format!("{line}\n")).unwrap();
    path
}

/// How many are noted and not read yet.
fn noted(world: &World) -> usize {
    let files = fs::read_dir(world.store().join("hooks")).unwrap().map(|entry| entry.unwrap().path());
    let notes = files.filter(|file| file.file_name().unwrap().to_str().unwrap().starts_with("transcripts"));
    notes.map(|file| fs::read_to_string(file).unwrap_or_default().lines().count()).sum()
}

fn find(world: &World, words: &str) -> usize {
    let output =
        world.command(&["search", words, "--json", "--project", "*", "--sources", "sessions"]).output().unwrap();
    document(&output)["results"].as_array().unwrap().len()
}

fn end(world: &World, event: &str, transcript: &Path) {
    let input = json!({ "session_id": "S", "cwd": world.project(), "transcript_path": transcript });
    assert!(world.hook("claude-code", event, &input).is_silent());
}

fn start(world: &World) {
    world.hook("claude-code", "start", &json!({ "session_id": "N", "cwd": world.project(), "source": "startup" }));
}

#[test]
fn the_next_start_reads_what_was_noted_once() {
    let world = World::new();
    let first = session(&world, "projects", "one", "The giraffe likes the quiet harbour");
    let source =
        world.command(&["source", "add", first.parent().unwrap().to_str().unwrap(), "--no-sync"]).output().unwrap();
    assert!(source.status.success(), "{source:?}");
    for event in ["stop", "stop", "compact", "end"] {
        end(&world, event, &first);
    }
    assert_eq!((noted(&world), find(&world, "giraffe")), (1, 0), "noted once, and not read yet");
    start(&world);
    let began = Instant::now();
    while noted(&world) > 0 || find(&world, "giraffe") == 0 {
        assert!(began.elapsed() < Duration::from_secs(30), "it is not read");
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(find(&world, "giraffe"), 1);
    // And what it said since.
    session(&world, "projects", "two", "The walrus likes it, too");
    end(&world, "stop", &first);
    let output = world.command(&["sync", "--noted"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!((noted(&world), find(&world, "giraffe"), find(&world, "walrus")), (0, 1, 1));
}

/// "And for ledger-sync?" says little without the question before. Also where a server answers, and of a long transcript.
#[test]
fn a_short_question_continues_the_question_before_it() {
    let world = World::new();
    let port = |service: &str, port: u32| ("fact", format!("{service} listens on port {port} in staging"));
    world.save([port("Billing-api", 7825), port("Ledger-sync", 4107), port("Mailroom", 5219)]);
    let transcript = session(&world, "claude/projects", "one", "which port does billing-api use in staging?");
    let root = fs::canonicalize(world.folder.path()).unwrap();
    let ask = |name: &str, message: &str, path: &Path| {
        let mut input = world.prompt(name, message);
        input["transcript_path"] = json!(path);
        let mut command = world.command(&["hook", "claude-code", "prompt"]);
        command.env("CLAUDE_CONFIG_DIR", root.join("claude"));
        Ran::of(command, input.to_string().into_bytes())
    };
    let follow_up = |name: &str, path: &Path| ask(name, "and for ledger-sync?", path).out.contains("4107");
    assert!(follow_up("S", &transcript));
    let tool =
        json!({ "type": "user", "uuid": "t", "message": { "content": [{ "type": "tool_result", "content": "x" }] } });
    let before = "{\"type\":\"progress\"}\n".repeat(100_000);
    let said = fs::read_to_string(&transcript).unwrap();
    fs::write(&transcript, before + &said + &format!("{tool}\n").repeat(50)).unwrap();
    assert!(follow_up("T", &transcript), "at the end of a long one");
    let folder = transcript.parent().unwrap();
    let (pipe, device) = (folder.join("pipe.jsonl"), folder.join("device.jsonl"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
    let elsewhere = session(&world, "elsewhere", "two", "which port does billing-api use in staging?");
    for other in [&pipe, &device, &elsewhere, Path::new("/dev/zero"), Path::new("/nowhere/S.jsonl")] {
        assert!(!follow_up("U", other), "{other:?}");
        let session = format!("{other:?}");
        assert!(ask(&session, QUESTION, other).has_fact(), "nothing is lost by {other:?}");
    }
    let server = HookServer::start(&world, &[]);
    assert!(follow_up("V", &transcript));
    drop(server);
    world.settings("[sync]\nenabled = false\n");
    assert!(!follow_up("W", &transcript), "without the right to read files");
}

/// A person who has added no transcripts does not want them kept, nor the paths that a client names.
#[test]
fn a_transcript_that_nobody_has_added_is_not_read() {
    let world = World::new();
    let added = session(&world, "projects", "one", "The giraffe likes the quiet harbour");
    let other = session(&world, "elsewhere", "two", "The walrus likes it, too");
    let hostile = world.folder.path().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&hostile).status().unwrap().success());
    for path in [&other, &hostile, Path::new("/dev/zero"), Path::new("/etc/passwd")] {
        end(&world, "stop", path);
    }
    // 39.6: not even until the next start.
    assert_eq!(noted(&world), 0);
    start(&world);
    thread::sleep(Duration::from_millis(500));
    assert_eq!((find(&world, "giraffe"), find(&world, "walrus")), (0, 0));
    // A relative path, and one that leads up, are not even noted.
    for path in ["S.jsonl", "/home/../etc/passwd"] {
        end(&world, "stop", Path::new(path));
    }
    assert_eq!(noted(&world), 0);
    // 39.6: without the right to read files by itself, a start reads none, nothing is noted, and what was noted goes.
    world.command(&["source", "add", added.parent().unwrap().to_str().unwrap(), "--no-sync"]).output().unwrap();
    end(&world, "stop", &added);
    assert_eq!(noted(&world), 1);
    world.settings("model = \"none\"\n[sync]\nenabled = false\n");
    start(&world);
    end(&world, "stop", &added);
    thread::sleep(Duration::from_millis(500));
    assert_eq!((noted(&world), find(&world, "giraffe")), (0, 0));
}

/// A sync leaves the notes to another process that reads them, at once: it waited for 10 s, with the store open.
#[test]
fn a_reading_beside_another_one_ends_at_once_and_takes_nothing() {
    let world = World::new();
    let first = session(&world, "projects", "one", "The giraffe likes the quiet harbour");
    world.command(&["source", "add", first.parent().unwrap().to_str().unwrap(), "--no-sync"]).output().unwrap();
    end(&world, "stop", &first);
    let another = Noted::of(&world.store()).alone().unwrap().expect("nobody reads");
    let began = Instant::now();
    let output = world.command(&["sync", "--noted"]).output().unwrap();
    assert!(output.status.success() && began.elapsed() < Duration::from_secs(5), "{:?} {output:?}", began.elapsed());
    assert_eq!(noted(&world), 1);
    drop(another);
    assert!(world.command(&["sync", "--noted"]).output().unwrap().status.success());
    assert_eq!((noted(&world), find(&world, "giraffe")), (0, 1));
}

/// Only `--noted` looks at notes: a sync without it neither takes them, nor fails over them.
#[test]
fn a_sync_of_all_leaves_notes_alone() {
    let world = World::new();
    let first = session(&world, "projects", "one", "The giraffe likes the quiet harbour");
    world.command(&["source", "add", first.parent().unwrap().to_str().unwrap(), "--no-sync"]).output().unwrap();
    end(&world, "stop", &first);
    let notes = world.store().join("hooks/transcripts");
    let before = fs::metadata(&notes).unwrap().modified().unwrap();
    let sync = || world.command(&["sync"]).output().unwrap();
    assert!(sync().status.success());
    assert_eq!(fs::metadata(&notes).unwrap().modified().unwrap(), before);
    fs::remove_file(&notes).unwrap();
    fs::create_dir(&notes).unwrap();
    let output = sync();
    assert!(output.status.success() && find(&world, "giraffe") == 1, "{output:?}");
}

/// A server that answers, and watches no files.
#[test]
fn a_start_reads_what_was_noted_also_where_a_server_answers() {
    let world = World::new();
    let first = session(&world, "projects", "one", "The giraffe likes the quiet harbour");
    world.command(&["source", "add", first.parent().unwrap().to_str().unwrap(), "--no-sync"]).output().unwrap();
    world.settings("model = \"none\"\n[sync]\nwatch = false\non_start = false\n");
    let _server = HookServer::start(&world, &[]);
    end(&world, "stop", &first);
    assert_eq!(noted(&world), 1);
    start(&world);
    let began = Instant::now();
    while noted(&world) > 0 {
        assert!(began.elapsed() < Duration::from_secs(30), "the notes stay");
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(find(&world, "giraffe"), 1);
}
