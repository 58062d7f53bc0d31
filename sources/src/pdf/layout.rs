//! Letters put together to words, lines and paragraphs.
//!
//! They are taken in the order in which they are drawn, which is the order of reading with nearly every program: columns stay
//! apart, which they would not if letters were sorted by their places.

use hayro_font::kurbo::{Point, Vec2};

use super::line::{COLUMN, SPACE, TextLine};

/// How far a letter is beside the line, or before the last letter, if it is not of that line.
const OTHER_LINE: f64 = 0.6;
/// How far a part of a line is above or below another one at most.
const SAME_LINE: f64 = 0.2;
/// How far lines of a paragraph are from one another at most.
const LINES: f64 = 1.9;
/// How far a letter is from another one that it makes bold.
const BOLD: f64 = 0.12;

/// The way of a line whose letters do not say theirs.
const RIGHT: Vec2 = Vec2::new(1.0, 0.0);

/// A glyph that is drawn.
pub struct Drawn<'a> {
    /// The letters that it stands for, if that is known.
    pub letters: Option<&'a str>,
    /// Where it begins, where the next one would, and the place that is an em above its beginning.
    pub start: Point,
    pub end: Point,
    pub up: Point,
}

/// The text of a page, while it is put together.
pub struct Layout {
    /// The lines before the one that is drawn.
    text: String,
    line: TextLine,
    /// The glyph that was drawn last, and its size.
    last: Option<(Point, Point, f64)>,
    last_letters: String,
    known: usize,
    unknown: usize,
    /// Bytes that the text may have.
    room: usize,
}

pub struct PageText {
    /// Its lines; an empty one between paragraphs.
    pub text: String,
    /// How many glyphs it has of which the letters are known, and how many others.
    pub known: usize,
    pub unknown: usize,
}

impl Layout {
    /// A page whose text has at most so many bytes.
    pub fn new(room: usize) -> Self {
        Layout {
            text: String::new(),
            line: TextLine::default(),
            last: None,
            last_letters: String::new(),
            known: 0,
            unknown: 0,
            room,
        }
    }

    /// Whether there is more text than fits.
    pub fn is_full(&self) -> bool {
        self.text.len() + self.line.len() > self.room
    }

    pub fn add(&mut self, glyph: &Drawn<'_>) {
        let Some(letters) = glyph.letters.filter(|letters| letters.chars().all(is_letter)) else {
            self.unknown += 1;
            return;
        };
        let size = (glyph.up - glyph.start).hypot();
        if ![glyph.start.x, glyph.start.y, glyph.end.x, glyph.end.y, size].into_iter().all(f64::is_finite) {
            return;
        }
        self.known += 1;
        let gap = self.gap(glyph, letters, size);
        match gap {
            Gap::Repeated => return,
            Gap::None | Gap::Space | Gap::Part => {}
            Gap::Line => self.end_line("\n"),
            Gap::Paragraph => {
                self.end_line("\n\n");
                self.line = TextLine::default();
            }
        }
        let way = unit(glyph.end - glyph.start).unwrap_or(RIGHT);
        let place = (way.dot(glyph.start.to_vec2()), way.dot(glyph.end.to_vec2()));
        self.line.add(letters, place, matches!(gap, Gap::Part), matches!(gap, Gap::Space));
        self.last = Some((glyph.start, glyph.end, size));
        letters.clone_into(&mut self.last_letters);
    }

    fn end_line(&mut self, end: &str) {
        let em = self.last.map_or(0.0, |(_, _, size)| size);
        self.text.push_str(&self.line.take(em));
        self.text.push_str(end);
    }

    /// The distance from the last glyph to the next one.
    fn gap(&self, next: &Drawn<'_>, letters: &str, size: f64) -> Gap {
        let Some((start, end, last_size)) = self.last else { return Gap::None };
        let em = size.max(last_size).max(f64::MIN_POSITIVE);
        // Letters without a size all have one place.
        if size > 0.0 && (next.start - start).hypot() < BOLD * em && letters == self.last_letters {
            return Gap::Repeated;
        }
        let direction = unit(end - start).or_else(|| unit(next.end - next.start)).unwrap_or(RIGHT);
        let way = next.start - end;
        let (along, across) = (direction.dot(way) / em, direction.cross(way) / em);
        let turns = unit(next.end - next.start).is_some_and(|next| next.dot(direction) < 0.9);
        // From right to left, a narrow letter may be near the last one and yet before it.
        let ends_before = direction.dot(next.end - start) / em < SPACE && direction.dot(next.end - next.start) > 0.0;
        match () {
            () if !turns && ends_before && across.abs() < SAME_LINE && self.line.is_right_to_left_with(letters) => {
                Gap::Part
            }
            () if !turns && across.abs() < OTHER_LINE && along > -OTHER_LINE => {
                if along > COLUMN {
                    Gap::Part
                } else if along > SPACE {
                    Gap::Space
                } else {
                    Gap::None
                }
            }
            () if !turns && across.abs() < SAME_LINE => Gap::Part,
            // Upwards is another column.
            () if turns || !(-LINES..=OTHER_LINE).contains(&across) => Gap::Paragraph,
            () => Gap::Line,
        }
    }

    /// The text, unless there is more than fits.
    pub fn finish(mut self) -> Option<PageText> {
        self.end_line("");
        let Layout { known, unknown, .. } = self;
        (!self.is_full()).then(|| PageText { text: tidy(&self.text), known, unknown })
    }
}

/// The distance of two glyphs.
enum Gap {
    /// The second is the first once more: that makes it bold.
    Repeated,
    None,
    Space,
    /// The second is elsewhere on the line of the first.
    Part,
    Line,
    Paragraph,
}

fn unit(way: Vec2) -> Option<Vec2> {
    let length = way.hypot();
    (length > 0.0 && length.is_finite()).then(|| way / length)
}

/// Whether it is one that a text can have: not those that fonts use for their own ends.
fn is_letter(letter: char) -> bool {
    letter == '\t' || !(letter.is_control() || letter == '\u{fffd}' || ('\u{e000}'..='\u{f8ff}').contains(&letter))
}

/// Lines without spaces around them and with one space between words. A word that was broken at the end of a line is whole.
fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    for line in text.split('\n') {
        let words: Vec<&str> = line.split_whitespace().collect();
        let line = words.join(" ");
        if line.is_empty() {
            if !tidy.is_empty() && !tidy.ends_with("\n\n") {
                tidy.push('\n');
            }
            continue;
        }
        if let Some(length) = broken(&tidy, &line) {
            tidy.truncate(length);
        }
        tidy.push_str(&line);
        tidy.push('\n');
    }
    tidy.truncate(tidy.trim_end().len());
    tidy
}

/// The length of a text without the hyphen at its end, if that breaks a word which goes on with `next`.
fn broken(text: &str, next: &str) -> Option<usize> {
    let line = text.strip_suffix('\n')?;
    let word = line.strip_suffix(['-', '\u{ad}', '\u{2010}'])?;
    let goes_on = next.chars().next().is_some_and(char::is_lowercase);
    (goes_on && word.chars().next_back().is_some_and(char::is_lowercase)).then_some(word.len())
}
