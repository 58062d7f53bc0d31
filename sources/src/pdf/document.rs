//! A file, and why it has no text.

use hayro_font::hayro_syntax::{LoadPdfError, Pdf};

use super::content::PdfReader;
use super::layout::Layout;
use super::outcome::{NoPdfText, PdfText};

/// The text of all pages, in bytes.
const MAX_TEXT: usize = 16 << 20;
/// The title, in bytes.
const MAX_TITLE: usize = 512;
/// Titles of programs that had none.
const NO_TITLES: [&str; 3] = ["untitled", "(anonymous)", "(unspecified)"];

/// Reads a PDF.
///
/// # Errors
/// [`NoPdfText`], if there is nothing to be found in it.
pub fn read(bytes: Vec<u8>) -> Result<PdfText, NoPdfText> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(_) => NoPdfText::Encrypted,
        LoadPdfError::Invalid => NoPdfText::Damaged,
    })?;
    let reader = PdfReader::default();
    let (mut pages, mut size, mut known, mut unknown) = (Vec::new(), 0, 0, 0);
    for page in pdf.pages().iter() {
        let mut layout = Layout::new(MAX_TEXT - size);
        reader.read(page, &mut layout);
        let page = layout.finish().ok_or(NoPdfText::TooLarge)?;
        size += page.text.len();
        known += page.known;
        unknown += page.unknown;
        // A page of a font that says no letters is not read in part.
        pages.push(if page.known >= page.unknown { page.text } else { String::new() });
    }
    if pages.iter().all(String::is_empty) {
        return Err(match (pages.is_empty(), known + unknown) {
            (true, _) => NoPdfText::Damaged,
            (false, 0) => NoPdfText::OnlyImages,
            (false, _) if unknown > 0 => NoPdfText::UnknownLetters,
            (false, _) => NoPdfText::OnlyImages,
        });
    }
    Ok(PdfText { title: pdf.metadata().title.as_deref().and_then(title), pages })
}

/// The title: UTF-16 or UTF-8 with a mark, else Latin-1, which is nearly PDF's own encoding.
pub(super) fn title(bytes: &[u8]) -> Option<String> {
    let text = match bytes {
        [0xFE, 0xFF, rest @ ..] => encoding_rs::UTF_16BE.decode_without_bom_handling(rest).0.into_owned(),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        other => other.iter().map(|byte| char::from(*byte)).collect(),
    };
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.get(..text.floor_char_boundary(MAX_TITLE)).unwrap_or_default();
    let is_title = !text.is_empty() && !NO_TITLES.iter().any(|none| text.eq_ignore_ascii_case(none));
    is_title.then(|| text.to_owned())
}
