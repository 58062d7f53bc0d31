//! `memorist bench --quality`, run as a separate process on a store that this one has open.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use memorist_engine::paths::StorePaths;
use memorist_engine::progress::NoProgress;
use memorist_engine::records::Records;
use memorist_engine::types::{NewRecord, RecordId, Viewer};
use serde_json::{Value, json};

use crate::meaning::{engine_with_model, model_cache};
use crate::support::{Store, document, memorist, text, words_only};

const KEY: &str = "The amber key is under the third stone by the well";
const TRAIN: &str = "Ada's train leaves at six from platform nine";
const PUMP: &str = "The heat pump in the cellar hums at night";

fn bench(folder: &Path, pairs: &Path, arguments: &[&str]) -> Output {
    memorist(folder, &[&["bench", "--quality", pairs.to_str().unwrap()], arguments].concat()).output().unwrap()
}

/// A file of pairs beside the store.
fn file_of(folder: &Path, lines: &[String]) -> PathBuf {
    let file = folder.join("pairs.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    file
}

fn pair(query: &str, answers: &[Value]) -> String {
    json!({ "query": query, "answers": answers }).to_string()
}

/// A store without a model that has the three memories, and their ids.
fn a_store() -> (Store, [RecordId; 3]) {
    let store = Store::new(words_only());
    let ids = [KEY, TRAIN, PUMP].map(|text| store.add(text));
    store.engine.flush(&NoProgress).unwrap();
    (store, ids)
}

fn means(row: &Value) -> [f64; 5] {
    ["recallAt1", "recallAt5", "recallAt10", "mrr", "ndcgAt10"].map(|name| {
        let [mean, low, high] = ["mean", "low", "high"].map(|part| row[name][part].as_f64().unwrap());
        assert!((0.0..=mean).contains(&low) && (mean..=1.0).contains(&high), "{row}");
        mean
    })
}

#[test]
fn user_pairs_are_measured_by_keywords_without_a_model() {
    let (store, [key, train, pump]) = a_store();
    let folder = store.folder.path();
    let ulid = store.engine.viewed_by(&Viewer::OWNER).get(train).unwrap().unwrap().ulid;
    let lines = [
        pair("amber key", &[json!(key.get())]),
        pair("train platform", &[json!(ulid)]),
        String::new(),
        pair("heat pump", &[json!(train.get())]),
        pair("the heat pump and the amber key", &[json!(key.get()), json!(pump.get()), json!(key.get())]),
    ];
    let pairs = file_of(folder, &lines);
    let output = bench(folder, &pairs, &["--json"]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("searching (4)"), "{}", text(&output.stderr));
    let result = document(&output);
    assert_eq!(result["queries"], 4);
    let [words] = &result["measured"].as_array().unwrap()[..] else { panic!("{result}") };
    assert_eq!((&words["mode"], means(words)), (&json!("keyword"), [0.75; 5]));
    assert!(result["wordsAlone"].as_str().unwrap().contains("model"), "{result}");
    let worst = json!([{
        "line": 4,
        "query": "heat pump",
        "answers": [train.get()],
        "rank": null,
        "first": { "id": pump.get(), "content": PUMP },
    }]);
    assert_eq!(result["worst"], worst);

    let output = bench(folder, &pairs, &[]);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for part in ["4 queries, keyword search only", "recall@10", "keyword", "75.0 ±", "note: ", "not found", PUMP] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    assert!(!shown.contains("vector  ") && !shown.contains("hybrid"), "{shown}");
}

#[test]
fn measuring_is_neither_logged_nor_counted() {
    let (store, [key, ..]) = a_store();
    let folder = store.folder.path();
    let pairs = file_of(folder, &[pair("amber key", &[json!(key.get())])]);
    assert!(bench(folder, &pairs, &[]).status.success());
    let records = Records::open(&StorePaths::new(folder)).unwrap();
    assert_eq!(records.snapshot().unwrap().counts(memorist_engine::now()).unwrap().accesses, 0);
    let record = store.engine.viewed_by(&Viewer::OWNER).get(key).unwrap().unwrap();
    assert_eq!((record.access_count, record.last_accessed_at), (0, None));
}

#[test]
fn with_a_model_meaning_and_both_are_measured_too() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with_model(folder.path());
    let add = |text| engine.add(&NewRecord::new(text)).unwrap().id;
    let [_, theme, _] = [KEY, "User prefers dark mode for all applications", PUMP].map(add);
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    fs::write(folder.path().join("memorist.toml"), "").unwrap();
    let pairs = file_of(folder.path(), &[pair("which colours should a screen have", &[json!(theme.get())])]);
    let output = bench(folder.path(), &pairs, &["--json", "--cache", model_cache().to_str().unwrap()]);
    let result = document(&output);
    let measured = result["measured"].as_array().unwrap_or_else(|| panic!("{result}"));
    let modes: Vec<_> = measured.iter().map(|row| row["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["keyword", "vector", "hybrid"]);
    assert_eq!([means(&measured[1]), means(&measured[2])], [[1.0; 5]; 2], "{result}");
    assert_eq!((&result["worst"], result.get("wordsAlone")), (&json!([]), None));
}

#[test]
fn a_bad_file_is_refused_with_its_lines_and_reasons() {
    let (store, [key, ..]) = a_store();
    let folder = store.folder.path();
    let refused = |pairs: &Path, code, parts: &[&str]| {
        let output = bench(folder, pairs, &["--json"]);
        let error = document(&output)["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        assert!(error.len() < 4_000, "{} bytes", error.len());
    };
    let sound = pair("amber key", &[json!(key.get())]);
    let write = |lines: &[&str]| file_of(folder, &lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>());
    refused(&write(&[]), 2, &["pairs.jsonl: has no pairs", r#"{"query": "#]);
    refused(&write(&["", "  "]), 2, &["has no pairs"]);
    refused(
        &write(&[&sound, "amber key", r#"{"query": 7, "answers": [1]}"#, r#"{"query": "key", "answers": "1"}"#]),
        2,
        &[
            "not measured, because 3 lines are refused:",
            "\n  line 2: is not JSON",
            "\n  line 3: query: 7",
            "\n  line 4: answers: \"1\"",
        ],
    );
    let ulid = "01J00000000000000000000000";
    let unknown = pair("amber key", &[json!(key.get()), json!(4_711), json!(ulid)]);
    let reason = format!("\n  line 2: answers: there is no memory 4711, {ulid}");
    refused(&write(&[&sound, &unknown]), 2, &[&reason]);
    let long = pair(&"key ".repeat(10 << 18), &[json!(key.get())]);
    refused(&write(&[&long, &sound]), 2, &["\n  line 1: query: is 10485760 bytes long"]);
    refused(&write(&vec!["x"; 100]), 2, &["line 20: ", "and 80 more"]);
    fs::write(folder.join("pairs.jsonl"), b"\"\xff\"\n").unwrap();
    refused(&folder.join("pairs.jsonl"), 2, &["line 1: is not UTF-8"]);
    refused(folder, 6, &["folder"]);
    refused(&folder.join("missing.jsonl"), 6, &["missing.jsonl"]);

    let output = bench(folder, &write(&[&sound]), &["--limit", "5"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("cannot be used with"), "{}", text(&output.stderr));
}
