//! Tombstones: of memories that were deleted, purged or united with their twins, versions that were purged, links that were removed.
//! Another machine that still has one must not bring it back. No text is in here, and no hash of one.
//!
//! Only a store of one person's own has this ([`Tx::keeps_tombstones`]), and only for what somebody saved: what was read from files is
//! read on each machine.

use super::union;
use super::versions as history;
use crate::error::Result;
use crate::records::rows::{self, select_records};
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::types::{Link, LinkKind, MAX_LIMIT, Millis, Purge, RecordId, UlidBytes};

/// The tombstone of a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tombstone {
    /// The row of its scope, as far as it is known.
    pub(super) scope: Option<i64>,
    /// When it was deleted last. It lives on if its newest version began after that.
    pub(super) deleted_at: Option<Millis>,
    /// Whether it was purged: then it never comes back.
    pub(super) is_purged: bool,
    /// Its twin, with which it was united.
    pub(super) into: Option<UlidBytes>,
}

impl Tombstone {
    /// Whether a memory whose newest version became that at `began` stays deleted.
    pub(super) fn covers(&self, began: Millis) -> bool {
        self.is_purged || self.deleted_at.is_some_and(|at| began <= at)
    }
}

/// The tombstone of a memory: an empty one if it has none.
pub(super) fn of(tx: &dyn Tx, ulid: &UlidBytes) -> Result<Tombstone> {
    if !tx.keeps_tombstones() {
        return Ok(Tombstone::default());
    }
    let sql = "SELECT scope_id, deleted_at, is_purged, into_ulid FROM tombstones WHERE ulid = ?1";
    let found = tx.first(sql, &[ulid.into()], |row| {
        Ok(Tombstone { scope: row.get(0)?, deleted_at: row.get(1)?, is_purged: row.get(2)?, into: row.get(3)? })
    })?;
    Ok(found.unwrap_or_default())
}

/// The memory that a ULID stands for: its own, or that of the twin with which it was united.
pub(super) fn resolve(tx: &dyn Tx, mut ulid: UlidBytes) -> Result<UlidBytes> {
    while let Some(into) = of(tx, &ulid)?.into {
        ulid = into;
    }
    Ok(ulid)
}

/// Adds to the tombstone of a memory.
pub(super) fn note(tx: &dyn Tx, ulid: &UlidBytes, tombstone: &Tombstone) -> Result<()> {
    if !tx.keeps_tombstones() {
        return Ok(());
    }
    let sql = "INSERT INTO tombstones (ulid, scope_id, deleted_at, is_purged, into_ulid) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ulid) DO UPDATE SET
             scope_id = coalesce(scope_id, excluded.scope_id),
             deleted_at = max(coalesce(deleted_at, excluded.deleted_at), coalesce(excluded.deleted_at, deleted_at)),
             is_purged = max(is_purged, excluded.is_purged),
             into_ulid = min(coalesce(into_ulid, excluded.into_ulid), coalesce(excluded.into_ulid, into_ulid))";
    let values = [
        ulid.into(),
        tombstone.scope.into(),
        tombstone.deleted_at.into(),
        i64::from(tombstone.is_purged).into(),
        tombstone.into.as_ref().into(),
    ];
    tx.execute(sql, &values).map(drop)
}

/// Notes that a memory is one with its twin, whose ULID `stays`: what was removed of the one was removed of the other.
pub(super) fn unite(tx: &dyn Tx, goes: &UlidBytes, stays: &UlidBytes, scope: Option<i64>) -> Result<()> {
    note(tx, goes, &Tombstone { scope, into: Some(*stays), ..Tombstone::default() })?;
    for sql in [
        "INSERT INTO version_tombstones (ulid, began) SELECT ?2, began FROM version_tombstones WHERE ulid = ?1
             ON CONFLICT DO NOTHING",
        "INSERT INTO link_tombstones (from_ulid, kind, to_ulid, removed_at)
             SELECT ?2, kind, to_ulid, removed_at FROM link_tombstones WHERE from_ulid = ?1
             ON CONFLICT (from_ulid, kind, to_ulid) DO UPDATE SET removed_at = max(removed_at, excluded.removed_at)",
        "INSERT INTO link_tombstones (from_ulid, kind, to_ulid, removed_at)
             SELECT from_ulid, kind, ?2, removed_at FROM link_tombstones WHERE to_ulid = ?1
             ON CONFLICT (from_ulid, kind, to_ulid) DO UPDATE SET removed_at = max(removed_at, excluded.removed_at)",
    ] {
        tx.execute(sql, &[goes.into(), stays.into()])?;
    }
    let sql = "SELECT 1 FROM version_tombstones WHERE ulid = ?1";
    if tx.exists(sql, &[stays.into()])? {
        // What has such a tombstone has one itself.
        note(tx, stays, &Tombstone { scope, ..Tombstone::default() })?;
    }
    Ok(())
}

