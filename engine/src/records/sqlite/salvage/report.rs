//! The report of a salvage.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::types::RecordId;

/// The report of a salvage: how much was saved, and how much was lost.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Salvage {
    /// Memories that are saved.
    pub records: u64,
    /// Deleted memories that can still be restored.
    pub deleted: u64,
    /// Memories of which something can be read, but not all of it can be trusted. They are not saved, but kept in a file
    /// of their own.
    pub doubtful: BTreeSet<RecordId>,
    /// Memories that an index knows of, but that cannot be read.
    pub unreadable: BTreeSet<RecordId>,
    /// Saved memories that lack an earlier version.
    pub versions_lost: Vec<RecordId>,
    /// Links between saved memories that are not saved.
    pub links_lost: u64,
    /// Saved memories without their embedding: they are embedded again.
    pub to_embed: u64,
    /// The files that were left behind; `None` when nothing was changed.
    pub kept: Option<Kept>,
}

impl Salvage {
    /// How many memories there were, as far as is known.
    pub fn total(&self) -> u64 {
        self.records + (self.doubtful.len() + self.unreadable.len()) as u64
    }
}

/// The files that a salvage leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// The damaged database, as it was.
    pub damaged: PathBuf,
    /// The doubtful memories and versions: one JSON document a line, with what is wrong. `None` when there were none.
    pub doubtful: Option<PathBuf>,
}
