//! Appends to the sync log, in the transaction of the change.

use crate::error::Result;
use crate::records::log::Change;
use crate::records::transaction::Tx;
use crate::types::RecordId;

/// Appends an entry.
pub(in crate::records) fn append(tx: &dyn Tx, record_id: RecordId, change: &Change) -> Result<()> {
    let (op, payload) = change.encode();
    let sql = "INSERT INTO sync_log (op, record_id, payload) VALUES (?1, ?2, ?3)";
    tx.queue(sql, &[op.into(), record_id.into(), (&payload).into()])
}
