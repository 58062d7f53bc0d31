//! Copies of settings that a killed `connect` leaves, and many blank lines.

use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::format::{Entry, Format};

/// Item 14: copies of settings that a killed process left are removed by the next one, whatever that does. What another
/// program is writing stays.
#[test]
fn item_14_the_next_run_removes_copies_of_a_killed_one() {
    let home = Home::full();
    home.connected(Client::Codex);
    let with = home.all();
    let left = [".codex/.memorist-0123456789abcdeF.locked", "../ours/.memorist-0123456789abcdeF.tmp"];
    let stays = home.path(".codex/.memorist-0123456789abcdeX.tmp");
    for path in left {
        home.write(path, "{}");
    }
    fs::write(&stays, "an export that goes on").unwrap();
    let (done, _) = home.disconnect(Client::Cursor);
    assert!(done.is_empty(), "it had nothing to do");
    assert!(left.iter().all(|path| !home.path(path).exists()), "{left:?}");
    assert!(stays.exists());
    fs::remove_file(&stays).unwrap();
    assert!(home.all() == with);
}

/// Item 14: what a killed process leaves has the name that is removed. Windows would keep it while this process has it open.
#[cfg(unix)]
#[test]
fn item_14_the_next_run_removes_an_unfinished_copy() {
    let folder = tempfile::tempdir().unwrap();
    let new = memorist_durable::NewFile::beside_locked(&folder.path().join("settings.json")).unwrap();
    let path = new.path().to_owned();
    assert!(path.exists());
    memorist_durable::sweep_locked(folder.path());
    assert!(!path.exists());
}

/// Item 14: the editor of JSON takes a time quadratic in the blank lines of an object, and a diff does in those that go.
#[test]
fn item_14_blank_lines_cost_linear_time() {
    let entry = Entry::member(&["mcpServers"], "memorist", json!({ "command": "/opt/memorist", "args": ["serve"] }));
    let took = |lines: usize, blank: &str, (before, after): (&str, &str)| {
        let text = [before, &blank.repeat(lines), after].concat();
        let start = Instant::now();
        let with = Format::Json.insert(&text, &entry).unwrap();
        let shown = diff::shown(&text, &text, &with);
        assert!(shown.contains("\"memorist\": {") && shown.lines().all(|line| line.starts_with('+')), "{shown}");
        let without = Format::Json.remove(&with, &entry).unwrap();
        assert_eq!(Format::Json.read(&without), Format::Json.read(&text));
        start.elapsed()
    };
    let places = [
        ("{\"mcpServers\": {", "}, \"a\": 1}"),
        ("{\"mcpServers\": {", "\"x\": {}\n}, \"a\": 1}"),
        ("{\"mcpServers\": {\"x\": {}", "}, \"a\": 1}"),
        ("{", "\"mcpServers\": {\n  \"x\": {}\n  }\n}"),
    ];
    for place in places {
        for blank in ["\n", "\r\n", "  \n", "\t\n \n"] {
            let small = took(2_000, blank, place);
            let large = took(32_000, blank, place);
            // Sixteen times as many; two hundred and fifty-six times, were it quadratic.
            assert!(large < small * 64 + Duration::from_millis(100), "{place:?} {blank:?}: {small:?}, {large:?}");
        }
    }
}
