//! Notes about the other machines of a person: entries of `meta` that this crate does not read.

use super::meta;
use super::store::Records;
use super::transaction::Authority;
use crate::error::Result;

impl Records {
    /// The note of this name, if there is one.
    pub fn machine_note(&self, name: &str) -> Result<Option<String>> {
        meta::text(&*self.reader()?, &key(name))
    }

    /// Writes a note over the one of this name.
    pub fn write_machine_note(&self, name: &str, note: &str) -> Result<()> {
        self.change_machine_note(name, |_| Ok(Some(note.to_owned())))
    }

    /// Changes a note in one transaction.
    pub fn change_machine_note(
        &self,
        name: &str,
        mut change: impl FnMut(Option<String>) -> Result<Option<String>>,
    ) -> Result<()> {
        let key = key(name);
        self.write(|tx| match change(meta::text(tx, &key)?)? {
            Some(note) => meta::put(tx, &key, (&note).into()),
            None => Ok(()),
        })
    }

    /// How many purges this store has made.
    pub fn purge_count(&self) -> Result<u64> {
        Ok(meta::integer(&*self.reader()?, PURGES)?.unwrap_or(0).unsigned_abs())
    }

    /// Counts a purge, once its texts are gone. A team's store counts none.
    pub(super) fn count_purge(&self) -> Result<()> {
        self.write(|tx| {
            if tx.keeps_tombstones() {
                let count = meta::integer(tx, PURGES)?.unwrap_or(0);
                meta::put(tx, PURGES, (count + 1).into())?;
            }
            Ok(())
        })
    }
}

/// The entry with the number of purges.
const PURGES: &str = "purges";

/// The name of the entry of a note.
fn key(name: &str) -> String {
    format!("machines {name}")
}
