//! Earlier versions of records.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::log::append;
use crate::error::{Error, Result};
use crate::records::log::Change;
use crate::records::meta;
use crate::records::rows::{self, version_columns};
use crate::records::transaction::{SelectExt, Tx};
use crate::types::{Millis, Record, RecordId, Version};

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
    tx.queue(sql, &[id.into(), now.into(), reason.into()])
}

/// The cause of the end of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// A change.
    Change,
    /// An undo, or a restore.
    Undo,
    /// Its text was saved again while it was superseded.
    CurrentAgain(Turned),
}

/// The links that supersede, which changed when a superseded record became current again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turned {
    /// Links to it that were removed: from where, and when they were made.
    pub(super) removed: Vec<(RecordId, Millis)>,
    /// Links from it that were made: to where.
    pub(super) made: Vec<RecordId>,
}

/// The last of the earlier versions of a record.
pub(super) struct Last {
    pub(super) version: i64,
    pub(super) replaced_at: Millis,
    pub(super) cause: Cause,
}

/// The last of the earlier versions of a record, if it has any.
pub(super) fn last(tx: &dyn Tx, id: RecordId) -> Result<Option<Last>> {
    let sql = "SELECT v.version, v.replaced_at, c.cause, c.links FROM versions v
         LEFT JOIN version_causes c ON c.record_id = v.record_id AND c.version = v.version
         WHERE v.record_id = ?1 ORDER BY v.version DESC LIMIT 1";
    tx.first(sql, &[id.into()], |row| {
        let links: Option<&str> = row.get(3)?;
        let cause = match (row.get::<Option<i64>>(2)?, links) {
            (None, _) => Cause::Change,
            (Some(CURRENT_AGAIN), Some(json)) => Cause::CurrentAgain(
                serde_json::from_str(json)
                    .map_err(|error| Error::unreadable(format!("links of a version: {error}")))?,
            ),
            _ => Cause::Undo,
        };
        Ok(Last { version: row.get(0)?, replaced_at: row.get(1)?, cause })
    })
}

/// The causes in `version_causes`.
const UNDO: i64 = 1;
const CURRENT_AGAIN: i64 = 2;

/// Notes the cause of the end of a version.
pub(super) fn note(tx: &dyn Tx, id: RecordId, version: i64, cause: &Cause) -> Result<()> {
    let (code, links) = match cause {
        Cause::Change => return Ok(()),
        Cause::Undo => (UNDO, None),
        Cause::CurrentAgain(turned) => (CURRENT_AGAIN, Some(serde_json::json!(turned).to_string())),
    };
    let sql = "INSERT INTO version_causes (record_id, version, cause, links) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (record_id, version) DO UPDATE SET cause = excluded.cause, links = excluded.links";
    tx.execute(sql, &[id.into(), version.into(), code.into(), links.as_ref().into()]).map(drop)
}

/// Keeps a record as it is under a new version: its history says what happened to it.
pub(super) fn keep_as_it_is(tx: &dyn Tx, id: RecordId, reason: &str, cause: &Cause, now: Millis) -> Result<()> {
    keep(tx, id, reason, now)?;
    let version = tx.first("SELECT version FROM records WHERE id = ?1", &[id.into()], |row| row.get(0))?;
    let Some(version) = version else { return Ok(()) };
    note(tx, id, version, cause)?;
    let sql = "UPDATE records SET version = version + 1, updated_at = ?2 WHERE id = ?1";
    tx.execute(sql, &[id.into(), now.into()])?;
    append(tx, id, &Change::Put { version: version + 1, new_text: false })
}

/// An earlier version of a record.
///
/// # Errors
/// [`Error::Invalid`] names the existing versions.
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
    let kept = if kept.is_empty() { "it has none".into() } else { format!("available: {}", kept.join(", ")) };
    Err(Error::invalid("version", format!("memory {id} has no earlier version {version}; {kept}")))
}

/// The versions of a record, oldest first, with the one that it is now.
pub(super) fn all(tx: &dyn Tx, record: &Record) -> Result<Vec<Version>> {
    all_in(tx, record, "versions")
}

/// The versions of a deleted record, oldest first, with its newest.
pub(super) fn all_deleted(tx: &dyn Tx, record: &Record) -> Result<Vec<Version>> {
    all_in(tx, record, "trash_versions")
}

fn all_in(tx: &dyn Tx, record: &Record, table: &str) -> Result<Vec<Version>> {
    let sql = format!(
        concat!("SELECT replaced_at, reason, ", version_columns!(), " FROM {} WHERE record_id = ?1 ORDER BY version"),
        table
    );
    let mut all = tx.all(&sql, &[record.id.into()], rows::to_version)?;
    all.push(Version::newest(record));
    Ok(all)
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
