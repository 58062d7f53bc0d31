//! What was read from files or brought from other systems: each thing once, and not again once somebody deleted it. The
//! former is known by its origin, the latter by its ULID.

use crate::error::Result;
use crate::records::transaction::{SelectExt, Tx, Value};
use crate::types::exchange::MOVED;
use crate::types::{Origin, RecordId};

/// What a record is known by.
const KEYS: &str = "SELECT origin FROM records WHERE id = ?1 AND origin IS NOT NULL
         UNION SELECT ulid FROM records WHERE id = ?1 AND substr(ulid, 7, 2) = ?2";

/// The record that was read from this place, live or expired.
pub(super) fn record_of(tx: &dyn Tx, origin: Origin) -> Result<Option<RecordId>> {
    tx.first("SELECT id FROM records WHERE origin = ?1", &[origin.as_bytes().into()], |row| row.get(0))
}

/// Whether somebody deleted what stands there.
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

/// Lets a record that is back be read again.
pub(super) fn recall(tx: &dyn Tx, id: RecordId) -> Result<()> {
    tx.execute(&format!("DELETE FROM forgotten WHERE origin IN ({KEYS})"), &keys(id)).map(drop)
}

fn keys<'a>(id: RecordId) -> [Value<'a>; 2] {
    [id.into(), (&MOVED).into()]
}
