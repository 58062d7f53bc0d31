//! A store's knowledge of the other machines of its person: notes that only their caller understands, and an identity.

use std::fs;
use std::time::UNIX_EPOCH;

use super::Engine;
use crate::error::{Error, Result};
use crate::text;

impl Engine {
    /// The note of this name, if there is one. Notes are in `memory.db`, and go back with it when an older copy is restored.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn machine_note(&self, name: &str) -> Result<Option<String>> {
        self.store.records.machine_note(name)
    }

    /// Writes a note over the one of this name.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn write_machine_note(&self, name: &str, note: &str) -> Result<()> {
        self.store.records.write_machine_note(name, note)
    }

    /// Changes a note; no other process changes it meanwhile. `change` gets the note, and returns the new one, or `None` to leave it.
    ///
    /// # Errors
    /// The first of `change`, and errors of the database.
    pub fn change_machine_note(
        &self,
        name: &str,
        change: impl FnMut(Option<String>) -> Result<Option<String>>,
    ) -> Result<()> {
        self.store.records.change_machine_note(name, change)
    }

    /// Text that differs between a store and each copy of it: a hash of its lineage, and of where and when its database was made.
    ///
    /// # Errors
    /// If the file cannot be looked at.
    pub fn copy_identity(&self) -> Result<String> {
        let database = self.store.paths.database();
        let found = fs::metadata(&database).map_err(|error| Error::io(&database, error))?;
        // Not every file system knows when a file was made.
        let made = found.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let number = 0_u64;
        let identity = format!("{} {number} {made:?}", self.store.records.lineage());
        Ok(text::content_hash(&identity))
    }

    /// How many purges this store has made. Files that somebody else carries are written anew after each.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn purge_count(&self) -> Result<u64> {
        self.store.records.purge_count()
    }
}
