//! The trash: deleted records are kept for a while with their versions and links, and can be restored. Their accesses are
//! not kept, and they have to be embedded again unless another record has the same text.

use super::add::{Text, insert_restored, remove};
use super::references::{check_body, references};
use super::versions::{self, Cause};
use super::{links, origins, tombstones};
use crate::error::{Error, Result};
use crate::records::lookup;
use crate::records::rows::{self, to_link};
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::text::Hash;
use crate::types::{Expect, Link, Millis, Record, RecordId, Scope, Viewer};

/// The columns that `records` and `trash` have in common.
macro_rules! columns {
    () => {
        "id, ulid, version, kind, scope_id, importance, confidence, created_at, updated_at, expires_at, valid_from,
             valid_to, access_count, last_accessed_at, content_hash, embedding_hash, source, tags, provenance, body,
             context, content, session, turn, origin"
    };
}

/// The columns that `versions` and `trash_versions` have in common.
macro_rules! version_columns {
    () => {
        "record_id, version, replaced_at, reason, kind, importance, confidence, updated_at, expires_at, valid_from,
             valid_to, content_hash, embedding_hash, source, tags, provenance, body, context, content"
    };
}

/// Deletes a record, live or expired, so that it can be restored. Returns what it was, if there was one that `viewer` sees.
pub(crate) fn delete(
    authority: &impl Authority,
    id: RecordId,
    expect: Option<&Expect>,
    viewer: &Viewer,
    now: Millis,
) -> Result<Option<Record>> {
    authority.write(|tx| delete_one(tx, id, expect, viewer, now))
}

/// Deletes several records in one transaction: all are deleted, or none.
///
/// # Errors
/// [`Error::NotFound`] names a record that `viewer` does not see; [`Error::Invalid`] one that is not as expected.
pub(crate) fn delete_all(
    authority: &impl Authority,
    expected: &[(RecordId, Expect)],
    viewer: &Viewer,
    now: Millis,
) -> Result<()> {
    authority.write(|tx| {
        expected.iter().try_for_each(|(id, expect)| {
            delete_one(tx, *id, Some(expect), viewer, now)?.map(drop).ok_or(Error::NotFound(*id))
        })
    })
}

fn delete_one(
    tx: &dyn Tx,
    id: RecordId,
    expect: Option<&Expect>,
    viewer: &Viewer,
    now: Millis,
) -> Result<Option<Record>> {
    if !lookup::may_change(tx, id, viewer)? {
        return Ok(None);
    }
    let record = lookup::live(tx, id, viewer, Millis::MIN)?;
    if let (Some(expect), Some(record)) = (expect, &record) {
        expect.check(record)?;
    }
    tombstones::delete(tx, id, now)?;
    keep(tx, id, now)?;
    remove(tx, id)?;
    Ok(record)
}