/// Notes that a record, which is there still, is deleted. Its newest version may be of later than `now`, where a clock was set back.
pub(super) fn delete(tx: &dyn Tx, id: RecordId, now: Millis) -> Result<()> {
    let Some((ulid, scope)) = noted(tx, id, "records")? else { return Ok(()) };
    let deleted_at = if is_later(tx, id, now)? { now } else { began(tx, id)?.max(now) };
    note(tx, &ulid, &Tombstone { scope, deleted_at: Some(deleted_at), ..Tombstone::default() })
}

/// The moment from which a record that comes back lives again.
pub(super) fn after_deletion(tx: &dyn Tx, id: RecordId, now: Millis) -> Result<Millis> {
    let Some((ulid, _)) = noted(tx, id, "records")? else { return Ok(now) };
    Ok(of(tx, &ulid)?.deleted_at.map_or(now, |at| now.max(at + 1)))
}

/// Notes that a record, which is in this table still, is purged as a whole.
pub(super) fn purge(tx: &dyn Tx, id: RecordId, table: &str) -> Result<()> {
    let Some((ulid, scope)) = noted(tx, id, table)? else { return Ok(()) };
    note(tx, &ulid, &Tombstone { scope, is_purged: true, ..Tombstone::default() })
}

/// Notes that these versions of a record, which are there still, are purged.
pub(super) fn purge_versions(tx: &dyn Tx, id: RecordId, numbers: &[i64]) -> Result<()> {
    let Some((ulid, scope)) = noted(tx, id, "records")? else { return Ok(()) };
    note(tx, &ulid, &Tombstone { scope, ..Tombstone::default() })?;
    let all = beginnings(tx, id)?;
    for (number, began) in &all {
        if numbers.contains(number) {
            note_version(tx, &ulid, *began)?;
        }
    }
    keep_moments(tx, id, &all, numbers, ("records", "versions"))
}

/// Keeps the moments of the other versions of a deleted record, of which this one is about to go.
pub(super) fn keep_moments_in_trash(tx: &dyn Tx, id: RecordId, number: i64) -> Result<()> {
    if !tx.keeps_tombstones() {
        return Ok(());
    }
    let all = beginnings_in_trash(tx, id)?;
    keep_moments(tx, id, &all, &[number], ("trash", "trash_versions"))
}

/// The moments of the versions that stay are what they are once a version between them is missing.
fn keep_moments(
    tx: &dyn Tx,
    id: RecordId,
    all: &[(i64, Millis)],
    gone: &[i64],
    (records, versions): (&str, &str),
) -> Result<()> {
    for pair in all.windows(2) {
        let [(number, _), (next, began)] = *pair else { continue };
        let sql = format!(
            "UPDATE {versions} SET replaced_at = ?3 WHERE record_id = ?1 AND version = ?2 AND replaced_at <> ?3"
        );
        tx.execute(&sql, &[id.into(), number.into(), began.into()])?;
        if gone.contains(&number) {
            let sql = format!("UPDATE {versions} SET updated_at = ?3 WHERE record_id = ?1 AND version = ?2");
            tx.execute(&sql, &[id.into(), next.into(), began.into()])?;
            let sql = format!("UPDATE {records} SET updated_at = ?3 WHERE id = ?1 AND version = ?2");
            tx.execute(&sql, &[id.into(), next.into(), began.into()])?;
        }
    }
    Ok(())
}

