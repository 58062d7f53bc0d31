//! What was read from files: each thing once, and not again once somebody deleted it.

use crate::error::Result;
use crate::records::transaction::{SelectExt, Tx};
use crate::types::{Origin, RecordId};

/// The record that was read from this place, live or expired.
pub(super) fn record_of(tx: &dyn Tx, origin: Origin) -> Result<Option<RecordId>> {
    tx.first("SELECT id FROM records WHERE origin = ?1", &[origin.as_bytes().into()], |row| row.get(0))
}

/// Whether somebody deleted what stands there.
pub(super) fn is_forgotten(tx: &dyn Tx, origin: Origin) -> Result<bool> {
    tx.exists("SELECT 1 FROM forgotten WHERE origin = ?1", &[origin.as_bytes().into()])
}

/// Keeps a record that is about to be deleted from being read again.
pub(super) fn forget(tx: &dyn Tx, id: RecordId) -> Result<()> {
    let sql = "INSERT INTO forgotten (origin)
         SELECT origin FROM records WHERE id = ?1 AND origin IS NOT NULL ON CONFLICT DO NOTHING";
    tx.execute(sql, &[id.into()]).map(drop)
}

/// Lets a record that is back be read again.
pub(super) fn recall(tx: &dyn Tx, id: RecordId) -> Result<()> {
    let sql = "DELETE FROM forgotten WHERE origin IN (SELECT origin FROM records WHERE id = ?1)";
    tx.execute(sql, &[id.into()]).map(drop)
}
