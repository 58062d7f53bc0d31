//! The text that is found in a PDF, or why none is.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PdfText {
    /// Its title, if it says one.
    pub title: Option<String>,
    /// The text of each page: empty for one that is an image, or whose letters are not known.
    pub pages: Vec<String>,
}

/// Why a PDF has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoPdfText {
    /// It wants a password, or is encrypted in an unknown way.
    Encrypted,
    /// It is no PDF, or too broken to find its pages.
    Damaged,
    /// Its pages draw no letters.
    OnlyImages,
    /// It does not say which letters it draws.
    UnknownLetters,
    /// It has more text than is read, or takes more memory.
    TooLarge,
    /// It takes more time than it is given.
    TooSlow,
}
