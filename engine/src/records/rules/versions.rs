//! Earlier versions of records.

use std::collections::BTreeSet;

use super::log::append;
use crate::error::{Error, Result};
use crate::records::log::Change;
use crate::records::meta;
use crate::records::rows::{self, version_columns};
use crate::records::transaction::{SelectExt, Tx};
use crate::types::{Millis, RecordId, Version};

/// Versions named in an error, at most.
const MOST_NAMED: i64 = 20;

/// The entry of `meta` that names the records which lack an earlier version.
const LOST: &str = "versions_lost";

/// Keeps the record as it is now as one of its versions.
pub(super) fn keep(tx: &dyn Tx, id: RecordId, reason: &str, now: Millis) -> Result<()> {
    let sql = "INSERT INTO versions (record_id, version, replaced_at, reason, kind, scope_id, importance, confidence,
             updated_at, expires_at, valid_from, valid_to, content_hash, embedding_hash, source, tags, provenance, body,
             context, content)
         SELECT id, version, ?2, ?3, kind, scope_id, importance, confidence,
             updated_at, expires_at, valid_from, valid_to, content_hash, embedding_hash, source, tags, provenance, body,
             context, content
         FROM records WHERE id = ?1";
    tx.execute(sql, &[id.into(), now.into(), reason.into()]).map(drop)
}

/// The reason of the version that a superseded record gets whose text was saved again.
pub const CURRENT_AGAIN: &str = "current again";
/// The reason of the version that a restored record gets.
pub const RESTORED: &str = "restored";
/// The beginning of the reason of the version that a record gets when a link is undone.
pub const UNLINKED: &str = "undo of a link";

/// Keeps a record as it is under a new version: its history says what happened to it.
pub(super) fn keep_as_it_is(tx: &dyn Tx, id: RecordId, reason: &str, now: Millis) -> Result<()> {
    keep(tx, id, reason, now)?;
    let sql = "UPDATE records SET version = version + 1, updated_at = ?2 WHERE id = ?1";
    tx.execute(sql, &[id.into(), now.into()])?;
    let version = tx.first("SELECT version FROM records WHERE id = ?1", &[id.into()], |row| row.get(0))?;
    version.map_or(Ok(()), |version| append(tx, id, &Change::Put { version, new_text: false }))
}

/// An earlier version of a record.
///
/// # Errors
/// [`Error::Invalid`] names the versions that there are.
pub(super) fn earlier(tx: &dyn Tx, id: RecordId, version: i64) -> Result<Version> {
    let sql = concat!(
        "SELECT replaced_at, reason, ",
        version_columns!(),
        " FROM versions WHERE record_id = ?1 AND version = ?2"
    );
    if let Some(found) = tx.first(sql, &[id.into(), version.into()], rows::to_version)? {
        return Ok(found);
    }
    let sql = "SELECT version FROM versions WHERE record_id = ?1 ORDER BY version DESC LIMIT ?2";
    let kept = tx.all(sql, &[id.into(), MOST_NAMED.into()], |row| row.get::<i64>(0))?;
    let kept: Vec<String> = kept.iter().map(ToString::to_string).collect();
    let kept = if kept.is_empty() { "there are none".into() } else { format!("there are {}", kept.join(", ")) };
    Err(Error::invalid("version", format!("{version} is no earlier version of memory {id}; {kept}")))
}

/// Notes that a record lacks an earlier version.
pub(super) fn mark_incomplete(tx: &dyn Tx, id: RecordId) -> Result<()> {
    let noted = meta::text(tx, LOST)?;
    let ids = noted.map_or_else(|| Ok(BTreeSet::new()), |json| serde_json::from_str::<BTreeSet<RecordId>>(&json));
    let mut ids = ids.map_err(|error| Error::unreadable(format!("{LOST}: {error}")))?;
    if ids.insert(id) {
        meta::put(tx, LOST, (&serde_json::json!(ids).to_string()).into())?;
    }
    Ok(())
}
