//! Text: paragraphs, with empty lines between them.

use super::block::{BlockKind, Outline, lines};

/// Finds the paragraphs.
pub fn read(text: &str) -> Outline {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut outline = Outline::default();
    let mut after_blank = true;
    for (at, line) in lines(text, start) {
        let blank = line.trim().is_empty();
        if !blank && after_blank {
            outline.begin(at, BlockKind::Text);
        }
        after_blank = blank;
    }
    outline
}
