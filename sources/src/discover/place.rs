//! What was found: a file or a folder, and what is there.

use std::path::PathBuf;

/// A file or a folder that can be added as a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Where it is.
    pub path: PathBuf,
    /// What is there.
    pub what: What,
    /// How many files of this kind there are.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// When the newest was changed, in Unix milliseconds.
    pub newest: Option<i64>,
    /// Why some of it, or all, was not read.
    pub problem: Option<String>,
}

/// What is in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Transcripts.
    Sessions {
        /// The name of their [`Format`](crate::formats::Format).
        format: &'static str,
    },
    /// Notes.
    Notes {
        /// Whose or what they are, in words: `an Obsidian vault`.
        about: &'static str,
    },
}
