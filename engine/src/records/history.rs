//! The versions of a record, newest first.

use rusqlite::{Connection, OptionalExtension, Row, Transaction};

use super::{Snapshot, row};
use crate::error::{Error, Result};
use crate::types::{Millis, RecordId, Replaced, Version, Viewer};

/// The columns that [`to_version`] reads, but for the first two.
macro_rules! columns {
    () => {
        "updated_at, content, kind, source, context, confidence, importance, tags, expires_at, body, version"
    };
}

/// Versions named in an error, at most.
const MOST_NAMED: i64 = 20;

impl Snapshot {
    /// At most `limit` versions of a live record, newest first, those before version `before` where it is given. `None`
    /// where there is no such record that `viewer` sees.
    pub fn history(
        &self,
        id: RecordId,
        viewer: &Viewer,
        before: Option<i64>,
        limit: usize,
        now: Millis,
    ) -> Result<Option<Vec<Version>>> {
        let is_seen = |record: &crate::types::Record| viewer.sees(&record.scope);
        if !self.records(&[id], now)?.first().is_some_and(is_seen) {
            return Ok(None);
        }
        let mut statement = self.conn().prepare_cached(concat!(
            "SELECT * FROM (SELECT NULL, NULL, ",
            columns!(),
            " FROM records WHERE id = ?1 UNION ALL SELECT replaced_at, reason, ",
            columns!(),
            " FROM versions WHERE record_id = ?1) WHERE version < ?2 ORDER BY version DESC LIMIT ?3"
        ))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let versions = statement.query_map((id, before.unwrap_or(i64::MAX), limit), to_version)?;
        Ok(Some(versions.collect::<rusqlite::Result<_>>()?))
    }
}

/// An earlier version of a record.
///
/// # Errors
/// [`Error::Invalid`] names the versions that there are.
pub(super) fn earlier(tx: &Transaction<'_>, id: RecordId, version: i64) -> Result<Version> {
    let mut statement = tx.prepare_cached(concat!(
        "SELECT replaced_at, reason, ",
        columns!(),
        " FROM versions WHERE record_id = ?1 AND version = ?2"
    ))?;
    if let Some(found) = statement.query_row((id, version), to_version).optional()? {
        return Ok(found);
    }
    let mut kept =
        tx.prepare_cached("SELECT version FROM versions WHERE record_id = ? ORDER BY version DESC LIMIT ?")?;
    let kept = kept.query_map((id, MOST_NAMED), |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
    let kept: Vec<String> = kept.iter().map(ToString::to_string).collect();
    let kept = if kept.is_empty() { "there are none".into() } else { format!("there are {}", kept.join(", ")) };
    Err(Error::invalid("version", format!("{version} is no earlier version of memory {id}; {kept}")))
}

/// The earlier versions of a record, oldest first.
pub(super) fn all_earlier(conn: &Connection, id: RecordId) -> Result<Vec<Version>> {
    let mut statement = conn.prepare_cached(concat!(
        "SELECT replaced_at, reason, ",
        columns!(),
        " FROM versions WHERE record_id = ? ORDER BY version"
    ))?;
    Ok(statement.query_map([id], to_version)?.collect::<rusqlite::Result<_>>()?)
}

/// Remembers that a record lacks an earlier version.
pub(super) fn mark_incomplete(tx: &Transaction<'_>, id: RecordId) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO meta VALUES ('versions_lost', json_array(?1)) ON CONFLICT DO UPDATE SET value =
             (SELECT json_group_array(value) FROM (SELECT value FROM json_each(meta.value) UNION SELECT ?1))",
    )?
    .execute([id])?;
    Ok(())
}

fn to_version(row: &Row<'_>) -> rusqlite::Result<Version> {
    let kind = row::to_kind(row, 4)?;
    let replaced = match (row.get(0)?, row.get(1)?) {
        (Some(at), Some(reason)) => Some(Replaced { at, reason }),
        _ => None,
    };
    Ok(Version {
        version: row.get(12)?,
        since: row.get(2)?,
        replaced,
        content: row.get(3)?,
        kind,
        source: row.get(5)?,
        context: row.get(6)?,
        confidence: row.get(7)?,
        importance: row.get(8)?,
        tags: row::to_tags(row, 9)?,
        expires_at: row.get(10)?,
        body: row::to_body(row, 11, kind)?,
    })
}
