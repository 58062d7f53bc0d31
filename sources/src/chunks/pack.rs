//! Which pieces share a chunk.

use std::collections::HashSet;
use std::ops::Range;

use super::limits::Limits;
use super::piece::Piece;

/// Fills chunks with pieces, in their order.
pub fn pack(pieces: &[Piece], limits: &Limits, cuts: &HashSet<u64>) -> Vec<Range<usize>> {
    let packer = Packer { pieces, limits, cuts };
    let mut chunks = Vec::new();
    let (mut start, mut section) = (0, NO_SECTION);
    while start < pieces.len() {
        let end = packer.end(start, &mut section, true);
        chunks.push(start..end);
        start = end;
    }
    chunks
}

/// The level outside all headings: every heading is above it.
const NO_SECTION: u8 = u8::MAX;

struct Packer<'a> {
    pieces: &'a [Piece],
    limits: &'a Limits,
    cuts: &'a HashSet<u64>,
}

impl Packer<'_> {
    /// Where the chunk ends that begins at `start`. `section` is the level of the heading that was last before.
    ///
    /// It ends
    /// - at a cut of the run before, but if the chunk is small and what would be the next fits in, it may go on
    ///   (`may_join`);
    /// - at a heading that is not below the last one, unless the chunk is small;
    /// - where the next piece does not fit in.
    fn end(&self, start: usize, section: &mut u8, may_join: bool) -> usize {
        let Some(first) = self.pieces.get(start) else { return start };
        let Limits { tokens: limit, overlap } = *self.limits;
        let repeats = start > 0 && first.heading.is_none();
        let room = if repeats { limit - overlap } else { limit };
        let mut sum = first.cost;
        *section = first.level().unwrap_or(*section);
        let mut at = start + 1;
        while let Some(piece) = self.pieces.get(at) {
            let is_small = sum * 4 < limit;
            let fits = sum + self.with_next(at) <= room;
            if self.is_cut(at) && !(may_join && is_small && fits && sum + self.next_cost(at, *section) <= room) {
                return at;
            }
            if !is_small && piece.level().is_some_and(|level| level <= *section) {
                return at;
            }
            if !fits {
                return self.cut_within(at, limit.saturating_sub(sum)).unwrap_or(at);
            }
            sum += piece.cost;
            *section = piece.level().unwrap_or(*section);
            at += 1;
        }
        at
    }

    /// The cost of a piece; of a heading together with its content, if a chunk could have both.
    fn with_next(&self, at: usize) -> usize {
        let mut sum = 0;
        for piece in self.pieces.get(at..).unwrap_or_default() {
            sum += piece.cost;
            if piece.heading.is_none() || sum > self.limits.tokens {
                break;
            }
        }
        let alone = self.pieces.get(at).map_or(0, |piece| piece.cost);
        if sum <= self.limits.tokens { sum } else { alone }
    }

    /// The cost of the chunk that would begin at `at`.
    fn next_cost(&self, at: usize, mut section: u8) -> usize {
        let end = self.end(at, &mut section, false);
        self.pieces.get(at..end).unwrap_or_default().iter().map(|piece| piece.cost).sum()
    }

    /// The next cut of the run before, if what is before it costs no more than `room` and has no heading: a chunk rather
    /// repeats less of the one before than ends elsewhere.
    fn cut_within(&self, from: usize, mut room: usize) -> Option<usize> {
        for (at, piece) in self.pieces.iter().enumerate().skip(from) {
            if at > from && self.is_cut(at) {
                return Some(at);
            }
            if piece.heading.is_some() {
                return None;
            }
            room = room.checked_sub(piece.cost)?;
        }
        None
    }

    fn is_cut(&self, at: usize) -> bool {
        self.pieces.get(at).is_some_and(|piece| self.cuts.contains(&piece.key))
    }
}
