//! Lookups that rules and reads share: a live record, its scope, and who may see and change it.

use super::rows::{self, select_records};
use super::transaction::{Select, SelectExt};
use crate::error::Result;
use crate::types::{Millis, Record, RecordId, Scope, Viewer};

/// The live record with this id, where `viewer` sees it.
pub(super) fn live(db: &dyn Select, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Option<Record>> {
    let sql = select_records!("WHERE r.id = ?1 AND (r.expires_at IS NULL OR r.expires_at > ?2)");
    let record = db.first(sql, &[id.into(), now.into()], rows::to_record)?;
    Ok(record.filter(|record| viewer.sees(&record.scope)))
}

/// Whether there is a live record with this id that `viewer` sees.
pub(super) fn is_live(db: &dyn Select, id: RecordId, viewer: &Viewer, now: Millis) -> Result<bool> {
    let sql = "SELECT s.agent, s.project FROM records r JOIN scopes s ON s.id = r.scope_id
         WHERE r.id = ?1 AND (r.expires_at IS NULL OR r.expires_at > ?2)";
    let scope =
        db.first(sql, &[id.into(), now.into()], |row| Ok(Scope { agent: row.get(0)?, project: row.get(1)? }))?;
    Ok(scope.is_some_and(|scope| viewer.sees(&scope)))
}

/// The scope of a record, live or expired, where there is one with this id.
pub(super) fn scope_of(db: &dyn Select, id: RecordId) -> Result<Option<Scope>> {
    let sql = "SELECT s.agent, s.project FROM records r JOIN scopes s ON s.id = r.scope_id WHERE r.id = ?1";
    db.first(sql, &[id.into()], |row| Ok(Scope { agent: row.get(0)?, project: row.get(1)? }))
}

/// Whether there is a record with this id, live or expired, that `viewer` sees.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when `viewer` sees it and may not change it.
pub(super) fn may_change(db: &dyn Select, id: RecordId, viewer: &Viewer) -> Result<bool> {
    Ok(changeable(scope_of(db, id)?, id, viewer)?.is_some())
}

/// The scope of the record `id`, where `viewer` sees it.
///
/// # Errors
/// As [`may_change`].
pub(super) fn changeable(scope: Option<Scope>, id: RecordId, viewer: &Viewer) -> Result<Option<Scope>> {
    let scope = scope.filter(|scope| viewer.sees(scope));
    scope.as_ref().map_or(Ok(()), |scope| viewer.check_change(id, scope))?;
    Ok(scope)
}

/// The records that were read from files that `holds` is true of, with the files' paths.
pub(super) fn read_from(db: &dyn Select, holds: impl Fn(&str) -> bool) -> Result<Vec<RecordId>> {
    let sql = "SELECT id, provenance FROM records INDEXED BY records_by_origin WHERE origin IS NOT NULL";
    let all = db.all(sql, &[], |row| {
        let place = rows::to_place(row, 1)?.filter(|place| holds(&place.path));
        place.map(|_| row.get::<RecordId>(0)).transpose()
    })?;
    Ok(all.into_iter().flatten().collect())
}
