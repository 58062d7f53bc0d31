//! The memories from outside: the same bytes for a seed, prefixes, and the form of an import line.

use std::collections::HashSet;

use bench_data::{MemoryRecord, memories, memory, write_jsonl};
use sha2::{Digest, Sha256};

fn checksum(seed: u64, count: usize) -> String {
    let mut bytes = Vec::new();
    write_jsonl(seed, count, &mut bytes).unwrap();
    Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_seed_always_gives_the_same_bytes() {
    assert_eq!(checksum(42, 1_000), "a7e1c56ddb6e9290872c2f4f134e317d4be1208a90c73a088ed3e0690e320314");
    assert_ne!(checksum(43, 1_000), checksum(42, 1_000));
}

#[test]
fn a_corpus_is_the_beginning_of_a_larger_one() {
    let small: Vec<_> = memories(7, 100).collect();
    let large: Vec<_> = memories(7, 3_000).collect();
    assert_eq!(small, large[..100]);
    assert_eq!(memory(7, 2_345), large[2_345]);
}

#[test]
fn a_line_has_the_parameters_of_memory_add() {
    let parameters = [
        "content", "entryType", "source", "context", "confidence", "importance", "tags", "project", "agent",
        "expiresAt",
    ];
    let mut seen = HashSet::new();
    let mut bytes = Vec::new();
    write_jsonl(3, 2_000, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    for (index, line) in text.lines().enumerate() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let fields = value.as_object().unwrap();
        for (name, value) in fields {
            assert!(parameters.contains(&name.as_str()) && !value.is_null(), "{line}");
            seen.insert(name.clone());
        }
        assert!(["content", "entryType", "importance", "tags"].iter().all(|name| fields.contains_key(*name)), "{line}");
        assert_eq!(serde_json::from_str::<MemoryRecord>(line).unwrap(), memory(3, index));
    }
    assert_eq!(text.lines().count(), 2_000);
    assert_eq!(seen.len(), parameters.len(), "only {seen:?}");
}
