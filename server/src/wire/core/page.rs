//! Lines within a number of tokens.

use super::super::convert::BYTES_PER_TOKEN;

/// An answer that grows line by line until it is full.
#[derive(Debug)]
pub struct Page {
    text: String,
    /// Bytes of the whole answer.
    whole: usize,
    /// Bytes that are left for lines.
    room: usize,
    lines: usize,
    is_full: bool,
}

/// Bytes that are kept for what follows the lines.
const FOOTER: usize = 240;
/// Bytes below which a text is not cut any further: it would say nothing.
const LEAST: usize = 80;

impl Page {
    /// An empty answer of at most this many tokens.
    pub fn new(max_tokens: usize) -> Self {
        let whole = max_tokens.saturating_mul(BYTES_PER_TOKEN);
        let room = whole.saturating_sub(FOOTER.min(whole / 3)).max(LEAST);
        Page { text: String::new(), whole: whole.max(LEAST * BYTES_PER_TOKEN), room, lines: 0, is_full: false }
    }

    /// Adds a line if there is room for it, cut where it has to be: `line` gets the most characters of its text. Returns
    /// whether it was added.
    pub fn add(&mut self, most: usize, line: impl Fn(usize) -> String) -> bool {
        if self.is_full {
            return false;
        }
        let mut text = line(most);
        if text.len() >= self.room {
            // The first line always comes, and others if most of them fits.
            let left = self.room.saturating_sub(LEAST);
            if self.lines > 0 && left < text.len() / 2 {
                self.is_full = true;
                return false;
            }
            text = line((left / 2).max(LEAST));
            let fits = |text: &str| text.len() < self.room;
            if !fits(&text) {
                text = line(LEAST / 2);
            }
            if !fits(&text) {
                if self.lines > 0 {
                    self.is_full = true;
                    return false;
                }
                text.truncate(text.floor_char_boundary(self.room.saturating_sub(4)));
                text.push('…');
            }
        }
        self.room = self.room.saturating_sub(text.len() + 1);
        self.text.push_str(&text);
        self.text.push('\n');
        self.lines += 1;
        true
    }

    /// How many lines it has.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Whether nothing more fits.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The answer, with those of the notes that fit, the first ones first.
    pub fn finish(mut self, notes: impl IntoIterator<Item = String>) -> String {
        for note in notes {
            if self.text.len() + note.len() < self.whole {
                self.text.push_str(&note);
                self.text.push('\n');
            }
        }
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_never_has_more_than_its_tokens() {
        for tokens in [1, 80, 100, 200, 1_000] {
            for length in [1, 50, 300, 5_000, 100_000] {
                let text = "é".repeat(length);
                let cut = |most| text.chars().take(most).collect();
                let whole = |_| text.clone();
                for line in [&cut as &dyn Fn(usize) -> String, &whole] {
                    let mut page = Page::new(tokens);
                    while page.add(usize::MAX, line) && page.lines() < 500 {}
                    assert!(page.lines() > 0);
                    let text = page.finish(["a note".to_owned(), "a long one ".repeat(90)]);
                    assert!(text.len() <= tokens.max(80) * BYTES_PER_TOKEN, "{tokens}, {length}: {}", text.len());
                }
            }
        }
    }
}
