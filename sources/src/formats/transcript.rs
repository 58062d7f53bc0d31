//! The interface of parsers, and the turns of sessions that they return.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::foreign::{Deadline, Foreign, Root};
use crate::machine::Machine;

/// Reads the transcripts of one agent.
pub trait Format: Send + Sync {
    /// Its name, which is also the source label of its turns: `claude-code`.
    fn name(&self) -> &'static str;

    /// The files and folders where the agent keeps its transcripts on this machine, whether they exist or not.
    fn places(&self, machine: &Machine) -> Vec<PathBuf>;

    /// The files and folders of a project that have transcripts, whether they exist or not.
    fn places_in(&self, _folder: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether a file below such a folder is a transcript, by its path alone.
    fn is_transcript(&self, path: &Path) -> bool;

    /// Whether a file is known not to be a transcript by its name, wherever it is.
    fn is_other(&self, _path: &Path) -> bool {
        false
    }

    /// The transcript of the main session of a subagent's transcript, if its path tells.
    fn main(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// Whether a transcript can take back turns: then turns that are missing after a whole reading are gone.
    fn takes_back(&self) -> bool {
        false
    }

    /// Whether an id that is no UUID is unique within its file only: another file may have the same.
    fn ids_are_of_files(&self) -> bool {
        false
    }

    /// Reads the turns of a file beyond `since`, or all of them, or a part of them if there are [more](Batch::more).
    ///
    /// # Errors
    /// [`ReadError`], if the file cannot be read at all. An unreadable record is counted in [`Batch::skipped`].
    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError>;

    /// Like [`Format::read_file`], for a file that belongs to no source. No link leads out of the folder that it is in.
    ///
    /// # Errors
    /// Errors of [`Format::read_file`].
    fn read(&self, path: &Path, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let path = &std::path::absolute(path)?;
        let (root, deadline) = (Root::around(path)?, Deadline::default());
        self.read_file(Foreign { root: &root, path, deadline: &deadline }, since)
    }
}

/// How far a file was read: JSON, in the shape of the format.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(pub String);

/// Bytes of a turn besides its texts.
const TURN: usize = 512;
/// Maximum number of files that are listed.
const NAMED_FILES: usize = 20;

/// Turns that were read of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// New turns, in the order of the file.
    pub turns: Vec<Turn>,
    /// Whether these are all the turns of the file: then turns that it had before and has no more are gone.
    pub whole: bool,
    /// Where the next call continues.
    pub cursor: Cursor,
    /// Whether the file has more turns than were read at once.
    pub more: bool,
    /// Whether the last line has no end yet: it is read when it has one, or when the file has been left alone for a while.
    pub is_torn: bool,
    /// How many records were passed over, by reason.
    pub skipped: Skipped,
}

/// How many records or files were skipped, by reason. A reason is a text of ours: texts of a file are kept as turns and chunks
/// only, where a purge finds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How often, by reason.
    pub counts: BTreeMap<&'static str, u64>,
    /// Whole files, and why: the first 20 of them.
    pub files: Vec<(PathBuf, &'static str)>,
    /// How many whole files there were.
    pub all_files: u64,
}

impl Skipped {
    pub fn count(&mut self, reason: &'static str) {
        *self.counts.entry(reason).or_default() += 1;
    }

    /// Counts a whole file, or a folder.
    pub fn count_file(&mut self, reason: &'static str, path: &Path) {
        self.count(reason);
        self.all_files += 1;
        if self.files.len() < NAMED_FILES {
            self.files.push((path.to_owned(), reason));
        }
    }

    /// Adds all of another.
    pub fn add(&mut self, other: Skipped) {
        other.counts.into_iter().for_each(|(reason, count)| *self.counts.entry(reason).or_default() += count);
        self.all_files += other.all_files;
        self.files.extend(other.files);
        self.files.truncate(NAMED_FILES);
    }
}

/// A message of the user or the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Distinguishes it from every other turn of this format, also in another file. A copy of it in the file of a
    /// resumed session has the same.
    pub id: String,
    pub session: String,
    pub role: Role,
    pub text: String,
    /// The name of the session, with its first turn.
    pub title: Option<String>,
    /// When, in Unix milliseconds.
    pub at: Option<i64>,
    pub cwd: Option<String>,
    pub branch: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    pub subagent: Option<String>,
    /// Its first and last line in the file, counted from 1. In a database, the number of its row.
    pub lines: (u64, u64),
}

impl Turn {
    /// A turn of which no more is known.
    pub fn new(session: String, role: Role, text: String, lines: (u64, u64)) -> Self {
        Turn {
            id: String::new(),
            session,
            role,
            text,
            title: None,
            at: None,
            cwd: None,
            branch: None,
            model: None,
            subagent: None,
            lines,
        }
    }

    /// About the bytes that it takes in memory.
    pub fn size(&self) -> usize {
        let labels = [&self.title, &self.cwd, &self.branch, &self.model, &self.subagent];
        let labels: usize = labels.into_iter().flatten().map(String::len).sum();
        TURN + self.text.len() + self.id.len() + self.session.len() + labels
    }
}

/// The author of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A person.
    User,
    Assistant,
    /// A summary of the turns before.
    Summary,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file system says so.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The database says so.
    #[error("{0}")]
    Database(#[from] rusqlite::Error),
    /// It is no transcript of this format.
    #[error("{0}")]
    Unknown(String),
}
