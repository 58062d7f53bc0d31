//! Deletion of expired records.

use super::add::remove;
use super::origins;
use crate::error::Result;
use crate::records::transaction::{Authority, SelectExt};
use crate::types::{Millis, RecordId};

/// Deletes at most `limit` records that have expired by `by`, the longest expired first, in one transaction. Returns how
/// many.
pub(crate) fn remove_expired(authority: &impl Authority, by: Millis, limit: usize) -> Result<usize> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    authority.write(|tx| {
        let sql = "SELECT id FROM records WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2";
        let ids: Vec<RecordId> = tx.all(sql, &[by.into(), limit.into()], |row| row.get(0))?;
        for &id in &ids {
            origins::forget(tx, id)?;
            remove(tx, id)?;
        }
        Ok(ids.len())
    })
}