/// Notes that the version of a memory is purged that became the newest at `began`.
pub(super) fn note_version(tx: &dyn Tx, ulid: &UlidBytes, began: Millis) -> Result<()> {
    let sql = "INSERT INTO version_tombstones (ulid, began) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    tx.execute(sql, &[ulid.into(), began.into()]).map(drop)
}

/// When the purged versions of a memory became the newest.
pub(super) fn versions(tx: &dyn Tx, ulid: &UlidBytes) -> Result<Vec<Millis>> {
    if !tx.keeps_tombstones() {
        return Ok(Vec::new());
    }
    tx.all("SELECT began FROM version_tombstones WHERE ulid = ?1", &[ulid.into()], |row| row.get(0))
}

/// Notes that a link, which was made at `made_at`, is removed.
pub(super) fn unlink(tx: &dyn Tx, link: Link, made_at: Millis, now: Millis) -> Result<()> {
    let ends = [noted(tx, link.from, "records")?, noted(tx, link.to, "records")?];
    let [Some((from, _)), Some((to, _))] = ends else { return Ok(()) };
    note_link(tx, &from, link.kind, &to, made_at.max(now))
}

/// Notes that a link is removed.
pub(super) fn note_link(tx: &dyn Tx, from: &UlidBytes, kind: LinkKind, to: &UlidBytes, at: Millis) -> Result<()> {
    let sql = "INSERT INTO link_tombstones (from_ulid, kind, to_ulid, removed_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (from_ulid, kind, to_ulid) DO UPDATE SET removed_at = max(removed_at, excluded.removed_at)";
    tx.execute(sql, &[from.into(), rows::link_code(kind).into(), to.into(), at.into()]).map(drop)
}

/// When a link between two memories was removed last.
pub(super) fn removed_at(tx: &dyn Tx, from: &UlidBytes, kind: LinkKind, to: &UlidBytes) -> Result<Option<Millis>> {
    if !tx.keeps_tombstones() {
        return Ok(None);
    }
    let sql = "SELECT removed_at FROM link_tombstones WHERE from_ulid = ?1 AND kind = ?2 AND to_ulid = ?3";
    tx.first(sql, &[from.into(), rows::link_code(kind).into(), to.into()], |row| row.get(0))
}

/// The moment as of which a link is made, so that it is there: after it was removed last.
pub(super) fn after_removal(tx: &dyn Tx, link: Link, made_at: Millis) -> Result<Millis> {
    if !tx.keeps_tombstones() {
        return Ok(made_at);
    }
    let sql = "SELECT t.removed_at FROM records f CROSS JOIN records o CROSS JOIN link_tombstones t
         WHERE f.id = ?1 AND o.id = ?3 AND t.from_ulid = f.ulid AND t.kind = ?2 AND t.to_ulid = o.ulid";
    let values = [link.from.into(), rows::link_code(link.kind).into(), link.to.into()];
    let removed_at: Option<Millis> = tx.first(sql, &values, |row| row.get(0))?;
    Ok(removed_at.map_or(made_at, |at| made_at.max(at + 1)))
}

/// When the newest version of a record became that.
pub(super) fn began(tx: &dyn Tx, id: RecordId) -> Result<Millis> {
    Ok(beginnings(tx, id)?.last().map_or(Millis::MIN, |&(_, began)| began))
}

/// The moment when a record is changed: after its newest version began, also where a clock was set back, so that no two versions of a
/// memory begin at once.
pub(super) fn after_newest(tx: &dyn Tx, id: RecordId, now: Millis) -> Result<Millis> {
    if !tx.keeps_tombstones() || is_later(tx, id, now)? {
        return Ok(now);
    }
    let began = began(tx, id)?;
    Ok(if now < began { began + 1 } else { now })
}

/// Whether `now` is certainly later than the beginning of every version of a record: no text is read, as no clock was set back.
fn is_later(tx: &dyn Tx, id: RecordId, now: Millis) -> Result<bool> {
    // Each version may begin a millisecond later than it says.
    let sql = "SELECT max(r.created_at, r.updated_at, coalesce(max(v.replaced_at), 0), coalesce(max(v.updated_at), 0)) + r.version
         FROM records r LEFT JOIN versions v ON v.record_id = r.id WHERE r.id = ?1 GROUP BY r.id";
    let latest: Option<Millis> = tx.first(sql, &[id.into()], |row| row.get(0))?;
    Ok(latest.is_some_and(|latest| now > latest))
}

