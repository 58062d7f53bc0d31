//! Where a text is cut: Viterbi's algorithm over the pieces.

use super::packed::{UNKNOWN, Vocabulary};

/// A piece of a text.
pub struct Cut<'a> {
    /// Its token.
    pub id: u32,
    /// Its characters.
    pub text: &'a str,
}

/// The best way to a place in the text.
#[derive(Clone, Copy)]
struct Way {
    score: f32,
    /// The last piece on it: where it begins, and its token.
    from: u32,
    id: u32,
}

const NO_WAY: Way = Way { score: f32::NEG_INFINITY, from: 0, id: UNKNOWN };

/// Passes the pieces of `text` to `take`: those whose scores have the largest sum. A character that no piece stands for is an
/// unknown one.
pub fn cut(vocabulary: &Vocabulary, text: &str, mut take: impl FnMut(Cut<'_>)) {
    let mut ways = vec![NO_WAY; text.len() + 1];
    ways[0].score = 0.0;
    for (start, char) in text.char_indices() {
        let before = ways[start].score;
        let mut reach = |end: usize, id: u32, score: f32| {
            let score = before + score;
            // Of equals the longer last piece: it was found first.
            if score > ways[end].score {
                ways[end] = Way { score, from: start as u32, id };
            }
        };
        for (id, length) in vocabulary.beginning(&text[start..]) {
            reach(start + length, id, vocabulary.score(id));
        }
        reach(start + char.len_utf8(), UNKNOWN, vocabulary.unknown_score());
    }
    let mut cuts = Vec::new();
    let mut end = text.len();
    while end > 0 {
        let way = ways[end];
        cuts.push((way.from as usize..end, way.id));
        end = way.from as usize;
    }
    for (range, id) in cuts.into_iter().rev() {
        take(Cut { id, text: &text[range] });
    }
}
