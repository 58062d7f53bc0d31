//! Accesses are logged and counted.

use crate::error::Result;
use crate::records::rows::MOST_ACCESSES;
use crate::records::transaction::{Authority, Tx};
use crate::types::{AccessKind, Accessed, Millis, RecordId};

/// Rows of the access log that are kept: the newest.
pub const MAX_ACCESS_ROWS: i64 = 100_000;

/// One access to one record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Access<'a> {
    /// The record; a missing one is skipped.
    pub id: RecordId,
    /// How it was reached.
    pub kind: AccessKind,
    /// The score it had in the search.
    pub score: Option<f64>,
    /// The query of the search.
    pub query: Option<&'a str>,
    /// Whether it adds to the record's access count and sets its time of last access.
    pub counts: bool,
}

/// Writes accesses to the log, unsynced. Removes the oldest rows beyond [`MAX_ACCESS_ROWS`].
pub(crate) fn record_access(authority: &impl Authority, accesses: &[Access<'_>], now: Millis) -> Result<()> {
    if accesses.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO access_log (record_id, accessed_at, access_type, relevance_score, query_text)
         SELECT id, ?2, ?3, ?4, ?5 FROM records WHERE id = ?1";
    authority.write_unsynced(|tx| {
        for Access { id, kind, score, query, counts } in accesses {
            tx.execute(sql, &[(*id).into(), now.into(), kind.as_str().into(), (*score).into(), (*query).into()])?;
            if *counts {
                count(tx, *id, now)?;
            }
        }
        trim(tx)
    })
}

/// Counts an access of each of these records, unsynced, without a row in the log.
pub(crate) fn count_accesses(authority: &impl Authority, ids: &[RecordId], now: Millis) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    authority.write_unsynced(|tx| ids.iter().try_for_each(|&id| count(tx, id, now)))
}

fn count(tx: &dyn Tx, id: RecordId, now: Millis) -> Result<()> {
    let sql = "UPDATE records SET last_accessed_at = ?2,
             access_count = CASE WHEN access_count < ?3 THEN access_count + 1 ELSE ?3 END
         WHERE id = ?1";
    tx.execute(sql, &[id.into(), now.into(), MOST_ACCESSES.into()]).map(drop)
}

/// Removes the oldest rows beyond [`MAX_ACCESS_ROWS`].
pub(super) fn trim(tx: &dyn Tx) -> Result<()> {
    let sql = "DELETE FROM access_log WHERE id <= (SELECT max(id) FROM access_log) - ?1";
    tx.execute(sql, &[MAX_ACCESS_ROWS.into()]).map(drop)
}

/// Replaces all that the log holds of a record.
pub(super) fn replace(tx: &dyn Tx, id: RecordId, accesses: &[Accessed]) -> Result<()> {
    tx.execute("DELETE FROM access_log WHERE record_id = ?1", &[id.into()])?;
    let sql = "INSERT INTO access_log (record_id, accessed_at, access_type, relevance_score, query_text)
         VALUES (?1, ?2, ?3, ?4, ?5)";
    for Accessed { at, kind, score, query } in accesses {
        tx.execute(sql, &[id.into(), (*at).into(), kind.as_str().into(), (*score).into(), query.as_ref().into()])?;
    }
    Ok(())
}
