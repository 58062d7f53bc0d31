//! Links between records. They go with either of their ends.

use super::tombstones;
use super::versions::Turned;
use crate::error::{Error, Result, refused};
use crate::records::lookup::{is_live, scope_of};
use crate::records::rows::{link_code, to_link};
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::types::{Link, LinkKind, Millis, RecordId, Viewer};

/// Makes a link between two live records that `viewer` sees. Returns whether it is new.
pub(crate) fn link(authority: &impl Authority, link: Link, viewer: &Viewer, now: Millis) -> Result<bool> {
    authority.write(|tx| insert(tx, link, viewer, now, now))
}

/// Makes many links in one transaction. One that is refused does not stop the others.
pub(crate) fn link_batch(
    authority: &impl Authority,
    links: &[Link],
    viewer: &Viewer,
    now: Millis,
) -> Result<Vec<Result<bool>>> {
    authority.write(|tx| links.iter().map(|link| refused(insert(tx, *link, viewer, now, now))).collect())
}

/// Removes a link between two records that `viewer` sees. Returns whether there was one.
pub(crate) fn unlink(authority: &impl Authority, link: Link, viewer: &Viewer, now: Millis) -> Result<bool> {
    authority.write(|tx| {
        for id in [link.from, link.to] {
            if !is_seen(tx, id, viewer)? {
                return Ok(false);
            }
        }
        remove(tx, link, viewer, now)
    })
}

/// Removes a link between two records that `viewer` sees. Returns whether there was one.
pub(super) fn remove(tx: &dyn Tx, link: Link, viewer: &Viewer, now: Millis) -> Result<bool> {
    check_ends(tx, link, viewer)?;
    delete(tx, link, now)
}

/// Removes a link, and notes that it is gone.
pub(super) fn delete(tx: &dyn Tx, link: Link, now: Millis) -> Result<bool> {
    if let Some(made_at) = made_at(tx, link)? {
        tombstones::unlink(tx, link, made_at, now)?;
    }
    let sql = "DELETE FROM links WHERE from_id = ?1 AND kind = ?2 AND to_id = ?3";
    Ok(tx.execute(sql, &[link.from.into(), link_code(link.kind).into(), link.to.into()])? == 1)
}

