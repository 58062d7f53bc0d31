//! A span of a page that says itself which text its glyphs draw (`ActualText`), as letters with marks do.

use hayro_font::kurbo::Point;

use super::layout::{Drawn, Layout};
use super::string::text_string;

/// Glyphs and bytes of a span at most: those of a longer one say more about its lines than its text does.
const MOST_GLYPHS: usize = 64;
const MOST_BYTES: usize = 1_024;
/// How far a glyph is above or below the first one at most, in ems.
const SAME_LINE: f64 = 0.6;

/// A span, while its glyphs are drawn.
pub struct Span {
    text: String,
    glyphs: Vec<Glyph>,
    /// Marked content within it that has not ended.
    depth: usize,
}

struct Glyph {
    letters: Option<String>,
    start: Point,
    end: Point,
    up: Point,
}

impl Span {
    /// A span that draws this text of a PDF. An empty one hides a hyphen, which joins two lines in the layout.
    pub fn new(text: &[u8]) -> Option<Self> {
        let text = (text.len() <= MOST_BYTES).then(|| text_string(text))?;
        (!text.trim().is_empty()).then(|| Span { text, glyphs: Vec::new(), depth: 0 })
    }

    /// Marked content begins within it.
    pub fn open(&mut self) {
        self.depth += 1;
    }

    /// Marked content ends. Returns whether it is this span.
    pub fn close(&mut self) -> bool {
        let ends = self.depth == 0;
        self.depth = self.depth.saturating_sub(1);
        ends
    }

    /// Keeps a glyph. Returns whether the span has too many.
    pub fn add(&mut self, glyph: &Drawn<'_>) -> bool {
        let Drawn { letters, start, end, up } = *glyph;
        self.glyphs.push(Glyph { letters: letters.map(str::to_owned), start, end, up });
        self.glyphs.len() > MOST_GLYPHS
    }

    /// Gives its text to a layout as one glyph, or its glyphs if they are more than a part of a line.
    pub fn draw(self, layout: &mut Layout) {
        let [first, .., last] = &*self.glyphs else {
            return self.glyphs.iter().for_each(|glyph| layout.add(&glyph.saying(Some(&self.text))));
        };
        let em = first.up - first.start;
        let height = em.hypot2();
        let is_one_line = |glyph: &Glyph| (glyph.start - first.start).dot(em).abs() <= SAME_LINE * height;
        if self.glyphs.len() <= MOST_GLYPHS && self.glyphs.iter().all(is_one_line) {
            layout.add(&Drawn { end: last.end, ..first.saying(Some(&self.text)) });
        } else {
            self.glyphs.iter().for_each(|glyph| layout.add(&glyph.saying(glyph.letters.as_deref())));
        }
    }
}

impl Glyph {
    fn saying<'a>(&self, letters: Option<&'a str>) -> Drawn<'a> {
        Drawn { letters, start: self.start, end: self.end, up: self.up }
    }
}
