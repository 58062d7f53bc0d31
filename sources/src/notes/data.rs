//! Data in a note that has no text: embedded images, and drawings of Excalidraw.

use std::borrow::Cow;

use memchr::memmem;

/// The beginning of an address that contains the data itself.
const DATA: &str = "data:";
/// Minimum bytes of data that is left out, and maximum bytes of its kind.
const LEAST: usize = 64;
const KIND: usize = 100;
/// The beginning of a fence with a drawing.
const DRAWING: &str = "```compressed-json";

/// A text without embedded data. Its lines stay where they are.
pub fn without_data(text: &str) -> Cow<'_, str> {
    let text = without_images(text);
    if text.contains(DRAWING) { Cow::Owned(without_drawings(&text)) } else { text }
}

fn without_images(text: &str) -> Cow<'_, str> {
    let (mut kept, mut from) = (String::new(), 0);
    for at in memmem::find_iter(text.as_bytes(), DATA) {
        let rest = &text[at..];
        let is_end = |letter: char| letter.is_whitespace() || "()<>\"'`".contains(letter);
        let kind = rest[..rest.floor_char_boundary(KIND.min(rest.len()))].find(',');
        let Some(start) = kind.filter(|_| at >= from).filter(|end| is_kind(&rest[DATA.len()..*end])) else { continue };
        let length = rest[start + 1..].find(is_end).unwrap_or(rest.len() - start - 1);
        if length >= LEAST {
            kept.push_str(&text[from..at + start]);
            from = at + start + 1 + length;
        }
    }
    if from == 0 { Cow::Borrowed(text) } else { Cow::Owned(kept + &text[from..]) }
}

/// Whether this is a type of files, such as `image/png;base64`.
fn is_kind(text: &str) -> bool {
    text.contains('/') && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/;=.+-".contains(&byte))
}

/// A fence that never ends is no drawing.
fn without_drawings(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut drawing: Option<String> = None;
    for line in text.split_inclusive('\n') {
        match &mut drawing {
            Some(_) if line.trim_end() == "```" => {
                drawing = None;
                kept.push_str(line);
            }
            Some(drawing) => {
                drawing.push_str(line);
                kept.extend(line.ends_with('\n').then_some('\n'));
            }
            None => {
                drawing = line.starts_with(DRAWING).then(String::new);
                kept.push_str(line);
            }
        }
    }
    if let Some(drawing) = drawing {
        kept.truncate(kept.len() - newlines(&drawing));
        kept.push_str(&drawing);
    }
    kept
}

fn newlines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 44.9: images and drawings are left out, and the lines stay.
    #[test]
    fn images_and_drawings_are_left_out() {
        let image = "iVBORw0KGgo".repeat(40);
        let note = format!(
            "# A\n\n![shot](data:image/png;base64,{image})\nafter <img src=\"data:image/svg+xml;utf8,{image}\">\n\
             ```compressed-json\nN4KA{image}\n\n{image}\n```\n%%\n"
        );
        let left = without_data(&note);
        assert_eq!(
            left,
            "# A\n\n![shot](data:image/png;base64)\nafter <img src=\"data:image/svg+xml;utf8\">\n\
             ```compressed-json\n\n\n\n```\n%%\n"
        );
        assert_eq!(left.lines().count(), note.lines().count());
    }

    /// 44.9: text that only looks like data is kept.
    #[test]
    fn other_text_is_kept() {
        let long = "x".repeat(200);
        for text in [
            format!("The data: one, two, {long}"),
            format!("data:,{long} and data:text/plain,short"),
            format!("see metadata:a b/c,{long}"),
            format!("```compressed-json\n{long}\n{long}"),
            format!("```json\n{long}\n```\n"),
        ] {
            assert_eq!(without_data(&text), text);
        }
        let many = "data:a/b,".repeat(300_000);
        assert!(without_data(&many).len() < 100);
    }
}
