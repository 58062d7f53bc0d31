//! Files that are read: sources, their files, and what was read.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::bounds::{check_label, check_length};
use super::record::NewRecord;
use super::scope::Scope;
use super::units::Millis;
use crate::error::Result;
use crate::text::Hash;

/// Longest path of a source, in bytes.
const MAX_PATH_BYTES: usize = 4 << 10;

/// The id of a source, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceId(i64);

impl SourceId {
    /// The bare number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl From<i64> for SourceId {
    fn from(number: i64) -> Self {
        SourceId(number)
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The kind of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// Notes, read as chunks.
    Notes,
    /// Transcripts of an agent's sessions, read as turns.
    Sessions,
}

impl SourceKind {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            SourceKind::Notes => "notes",
            SourceKind::Sessions => "sessions",
        }
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A source to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSource {
    /// Its kind.
    pub kind: SourceKind,
    /// A file, or a folder of files. Absolute.
    pub path: String,
    /// The agent whose transcripts these are; `None` for notes.
    pub format: Option<String>,
    /// Which files below the folder; empty is the default.
    pub globs: Vec<String>,
    /// The owner of its records; where a name is `None`, each file decides.
    pub scope: Scope,
}

impl NewSource {
    /// Checks the bounds.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names the field.
    pub fn validate(&self) -> Result<()> {
        check_label("path", self.path.get(..1).unwrap_or_default())?;
        check_length("path", &self.path, MAX_PATH_BYTES)?;
        self.format.as_ref().map_or(Ok(()), |format| check_label("format", format))?;
        self.globs.iter().try_for_each(|glob| check_label("glob", glob))?;
        self.scope.validate()
    }
}

/// A source as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its id.
    pub id: SourceId,
    /// Its settings.
    pub source: NewSource,
    /// When it was added.
    pub added_at: Millis,
    /// When all of its files were last looked at.
    pub synced_at: Option<Millis>,
    /// Files that were passed over then.
    pub skipped: PassedOver,
}

/// Files that were passed over in a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// How many files, by reason.
    pub counts: BTreeMap<String, u64>,
    /// The first files that were to be read, with the reason.
    pub files: Vec<(String, String)>,
    /// How many such files there were.
    pub all_files: u64,
}

/// A source with what was read of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceStats {
    /// The source.
    pub source: Source,
    /// Files that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that are gone, whose records stay.
    pub gone: u64,
    /// Files that could not be read.
    pub failed: u64,
    /// How much was passed over within files, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Files of which nothing was read, and why: the first 20.
    pub unread: Vec<(String, String)>,
    /// How many there are.
    pub all_unread: u64,
    /// When the newest of its files was changed, in Unix milliseconds.
    pub newest: Option<Millis>,
}

/// The state by which a file is known to be unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileStamp {
    /// Bytes.
    pub size: u64,
    /// When it was changed, in nanoseconds since 1970.
    pub modified: i64,
    /// Its device and its inode.
    pub identity: (u64, u64),
}

/// A file of a source, as it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its id, never reused.
    pub id: i64,
    /// Its path.
    pub path: String,
    /// The thread of its chunks.
    pub thread: String,
    /// Its state when it was read.
    pub stamp: FileStamp,
    /// The SHA-256 of its content, of a note.
    pub hash: Option<Hash>,
    /// How far it was read.
    pub cursor: Option<String>,
    /// When it was found to be gone.
    pub gone_at: Option<Millis>,
    /// Why it could not be read.
    pub problem: Option<String>,
}

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileReading {
    /// The file as it was last read, by its id; `None` for a new one.
    pub file: Option<i64>,
    /// Its path.
    pub path: String,
    /// The thread of its chunks: the path that it had at first, so that they stay when it is renamed.
    pub thread: String,
    /// Its state when it was read.
    pub stamp: FileStamp,
    /// The SHA-256 of its content, of a note.
    pub hash: Option<Hash>,
    /// How far it was read.
    pub cursor: Option<String>,
    /// Why it could not be read. What was read of it before stays.
    pub problem: Option<String>,
    /// How much was passed over within it, by reason: a text of ours, never one of the file.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Its records.
    pub content: FileContent,
}

impl FileReading {
    /// The reading of a new file that has no more to it than this.
    pub fn new(path: impl Into<String>, content: FileContent) -> Self {
        let path = path.into();
        FileReading {
            file: None,
            thread: path.clone(),
            path,
            stamp: FileStamp::default(),
            hash: None,
            cursor: None,
            problem: None,
            skipped: BTreeMap::new(),
            content,
        }
    }
}

/// The records of a file. Each has a place.
#[derive(Debug, Clone, PartialEq)]
pub enum FileContent {
    /// As they were.
    Unchanged,
    /// All the chunks of a note, in their order. What was there and is not among them is deleted.
    Chunks(Vec<NewRecord>),
    /// Turns of sessions, in their order; each names its session.
    Turns {
        /// The turns.
        turns: Vec<NewRecord>,
        /// Whether these are all that the file has of their sessions: other turns of this file are deleted.
        whole: bool,
    },
}

/// The changes by a reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileChanges {
    /// Records that were saved.
    pub added: u64,
    /// Records that were replaced by another text.
    pub changed: u64,
    /// Records that were deleted.
    pub removed: u64,
    /// Records that were there already.
    pub kept: u64,
    /// Records that somebody deleted before: they are not saved again.
    pub forgotten: u64,
    /// Records that were refused, and why.
    pub refused: BTreeMap<String, u64>,
}

impl FileChanges {
    /// Adds those of another reading.
    pub fn add(&mut self, other: FileChanges) {
        self.added += other.added;
        self.changed += other.changed;
        self.removed += other.removed;
        self.kept += other.kept;
        self.forgotten += other.forgotten;
        other.refused.into_iter().for_each(|(why, count)| *self.refused.entry(why).or_default() += count);
    }
}

/// A file of a source, found by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// The source that it belongs to.
    pub source: SourceId,
    /// The kind of the source.
    pub kind: SourceKind,
    /// The thread of its chunks.
    pub thread: String,
    /// When it was found to be gone.
    pub gone_at: Option<Millis>,
}
