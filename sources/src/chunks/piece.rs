//! Blocks, and parts of those that do not fit: pieces that are never cut again.

use std::collections::HashMap;

use unicode_segmentation::UnicodeSegmentation;

use super::words;
use crate::hash::hash;
use crate::notes::{BlockKind, NoteBlock};
use crate::tokens::TokenCount;

/// Bytes that count as a token at least: a word of 100 kB is one token for some models.
const BYTES_A_TOKEN: usize = 16;

/// A part of a note that is never cut again.
#[derive(Debug)]
pub struct Piece {
    /// Its first byte.
    pub start: usize,
    /// Where the next begins.
    pub end: usize,
    /// Its tokens.
    pub cost: usize,
    /// The level of the heading that it is or begins, and the number of its block.
    pub heading: Option<(u8, usize)>,
    /// It is repeated whole, or not at all.
    pub whole: bool,
    /// Identifies it in this run and later ones.
    pub key: u64,
}

impl Piece {
    /// The level of the heading that it is.
    pub fn level(&self) -> Option<u8> {
        self.heading.map(|(level, _)| level)
    }
}

/// The pieces of a note.
pub struct Pieces<'a> {
    /// In their order. None is empty, or costs more than the limit without the spaces at its end.
    pub list: Vec<Piece>,
    text: &'a str,
    limit: usize,
    tokens: &'a dyn TokenCount,
    /// How often a text was a piece already: equal pieces get different keys.
    seen: HashMap<u64, u64>,
}

/// Units that a text is cut into if it is too long, in this order.
#[derive(Clone, Copy)]
enum Cut {
    Lines,
    Sentences,
    Words,
}

impl<'a> Pieces<'a> {
    /// Cuts the blocks of `text`.
    pub fn of(text: &'a str, blocks: &[NoteBlock], limit: usize, tokens: &'a dyn TokenCount) -> Self {
        let mut pieces = Pieces { list: Vec::new(), text, limit, tokens, seen: HashMap::new() };
        let ends = blocks.iter().skip(1).map(|block| block.start).chain([text.len()]);
        for (index, (block, end)) in blocks.iter().zip(ends).enumerate() {
            let first = pieces.list.len();
            pieces.add(block.start, end, Cut::Lines, block.kind == BlockKind::Fence);
            if let BlockKind::Heading { level, .. } = block.kind
                && let Some(piece) = pieces.list.get_mut(first)
            {
                piece.heading = Some((level, index));
                piece.whole = true;
            }
        }
        pieces
    }

    /// Adds a part of the text, cut if it does not fit.
    fn add(&mut self, start: usize, end: usize, cut: Cut, whole: bool) {
        let part = self.text.get(start..end).unwrap_or_default();
        if part.trim().is_empty() {
            return self.add_blank(end, self.tokens.count(part));
        }
        let least = part.len().div_ceil(BYTES_A_TOKEN);
        let cost = if least > self.limit { least } else { least.max(self.tokens.count(part)) };
        if cost <= self.limit {
            return self.push(start, end, cost, whole);
        }
        let parts: &mut dyn Iterator<Item = &str> = match cut {
            Cut::Lines => &mut part.split_inclusive('\n'),
            Cut::Sentences => &mut words::without_long_gaps(part).flat_map(str::split_sentence_bounds),
            Cut::Words => return self.add_words(start, part),
        };
        let next = match cut {
            Cut::Lines => Cut::Sentences,
            _ => Cut::Words,
        };
        let mut at = start;
        for part in parts {
            let begin = at;
            at += part.len();
            self.add(begin, at, next, whole);
        }
    }

    fn add_words(&mut self, start: usize, part: &str) {
        let tokens = self.tokens;
        let cost = |text: &str| tokens.count(text).max(text.len().div_ceil(BYTES_A_TOKEN));
        for (from, to, cost) in words::cut(part, self.limit, &cost) {
            match part.get(from..to) {
                Some(blank) if blank.trim().is_empty() => self.add_blank(start + to, cost),
                _ => self.push(start + from, start + to, cost, true),
            }
        }
    }

    /// Spaces and empty lines belong to what is before them.
    fn add_blank(&mut self, end: usize, cost: usize) {
        if let Some(last) = self.list.last_mut() {
            last.end = end;
            last.cost += cost;
        }
    }

    fn push(&mut self, start: usize, end: usize, cost: usize, whole: bool) {
        let hash = hash(self.text.get(start..end).unwrap_or_default().trim_end().as_bytes());
        let seen = self.seen.entry(hash).or_default();
        let key = hash.wrapping_add(seen.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        *seen += 1;
        self.list.push(Piece { start, end, cost, heading: None, whole, key });
    }
}
