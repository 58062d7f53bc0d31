//! A file or a folder that was found, and its contents.

use std::path::PathBuf;

/// A file or a folder that can be added as a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub path: PathBuf,
    pub what: What,
    /// How many files of this kind there are.
    pub files: u64,
    pub bytes: u64,
    /// When the newest was changed, in Unix milliseconds.
    pub newest: Option<i64>,
    /// Why some or all of it was not read.
    pub problem: Option<String>,
}

/// The contents of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Transcripts.
    Sessions {
        /// The name of their [`Format`](crate::formats::Format).
        format: &'static str,
    },
    /// Notes.
    Notes {
        /// Whose notes they are, or their kind, in words: `an Obsidian vault`.
        about: &'static str,
    },
}
