//! One line of a page, also where it is read from right to left.
//!
//! Programs draw the letters of Hebrew and Arabic from left to right, as they stand on the page, and the parts of such a line
//! in any order. So the parts of a line are sorted by their places, and put into the order of reading by the inverse of the
//! Unicode bidirectional algorithm.

use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};
use unicode_normalization::UnicodeNormalization as _;

/// A gap between letters that is a space, in ems.
pub const SPACE: f64 = 0.16;
/// How far parts of a line are from one another at most, in ems: beyond it is another column.
pub const COLUMN: f64 = 2.0;

/// A line, while it is put together, then the next one of its paragraph.
#[derive(Default)]
pub struct TextLine {
    parts: Vec<LinePart>,
    bytes: usize,
    is_right_to_left: bool,
    /// How many letters of the paragraph are read from right to left, less the others.
    to_left: i64,
}

/// Letters that were drawn one after the other.
struct LinePart {
    start: f64,
    end: f64,
    text: String,
}

impl TextLine {
    /// Whether it has letters that are read from right to left, or will with these.
    pub fn is_right_to_left_with(&self, letters: &str) -> bool {
        self.is_right_to_left || is_right_to_left(letters)
    }

    /// Adds letters between these two places. They begin a part, or continue the last one, after a space if there is one.
    pub fn add(&mut self, letters: &str, (start, end): (f64, f64), begins_part: bool, after_space: bool) {
        if begins_part || self.parts.is_empty() {
            self.parts.push(LinePart { start, end, text: String::new() });
        }
        let Some(part) = self.parts.last_mut() else { return };
        let bytes = part.text.len();
        if after_space {
            part.text.push(' ');
        }
        (part.start, part.end) = (part.start.min(start), part.end.max(end));
        let before = part.text.len();
        letters.chars().for_each(|letter| match letter {
            // Ligatures of Latin, and the forms that Arabic letters take within a word.
            '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' => part.text.extend(std::iter::once(letter).nfkc()),
            _ => part.text.push(letter),
        });
        self.to_left += part.text[before..].chars().map(way).sum::<i64>();
        if is_right_to_left(&part.text[before..]) {
            self.is_right_to_left = true;
            // Letters of one glyph are in the order of reading already.
            let turned: String = part.text[before..].chars().rev().collect();
            part.text.replace_range(before.., &turned);
        }
        self.bytes += part.text.len() - bytes;
    }

    /// The bytes of its letters.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Ends it, and begins another one. The text is in the order of reading: a line for each column.
    pub fn take(&mut self, em: f64) -> String {
        let to_left = self.to_left;
        let TextLine { mut parts, is_right_to_left, .. } =
            std::mem::replace(self, TextLine { to_left, ..TextLine::default() });
        let in_order_of_reading = |visual: &str| in_order_of_reading(visual, to_left >= 0);
        if !is_right_to_left {
            let mut last_end = f64::MAX;
            return parts.into_iter().fold(String::new(), |text, part| {
                let gap = match (text.is_empty(), part.start < last_end) {
                    (true, _) => "",
                    (false, true) => "\n",
                    (false, false) => " ",
                };
                last_end = part.end;
                text + gap + &part.text
            });
        }
        parts.sort_by(|a, b| a.start.total_cmp(&b.start));
        let (mut columns, mut visual, mut last_end) = (Vec::new(), String::new(), None::<f64>);
        for part in parts {
            let gap = last_end.map_or(0.0, |end| part.start - end);
            if gap > COLUMN * em {
                columns.push(in_order_of_reading(&std::mem::take(&mut visual)));
            } else if gap > SPACE * em {
                visual.push(' ');
            }
            visual.push_str(&part.text);
            last_end = Some(last_end.map_or(part.end, |end| end.max(part.end)));
        }
        columns.push(in_order_of_reading(&visual));
        columns.reverse();
        columns.join("\n")
    }
}

/// The letters of a line, which are given from left to right.
fn in_order_of_reading(visual: &str, is_right_to_left: bool) -> String {
    let reverse = |text: &str| text.chars().rev().collect::<String>();
    match is_right_to_left {
        true => reverse(&reordered(&reverse(visual), Level::rtl())),
        false => reordered(visual, Level::ltr()),
    }
}

/// The letters in the order in which they would be drawn.
fn reordered(text: &str, level: Level) -> String {
    let info = BidiInfo::new(text, Some(level));
    info.paragraphs.iter().map(|paragraph| info.reorder_line(paragraph, paragraph.range.clone())).collect()
}

/// Whether letters are read from right to left.
fn is_right_to_left(letters: &str) -> bool {
    letters.chars().any(|letter| way(letter) > 0)
}

/// 1 for a letter that is read from right to left, -1 for another letter.
fn way(letter: char) -> i64 {
    match bidi_class(letter) {
        BidiClass::R | BidiClass::AL => 1,
        BidiClass::L => -1,
        _ => 0,
    }
}
