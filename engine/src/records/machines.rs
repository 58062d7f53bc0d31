//! Notes about the other machines of a person: entries of `meta` that this crate does not read.

use super::meta;
use super::store::Records;
use super::transaction::{Authority, SelectExt};
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

    /// How many memories and versions were purged.
    pub fn purge_count(&self) -> Result<u64> {
        let sql =
            "SELECT (SELECT count(*) FROM tombstones WHERE is_purged = 1) + (SELECT count(*) FROM version_tombstones)";
        let count: Option<i64> = self.reader()?.first(sql, &[], |row| row.get(0))?;
        Ok(count.unwrap_or(0).unsigned_abs())
    }
}

/// The name of the entry of a note.
fn key(name: &str) -> String {
    format!("machines {name}")
}
