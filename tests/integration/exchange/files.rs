//! The files themselves, written and read by the command line: byte for byte, broken, interrupted, from another server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Filter, Mode, Query, Viewer};
use serde_json::{Value, json};

use super::{NOW, assert_sound, everything, exported, found, numbered, rich, silent};
use crate::support::{hashed, memorist};

fn run(store: &Path, arguments: &[&str]) -> Output {
    memorist(store, arguments).output().unwrap()
}

/// The structured result of a run, and its exit code.
fn result(store: &Path, arguments: &[&str]) -> (Value, Option<i32>) {
    let output = run(store, &[arguments, &["--json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    (serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text} {errors}")), output.status.code())
}

fn export_file(store: &Path, name: &str, options: &[&str]) -> PathBuf {
    let path = store.join(name);
    let output = run(store, &[&["export", path.to_str().unwrap()], options].concat());
    assert!(output.status.success(), "{output:?}");
    path
}

/// Who encrypts an export in a pipe has no copy in the clear.
#[test]
fn an_export_in_a_pipe_leaves_no_file() {
    let (store, copy, temporary) = (rich(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let command = |store: &Path, arguments: &[&str]| {
        let mut command = memorist(store, arguments);
        command.env("TMPDIR", temporary.path()).current_dir(temporary.path()).stderr(Stdio::null());
        command
    };
    let mut export = command(store.folder.path(), &["export"]).stdout(Stdio::piped()).spawn().unwrap();
    let import = command(copy.path(), &["import", "-"]).stdin(export.stdout.take().unwrap()).status().unwrap();
    assert!(export.wait().unwrap().success() && import.success());
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    assert_eq!(
        result(copy.path(), &["stats"]).0["totalEntries"],
        result(store.folder.path(), &["stats"]).0["totalEntries"]
    );
}

/// T38, D7.
#[test]
fn a_rich_store_comes_back_the_same_to_the_byte() {
    let store = rich();
    let folder = tempfile::tempdir().unwrap();
    for options in [&["--embeddings"][..], &[]] {
        let first = export_file(store.folder.path(), "first.jsonl", options);
        let bytes = fs::read(&first).unwrap();
        let copy = folder.path().join(options.concat());
        let (report, code) = result(&copy, &["import", first.to_str().unwrap()]);
        assert_eq!(
            (report["refused"].clone(), report["errors"].clone(), code),
            (json!(0), json!([]), Some(0)),
            "{report}"
        );
        assert_eq!((&report["created"], &report["links"]), (&json!(46), &json!(39)), "{report}");
        let second = fs::read(export_file(&copy, "second.jsonl", options)).unwrap();
        let lines =
            |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
        for (before, after) in lines(&bytes).iter().zip(&lines(&second)) {
            assert_eq!(before, after);
        }
        assert!(bytes == second, "to the byte");
        // Again: nothing changes.
        let (report, _) = result(&copy, &["import", first.to_str().unwrap()]);
        assert_eq!(
            (&report["unchanged"], &report["created"], &report["links"]),
            (&json!(46), &json!(0), &json!(0)),
            "{report}"
        );
        assert_eq!(fs::read(export_file(&copy, "second.jsonl", options)).unwrap(), bytes);

        let again = silent().open(&copy).unwrap();
        again.embed_pending(&NoProgress).unwrap();
        assert!(exported(&store.engine, &everything()) == exported(&again, &everything()), "equal stores");
        for engine in [&store.engine, &again] {
            // Deleted records count in an index's statistics until a merge.
            engine.rebuild(&NoProgress).unwrap();
            assert_sound(engine);
        }
        for mode in [Mode::Hybrid, Mode::Keyword, Mode::Vector] {
            for text in ["harbour room 3", "note rewritten", "Anna", "港", "done", "said at 4", "tag 7"] {
                for viewer in [Viewer::OWNER, Viewer::of_agent("ann"), Viewer::in_project("atlas")] {
                    let query = Query { mode, limit: 20, filter: Filter::of(viewer), ..Query::new(text) };
                    assert_eq!(found(&store.engine, &query), found(&again, &query), "{mode:?} {text}");
                }
            }
        }
    }
}

/// D7: a refused line is reported with its number, and nothing else is lost.
#[test]
fn broken_lines_are_reported_and_the_others_are_saved() {
    let store = rich();
    let sound = export_file(store.folder.path(), "sound.jsonl", &["--embeddings"]);
    let text = fs::read_to_string(&sound).unwrap();
    let record = |fields: &str| {
        format!(r#"{{"type":"record","ulid":"01J00000000000000000000000","content":"x","createdAt":{NOW}{fields}}}"#)
    };
    let absent = "01J0000000000000000000ABSE";
    let broken = [
        ("{\"type\":\"record\",".into(), "is not JSON"),
        ("{\"type\":\"rumour\"}".into(), "unknown variant `rumour`"),
        (record(",\"colour\":\"red\""), "unknown field `colour`"),
        (record(",\"importance\":11"), "importance: 11"),
        (record(",\"version\":0"), "version: 0"),
        (record(",\"accessCount\":-1"), "accessCount: -1"),
        (record(",\"embedding\":[1.0]"), "embedding: has 1 numbers"),
        (record(",\"embedding\":[1e39]"), "out of range"),
        (record(",\"updatedAt\":-5"), "updatedAt: -5"),
        (record("").replace("01J0", "o1j0"), "ulid: "),
        (record("").replace("\"x\"", concat!("\"password", ": hunter2-correct-horse\"")), "content: contains a secret"),
        (
            record(",\"entryType\":\"project\",\"body\":{\"name\":\"x\",\"primary_contact_id\":7}"),
            "7 means nothing here",
        ),
        (
            record(&format!(
                ",\"entryType\":\"project\",\"body\":{{\"name\":\"x\",\"primary_contact_id\":\"ulid:{absent}\"}}"
            )),
            absent,
        ),
        (
            format!(
                r#"{{"type":"link","from":"{absent}","linkType":"related","to":"01J00000000000000000000000","createdAt":{NOW}}}"#
            ),
            "from: 01J0000000000000000000ABSE is neither",
        ),
        ("\u{fffd}".into(), "is not JSON"),
    ];
    let mut mixed: Vec<&str> = Vec::new();
    let mut wanted = Vec::new();
    for (at, line) in text.lines().enumerate() {
        mixed.push(line);
        if let Some((line, why)) = at.checked_sub(1).and_then(|at| broken.get(at)) {
            mixed.push(line);
            wanted.push((mixed.len() as u64, *why));
        }
    }
    assert_eq!(wanted.len(), broken.len());
    let path = store.folder.path().join("mixed.jsonl");
    fs::write(&path, mixed.join("\n")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    let (report, code) = result(&copy, &["import", path.to_str().unwrap()]);
    assert_eq!((code, report["refused"].as_u64()), (Some(2), Some(broken.len() as u64)), "{report}");
    for (line, why) in wanted {
        let errors = report["errors"].as_array().unwrap();
        let error = errors.iter().find(|error| error["line"] == line).unwrap_or_else(|| panic!("{line}: {report}"));
        assert!(error["error"].as_str().unwrap().contains(why), "{error} {why}");
    }
    assert_eq!(fs::read_to_string(export_file(&copy, "again.jsonl", &["--embeddings"])).unwrap(), text);
    let newer = store.folder.path().join("newer.jsonl");
    fs::write(&newer, text.replacen("\"format\":4", "\"format\":5", 1)).unwrap();
    let other = folder.path().join("other");
    let output = run(&other, &["import", newer.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("update memorist"), "{output:?}");
    assert_eq!(result(&other, &["stats"]).0["totalEntries"], 0);
}

/// D7.
#[test]
fn a_killed_import_can_be_continued() {
    const LINES: usize = 8_000;
    let folder = tempfile::tempdir().unwrap();
    let (store, path) = (folder.path().join("store"), folder.path().join("many.jsonl"));
    let mut lines = vec![r#"{"type":"memorist","format":4}"#.to_owned()];
    let ulid = |n: usize| numbered(n + 1);
    lines.extend((0..LINES).map(|n| {
        let context = "said of the harbour ".repeat(20);
        format!(
            r#"{{"type":"record","ulid":"{}","version":1,"content":"memory number{n}","entryType":"fact","source":"manual","context":"{context}","confidence":1.0,"importance":5,"createdAt":{NOW},"updatedAt":{NOW},"accessCount":0}}"#,
            ulid(n)
        )
    }));
    lines.extend((1..LINES).map(|n| {
        format!(
            r#"{{"type":"link","from":"{}","linkType":"related","to":"{}","createdAt":{NOW}}}"#,
            ulid(n),
            ulid(n / 2)
        )
    }));
    let text = lines.join("\n") + "\n";
    fs::write(&path, &text).unwrap();
    let mut child = memorist(&store, &["import", path.to_str().unwrap(), "--quiet"]).spawn().unwrap();
    let started = Instant::now();
    let reader = loop {
        // Until it has created the store.
        if store.join("memory.db").exists()
            && let Ok(engine) = hashed().open(&store)
        {
            break engine;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "it makes a store");
    };
    let total = || reader.stats(&Filter::default()).unwrap().total;
    while total() == 0 {
        assert!(started.elapsed() < Duration::from_secs(60), "it saves something");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let saved = total();
    assert!(saved < LINES as u64, "it was killed on the way, not after {saved}");
    reader.close();
    let (report, _) = result(&store, &["import", path.to_str().unwrap()]);
    assert_eq!(report["unchanged"], saved, "{report}");
    assert_eq!(report["created"], LINES as u64 - saved, "{report}");
    assert_eq!(report["links"], LINES as u64 - 1, "{report}");
    assert!(fs::read_to_string(export_file(&store, "again.jsonl", &[])).unwrap() == text);
}

/// D7: the file of the reference memory server.
#[test]
fn the_file_of_the_reference_server_is_understood() {
    let folder = tempfile::tempdir().unwrap();
    let (store, path) = (folder.path().join("store"), folder.path().join("memory.json"));
    let lines = [
        json!({ "type": "entity", "name": "Anna_Nowak", "entityType": "person", "observations": ["speaks Polish", "likes tea"] }),
        json!({ "type": "entity", "name": "Bob", "entityType": "person", "observations": ["likes tea"] }),
        json!({ "type": "entity", "name": "Acme", "entityType": "company", "observations": [] }),
        json!({ "type": "relation", "from": "Anna_Nowak", "to": "Acme", "relationType": "works at" }),
        json!({ "type": "relation", "from": "Bob", "to": "Nobody", "relationType": "knows" }),
    ];
    fs::write(&path, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let (report, code) = result(&store, &["import", path.to_str().unwrap()]);
    assert_eq!((&report["created"], &report["links"], code), (&json!(6), &json!(4), Some(0)), "{report}");
    let (found, _) = result(&store, &["search", "Anna Nowak", "--mode", "keyword"]);
    let texts: Vec<_> =
        found["results"].as_array().unwrap().iter().map(|hit| hit["content"].as_str().unwrap()).collect();
    for text in ["Anna_Nowak: speaks Polish", "Anna_Nowak: likes tea", "Anna_Nowak works at Acme"] {
        assert!(texts.contains(&text), "{texts:?}");
    }
    let (report, _) = result(&store, &["import", path.to_str().unwrap()]);
    assert_eq!(
        (&report["created"], &report["duplicates"], &report["links"]),
        (&json!(0), &json!(6), &json!(0)),
        "{report}"
    );
}
