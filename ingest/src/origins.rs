//! Origin ids of chunks, of turns, and of memories of other systems.

use std::collections::HashMap;

use memorist_engine::types::{MAX_LABEL_BYTES, Origin};
use memorist_sources::moving::System;
use sha2::{Digest, Sha256};

/// The chunks of one note: the same text under the same headings is the same chunk, at any position in the note.
pub struct Chunks<'a> {
    thread: &'a str,
    seen: HashMap<[u8; 32], u64>,
}

impl<'a> Chunks<'a> {
    /// The chunks of the note with this thread.
    pub fn of(thread: &'a str) -> Self {
        Chunks { thread, seen: HashMap::new() }
    }

    /// The origin of the next chunk, by its embedded text.
    pub fn next(&mut self, context: &str, text: &str) -> Origin {
        let content = hash(&["chunk", self.thread, context, text]);
        let times = self.seen.entry(content).or_default();
        *times += 1;
        if *times == 1 { shortened(content) } else { shortened(hash_bytes(&[&content, &times.to_le_bytes()])) }
    }
}

/// The origin of a part of a turn: its format, its id there, and the number of the part.
pub fn turn(format: &str, id: &str, part: u64) -> Origin {
    shortened(hash(&["turn", format, id, &part.to_string()]))
}

/// The origin of a chunk that another system has made of a file: its key there. No other origin is the same.
pub fn moved(system: &str, key: &str) -> Origin {
    shortened(hash(&["moved", system, key]))
}

/// The thread of a file that another system has read: the same file is read here into other chunks.
pub fn moved_thread(system: System, thread: &str) -> String {
    let mut named = format!("{system}:{thread}");
    named.truncate(named.floor_char_boundary(MAX_LABEL_BYTES));
    named
}

pub fn is_moved_thread(thread: &str) -> bool {
    let rest = System::ALL.into_iter().find_map(|system| thread.strip_prefix(system.name()));
    rest.is_some_and(|rest| rest.starts_with(':'))
}

/// A hash that tells a memory of another system from every other.
pub fn identity(parts: &[&str]) -> [u8; 8] {
    let [a, b, c, d, e, f, g, h, ..] = hash(parts);
    [a, b, c, d, e, f, g, h]
}

fn hash(parts: &[&str]) -> [u8; 32] {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    hash_bytes(&parts)
}

fn hash_bytes(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

fn shortened(hash: [u8; 32]) -> Origin {
    let (first, _) = hash.as_chunks::<16>();
    Origin::from_bytes(first[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Origins are in the stores of users: another rule would read everything a second time.
    #[test]
    fn origins_stay_what_they_are() {
        let mut chunks = Chunks::of("/notes/a.md");
        let first = chunks.next("A", "text");
        assert_eq!(first.to_string(), "8617b71051b424cadb0404fbdc003c0f");
        let again = chunks.next("A", "text");
        assert_ne!(again, first, "a text that stands twice in a note is two chunks");
        assert_eq!(Chunks::of("/notes/a.md").next("A", "text"), first);
        assert_ne!(Chunks::of("/notes/b.md").next("A", "text"), first);
        assert_ne!(Chunks::of("/notes/a.md").next("At", "ext"), first);
        assert_eq!(turn("codex", "id", 0).to_string(), "e15470d5f916ef5415ff1fdeb76a3b09");
        assert_ne!(turn("codex", "id", 0), turn("codex", "id", 1));
        assert_eq!(moved("gimli", "main:c1").to_string(), "5ff4e60e32174175ed10f13e6eb58de5");
        let thread = moved_thread(System::Gimli, "/notes/a.md");
        assert_eq!((thread.as_str(), is_moved_thread(&thread)), ("gimli:/notes/a.md", true));
        assert!(!is_moved_thread("/notes/gimli:a.md") && !is_moved_thread("gimlis.md"));
        assert_eq!(identity(&["memory", "krolik", "1"]), [42, 220, 68, 228, 84, 201, 112, 245]);
    }
}
