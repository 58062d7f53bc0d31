//! Made notes in `tests/corpus/notes`. A word such as `kept-1` has to be found, and one such as `gone-1` must not.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use super::open;
use crate::chunks::{Limits, Note, chunk};
use crate::tokens::{Estimate, TokenCount as _};

fn marks<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    let is_end = |letter: char| !letter.is_alphanumeric() && letter != '-';
    text.split(is_end).filter(move |mark| mark.strip_prefix(word).is_some_and(|rest| rest.parse::<u8>().is_ok()))
}

/// Checks a file of the corpus. `stands` says whether a line of a chunk stands in these lines of the file.
fn check(name: &str, stands: impl Fn(&str, &[&str]) -> bool) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/notes").join(name);
    let bytes = fs::read(&path).unwrap();
    let open = open(&path, &bytes).unwrap();
    let file = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = file.split('\n').collect();
    for tokens in [30, 80, 400] {
        let limits = Limits { tokens, overlap: 0 };
        let Note { title, properties, tags, chunks, .. } =
            chunk(&open.text, open.kind, &limits, &Estimate, &HashSet::new());
        assert!(chunks.iter().all(|chunk| Estimate.count(&chunk.text) <= tokens));
        for chunk in &chunks {
            let (first, last) = open.place(chunk.lines);
            let there = &lines[first as usize - 1..last as usize];
            for (at, line) in chunk.text.split('\n').enumerate() {
                let there = if last - first == chunk.lines.1 - chunk.lines.0 { &there[at..=at] } else { there };
                assert!(stands(line, there), "{name}: {line:?} is not in {there:?}");
            }
        }
        let texts = chunks.into_iter().map(|chunk| chunk.text);
        let all: Vec<String> = texts.chain(title).chain([properties]).chain(tags).collect();
        let all = all.join("\n");
        let found: BTreeSet<&str> = marks(&all, "kept-").collect();
        assert_eq!(found, marks(&file, "kept-").collect(), "{name}, {tokens}");
        assert_eq!(marks(&all, "gone-").count(), 0, "{name}, {tokens}");
        assert!(found.len() > 5 && marks(&file, "gone-").count() > 3);
    }
}

/// 44.11: a chunk of text stands in its lines, but for what is left out of them.
#[test]
fn mdx_and_asciidoc_are_read_whole() {
    // A comment within a line leaves what is at both of its sides.
    let parts = |there: &str| there.contains("{/* gone") || there.starts_with("//");
    let stands = |line: &str, there: &[&str]| {
        there[0].contains(line) || (parts(there[0]) && line.split("  ").all(|part| there[0].contains(part)))
    };
    check("launch.mdx", stands);
    check("launch.adoc", stands);
}

/// 44.11: a text of a canvas stands in the line of its node.
#[test]
fn a_canvas_is_read_whole() {
    check("launch.canvas", |line, there| {
        there.iter().any(|node| line.replace('"', "\\\"").split('#').all(|part| node.contains(part)))
    });
}
