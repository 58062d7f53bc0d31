//! Invisible characters. Within a token or a label they would hide it.

use std::ops::Range;

/// `text` without its invisible characters, if it has any, with a mapping to the original.
pub(super) fn without(text: &str) -> Option<Visible> {
    if text.is_ascii() || !text.contains(is_invisible) {
        return None;
    }
    let mut visible = Visible { text: String::with_capacity(text.len()), removed: Vec::new() };
    for (at, c) in text.char_indices() {
        if is_invisible(c) {
            visible.removed.push((visible.text.len(), at + c.len_utf8()));
        } else {
            visible.text.push(c);
        }
    }
    Some(visible)
}

/// A text without invisible characters.
pub(super) struct Visible {
    pub text: String,
    /// For each removed one, its place, and where the original continues after it.
    removed: Vec<(usize, usize)>,
}

impl Visible {
    /// Where `range` is in the original.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        self.place(range.start)..range.end.checked_sub(1).map_or(0, |last| self.place(last) + 1)
    }

    fn place(&self, at: usize) -> usize {
        let before = self.removed.partition_point(|(place, _)| *place <= at);
        before.checked_sub(1).map_or(at, |last| self.removed[last].1 + (at - self.removed[last].0))
    }
}

/// Format characters, variation selectors and fillers, as Unicode lists them as ignorable.
fn is_invisible(c: char) -> bool {
    #[rustfmt::skip]
    let is_ignorable = matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    );
    is_ignorable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_ranges_map_back_to_the_original_text() {
        let original = "a\u{200b}\u{feff}bc\u{ad} dé\u{2060}f";
        let visible = without(original).unwrap();
        assert_eq!(visible.text, "abc déf");
        for word in ["abc", "déf"] {
            let start = visible.text.find(word).unwrap();
            let found = &original[visible.original(start..start + word.len())];
            assert_eq!(found.replace(is_invisible, ""), word);
            assert!(!found.starts_with(is_invisible) && !found.ends_with(is_invisible), "{found:?}");
        }
        assert!(without("plain").is_none() && without("größer").is_none());
    }
}
