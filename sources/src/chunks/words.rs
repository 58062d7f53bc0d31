//! A sentence that does not fit, cut between words.
//!
//! The text itself determines the cuts: an edit moves no other cut. Without that each word would be a piece, and a file may be
//! one sentence of 64 MiB.

use unicode_segmentation::UnicodeSegmentation;

/// A word of more characters may be cut, and one of twice as many is.
const LONGEST_WORD: usize = 128;
/// A part has at least this many bytes, if its tokens fit.
const LEAST: usize = 32;
/// Characters between two letters that make a gap, at which a text is cut.
const GAP: usize = 256;
/// One word out of this many ends a part.
const ONE_OUT_OF: u32 = 8;

/// Parts of a text, with their costs: beginning, end, cost.
pub fn cut(text: &str, limit: usize, cost: &dyn Fn(&str) -> usize) -> Vec<(usize, usize, usize)> {
    let most = (limit / 8).max(1);
    let mut parts = Vec::new();
    let (mut start, mut at, mut sum) = (0, 0, 0);
    each_word(text, LONGEST_WORD.min(limit.div_ceil(6)), &mut |word| {
        let own = cost(word);
        if sum > 0 && sum + own > most {
            parts.push((start, at, sum));
            (start, sum) = (at, 0);
        }
        at += word.len();
        sum += own;
        if at - start >= LEAST && ends_a_part(word) {
            parts.push((start, at, sum));
            (start, sum) = (at, 0);
        }
    });
    if at > start {
        parts.push((start, at, sum));
    }
    parts
}

/// The text in parts, cut within long gaps between letters. After a dot, a sentence may begin at each character of a gap, and all
/// characters that follow are looked at to know.
pub fn without_long_gaps(text: &str) -> impl Iterator<Item = &str> {
    let mut gap = 0;
    text.split_inclusive(move |char: char| {
        gap = if char.is_alphanumeric() { 0 } else { gap + 1 };
        let is_long = gap == GAP;
        gap %= GAP;
        is_long
    })
}

/// Words with the spaces behind them. One of more than `longest` characters is cut, if it can be, between letters and
/// others.
fn each_word(text: &str, longest: usize, take: &mut dyn FnMut(&str)) {
    let (mut start, mut length, mut last) = (0, 0, Kind::Space);
    for (at, cluster) in text.grapheme_indices(true) {
        let kind = Kind::of(cluster);
        let is_end = (last == Kind::Space && kind != Kind::Space)
            || (length >= longest && (last, kind) != (Kind::Letter, Kind::Letter))
            || length >= 2 * longest;
        if at > start && is_end {
            take(text.get(start..at).unwrap_or_default());
            (start, length) = (at, 0);
        }
        length += 1;
        last = kind;
    }
    if start < text.len() {
        take(text.get(start..).unwrap_or_default());
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Letter,
    Other,
}

impl Kind {
    fn of(cluster: &str) -> Self {
        match cluster.chars().next() {
            Some(char) if char.is_whitespace() => Kind::Space,
            Some(char) if char.is_alphanumeric() => Kind::Letter,
            _ => Kind::Other,
        }
    }
}

fn ends_a_part(word: &str) -> bool {
    let mixed = word.bytes().fold(0u32, |mixed, byte| (mixed ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (mixed >> 8).is_multiple_of(ONE_OUT_OF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_within_long_gaps_only() {
        let parts = |text: &str| without_long_gaps(text).map(str::len).collect::<Vec<_>>();
        assert_eq!(parts("One. Two, 3.5 - 4? \u{e9}"), [21]);
        let gap = " ".repeat(GAP - 1);
        assert_eq!(parts(&format!("a{gap}b{gap}c")), [2 * GAP + 1]);
        assert_eq!(parts(&format!("a.{gap}b")), [GAP + 1, 1]);
        assert_eq!(parts(&format!("a.{}b", " ".repeat(2 * GAP))), [GAP + 1, GAP, 2]);
    }
}
