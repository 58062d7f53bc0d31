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
        if piece.whole {
            match room.checked_sub(piece.cost) {
                Some(left) => (start, room) = (piece.start, left),
                None => break,
            }
        } else {
            let part = text.get(piece.start..piece.end).unwrap_or_default();
            let from = part.ceil_char_boundary(part.len().saturating_sub(room * BYTES_A_TOKEN));
            let tail = part.get(from..).unwrap_or_default();
            // The first is a whole one only if it is the beginning of the piece.
            let sentences: Vec<_> = tail.split_sentence_bound_indices().collect();
            for (at, sentence) in sentences.into_iter().rev() {
                match room.checked_sub(tokens.count(sentence)) {
                    Some(left) if at > 0 || from == 0 => (start, room) = (piece.start + from + at, left),
                    _ => return start,
                }
            }
        }
        if piece.heading.is_some() {
            break;
        }
    }
    start
}