/// Restores a deleted record, with its id, its versions, and its links to records that still exist.
///
/// # Errors
/// [`Error::NotFound`] if none that `viewer` sees was deleted, or too long ago; [`Error::Duplicate`] names a record that has
/// its text or its ULID by now, [`Error::Invalid`] one that was read at its place.
pub(crate) fn restore(authority: &impl Authority, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Record> {
    authority.write(|tx| put_back(tx, id, viewer, now))
}

/// Restores a deleted record like [`restore`], within a transaction.
pub(super) fn put_back(tx: &dyn Tx, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Record> {
    let scope = lookup::changeable(scope_of(tx, id)?, id, viewer)?.ok_or(Error::NotFound(id))?;
    claim(tx, id, viewer, now)?;
    take_out(tx, id)?;
    let now = tombstones::after_deletion(tx, id, now)?;
    // An expiry that has passed would hide it again.
    let sql = "UPDATE records SET expires_at = NULL, updated_at = ?2 WHERE id = ?1 AND expires_at <= ?2";
    tx.execute(sql, &[id.into(), now.into()])?;
    restore_links(tx, id, now)?;
    forget(tx, id)?;
    versions::keep_as_it_is(tx, id, "restored", &Cause::Undo, now)?;
    let record = lookup::live(tx, id, &Viewer::OWNER, now)?.ok_or(Error::NotFound(id))?;
    check_body(tx, record.body.as_ref(), &scope, Some(id), &references(&record), now)?;
    Ok(record)
}

/// Copies a deleted record back, as it was, without its links. Its row in the trash stays.
fn take_out(tx: &dyn Tx, id: RecordId) -> Result<()> {
    let sql = concat!("INSERT INTO records (", columns!(), ") SELECT ", columns!(), " FROM trash WHERE id = ?1");
    tx.execute(sql, &[id.into()])?;
    let sql = concat!(
        "INSERT INTO versions (scope_id, ",
        version_columns!(),
        ") SELECT (SELECT scope_id FROM records WHERE id = ?1), ",
        version_columns!(),
        " FROM trash_versions WHERE record_id = ?1"
    );
    tx.execute(sql, &[id.into()])?;
    origins::recall(tx, id)?;
    insert_restored(tx, id)
}

/// Copies a deleted record back, as it was: an import looks whether it lives. Its text may be another record's by now.
pub(super) fn bring_back(tx: &dyn Tx, id: RecordId, now: Millis) -> Result<()> {
    take_out(tx, id)?;
    restore_links(tx, id, now)?;
    forget(tx, id).map(drop)
}

/// Deletes a record as of `at`.
pub(super) fn put_away(tx: &dyn Tx, id: RecordId, at: Millis) -> Result<()> {
    keep(tx, id, at)?;
    remove(tx, id).map(drop)
}

/// The deleted record with this ULID, and its scope.
pub(super) fn with_ulid(tx: &dyn Tx, ulid: &[u8; 16]) -> Result<Option<(RecordId, Scope)>> {
    let sql = "SELECT t.id, s.agent, s.project FROM trash t JOIN scopes s ON s.id = t.scope_id WHERE t.ulid = ?1
         ORDER BY t.deleted_at DESC LIMIT 1";
    tx.first(sql, &[ulid.into()], |row| Ok((row.get(0)?, Scope { agent: row.get(1)?, project: row.get(2)? })))
}

/// Drops at most `limit` records that were deleted by `by`, the earliest first, in one transaction. Returns how many.
pub(crate) fn empty(authority: &impl Authority, by: Millis, limit: usize) -> Result<usize> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    authority.write(|tx| {
        let sql = "DELETE FROM trash WHERE id IN
             (SELECT id FROM trash WHERE deleted_at <= ?1 ORDER BY deleted_at LIMIT ?2)";
        tx.execute(sql, &[by.into(), limit.into()])
    })
}

/// The scope of a deleted record.
pub(super) fn scope_of(tx: &dyn Tx, id: RecordId) -> Result<Option<Scope>> {
    let sql = "SELECT s.agent, s.project FROM trash t JOIN scopes s ON s.id = t.scope_id WHERE t.id = ?1";
    tx.first(sql, &[id.into()], |row| Ok(Scope { agent: row.get(0)?, project: row.get(1)? }))
}

/// Drops a deleted record. Returns whether there was one.
pub(super) fn forget(tx: &dyn Tx, id: RecordId) -> Result<bool> {
    Ok(tx.execute("DELETE FROM trash WHERE id = ?1", &[id.into()])? == 1)
}

/// Copies a record to the trash.
fn keep(tx: &dyn Tx, id: RecordId, now: Millis) -> Result<()> {
    let sql = concat!(
        "INSERT INTO trash (deleted_at, ",
        columns!(),
        ") SELECT ?2, ",
        columns!(),
        " FROM records WHERE id = ?1"
    );
    tx.execute(sql, &[id.into(), now.into()])?;
    origins::forget(tx, id)?;
    let sql = concat!(
        "INSERT INTO trash_versions (",
        version_columns!(),
        ") SELECT ",
        version_columns!(),
        " FROM versions WHERE record_id = ?1"
    );
    tx.execute(sql, &[id.into()])?;
    let sql = "INSERT INTO trash_links (record_id, from_id, kind, to_id, created_at)
         SELECT ?1, from_id, kind, to_id, created_at FROM links WHERE from_id = ?1
         UNION ALL SELECT ?1, from_id, kind, to_id, created_at FROM links WHERE to_id = ?1";
    tx.execute(sql, &[id.into()]).map(drop)
}

/// Makes room for the text of a deleted record.
///
/// # Errors
/// [`Error::Duplicate`] when a live record has its text, or one that `viewer` sees its ULID; [`Error::Invalid`] when one that
/// `viewer` sees has its origin.
fn claim(tx: &dyn Tx, id: RecordId, viewer: &Viewer, now: Millis) -> Result<()> {
    let sql = "SELECT r.id FROM trash t JOIN records r ON r.ulid = t.ulid WHERE t.id = ?1";
    if let Some(other) = tx.first(sql, &[id.into()], |row| row.get(0))? {
        if lookup::scope_of(tx, other)?.is_some_and(|scope| viewer.sees(&scope)) {
            return Err(Error::Duplicate(other));
        }
        // An import has brought it into a scope that is out of view.
        let ulid = rows::new_ulid(now);
        tx.execute("UPDATE trash SET ulid = ?2 WHERE id = ?1", &[id.into(), (&ulid).into()])?;
    }
    let sql = "SELECT r.id FROM trash t JOIN records r ON r.origin = t.origin WHERE t.id = ?1";
    if let Some(other) = tx.first(sql, &[id.into()], |row| row.get(0))? {
        if lookup::scope_of(tx, other)?.is_some_and(|scope| viewer.sees(&scope)) {
            let why = format!("was indexed again as memory {other}; delete that one before you restore this one");
            return Err(Error::invalid("id", why));
        }
        // It was read or imported again for a scope that is out of view: two records have no place in common.
        tx.execute("UPDATE trash SET origin = NULL, provenance = NULL WHERE id = ?1", &[id.into()])?;
    }
    let sql = "SELECT kind, content_hash, scope_id, session, turn FROM trash WHERE id = ?1";
    let text = tx.first(sql, &[id.into()], |row| {
        Ok((rows::to_kind(row, 0)?, row.get::<Hash>(1)?, row.get(2)?, row.get::<Option<String>>(3)?, row.get(4)?))
    })?;
    let Some((_, hash, scope, session, turn)) = text.filter(|(kind, ..)| !kind.repeats()) else { return Ok(()) };
    let text = Text { hash: &hash, scope, session: session.as_deref(), turn, own: None };
    match text.claim(tx, now)? {
        Some(twin) => Err(Error::Duplicate(twin.id)),
        None => Ok(()),
    }
}

/// Restores the links of a record to records that still exist. A link to a deleted record waits until that is restored.
fn restore_links(tx: &dyn Tx, id: RecordId, now: Millis) -> Result<()> {
    let sql = "SELECT from_id, kind, to_id, created_at FROM trash_links WHERE record_id = ?1";
    let links: Vec<(Link, Millis)> = tx.all(sql, &[id.into()], |row| Ok((to_link(row)?, row.get(3)?)))?;
    for (link, made_at) in links {
        let other = link.other_end(id);
        if scope_of(tx, other)?.is_some() {
            let sql = "INSERT INTO trash_links (record_id, from_id, kind, to_id, created_at)
                 SELECT ?1, from_id, kind, to_id, created_at FROM trash_links
                 WHERE record_id = ?2 AND from_id = ?3 AND kind = ?4 AND to_id = ?5 ON CONFLICT DO NOTHING";
            let (from, kind, to) = (link.from.into(), rows::link_code(link.kind).into(), link.to.into());
            tx.execute(sql, &[other.into(), id.into(), from, kind, to])?;
            continue;
        }
        match links::insert(tx, link, &Viewer::OWNER, made_at, now) {
            // The other end is gone, or others have come to supersede each other since.
            Err(Error::NotFound(_) | Error::Invalid { .. }) => {}
            outcome => drop(outcome?),
        }
    }
    Ok(())
}
