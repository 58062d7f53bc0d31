//! Records that were read from files or imported from other systems: each once, and never again after somebody deleted
//! it. The former are known by their origin, the latter by their ULID.

use crate::error::Result;
use crate::records::transaction::{SelectExt, Tx, Value};
use crate::types::exchange::MOVED;
use crate::types::{Origin, RecordId};

/// The keys of a record: its origin, and its ULID if it came from another system.
const KEYS: &str = "SELECT origin FROM records WHERE id = ?1 AND origin IS NOT NULL
         UNION SELECT ulid FROM records WHERE id = ?1 AND substr(ulid, 7, 2) = ?2";

/// The record with this origin, live or expired.
pub(super) fn record_of(tx: &dyn Tx, origin: Origin) -> Result<Option<RecordId>> {
    tx.first("SELECT id FROM records WHERE origin = ?1", &[origin.as_bytes().into()], |row| row.get(0))
}

/// Whether somebody deleted the record with this origin.
pub(super) fn is_forgotten(tx: &dyn Tx, origin: Origin) -> Result<bool> {
    tx.exists("SELECT 1 FROM forgotten WHERE origin = ?1", &[origin.as_bytes().into()])
}

/// Whether somebody deleted the memory of another system with this ULID.
pub(super) fn is_deleted(tx: &dyn Tx, ulid: &[u8; 16]) -> Result<bool> {
    is_forgotten(tx, Origin::from_bytes(*ulid))
}

/// Keeps a record that is about to be deleted from being read again.
pub(super) fn forget(tx: &dyn Tx, id: RecordId) -> Result<()> {
    tx.execute(&format!("INSERT INTO forgotten (origin) {KEYS} ON CONFLICT DO NOTHING"), &keys(id)).map(drop)
}

/// Lets a restored record be read again.
pub(super) fn recall(tx: &dyn Tx, id: RecordId) -> Result<()> {
    tx.execute(&format!("DELETE FROM forgotten WHERE origin IN ({KEYS})"), &keys(id)).map(drop)
}

fn keys<'a>(id: RecordId) -> [Value<'a>; 2] {
    [id.into(), (&MOVED).into()]
}
