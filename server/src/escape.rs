//! Escapes what a terminal would interpret or hide.
//!
//! A memory may be written by anybody. An escape sequence in it could set the clipboard, and a character that changes
//! the text direction could make a line read as another. All output for people goes through [`text`], all JSON through
//! [`Json`] or [`Escaped`], which escape the same characters: for a parser, the document is unchanged.
//!
//! Joiners (U+200C, U+200D) stay: scripts and emoji need them. Of the variation selectors, which can encode a hidden
//! text byte by byte, only the first U+FE0E or U+FE0F after a visible character stays, as emoji need it.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::ser::{CompactFormatter, Formatter};

/// Each character of `text` that is escaped, with its position.
fn escaped_chars(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut before = None;
    text.char_indices().filter(move |&(_, character)| {
        let is_chosen = matches!(character, '\u{fe0e}' | '\u{fe0f}') && before.is_some_and(is_visible);
        before = Some(character);
        needs_escape(character) || is_selector(character) && !is_chosen
    })
}

/// Whether `character` selects a variant of the one before it.
fn is_selector(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether `character` is visible by itself.
fn is_visible(character: char) -> bool {
    let is_joiner = matches!(character, '\u{200c}' | '\u{200d}');
    !character.is_whitespace() && !needs_escape(character) && !is_selector(character) && !is_joiner
}

/// Whether `character` is always escaped.
pub fn needs_escape(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // C0, DEL, C1.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Text direction.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        // Line ends that not every program treats as such.
        '\u{2028}' | '\u{2029}' => true,
        // Invisible: soft hyphen, zero-width spaces, operators and marks, annotations, tags.
        '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' => true,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// `text` with what a terminal would interpret or hide as `<U+001B>`. A carriage return before a line feed is dropped.
pub fn text(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut from = 0;
    for (at, character) in escaped_chars(text) {
        shown.push_str(&text[from..at]);
        from = at + character.len_utf8();
        if character != '\r' || !text[from..].starts_with('\n') {
            shown.push_str(&format!("<U+{:04X}>", u32::from(character)));
        }
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    Cow::Owned(shown + &text[from..])
}

/// `text` without what [`text`] escapes.
pub fn visible(text: &str) -> String {
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    for (at, character) in escaped_chars(text) {
        shown.push_str(&text[from..at]);
        from = at + character.len_utf8();
    }
    shown + &text[from..]
}

/// Writes JSON in which the same characters are escapes.
#[derive(Debug, Default)]
pub struct Json(CompactFormatter);

impl Formatter for Json {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut from = 0;
        for (at, character) in escaped_chars(fragment) {
            writer.write_all(&fragment.as_bytes()[from..at])?;
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            from = at + character.len_utf8();
        }
        writer.write_all(&fragment.as_bytes()[from..])
    }
}

/// Passes JSON to a terminal, escaping the same characters. Each write must consist of whole characters, as those of
/// `serde_json` do.
#[derive(Debug)]
pub struct Escaped<W>(pub W);

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Json::default().write_string_fragment(&mut self.0, text)?,
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Passes text for people to a terminal, escaped. Each write must consist of whole characters, as logged events do.
#[derive(Debug)]
pub struct EscapingWriter<W>(pub W);

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(text(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::Value;

    use super::*;

    #[test]
    fn terminal_controls_are_escaped_and_ordinary_text_stays() {
        for (hostile, shown) in [
            ("\u{1b}]52;c;ZXZpbA==\u{7}", "<U+001B>]52;c;ZXZpbA==<U+0007>"),
            ("\u{9b}2J\u{7f}\u{8}", "<U+009B>2J<U+007F><U+0008>"),
            ("safe\u{202e}drowssap", "safe<U+202E>drowssap"),
            ("a\rb\r\nc\r", "a<U+000D>b\nc<U+000D>"),
            ("\u{e0041}\u{200b}", "<U+E0041><U+200B>"),
            ("❤\u{fe0f}\u{fe0f} \u{fe0e}", "❤\u{fe0f}<U+FE0F> <U+FE0E>"),
            ("a\u{fe00}\u{e0100}\u{e01ef}", "a<U+FE00><U+E0100><U+E01EF>"),
        ] {
            assert_eq!(text(hostile), shown);
            assert_eq!(text(&text(hostile)), shown, "once is enough");
        }
        for harmless in ["a\n\tb", "Grüße, 日本, שלום, سلام", "👩\u{200d}🚀 ❤\u{fe0f}", "می\u{200c}خواهم", "e\u{301}"]
        {
            assert!(matches!(text(harmless), Cow::Borrowed(_)), "{harmless}");
        }
    }

    #[test]
    fn json_escapes_the_same_and_says_the_same() {
        let said = (0..=0xE01FF).filter_map(char::from_u32).collect::<String>();
        let mut bytes = Vec::new();
        said.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Json::default())).unwrap();
        let mut escaped = Escaped(Vec::new());
        serde_json::to_writer(&mut escaped, &said).unwrap();
        assert!(bytes == escaped.0, "both escape the same");
        let written = String::from_utf8(bytes).unwrap();
        assert!(matches!(text(&written), Cow::Borrowed(_)), "nothing is left to obey");
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), Value::String(said));
    }
}
