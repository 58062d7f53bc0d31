//! Normalization of a text before it is cut: SentencePiece's `nmt_nfkc`, with one mark for spaces in a row.
//!
//! Each character is replaced as the model's own table says (by its compatibility form, a space, or nothing); then letters and
//! their marks are composed. SentencePiece has a table of all compositions; the rules of Unicode give the same.

use unicode_normalization::UnicodeNormalization;

/// The mark for a space, which also precedes the first word.
pub const SPACE: char = '\u{2581}';

/// The normalized text; empty if nothing is left of it. `replaced` returns the replacement of a character, if it has one.
pub fn normal<'a>(text: &str, replaced: impl Fn(char) -> Option<&'a [char]>) -> String {
    let mut normal = String::with_capacity(text.len() + text.len() / 8 + SPACE.len_utf8());
    let mut space = true;
    for char in text.chars().flat_map(|char| Parts::new(char, replaced(char))).nfc() {
        if char == ' ' {
            space = true;
            continue;
        }
        if space {
            normal.push(SPACE);
            space = false;
        }
        normal.push(char);
    }
    normal
}

/// A character, or its replacement.
struct Parts<'a> {
    one: Option<char>,
    many: std::slice::Iter<'a, char>,
}

impl<'a> Parts<'a> {
    fn new(char: char, replaced: Option<&'a [char]>) -> Self {
        // The end of a text in C: no piece has one.
        let one = (replaced.is_none() && char != '\0').then_some(char);
        Parts { one, many: replaced.unwrap_or_default().iter() }
    }
}

impl Iterator for Parts<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.one.take().or_else(|| self.many.next().copied())
    }
}
