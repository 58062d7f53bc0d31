//! Permanent removal.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::bounds::{MAX_CONTENT_BYTES, MAX_LIMIT};
use super::units::RecordId;
use crate::error::{Error, Result};

/// The target of a purge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// These records, including expired ones, with their versions, their accesses and the searches that found them. At most [`MAX_LIMIT`] of them; ids of
    /// records that do not exist or that the viewer does not see are skipped.
    Ids(Vec<RecordId>),
    /// These earlier versions, by their memories and numbers. At most [`MAX_LIMIT`]; what is no earlier version is skipped.
    Versions(Vec<(RecordId, i64)>),
    /// Everything that contains this text, exactly: upper and lower case differ, and a part of a word is enough. NFC
    /// and NFD forms of an accented character are equal, in the requested text and in the stored one.
    ///
    /// It searches content, context, source, tags, body, session and provenance of every record, live or expired, and of every
    /// version, the reasons of changes, searches, and what is kept of the files of sources. A record is removed as a whole; if only
    /// earlier versions contain the text, these versions are removed. A memory is not removed because its agent or project has
    /// such a name, and a source is not removed because of its path: [`Purged::stays`] names these.
    Text(String),
}

impl Purge {
    /// Checks the bounds.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the field.
    pub fn validate(&self) -> Result<()> {
        match self {
            Purge::Ids(ids) if ids.is_empty() || ids.len() > MAX_LIMIT => {
                Err(Error::invalid("ids", format!("there must be 1 to {MAX_LIMIT} of them, not {}", ids.len())))
            }
            Purge::Versions(versions) if versions.is_empty() || versions.len() > MAX_LIMIT => {
                let why = format!("there must be 1 to {MAX_LIMIT} of them, not {}", versions.len());
                Err(Error::invalid("versions", why))
            }
            Purge::Text(text) if text.trim().is_empty() => Err(Error::invalid("text", "must not be empty")),
            Purge::Text(text) if text.len() > MAX_CONTENT_BYTES => {
                Err(Error::invalid("text", format!("has {} bytes; at most {MAX_CONTENT_BYTES}", text.len())))
            }
            _ => Ok(()),
        }
    }
}

/// The result of a purge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Purged {
    /// Records, with all their versions.
    pub records: u64,
    /// Earlier versions of records that stay.
    pub versions: u64,
    /// Entries of the access log of remaining records whose query contained the text, and the viewer's own searches for it.
    pub queries: u64,
    /// Whether no file of the store contains any of it now. If false, another process kept a file from being cleaned
    /// (mostly a long reader): every open store continues in the background until it is done.
    pub complete: bool,
    /// Files and folders in the store's folder that are not part of the store and were not touched: damaged databases
    /// that a repair kept, backups, exports. They may still contain the text. Empty files are left out.
    pub remaining_files: Vec<PathBuf>,
    /// Where the text is in the store still, because something needs it there: names of agents and projects that have memories,
    /// and paths of sources and of files that are there. At most [`Purged::MOST_STAYS`]; none, unless the viewer sees everything.
    pub stays: Vec<Stays>,
    /// How the contents that were removed begin, in one line of at most [`Purged::BEGINNING`] characters: copies of them in a log
    /// are known by that.
    pub beginnings: BTreeSet<String>,
}

impl Purged {
    /// Characters of a beginning.
    pub const BEGINNING: usize = 200;
    /// The most places that are named.
    pub const MOST_STAYS: usize = 100;
}

/// Where a purged text stays.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stays {
    /// The kind of text that it is in: `the path of a source`.
    pub what: &'static str,
    /// The whole text.
    pub text: String,
}
