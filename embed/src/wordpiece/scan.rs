//! A text cut into words, and these into tokens.

use super::model::Model;
use super::normal::{self, CharPart};

/// Takes tokens.
pub trait Sink {
    fn push(&mut self, id: u32);
    fn len(&self) -> usize;
    /// Takes back those after the first `len`.
    fn truncate(&mut self, len: usize);
    /// A word ends, as it is after normalization, and whether tokens make it up.
    fn word(&mut self, _word: &[u8], _known: bool) {}
}

impl Sink for Vec<u32> {
    fn push(&mut self, id: u32) {
        self.push(id);
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn truncate(&mut self, len: usize) {
        self.truncate(len);
    }
}

/// Counts tokens.
#[derive(Debug, Default)]
pub struct Count(pub usize);

impl Sink for Count {
    fn push(&mut self, _id: u32) {
        self.0 += 1;
    }

    fn len(&self) -> usize {
        self.0
    }

    fn truncate(&mut self, len: usize) {
        self.0 = len;
    }
}

/// Counts characters of words that tokens make up, and of others.
#[derive(Debug, Default)]
pub struct Characters {
    pub known: usize,
    pub unknown: usize,
}

impl Sink for Characters {
    fn push(&mut self, _id: u32) {}

    fn len(&self) -> usize {
        0
    }

    fn truncate(&mut self, _len: usize) {}

    fn word(&mut self, word: &[u8], known: bool) {
        *(if known { &mut self.known } else { &mut self.unknown }) += characters(word);
    }
}

/// Passes the tokens of `text` to `sink`.
pub fn scan(model: &Model, text: &str, sink: &mut impl Sink) {
    let mut rest = 0;
    if let Some(added) = &model.added {
        for found in added.texts.find_iter(text) {
            words(model, &text[rest..found.start()], sink);
            if let Some(id) = added.ids.get(found.pattern().as_usize()) {
                sink.push(*id);
            }
            rest = found.end();
        }
    }
    words(model, &text[rest..], sink);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Punctuation,
    Letter,
    /// Dropped within a word.
    Control,
    /// The first byte of a longer character.
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Wide; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => Class::Space,
            _ if byte.is_ascii_punctuation() => Class::Punctuation,
            _ if byte.is_ascii_alphanumeric() => Class::Letter,
            _ => Class::Control,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

fn words(model: &Model, text: &str, sink: &mut impl Sink) {
    let bytes = text.as_bytes();
    let mut normal = String::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match class(byte) {
            Class::Space | Class::Control => at += 1,
            Class::Punctuation => {
                let id = model.punctuation[usize::from(byte & 0x7F)];
                sink.push(id);
                sink.word(&[byte], id != model.unknown);
                at += 1;
            }
            Class::Letter => {
                let letters = bytes[at..].iter().take_while(|byte| class(**byte) == Class::Letter).count();
                let end = at + letters;
                match bytes.get(end).map(|byte| class(*byte)) {
                    Some(Class::Wide | Class::Control) => at += wide(model, &text[at..], &mut normal, sink),
                    _ => {
                        word(model, &bytes[at..end], sink);
                        at = end;
                    }
                }
            }
            Class::Wide => at += wide(model, &text[at..], &mut normal, sink),
        }
    }
}

/// A word of any characters at the beginning of `text`, with what ends it. Returns how many bytes were read.
fn wide(model: &Model, text: &str, normal: &mut String, sink: &mut impl Sink) -> usize {
    normal.clear();
    let mut barrier = 0;
    for (index, char) in text.char_indices() {
        normal::parts(char, |part| match part {
            CharPart::Letter(char) => normal.push(char),
            // A word that is too long is unknown in any order.
            CharPart::Mark(char) if normal.len() > 4 * model.max_chars => normal.push(char),
            CharPart::Mark(char) => insert_mark(normal, barrier, char),
            CharPart::Barrier => barrier = normal.len(),
            CharPart::Space => {
                end_word(model, normal, sink);
                barrier = 0;
            }
            CharPart::Punctuation(char) => {
                end_word(model, normal, sink);
                barrier = 0;
                word(model, char.encode_utf8(&mut [0; 4]).as_bytes(), sink);
            }
        });
        if normal.is_empty() {
            return index + char.len_utf8();
        }
    }
    end_word(model, normal, sink);
    text.len()
}

/// Adds a mark before those at the end that have a higher class and are behind the barrier.
fn insert_mark(normal: &mut String, barrier: usize, mark: char) {
    let higher = |char: &char| normal::class(*char) > normal::class(mark);
    let movable = normal.get(barrier..).unwrap_or_default();
    let after: usize = movable.chars().rev().take_while(higher).map(char::len_utf8).sum();
    normal.insert(normal.len() - after, mark);
}

fn end_word(model: &Model, normal: &mut String, sink: &mut impl Sink) {
    if !normal.is_empty() {
        word(model, normal.as_bytes(), sink);
        normal.clear();
    }
}

/// The tokens of a word, or the unknown one.
fn word(model: &Model, word: &[u8], sink: &mut impl Sink) {
    let known = pieces(model, word, sink);
    if !known {
        sink.push(model.unknown);
    }
    sink.word(word, known);
}

/// The tokens of a word: each time the longest. `false`, and none, if they do not make up the word.
fn pieces(model: &Model, word: &[u8], sink: &mut impl Sink) -> bool {
    // A short word cannot be too long.
    if word.len() > model.max_chars && characters(word) > model.max_chars {
        return false;
    }
    let before = sink.len();
    let (mut rest, mut start) = (word, model.vocabulary.words);
    while !rest.is_empty() {
        let Some((length, id)) = model.vocabulary.longest(start, rest) else {
            sink.truncate(before);
            return false;
        };
        sink.push(id);
        rest = &rest[length..];
        start = model.vocabulary.pieces;
    }
    true
}

/// Characters of a text: bytes that continue one are not counted.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}
