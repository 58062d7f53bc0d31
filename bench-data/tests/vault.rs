//! A vault of notes: the same bytes for a seed, of a believable size and variety, with facts at their lines.

use std::collections::{HashMap, HashSet};

use bench_data::{Note, note, note_facts, vault};
use sha2::{Digest, Sha256};

fn checksum(notes: impl Iterator<Item = Note>) -> String {
    let mut hash = Sha256::new();
    notes.for_each(|note| hash.update(format!("{}\n{}\n", note.path, note.text)));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_seed_always_gives_the_same_bytes() {
    assert_eq!(checksum(vault(42, 300)), "cf573eff85e5645c274ed88ba784d50600b4be45fd1b035825966026a877c0c8");
    assert_ne!(checksum(vault(43, 300)), checksum(vault(42, 300)));
}

#[test]
fn a_vault_is_the_beginning_of_a_larger_one() {
    let (few, many): (Vec<_>, Vec<_>) = (vault(7, 50).collect(), vault(7, 400).collect());
    assert_eq!(few, many[..50]);
    assert_eq!(note(7, 321), many[321]);
    let facts: Vec<_> = note_facts(7, 400).collect();
    assert_eq!(note_facts(7, 50).collect::<Vec<_>>(), facts[..5]);
}

#[test]
fn ten_thousand_notes_are_of_the_promised_sizes_and_kinds() {
    let (mut paths, mut ends, mut bytes, mut longest, mut cjk, mut daily) =
        (HashSet::new(), HashMap::new(), 0, 0, 0, Vec::new());
    for note in vault(42, 10_000) {
        let end = note.path.rsplit('.').next().unwrap().to_owned();
        *ends.entry(end).or_insert(0) += 1;
        let is_safe = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '/' | '.');
        assert!(note.path.len() < 200 && note.path.chars().all(is_safe), "{}", note.path);
        assert!(!note.text.trim().is_empty() && note.text.ends_with('\n'), "{}", note.path);
        bytes += note.text.len();
        longest = longest.max(note.text.len());
        cjk += usize::from(note.text.chars().filter(|c| ('\u{3040}'..'\u{d7a4}').contains(c)).count() > 50);
        if note.path.starts_with("Daily/") {
            daily.push(note.text.len());
        }
        assert!(paths.insert(note.path.to_lowercase()), "{} twice", note.path);
    }
    assert!((30_000_000..50_000_000).contains(&bytes), "{bytes} bytes");
    assert!((50_000..62_000).contains(&longest), "{longest} bytes");
    assert!((300..1_200).contains(&cjk), "{cjk} with CJK");
    assert_eq!(daily.len(), 2_000);
    assert!(daily.iter().sum::<usize>() / daily.len() < 1_500);
    assert!(ends["md"] > 9_000 && ends["org"] > 200 && ends["txt"] > 200, "{ends:?}");
}

#[test]
fn notes_have_everything_that_a_reader_has_to_respect() {
    let all: Vec<_> = vault(42, 600).filter(|note| note.path.ends_with(".md")).collect();
    for (part, at_least) in [
        ("---\ntitle: ", 200),
        ("\ntags: [", 80),
        ("\ntags:\n  - ", 80),
        ("\n## ", 300),
        ("\n#### ", 50),
        ("\n- ", 200),
        ("\n  - ", 100),
        ("\n1. ", 100),
        ("\n- [x] ", 50),
        ("\n|---|", 80),
        ("\n```rust\n", 30),
        ("\n> ", 80),
        ("[[", 80),
        ("](", 40),
    ] {
        let with = all.iter().filter(|note| note.text.contains(part)).count();
        assert!(with >= at_least, "{with} notes have {part:?}");
    }
    assert!(all.iter().all(|note| note.text.matches("\n```").count().is_multiple_of(2)));
    let deep = all.iter().filter(|note| note.path.matches('/').count() == 3).count();
    assert!(deep > 40, "{deep} notes are three folders deep");
}

#[test]
fn links_lead_to_notes() {
    let all: Vec<_> = vault(42, 600).collect();
    let paths: HashSet<&str> = all.iter().map(|note| note.path.as_str()).collect();
    let stems: HashSet<&str> =
        paths.iter().map(|path| path.rsplit('/').next().unwrap().rsplit_once('.').unwrap().0).collect();
    let (mut wiki, mut relative) = (0, 0);
    for note in all.iter().filter(|note| note.path.ends_with(".md")) {
        for link in note.text.split("[[").skip(1) {
            let target = link.split(['|', ']']).next().unwrap();
            assert!(stems.contains(target), "{target} in {}", note.path);
            wiki += 1;
        }
        for link in note.text.split("](").skip(1) {
            let mut folder: Vec<&str> = note.path.split('/').collect();
            folder.pop();
            let target = link.split(')').next().unwrap().replace("%20", " ");
            let mut target = target.as_str();
            while let Some(rest) = target.strip_prefix("../") {
                folder.pop().unwrap();
                target = rest;
            }
            folder.push(target);
            assert!(paths.contains(folder.join("/").as_str()), "{folder:?} in {}", note.path);
            relative += 1;
        }
    }
    assert!(wiki > 100 && relative > 50, "{wiki} and {relative} links");
}

#[test]
fn a_fact_stands_on_its_line_and_nowhere_else() {
    let all: HashMap<_, _> = vault(42, 2_000).map(|note| (note.path, note.text)).collect();
    let facts: Vec<_> = note_facts(42, 2_000).collect();
    assert_eq!(facts.len(), 200);
    let mut lines = HashSet::new();
    for fact in &facts {
        assert!(fact.question.contains(&fact.mark) && fact.answer.contains(&fact.mark), "{fact:?}");
        assert!(fact.answer.ends_with('.'), "{fact:?} is on more lines");
        assert_eq!(all[&fact.path].lines().nth(fact.line - 1), Some(fact.answer.as_str()));
        lines.insert(fact.line);
    }
    assert!(lines.len() > 30, "facts stand on {} different lines", lines.len());
    let marks = |text: &str| text.matches("NF-").count();
    assert_eq!(all.values().map(|text| marks(text)).sum::<usize>(), facts.len());
    let distinct: HashSet<_> = facts.iter().map(|fact| &fact.mark).collect();
    assert_eq!(distinct.len(), facts.len());
}
