//! What is to be forgotten for good, and what was.

use std::path::PathBuf;

use super::bounds::{MAX_CONTENT_BYTES, MAX_LIMIT};
use super::units::RecordId;
use crate::error::{Error, Result};

/// What a purge removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// These records, expired ones too, with their versions and accesses. At most [`MAX_LIMIT`] of them; ids that no record
    /// has that the viewer sees are passed over.
    Ids(Vec<RecordId>),
    /// Everything in which this text occurs, exactly: upper and lower case differ, and a part of a word is enough. An
    /// accented character is the same in one code point and in several (NFC and NFD), whichever form is asked for and
    /// whichever is stored.
    ///
    /// Looked through are content, context, source, tags, body and provenance of every record, live or expired, and of
    /// every version, the reasons of changes, and what was searched for. A record goes as a whole; of one that has the text
    /// in earlier versions alone, these versions go. The names of agents and projects are not looked through.
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

/// What a purge has removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Purged {
    /// Records, with all their versions.
    pub records: u64,
    /// Earlier versions of records that stay.
    pub versions: u64,
    /// Entries of the access log whose search had the text, of records that stay.
    pub queries: u64,
    /// Whether no file of the store holds any of it any more. When false, somebody kept a file from being cleaned up (a
    /// long reader in another process, mostly): every open store goes on with it in the background until it is done.
    pub complete: bool,
    /// Files and folders in the store's folder that are not part of the store and were not touched: damaged databases that a
    /// repair has kept, backups, exports. They may hold the text still.
    pub elsewhere: Vec<PathBuf>,
}
