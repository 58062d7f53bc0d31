//! `memorist bench --locomo`, `--longmemeval` and `--beam`, on made files of the shapes of these benchmarks, by words alone.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{document, memorist, text};

/// Runs the command in a folder that has no store, and may have none afterwards.
fn bench(folder: &Path, arguments: &[&str]) -> std::process::Output {
    let output = memorist(folder, &[&["bench"], arguments].concat()).output().unwrap();
    assert!(!folder.join("memory.db").exists(), "the store of the user is not touched");
    output
}

fn measured(folder: &Path, benchmark: &str, path: &Path) -> Value {
    let output = bench(folder, &["--json", benchmark, path.to_str().unwrap()]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    document(&output)
}

fn means(row: &Value) -> [f64; 6] {
    let rounded = |value: f64| (value * 1e4).round() / 1e4;
    ["hit@1", "hit@5", "recall@5", "recall@10", "MRR", "nDCG@10"]
        .map(|name| rounded(row[name]["mean"].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"))))
}

fn locomo() -> Value {
    let said = |id: &str, speaker: &str, text: &str| json!({ "dia_id": id, "speaker": speaker, "text": text });
    let mut picture = said("D2:2", "Ben", "Look!");
    picture["blip_caption"] = json!("a photo of a red kayak on a trailer");
    json!([{
        "sample_id": "talk-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [said("D1:1", "Ada", "I keep the amber key under the third stone."), said("D1:2", "Ben", "Mine hangs in the shed.")],
            "session_2_date_time": "no date",
            "session_2": [said("D2:1", "Ada", "Did you buy a boat?"), picture, said("D2:3", "Ada", "")],
            "session_3_date_time": "9:00 am on 1 June, 2023",
        },
        "qa": [
            { "question": "Where is the amber key?", "answer": "under a stone", "evidence": ["D1:1"], "category": 4 },
            { "question": "Who has a kayak on a trailer?", "answer": "Ben", "evidence": ["D2:2; D1:2"], "category": 1 },
            { "question": "Where is the amber key?", "evidence": ["D2:02"], "category": 5 },
            { "question": "What does Ada dream of?", "evidence": [], "category": 3 },
        ],
    }])
}

#[test]
fn locomo_is_measured_by_turn_and_session_and_type() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("locomo10.json");
    fs::write(&file, locomo().to_string()).unwrap();
    let result = measured(folder.path(), "--locomo", &file);
    let counts = ["histories", "turns", "questions", "withoutEvidence", "reranked"].map(|name| result[name].as_u64());
    assert_eq!(counts, [1, 4, 3, 1, 0].map(Some), "{result}");
    assert_eq!(result["byWordsAlone"], 3);
    assert_eq!(means(&result["byTurn"]["single-hop"]), [1.0; 6]);
    // One of two answers, first.
    assert_eq!(means(&result["byTurn"]["multi-hop"]), [1.0, 1.0, 0.5, 0.5, 1.0, 0.6131]);
    assert_eq!(means(&result["byTurn"]["adversarial"]), [0.0; 6], "its evidence does not have the words");
    assert_eq!(means(&result["bySession"]["multi-hop"]), [1.0, 1.0, 0.5, 0.5, 1.0, 0.6131]);
    assert_eq!(result["byTurn"]["all"]["questions"], 3);
    assert_eq!(means(&result["byTurn"]["all"])[0], 0.6667);

    let output = bench(folder.path(), &["--locomo", file.to_str().unwrap()]);
    let shown = text(&output.stdout);
    for part in ["LoCoMo: 3 questions about 4 turns in 1 store", "turns found", "sessions found", "multi-hop", "66.7"] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    for note in ["keyword search only", "not reranked", "1 more question has no evidence"] {
        assert!(shown.contains(note), "{note} is missing in\n{shown}");
    }
}

#[test]
fn longmemeval_has_a_store_for_each_question() {
    let folder = tempfile::tempdir().unwrap();
    let said = |text: &str, has_answer: bool| json!({ "role": "user", "content": text, "has_answer": has_answer });
    let asked = |id: &str, question: &str| {
        json!({
            "question_id": id,
            "question_type": "single-session-user",
            "question": question,
            "question_date": "2023/05/30 (Tue) 23:40",
            "answer": "it",
            "answer_session_ids": ["answer_1"],
            "haystack_session_ids": ["other_1", "answer_1"],
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "soon"],
            "haystack_sessions": [
                [said("How do I bake bread?", false), { "role": "assistant", "content": "With flour." }],
                [said("My violin teacher is Mrs. Okafor.", true), said("", false)],
            ],
        })
    };
    let file = folder.path().join("longmemeval.json");
    let asked = [
        asked("q1", "Who teaches me the violin?"),
        asked("q2", "How do I bake?"),
        asked("q3_abs", "Who teaches the cello?"),
    ];
    fs::write(&file, json!(asked).to_string()).unwrap();
    let result = measured(folder.path(), "--longmemeval", &file);
    let counts = ["histories", "turns", "questions", "withoutEvidence"].map(|name| result[name].as_u64());
    assert_eq!(counts, [3, 9, 2, 1].map(Some), "{result}");
    // Of the second question neither the turn nor the session is found: it is about the other one.
    for level in ["byTurn", "bySession"] {
        assert_eq!(means(&result[level]["single-session-user"]), [0.5; 6], "{level}: {result}");
    }
}

