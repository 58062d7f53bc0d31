//! Permanent removal.

use std::path::PathBuf;

use super::bounds::{MAX_CONTENT_BYTES, MAX_LIMIT};
use super::units::RecordId;
use crate::error::{Error, Result};

/// What a purge removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// These records, including expired ones, with their versions, their accesses and the searches that found them. At most [`MAX_LIMIT`] of them; ids of
    /// records that do not exist or that the viewer does not see are skipped.
    Ids(Vec<RecordId>),
    /// Everything that contains this text, exactly: upper and lower case differ, and a part of a word is enough. NFC
    /// and NFD forms of an accented character are equal, in the requested text and in the stored one.
    ///
    /// It searches content, context, source, tags, body and provenance of every record, live or expired, and of every
    /// version, the reasons of changes, and queries and filters of searches. A record is removed as a whole; if only earlier versions
    /// contain the text, these versions are removed. The names of agents and projects are not searched.
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
            Purge::Text(text) if text.trim().is_empty() => Err(Error::invalid("text", "must not be empty")),
            Purge::Text(text) if text.len() > MAX_CONTENT_BYTES => {
                Err(Error::invalid("text", format!("has {} bytes; at most {MAX_CONTENT_BYTES}", text.len())))
            }
            _ => Ok(()),
        }
    }
}

/// What a purge removed.
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
    /// that a repair kept, backups, exports. They may still contain the text.
    pub unowned_files: Vec<PathBuf>,
}
