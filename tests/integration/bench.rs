//! `memorist bench`, run as a separate process on a store that this one has open.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use memorist_engine::types::NewRecord;
use serde_json::Value;

use crate::support::{DIMS, Store, document, hashed, memorist, text, words_only};

const RECORDS: usize = 2_400;

fn bench(store: &Path, arguments: &[&str]) -> Output {
    memorist(store, &[&["bench"], arguments].concat()).output().unwrap()
}

fn a_store() -> Store {
    let store = Store::new(hashed());
    let memory = |at: usize| NewRecord::new(format!("note {at} on topic {} in {}", at % 97, at % 83));
    store.engine.add_batch(&(0..RECORDS).map(memory).collect::<Vec<_>>()).unwrap();
    store.settle();
    store
}

#[test]
fn the_vector_search_of_a_store_is_measured_while_others_use_it() {
    let store = a_store();
    let folder = store.folder.path();
    let output = bench(folder, &["--json", "--queries", "50", "--limit", "5"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let result = document(&output);
    let names: Vec<_> = result.as_object().unwrap().keys().collect();
    assert_eq!(names, ["vectors", "dims", "backend", "limit", "queries", "seed", "setting", "levels", "measured"]);
    let figures = ["vectors", "dims", "limit", "queries", "seed"].map(|name| result[name].as_u64().unwrap());
    assert_eq!(figures, [RECORDS as u64, DIMS as u64, 5, 50, 42]);
    assert_eq!((&result["backend"], &result["setting"]), (&Value::from("hnsw"), &Value::from("balanced")));
    let levels: Vec<_> = result["levels"].as_array().unwrap().iter().map(|level| level["quality"].as_str()).collect();
    assert_eq!(levels, [Some("fast"), Some("balanced"), Some("high")]);
    let measured = result["measured"].as_array().unwrap();
    let own: Vec<_> = measured.iter().filter(|row| row["yourSetting"] == true).map(|row| &row["quality"]).collect();
    assert_eq!(own, ["balanced"]);
    let exact = measured.last().unwrap();
    assert_eq!((&exact["quality"], &exact["recall"]), (&Value::from("exact"), &Value::from(1.0)));
    for row in measured {
        let [recall, p50, p95, p99] = ["recall", "p50Us", "p95Us", "p99Us"].map(|name| row[name].as_f64().unwrap());
        assert!(0.0 < recall && recall <= 1.0 && 0.0 < p50 && p50 <= p95 && p95 <= p99, "{row}");
        assert_ne!(row.get("ef").is_some(), row.get("targetRecall").is_some(), "{row}");
    }

    // Another process wrote meanwhile, and the setting differs.
    fs::write(folder.join("memorist.toml"), "[search]\nquality = 0.98\n").unwrap();
    store.add("one more memory");
    store.settle();
    let svg = folder.join("plot.svg");
    let output = bench(folder, &["--queries", "50", "--svg", svg.to_str().unwrap()]);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for part in ["2,401 vectors of 64 numbers", "recall@10", "p99", "fast", "high", "exact", "◆ your setting", "0.98"]
    {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "wider than 80 columns:\n{shown}");
    assert!(!shown.contains('\x1b'), "colours for something that is not a terminal:\n{shown}");
    assert!(text(&output.stderr).contains("scanning exactly (50)"), "{}", text(&output.stderr));
    let svg = fs::read_to_string(svg).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains("recall@10"), "{svg}");
    assert!(store.engine.doctor(false, &memorist_engine::progress::NoProgress).unwrap().is_sound());
}

#[test]
fn an_impossible_measurement_is_refused_with_a_remedy() {
    let mut messages = BTreeSet::new();
    let mut refused = |store: &Store, arguments: &[&str], code, parts: &[&str]| {
        let output = bench(store.folder.path(), &[arguments, &["--json"]].concat());
        let error = document(&output)["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        assert!(messages.insert(error.clone()), "{error}");
    };
    let empty = Store::new(words_only());
    refused(&empty, &[], 3, &["no memories", "`memorist add`"]);
    empty.add("a memory without a vector");
    refused(&empty, &[], 3, &["no memory has a vector", "model"]);

    let few = Store::new(hashed());
    for at in 0..7 {
        few.add(&format!("memory {at}"));
    }
    few.settle();
    refused(&few, &[], 2, &["limit: ", "7 vectors", "6 or fewer"]);
    refused(&few, &["--limit", "0"], 2, &["limit: 0 is outside 1 to "]);
    refused(&few, &["--queries", "0"], 2, &["queries: 0 is outside 1 to "]);
    let nowhere = few.folder.path().join("missing/plot.svg");
    refused(&few, &["--limit", "6", "--svg", nowhere.to_str().unwrap()], 6, &["missing"]);
    let output = bench(few.folder.path(), &["--limit", "6"]);
    assert!(output.status.success() && text(&output.stdout).contains("balanced"), "{}", text(&output.stderr));
}