/// The last link that was made of a record, in either direction, to a live one that `viewer` sees; and when.
pub(super) fn last(tx: &dyn Tx, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Option<(Link, Millis)>> {
    let sql = "SELECT from_id, kind, to_id, created_at FROM links WHERE from_id = ?1
         UNION SELECT from_id, kind, to_id, created_at FROM links INDEXED BY links_to WHERE to_id = ?1
         ORDER BY created_at DESC, from_id DESC";
    let links: Vec<(Link, Millis)> = tx.all(sql, &[id.into()], |row| Ok((to_link(row)?, row.get(3)?)))?;
    for (link, made_at) in links {
        if is_live(tx, link.other_end(id), viewer, now)? {
            return Ok(Some((link, made_at)));
        }
    }
    Ok(None)
}

/// Makes a link as of `made_at` between two records that are live `now`. One that would make a record supersede itself,
/// over whatever others, is refused: all of that circle would be hidden from every search.
pub(super) fn insert(tx: &dyn Tx, link: Link, viewer: &Viewer, made_at: Millis, now: Millis) -> Result<bool> {
    if link.from == link.to {
        return Err(Error::invalid("to_id", format!("cannot link memory {} to itself", link.to)));
    }
    for id in [link.from, link.to] {
        check_live(tx, id, viewer, now)?;
    }
    check_ends(tx, link, viewer)?;
    if link.kind == LinkKind::Supersedes && supersedes(tx, link.to, link.from)? {
        let why = format!("memory {} supersedes memory {} already; remove that link first", link.to, link.from);
        return Err(Error::invalid("link_kind", why));
    }
    let made_at = tombstones::after_removal(tx, link, made_at)?;
    let sql = "INSERT INTO links (from_id, kind, to_id, from_scope, to_scope, created_at)
         SELECT f.id, ?2, t.id, f.scope_id, t.scope_id, ?4 FROM records f, records t
         WHERE f.id = ?1 AND t.id = ?3 ON CONFLICT DO NOTHING";
    let values = [link.from.into(), link_code(link.kind).into(), link.to.into(), made_at.into()];
    Ok(tx.execute(sql, &values)? == 1)
}

/// Checks that a record which is to be linked is live, and that `viewer` sees it.
///
/// # Errors
/// [`Error::NotFound`] if not.
pub(super) fn check_live(tx: &dyn Tx, id: RecordId, viewer: &Viewer, now: Millis) -> Result<()> {
    if is_live(tx, id, viewer, now)? { Ok(()) } else { Err(Error::NotFound(id)) }
}

/// Makes a superseded record current: removes what supersedes it and lets it supersede the newest of those, of what
/// `viewer` sees. `None` if nothing superseded it.
pub(super) fn make_current(tx: &dyn Tx, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Option<Turned>> {
    // Also those that have expired: they would hide the record on.
    let mut turned = Turned { removed: superseding(tx, id, viewer)?, made: Vec::new() };
    for &(from, _) in &turned.removed {
        delete(tx, Link { from, to: id, kind: LinkKind::Supersedes }, now)?;
    }
    let mut found: Vec<RecordId> = turned.removed.iter().map(|(newer, _)| *newer).collect();
    let mut at = 0;
    while let Some(&one) = found.get(at) {
        let newer = superseding(tx, one, viewer)?;
        if newer.is_empty() && is_live(tx, one, viewer, now)? {
            match insert(tx, Link { from: id, to: one, kind: LinkKind::Supersedes }, viewer, now, now) {
                Ok(_) => turned.made.push(one),
                // It supersedes the record over one that `viewer` does not see: neither is above the other.
                Err(Error::Invalid { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let newer = newer.into_iter().map(|(newer, _)| newer).filter(|newer| !found.contains(newer));
        found.extend(newer.collect::<Vec<_>>());
        at += 1;
    }
    Ok((!turned.removed.is_empty()).then_some(turned))
}

/// The records that `viewer` sees and that supersede a record, live or expired, by id, and when they came to.
pub(super) fn superseding(tx: &dyn Tx, id: RecordId, viewer: &Viewer) -> Result<Vec<(RecordId, Millis)>> {
    let sql = "SELECT from_id, created_at FROM links WHERE to_id = ?1 AND kind = ?2 ORDER BY from_id";
    let kind = link_code(LinkKind::Supersedes);
    let all: Vec<(RecordId, Millis)> = tx.all(sql, &[id.into(), kind.into()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut seen = Vec::new();
    for (newer, made_at) in all {
        if is_seen(tx, newer, viewer)? {
            seen.push((newer, made_at));
        }
    }
    Ok(seen)
}

fn is_seen(tx: &dyn Tx, id: RecordId, viewer: &Viewer) -> Result<bool> {
    Ok(scope_of(tx, id)?.is_some_and(|scope| viewer.sees(&scope)))
}

/// When this very link was made, if it is in the table.
pub(super) fn made_at(tx: &dyn Tx, link: Link) -> Result<Option<Millis>> {
    let sql = "SELECT created_at FROM links WHERE from_id = ?1 AND kind = ?2 AND to_id = ?3";
    tx.first(sql, &[link.from.into(), link_code(link.kind).into(), link.to.into()], |row| row.get(0))
}

/// Checks that `viewer`, who sees both ends of a link, may change one of them: nobody else sees the link, then.
fn check_ends(tx: &dyn Tx, link: Link, viewer: &Viewer) -> Result<()> {
    for id in [link.from, link.to] {
        if scope_of(tx, id)?.is_some_and(|scope| viewer.changes(&scope)) {
            return Ok(());
        }
    }
    scope_of(tx, link.from)?.map_or(Ok(()), |scope| viewer.check_change(link.from, &scope))
}

/// Whether a record supersedes another, itself or over others.
fn supersedes(tx: &dyn Tx, id: RecordId, other: RecordId) -> Result<bool> {
    let sql = "WITH RECURSIVE older (id) AS (
             SELECT ?1 UNION SELECT l.to_id FROM older JOIN links l ON l.from_id = older.id AND l.kind = ?3
         ) SELECT 1 FROM older WHERE id = ?2";
    tx.exists(sql, &[id.into(), other.into(), link_code(LinkKind::Supersedes).into()])
}
