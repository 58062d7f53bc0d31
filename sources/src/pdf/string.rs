//! The texts that a PDF says beside its pages.

/// The title, in bytes.
const MAX_TITLE: usize = 512;
/// Titles of programs that had none.
const NO_TITLES: [&str; 3] = ["untitled", "(anonymous)", "(unspecified)"];

/// A text of a PDF: UTF-16 or UTF-8 with a mark, else Latin-1, which is nearly PDF's own encoding.
pub fn text_string(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xFE, 0xFF, rest @ ..] => encoding_rs::UTF_16BE.decode_without_bom_handling(rest).0.into_owned(),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        other => other.iter().map(|byte| char::from(*byte)).collect(),
    };
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// The title that these bytes say, unless a program invented it.
pub fn title(bytes: &[u8]) -> Option<String> {
    let text = text_string(bytes);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.get(..text.floor_char_boundary(MAX_TITLE)).unwrap_or_default();
    let is_title = !text.is_empty() && !NO_TITLES.iter().any(|none| text.eq_ignore_ascii_case(none));
    is_title.then(|| text.to_owned())
}
