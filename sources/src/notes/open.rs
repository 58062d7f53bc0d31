//! The text of a note's file that is cut into chunks.

use std::borrow::Cow;
use std::path::Path;

use super::data::without_data;
use super::decode::{Decoded, decode};
use super::kind::{NoteKind, ending, kind_of};
use super::{asciidoc, canvas, mdx};

/// The text of a note that is cut into chunks.
#[derive(Debug)]
pub struct NoteText<'a> {
    /// The text without embedded data and NUL.
    pub text: Cow<'a, str>,
    pub kind: NoteKind,
    /// Whether the encoding was guessed: the file names none, and is no UTF-8.
    pub is_guessed: bool,
    /// Lines of the text, ascending, each with its line in the file. Empty: the lines are those of the file.
    places: Vec<(u64, u64)>,
}

impl NoteText<'_> {
    /// Where the lines from one to another stand in the file.
    pub fn place(&self, (first, last): (u64, u64)) -> (u64, u64) {
        let place = |line| {
            let before = self.places.partition_point(|(from, _)| *from <= line);
            before.checked_sub(1).and_then(|at| self.places.get(at)).map_or(line, |(_, place)| *place)
        };
        (place(first), place(last))
    }
}

/// Reads a note's file, whose name determines its syntax. `None` if it is no text.
pub fn open<'a>(path: &Path, bytes: &'a [u8]) -> Option<NoteText<'a>> {
    let Decoded { text, is_guessed } = decode(bytes)?;
    let kind = kind_of(path);
    let (text, places) = match (kind, ending(path).as_str()) {
        (_, "mdx") => (map(text, mdx::without_code), Vec::new()),
        (_, "canvas") => canvas::read(&text).map(|(text, places)| (Cow::Owned(text), places))?,
        (NoteKind::AsciiDoc, _) => (map(text, asciidoc::without_comments), Vec::new()),
        _ => (text, Vec::new()),
    };
    Some(NoteText { text: map(text, without_data), kind, is_guessed, places })
}

/// Applies `without` to a text.
fn map<'a>(text: Cow<'a, str>, without: fn(&str) -> Cow<'_, str>) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => without(text),
        Cow::Owned(text) => Cow::Owned(without(&text).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 44.11: a place of the text is one of the file.
    #[test]
    fn lines_of_the_text_are_places_of_the_file() {
        let places = vec![(1, 3), (3, 4), (7, 5)];
        let note = NoteText { text: "".into(), kind: NoteKind::Text, is_guessed: false, places };
        let places = [(1, 1), (1, 2), (2, 6), (3, 9), (20, 20)].map(|lines| note.place(lines));
        assert_eq!(places, [(3, 3), (3, 3), (3, 4), (4, 5), (5, 5)]);
        let note = open(Path::new("a.md"), b"a\nb\n").unwrap();
        assert_eq!(note.place((1, 2)), (1, 2));
    }

    /// 44.11: the name of a file says how it is read.
    #[test]
    fn a_note_is_read_as_its_name_says() {
        let read = |name: &str, bytes: &[u8]| open(Path::new(name), bytes).map(|note| note.text.into_owned());
        let text = "import 'x'\n\n// y\nz\n";
        assert_eq!(read("a.md", text.as_bytes()).unwrap(), text);
        assert_eq!(read("a.MDX", text.as_bytes()).unwrap(), "\n\n// y\nz\n");
        assert_eq!(read("a.adoc", text.as_bytes()).unwrap(), "import 'x'\n\n\nz\n");
        assert_eq!(read("a.canvas", text.as_bytes()), None);
        assert_eq!(read("a.canvas", br#"{"nodes":[{"id":"a","type":"text","text":"b"}]}"#).unwrap(), "b");
        let image = format!("![a](data:image/png;base64,{})", "A".repeat(100));
        assert_eq!(read("a.mdx", image.as_bytes()).unwrap(), "![a](data:image/png;base64)");
        assert_eq!(read("a.asciidoc", &[0; 100]), None);
    }
}
