//! Threads: the records of one scope with the same session, in the order of their turns.
//!
//! Each segment has the thread and the turn of its records as columns. Sorted by both, which takes some milliseconds for
//! 100,000 records and happens once for a segment, they give the neighbours of a record in about a microsecond. A
//! thread that grows is spread over several segments and the tail.

use tantivy::DocId;

use super::scripts::is_unspaced;
use crate::types::RecordId;

/// The place of a record in its thread, as the index stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ThreadPlace {
    /// A hash of scope and session.
    pub(super) thread: u64,
    pub(super) turn: i64,
    pub(super) is_question: bool,
    pub(super) words: u32,
}

/// The words of a text. In a script without spaces, two characters are one.
pub fn count_words(text: &str) -> u32 {
    let of_run = |run: &str| run.chars().filter(|c| is_unspaced(*c)).count().div_ceil(2).max(1);
    text.split_whitespace().map(of_run).sum::<usize>().try_into().unwrap_or(u32::MAX)
}

/// Whether a text ends with a question mark, before closing brackets, quotes and marks of emphasis.
pub fn is_question(text: &str) -> bool {
    let closes = |c: char| c.is_whitespace() || "\"'”’»)]}*_".contains(c);
    text.trim_end_matches(closes).ends_with(['?', '？', '؟'])
}

/// The documents of a segment, or of a part of the tail, that belong to threads.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// The threads in ascending order, each with where its documents begin.
    starts: Vec<(u64, usize)>,
    /// The documents by thread, turn and id.
    docs: Vec<DocId>,
}

impl Threads {
    pub(super) fn new(mut places: Vec<(u64, i64, RecordId, DocId)>) -> Self {
        places.sort_unstable();
        let mut threads = Threads::default();
        for (at, (thread, _, _, doc)) in places.into_iter().enumerate() {
            if threads.starts.last().is_none_or(|(last, _)| *last != thread) {
                threads.starts.push((thread, at));
            }
            threads.docs.push(doc);
        }
        threads
    }

    pub(super) fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// The documents of a thread, in order.
    pub(super) fn docs(&self, thread: u64) -> &[DocId] {
        let Ok(at) = self.starts.binary_search_by_key(&thread, |(thread, _)| *thread) else { return &[] };
        let end = self.starts.get(at + 1).map_or(self.docs.len(), |(_, start)| *start);
        &self.docs[self.starts[at].1..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_also_without_spaces() {
        for (text, words) in [("", 0), (" a bc, d! ", 3), ("東京に住む", 3), ("in 東京 today", 3)] {
            assert_eq!(count_words(text), words, "{text}");
        }
    }

    #[test]
    fn a_question_ends_with_its_mark() {
        for question in ["Why?", "He asked: \"Why?\" ", "Really?!?", "(Why?)**", "为什么？", "لماذا؟"] {
            assert!(is_question(question), "{question}");
        }
        for other in ["", "Why", "Why? Because.", "?x", "\"'"] {
            assert!(!is_question(other), "{other}");
        }
    }

    #[test]
    fn documents_are_in_the_order_of_turns_and_then_of_ids() {
        let place = |thread, turn, id: i64, doc| (thread, turn, RecordId::from(id), doc);
        let threads = Threads::new(vec![place(7, 2, 1, 0), place(3, 5, 2, 1), place(7, 1, 4, 2), place(7, 1, 3, 3)]);
        assert_eq!(threads.docs(7), [3, 2, 0]);
        assert_eq!(threads.docs(3), [1]);
        assert!(threads.docs(4).is_empty() && threads.docs(8).is_empty() && !threads.is_empty());
    }
}
