//! A file, and why it has no text.

use hayro_font::hayro_syntax::{LoadPdfError, Pdf};

use super::content::PdfReader;
use super::layout::Layout;
use super::outcome::{NoPdfText, PdfText};
use super::string::title;

/// The text of all pages, in bytes.
const MAX_TEXT: usize = 16 << 20;

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
