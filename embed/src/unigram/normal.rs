//! What a text becomes before it is cut: as SentencePiece's `nmt_nfkc` has it, with one mark for spaces in a row.
//!
//! Each character is replaced by what the model's own table says (its compatibility form, a space, nothing); then letters and
//! their marks are composed. SentencePiece has a table of all compositions; the rules of Unicode give the same.

use unicode_normalization::UnicodeNormalization;

/// What stands for a space, and before the first word.
pub const SPACE: char = '\u{2581}';

/// The text as it is cut; empty if nothing is left of it. `replaced` says what replaces a character, if anything does.
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

/// A character, or what replaces it.
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
