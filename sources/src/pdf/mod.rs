//! The text of a PDF, page by page.
//!
//! A PDF was written by somebody else, in a format in which a kilobyte can say gigabytes: it is run in a process of its
//! own, with limits (`ingest/src/pdf.rs`).
//!
//! | file | job |
//! |---|---|
//! | `document` | a file, and why it has no text |
//! | `outcome` | what is found in a PDF, or why nothing is |
//! | `content` | the letters that a page draws, each with its place |
//! | `string` | the texts that a PDF says beside its pages |
//! | `span` | glyphs that draw a text which the page says itself |
//! | `layout` | letters put together to words, lines and paragraphs |
//! | `line` | a line in the order of reading, also from right to left |

#[cfg(feature = "pdf")]
mod content;
#[cfg(feature = "pdf")]
mod document;
#[cfg(feature = "pdf")]
mod layout;
#[cfg(feature = "pdf")]
mod line;
mod outcome;
#[cfg(feature = "pdf")]
mod span;
#[cfg(feature = "pdf")]
mod string;
#[cfg(all(test, feature = "pdf"))]
mod tests;

#[cfg(feature = "pdf")]
pub use document::read;
pub use outcome::{NoPdfText, PdfText};

/// Whether this program was built to read PDFs.
pub const IS_READ: bool = cfg!(feature = "pdf");

/// Says that nothing was found: this program was built without what reads PDFs.
///
/// # Errors
/// Always.
#[cfg(not(feature = "pdf"))]
pub fn read(_bytes: Vec<u8>) -> Result<PdfText, NoPdfText> {
    Err(NoPdfText::UnknownLetters)
}
