//! Whatever is wrong: a hook ends with 0 and in time, with all of an answer or nothing.

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;

use super::{IN_TIME, QUESTION, Ran, World};

#[test]
fn arguments_that_are_wrong_are_a_line_on_stderr() {
    let world = World::new();
    let input = world.prompt("S", QUESTION).to_string().into_bytes();
    for (arguments, named) in [
        (&["hook", "emacs", "prompt"][..], "emacs"),
        (&["hook", "zed", "prompt"], "zed has no hooks"),
        (&["hook", "codex", "launch"], "launch"),
        (&["hook", "codex"], "EVENT"),
        (&["hook"], "CLIENT"),
        (&["hook", "codex", "prompt", "more"], "more"),
        (&["hook", "codex", "prompt", "--bad"], "--bad"),
        (&["--bad", "hook", "codex", "prompt"], "--bad"),
        (&["hook", "--json", "--bad"], "--bad"),
    ] {
        let ran = Ran::of(world.command(arguments), input.clone());
        assert!(ran.is_silent() && ran.said.contains(named), "{arguments:?}: {ran:?}");
    }
    // Others still fail as ever.
    let output = world.command(&["search", "--bad", "hook"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn stdin_without_a_message_is_answered_with_nothing() {
    let world = World::new();
    for input in
        [&b""[..], b"garbage", b"\xFF\xFE{", b"[]", b"7", b"{\"prompt\":", b"{}", &[0; 100_000], &[b'['; 100_000]]
    {
        let ran = Ran::of(world.command(&["hook", "codex", "prompt"]), input.to_vec());
        assert!(ran.is_silent(), "{ran:?}");
    }
    let cut = world.prompt("S", QUESTION).to_string().replace("rotation", "rotation\\ud83d").into_bytes();
    assert!(Ran::of(world.command(&["hook", "codex", "prompt"]), cut).has_fact(), "half an emoji");
}

#[test]
fn ten_megabytes_and_more_end_in_time() {
    let world = World::new();
    for megabytes in [1, 10, 40] {
        let long = world.prompt("S", &format!("{} {QUESTION}", "x ".repeat(megabytes << 19)));
        let ran = world.hook("codex", "prompt", &long);
        assert!(ran.is_silent() || ran.has_fact(), "{megabytes} MB: {ran:?}");
    }
}

#[test]
fn stdin_that_does_not_end_is_not_waited_for() {
    let world = World::new();
    let run = |said: String, more: &'static [u8]| {
        let mut command = world.command(&["hook", "codex", "prompt"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let (tell, ended) = std::sync::mpsc::channel::<()>();
        thread::spawn(move || {
            let _ = stdin.write_all(said.as_bytes());
            while !more.is_empty() && stdin.write_all(&more.repeat(1_000)).is_ok() {}
            // Open until the hook has ended.
            let _ = ended.recv();
        });
        let ran = Ran::ended(child, started);
        drop(tell);
        ran
    };
    let whole = world.prompt("S", QUESTION).to_string();
    let ran = run(whole.clone() + "\n", b"");
    assert!(ran.has_fact(), "what is whole is answered: {ran:?}");
    for (said, more) in
        [(String::new(), &b""[..]), (whole[..20].to_owned(), b""), (String::new(), b"{\"prompt\": "), (whole, b" x")]
    {
        let ran = run(said, more);
        assert!(ran.took < IN_TIME && (ran.is_silent() || ran.out.ends_with('>')), "{ran:?}");
    }
}

#[test]
fn a_store_that_is_missing_is_not_made() {
    let world = World::new();
    fs::remove_dir_all(world.store().join("keywords")).unwrap();
    fs::remove_file(world.store().join("memory.db")).unwrap();
    let before = fs::read_dir(world.store()).unwrap().count();
    for (event, input) in
        [("prompt", world.prompt("S", QUESTION)), ("stop", json!({ "transcript_path": "/a/b.jsonl" }))]
    {
        let ran = world.hook("claude-code", event, &input);
        assert!(ran.is_silent() && ran.said.is_empty(), "{ran:?}");
    }
    assert_eq!(fs::read_dir(world.store()).unwrap().count(), before);
}

#[test]
fn a_store_that_cannot_be_used_is_a_line_on_stderr() {
    let world = World::new();
    let database = world.store().join("memory.db");
    let version = |number: i64| {
        Connection::open(&database).unwrap().pragma_update(None, "user_version", number).unwrap();
    };
    let known: i64 =
        Connection::open(&database).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    version(99);
    let _ = fs::remove_file(world.store().join("hooks/called-codex"));
    let ran = world.recalled();
    assert!(world.store().join("hooks/called-codex").is_file(), "it was called");
    assert!(ran.is_silent() && ran.said.contains("newer memorist") && ran.said.lines().count() == 1, "{ran:?}");
    version(known);
    assert!(world.recalled().has_fact());
    // Without its index, words are found in the texts; what is damaged is not.
    fs::remove_dir_all(world.store().join("keywords")).unwrap();
    world.recalled();
    fs::write(&database, "no database at all").unwrap();
    let ran = world.recalled();
    assert!(ran.is_silent() && !ran.said.is_empty(), "{ran:?}");
}

#[test]
fn settings_that_cannot_be_read_are_a_line_on_stderr() {
    let world = World::new();
    for (settings, named) in [
        ("= nonsense", "memorist.toml"),
        ("unknown = 1", "unknown"),
        ("[hooks]\nmax_results = 0", "max_results"),
        ("[hooks]\nenabled = \"maybe\"", "enabled"),
        ("[hooks]\nexclude = [\"relative\"]", "exclude"),
    ] {
        world.settings(settings);
        let ran = world.recalled();
        assert!(ran.is_silent() && ran.said.contains(named), "{settings}: {ran:?}");
    }
    fs::remove_file(world.store().join("memorist.toml")).unwrap();
    fs::create_dir(world.store().join("memorist.toml")).unwrap();
    assert!(world.recalled().is_silent());
}

/// SQLite's locks are held by another process: this one.
#[test]
fn a_locked_store_delays_nobody() {
    let world = World::new();
    let database = world.store().join("memory.db");
    let holder = Connection::open(&database).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ran = world.recalled();
    assert!(ran.has_fact(), "nothing has to be written: {ran:?}");
    let start = world.hook("codex", "start", &json!({ "session_id": "S", "cwd": world.project(), "source": "clear" }));
    assert!(start.is_silent() || start.has_fact(), "{start:?}");
    drop(holder);
    let holder = Connection::open(&database).unwrap();
    holder
        .execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE x (y); ROLLBACK; BEGIN EXCLUSIVE",
        )
        .unwrap();
    let ran = world.recalled();
    assert!(ran.is_silent() && ran.took > Duration::from_millis(250), "{ran:?}");
    drop(holder);
    assert!(world.recalled().has_fact());
}

/// A provider is not asked, and a model that is missing or that cannot be loaded is done without.
#[test]
fn without_a_model_words_are_searched() {
    let world = World::new();
    let provider = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    provider.set_nonblocking(true).unwrap();
    let url = format!("http://{}", provider.local_addr().unwrap());
    for settings in [
        format!("[embedding]\nprovider = \"ollama\"\nurl = \"{url}\"\n"),
        "model = \"/no/such/folder\"\n".to_owned(),
        format!("download = false\ncache = {:?}\n", world.folder.path().join("empty")),
    ] {
        world.settings(&settings);
        let ran = world.recalled();
        assert!(ran.has_fact(), "{settings}: {ran:?}");
    }
    assert_eq!(provider.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "it was asked");
}
