//! About how many tokens a text has, and cutting it.

/// ASCII characters of a token, at least. Words of English have more, code and numbers fewer.
const ASCII_PER_TOKEN: usize = 3;

/// About how many tokens `text` has: rather too many than too few.
pub(super) fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(ASCII_PER_TOKEN) + others
}

/// The beginning of `text` that has about so many tokens.
pub(super) fn cut(text: &str, most: usize) -> &str {
    // In thirds of a token, as ASCII characters are.
    let (mut left, mut end) = (most.saturating_mul(ASCII_PER_TOKEN), 0);
    for (at, c) in text.char_indices() {
        let cost = if c.is_ascii() { 1 } else { ASCII_PER_TOKEN };
        if cost > left {
            return &text[..end];
        }
        left -= cost;
        end = at + c.len_utf8();
    }
    text
}

/// The first half of `text`; `None` if it is too short for one.
pub(super) fn half(text: &str) -> Option<&str> {
    /// Shorter texts are not refused for their length.
    const SHORTEST: usize = 64;
    (text.len() >= 2 * SHORTEST).then(|| &text[..text.floor_char_boundary(text.len() / 2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_and_cut_in_every_script() {
        assert_eq!((tokens(""), tokens("abcdef"), tokens("\u{65e5}\u{672c}")), (0, 2, 2));
        assert_eq!(
            (cut("abcdefgh", 2), cut("\u{65e5}\u{672c}\u{8a9e}", 2), cut("abc", 9)),
            ("abcdef", "\u{65e5}\u{672c}", "abc")
        );
        assert_eq!(cut("anything", 0), "");
        for text in ["a".repeat(999), "\u{65e5}a".repeat(300), "\u{1f600}".repeat(99)] {
            assert!(tokens(cut(&text, 50)) <= 50 && tokens(cut(&text, 50)) >= 48);
            let half = half(&text).unwrap();
            assert!(half.len() <= text.len() / 2 && half.len() + 4 > text.len() / 2);
        }
        assert_eq!(half("short"), None);
    }
}
