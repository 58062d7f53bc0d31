use std::fs::File;

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::super::corpus;
use super::*;

#[test]
fn transcripts_are_known_by_their_path() {
    let machine = Machine::new("/h", []);
    let sessions = [
        "/h/.codex/sessions/2026/11/02/rollout-2026-11-02T09-00-00-u.jsonl",
        "/h/.codex/sessions/2026/11/02/rollout-2026-11-02T09-00-00-u.jsonl.zst",
        "/h/.codex/archived_sessions/rollout-2026-11-02T09-00-00-u.jsonl",
    ];
    let others = [
        "/h/.codex/history.jsonl",
        "/h/.codex/state_5.sqlite",
        "/h/.codex/sessions/2026/11/02/rollout-2026-11-02T09-00-00-u.jsonl.zst.tmp",
        "/h/.codex/sessions/2026/11/02/notes.jsonl",
    ];
    assert_eq!(corpus::transcripts(&Codex, &machine, &[&sessions[..], &others].concat()), sessions);
    let moved = Machine::new("/h", [("CODEX_HOME", "/c")]);
    assert_eq!(Codex.places(&moved), [PathBuf::from("/c/sessions"), PathBuf::from("/c/archived_sessions")]);
}

#[test]
fn a_compressed_file_has_the_same_turns() {
    let folder = tempfile::tempdir().unwrap();
    for plain in corpus::files(&Codex) {
        let path = folder.path().join(format!("{}.zst", plain.file_name().unwrap().to_str().unwrap()));
        let compressed = compress_to_vec(File::open(&plain).unwrap(), CompressionLevel::Fastest);
        std::fs::write(&path, &compressed).unwrap();
        let expected = Codex.read(&plain, None).unwrap();
        let batch = Codex.read(&path, None).unwrap();
        assert_eq!((&batch.turns, batch.whole), (&expected.turns, true));
        let again = Codex.read(&path, Some(&batch.cursor)).unwrap();
        assert_eq!(again, Batch { cursor: batch.cursor, ..Batch::default() });

        std::fs::write(&path, &compressed[..compressed.len() / 2]).unwrap();
        let torn = Codex.read(&path, Some(&again.cursor)).unwrap();
        assert!(expected.turns.starts_with(&torn.turns) && torn.turns.len() < expected.turns.len());
        assert_eq!((torn.whole, torn.cursor), (false, Cursor::default()));
    }
    let path = folder.path().join("rollout-a.jsonl.zst");
    std::fs::write(&path, "no frame").unwrap();
    assert_eq!(Codex.read(&path, None).unwrap().skipped.counts[UNREADABLE], 1);
}

#[test]
fn a_long_folder_is_not_copied_into_each_turn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout-a.jsonl");
    let long = "f".repeat(1 << 20);
    let meta = format!(
        "{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{long}\",\"parent_thread_id\":\"{long}\",\"cwd\":\"{long}\"}}}}\n"
    );
    let turn = "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":\"hi\"}}\n";
    std::fs::write(&path, meta + &turn.repeat(3)).unwrap();
    let turns = Codex.read(&path, None).unwrap().turns;
    assert_eq!(turns.len(), 3);
    assert!(turns.iter().all(|turn| turn.size() < 32 << 10), "{:?}", turns.iter().map(Turn::size).max());
}

#[test]
fn the_last_line_of_a_compressed_file_may_lack_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout-a.jsonl.zst");
    let line = br#"{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}"#;
    std::fs::write(&path, compress_to_vec(&line[..], CompressionLevel::Fastest)).unwrap();
    assert_eq!(Codex.read(&path, None).unwrap().turns.len(), 1);
}

#[test]
fn a_broken_compressed_file_is_read() {
    let file =
        [0, 1, 2].map(|part| format!("{{\"type\":\"event_msg\",\"payload\":{{\"a\":{part}}}}}\n").repeat(40)).concat();
    corpus::check_mutations_of(
        &Codex,
        "rollout-a.jsonl.zst",
        &compress_to_vec(file.as_bytes(), CompressionLevel::Fastest),
    );
}