#[test]
fn beam_is_a_folder_of_chats() {
    let folder = tempfile::tempdir().unwrap();
    let chat = |name: &str, file: &str, content: &str| {
        let chat = folder.path().join("chats/100K").join(name);
        fs::create_dir_all(chat.join("probing_questions")).unwrap();
        let message = |id: u32, role: &str, content: &str| json!({ "id": id, "role": role, "content": content, "time_anchor": "March-15-2024" });
        let turns = json!([[message(0, "user", content), message(1, "assistant", "Noted.")]]);
        let batches = json!([{ "batch_number": 1, "turns": turns }, { "batch_number": 2, "turns": [[message(2, "user", "The sprint ends on Friday.")]] }]);
        fs::write(chat.join(file), batches.to_string()).unwrap();
        let questions = json!({
            "abstention": [{ "question": "Who is my dentist?", "rubric": [] }],
            "information_extraction": [{ "question": "When does the sprint end?", "source_chat_ids": [2] }],
            "knowledge_update": [{ "question": "Which port does the server use?", "source_chat_ids": { "original_info": [0], "updated_info": [7] } }],
        });
        fs::write(chat.join("probing_questions/probing_questions.json"), questions.to_string()).unwrap();
    };
    chat("1", "chat.json", "The server uses port 8080.");
    chat("2", "chat.json", "This one is too long.");
    // The benchmark itself reads the shortened chat where there is one.
    chat("2", "chat_trunecated.json", "The server uses port 9090.");
    let result = measured(folder.path(), "--beam", &folder.path().join("chats"));
    let counts = ["histories", "turns", "questions", "withoutEvidence"].map(|name| result[name].as_u64());
    assert_eq!(counts, [2, 6, 4, 2].map(Some), "{result}");
    for kind in ["information_extraction", "knowledge_update", "all"] {
        assert_eq!(means(&result["byTurn"][kind]), [1.0; 6], "{result}");
        assert_eq!(means(&result["bySession"][kind]), [1.0; 6], "{result}");
    }
}

#[test]
fn an_invalid_benchmark_file_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.json");
    let refused = |benchmark: &str, path: &Path, code: i32, part: &str| {
        let output = bench(folder.path(), &[benchmark, path.to_str().unwrap()]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(part), "{error}");
    };
    for benchmark in ["--locomo", "--longmemeval"] {
        for content in ["", "{}", "[1]", "[{\"question\": null}]", "\u{0}", "[[[[[["] {
            fs::write(&file, content).unwrap();
            refused(benchmark, &file, 2, "file.json: ");
        }
        fs::write(&file, "[]").unwrap();
        refused(benchmark, &file, 2, "file.json: has no question");
        refused(benchmark, folder.path(), 6, "folder");
        refused(benchmark, &folder.path().join("missing.json"), 6, "missing.json");
    }
    refused("--beam", folder.path(), 2, "no folder in it has a chat.json");
    refused("--beam", &file, 6, "file.json");
    refused("--beam", &folder.path().join("missing"), 6, "missing");
    let output = bench(folder.path(), &["--locomo", "a", "--limit", "5"]);
    assert!(text(&output.stderr).contains("cannot be used with"), "{}", text(&output.stderr));
}
