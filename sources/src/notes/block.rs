//! The parts of a note that a reader finds.

use std::borrow::Cow;
use std::ops::Range;

/// The bytes of a heading, a title or a tag that are kept: every chunk of a note has them, and one may be the whole file.
pub const SHORT: usize = 512;

/// The blocks of a note, in its order.
#[derive(Debug, Default)]
pub struct Outline {
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The tags that its front matter has.
    pub tags: Vec<String>,
    /// The other properties of its front matter, each with its name.
    pub properties: String,
    /// Properties within the note, each with its position.
    pub inline: Vec<(usize, String)>,
    /// Where the note begins behind its front matter.
    pub start: usize,
    /// Each block ends where the next begins, the last at the end of the note. Bytes before the first are no text.
    pub blocks: Vec<NoteBlock>,
}

/// A block: it begins at the beginning of a line.
#[derive(Debug, PartialEq, Eq)]
pub struct NoteBlock {
    /// Its first byte.
    pub start: usize,
    pub kind: BlockKind,
}

#[derive(Debug, PartialEq, Eq)]
pub enum BlockKind {
    Heading {
        /// 1 is the highest.
        level: u8,
        /// The text, without its marks.
        text: String,
    },
    /// A paragraph, an item of a list, a table, HTML.
    Text,
    /// Code, which is best left whole.
    Fence,
}

impl Outline {
    /// Level and text of the heading that is block number `index`.
    pub fn heading(&self, index: usize) -> Option<(u8, &str)> {
        match &self.blocks.get(index)?.kind {
            BlockKind::Heading { level, text } => Some((*level, text)),
            _ => None,
        }
    }

    /// Begins a block. One that begins in the same line replaces it only if that one has nothing of its own.
    pub fn begin(&mut self, start: usize, kind: BlockKind) {
        match self.blocks.last_mut() {
            Some(last) if last.start >= start => {
                if last.kind == BlockKind::Text {
                    last.kind = kind;
                }
            }
            _ => self.blocks.push(NoteBlock { start, kind }),
        }
    }
}

/// The beginning of a heading, a title or a tag.
pub fn shortened(text: &str) -> String {
    text.get(..text.floor_char_boundary(SHORT)).unwrap_or_default().to_owned()
}

/// The lines of a text with their positions; each has its line break.
pub fn lines(text: &str, from: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = from;
    text.get(from..).unwrap_or_default().split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

/// A text without some parts of it, which are in their order. Its lines stay where they are.
pub fn without<'a>(text: &'a str, parts: &[Range<usize>]) -> Cow<'a, str> {
    if parts.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut kept, mut from) = (String::with_capacity(text.len()), 0);
    for part in parts {
        kept.push_str(text.get(from..part.start).unwrap_or_default());
        let breaks = text.get(part.clone()).unwrap_or_default().bytes().filter(|byte| *byte == b'\n');
        kept.extend(breaks.map(|_| '\n'));
        from = part.end;
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(kept)
}
