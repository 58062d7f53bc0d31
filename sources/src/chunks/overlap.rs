//! How much of the chunk before is repeated.

use unicode_segmentation::UnicodeSegmentation;

use super::piece::Piece;
use crate::tokens::TokenCount;

/// Bytes that are looked through for each token: more than sentences have.
const BYTES_A_TOKEN: usize = 8;

/// Where a chunk begins that repeats at most `room` tokens of `before`, the pieces of the chunk before its `end`: whole
/// sentences or lines, and nothing from above a heading.
pub fn start(text: &str, before: &[Piece], end: usize, room: usize, tokens: &dyn TokenCount) -> usize {
    let (mut start, mut room) = (end, room);
    for piece in before.iter().rev() {
        match room.checked_sub(piece.cost) {
            Some(left) => (start, room) = (piece.start, left),
            None if piece.whole => break,
            None => {
                let part = text.get(piece.start..piece.end).unwrap_or_default();
                return within(part, room, tokens).map_or(start, |at| piece.start + at);
            }
        }
        if piece.heading.is_some() {
            break;
        }
    }
    start
}

/// Where the last sentences of `part` begin that have at most `room` tokens.
fn within(part: &str, mut room: usize, tokens: &dyn TokenCount) -> Option<usize> {
    let from = part.ceil_char_boundary(part.len().saturating_sub(room * BYTES_A_TOKEN));
    let sentences: Vec<_> = part.get(from..)?.split_sentence_bound_indices().collect();
    let mut start = None;
    for (at, sentence) in sentences.into_iter().rev() {
        // The first is a whole one only if it is the beginning of the part.
        if at == 0 && from > 0 {
            break;
        }
        match room.checked_sub(tokens.count(sentence)) {
            Some(left) => (start, room) = (Some(from + at), left),
            None => break,
        }
    }
    start
}