/// When each version of a record became the newest, by its number.
pub(super) fn beginnings(tx: &dyn Tx, id: RecordId) -> Result<Vec<(i64, Millis)>> {
    let record = tx.first(select_records!("WHERE r.id = ?1"), &[id.into()], rows::to_record)?;
    let Some(record) = record else { return Ok(Vec::new()) };
    Ok(union::beginnings(record.created_at, history::all(tx, &record)?))
}

/// Moments at which each version of a deleted record became the newest, by its number.
fn beginnings_in_trash(tx: &dyn Tx, id: RecordId) -> Result<Vec<(i64, Millis)>> {
    let record = tx.first(select_records!("trash", "WHERE r.id = ?1"), &[id.into()], rows::to_record)?;
    let Some(record) = record else { return Ok(Vec::new()) };
    Ok(union::beginnings(record.created_at, history::all_deleted(tx, &record)?))
}

/// The ULID and the scope of a record whose end is noted, where it is in this table.
fn noted(tx: &dyn Tx, id: RecordId, table: &str) -> Result<Option<(UlidBytes, Option<i64>)>> {
    if !tx.keeps_tombstones() {
        return Ok(None);
    }
    let sql = format!("SELECT ulid, scope_id FROM {table} WHERE id = ?1 AND origin IS NULL");
    tx.first(&sql, &[id.into()], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The purges that other machines have made and this store has not: records, there or deleted, and earlier versions of
/// records by their numbers. A purge of its twin is one of the record.
pub(crate) fn to_purge(authority: &impl Authority) -> Result<Vec<Purge>> {
    authority.write(|tx| {
        let sql = "SELECT ulid FROM tombstones WHERE is_purged = 1 OR into_ulid IS NOT NULL";
        let purged: Vec<UlidBytes> = tx.all(sql, &[], |row| row.get(0))?;
        let mut records = Vec::new();
        for ulid in purged {
            let stands_for = resolve(tx, ulid)?;
            // A twin that was deleted here has its own ULID still.
            if !of(tx, &ulid)?.is_purged && !of(tx, &stands_for)?.is_purged {
                continue;
            }
            let sql = "SELECT id FROM records WHERE ulid = ?1 OR ulid = ?2 UNION SELECT id FROM trash WHERE ulid = ?1 OR ulid = ?2";
            records.extend(tx.all(sql, &[(&ulid).into(), (&stands_for).into()], |row| row.get::<RecordId>(0))?);
        }
        let sql = "SELECT DISTINCT r.id FROM version_tombstones v JOIN records r ON r.ulid = v.ulid";
        let with_versions: Vec<RecordId> = tx.all(sql, &[], |row| row.get(0))?;
        let mut numbers = Vec::new();
        for id in with_versions {
            let Some((ulid, _)) = noted(tx, id, "records")? else { continue };
            let purged = versions(tx, &ulid)?;
            let mut all = beginnings(tx, id)?;
            // The newest version cannot be purged alone.
            all.pop();
            numbers.extend(all.into_iter().filter(|(_, began)| purged.contains(began)).map(|(number, _)| (id, number)));
        }
        let sql = "SELECT t.id, t.ulid FROM trash t WHERE t.ulid IN (SELECT ulid FROM version_tombstones)
             OR t.ulid IN (SELECT ulid FROM tombstones WHERE into_ulid IS NOT NULL)";
        for (id, ulid) in tx.all(sql, &[], |row| Ok((row.get::<RecordId>(0)?, row.get::<UlidBytes>(1)?)))? {
            let mut purged = versions(tx, &ulid)?;
            purged.extend(versions(tx, &resolve(tx, ulid)?)?);
            let all = beginnings_in_trash(tx, id)?;
            numbers.extend(all.into_iter().filter(|(_, began)| purged.contains(began)).map(|(number, _)| (id, number)));
        }
        let records = records.chunks(MAX_LIMIT).map(|ids| Purge::Ids(ids.to_vec()));
        let versions = numbers.chunks(MAX_LIMIT).map(|versions| Purge::Versions(versions.to_vec()));
        Ok(records.chain(versions).collect())
    })
}
