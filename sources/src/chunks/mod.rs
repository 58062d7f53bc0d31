//! Blocks packed into chunks of a number of tokens.
//!
//! A chunk is a verbatim part of a note: some blocks, and before them the end of the chunk before. A later run cuts again at the
//! blocks that the chunks of the run before began with: so an edit changes the chunks around it, and no others.
//!
//! | file | job |
//! |---|---|
//! | `limits` | [`Limits`]: how long chunks are |
//! | `piece` | blocks, and parts of those that do not fit: pieces that are never cut again |
//! | `words` | a sentence that does not fit, cut between words |
//! | `pack` | which pieces share a chunk |
//! | `overlap` | how much of the chunk before is repeated |
//! | `tests` | the promises, on notes made at random |

mod limits;
mod overlap;
mod pack;
mod piece;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashSet;

use crate::notes::{self, NoteKind};
use crate::tokens::TokenCount;

pub use limits::Limits;

use piece::Pieces;

/// Another version cuts other chunks.
pub const VERSION: u32 = 2;

/// The bytes of the headings that a chunk has.
const MAX_HEADINGS: usize = 1 << 10;

/// A part of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// As it stands in the note, without empty lines around it.
    pub text: String,
    /// The headings above its first own line, the highest first, as far as they fit in 1 kB.
    pub headings: Vec<String>,
    /// Its first and last line, counted from 1, with the repeated ones.
    pub lines: (u64, u64),
    /// Identifies its first own block: given to the next run of this note, it cuts there again.
    pub start: u64,
}

/// A note that was cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Note {
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The tags that its front matter has.
    pub tags: Vec<String>,
    /// The properties of its front matter, each with its name, on one line; and the properties within the note that are not in
    /// its first chunk.
    pub properties: String,
    /// Where the note begins behind its front matter.
    pub front: usize,
    pub chunks: Vec<Chunk>,
}

/// Cuts a note. `cuts` are the [`Chunk::start`]s of the chunks that it had before; without any, the chunks depend on the text
/// alone.
pub fn chunk(text: &str, kind: NoteKind, limits: &Limits, tokens: &dyn TokenCount, cuts: &HashSet<u64>) -> Note {
    let limits = Limits { tokens: limits.tokens.max(1), overlap: limits.overlap.min(limits.tokens / 2) };
    let outline = notes::read(text, kind);
    let pieces = Pieces::of(text, &outline.blocks, limits.tokens, tokens);
    let mut chunks = Vec::new();
    let mut path: Vec<(u8, &str)> = Vec::new();
    let (mut before, mut first_end) = (0..0, None);
    let mut line = LineCounter { number: 1, at: 0 };
    for own in pack::pack(&pieces.list, &limits, cuts) {
        let (Some(passed), Some(pieces)) = (pieces.list.get(before.clone()), pieces.list.get(own.clone())) else {
            break;
        };
        for heading in passed.iter().filter_map(|piece| outline.heading(piece.heading?.1)) {
            path.retain(|(level, _)| *level < heading.0);
            path.push(heading);
        }
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { break };
        first_end.get_or_insert(last.end);
        let above = path.iter().filter(|(level, _)| first.level().is_none_or(|own| *level < own));
        let mut room_of_headings = MAX_HEADINGS;
        let mut fits = |text: &str| {
            let left = room_of_headings.checked_sub(text.len());
            room_of_headings = left.unwrap_or_default();
            left.is_some()
        };
        let cost: usize = pieces.iter().map(|piece| piece.cost).sum();
        let room = limits.overlap.min(limits.tokens.saturating_sub(cost));
        let start =
            if first.heading.is_some() { first.start } else { overlap::start(text, passed, first.start, room, tokens) };
        let whole = text.get(start..last.end).unwrap_or_default().trim_end();
        let body = whole.trim_start_matches(['\n', '\r']);
        let start = start + whole.len() - body.len();
        let first_line = line.of(text, start);
        let last_line = first_line + newlines(body);
        chunks.push(Chunk {
            text: body.to_owned(),
            headings: above.map(|(_, text)| (*text).to_owned()).take_while(|text| fits(text)).collect(),
            lines: (first_line, last_line),
            start: first.key,
        });
        before = own;
    }
    let later = outline.inline.into_iter().filter(|(at, _)| first_end.is_some_and(|end| *at >= end));
    let front = Some(outline.properties).filter(|front| !front.is_empty());
    let properties = front.into_iter().chain(later.map(|(_, property)| property)).collect::<Vec<_>>().join("; ");
    Note { title: outline.title, tags: outline.tags, properties, front: outline.start, chunks }
}

/// The number of a line, and a place in it.
struct LineCounter {
    number: u64,
    at: usize,
}

impl LineCounter {
    /// The line of a place that is not before the last one.
    fn of(&mut self, text: &str, at: usize) -> u64 {
        self.number += newlines(text.get(self.at..at).unwrap_or_default());
        self.at = at.max(self.at);
        self.number
    }
}

fn newlines(text: &str) -> u64 {
    // Sums of bytes, which a machine adds many at a time.
    let count = |part: &[u8]| u64::from(part.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>());
    text.as_bytes().chunks(usize::from(u8::MAX)).map(count).sum()
}
