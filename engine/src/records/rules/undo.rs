//! Undo of the last change to a record, in one transaction.

use super::{links, trash, update, versions};
use crate::error::{Error, Result};
use crate::records::lookup;
use crate::records::rules::update::Changed;
use crate::records::rules::versions::{Cause, Turned};
use crate::records::transaction::{Authority, Tx};
use crate::types::{Expect, Link, LinkKind, Millis, Record, RecordId, RecordUpdate, Viewer};

/// The change that was undone.
#[derive(Debug)]
pub enum Undoing {
    /// A deletion: the record is restored.
    Deletion(Record),
    /// An expiry: the record is live again, without an expiry.
    Expiry(Changed),
    /// A change: the record is as before.
    Change(Changed),
    /// A new link: it is removed.
    Link(Link),
    /// A superseded record became current when its text was saved again: it is superseded again, by these.
    CurrentAgain(Vec<RecordId>),
}

/// Undoes the last deletion, expiry, change or link of a record. One that is there must be what is expected, and a link is not
/// undone where a version is; nobody can change one that is not there.
///
/// # Errors
/// [`Error::NotFound`] if there is none that `viewer` sees; [`Error::Invalid`] if nothing was done to it since it was saved, or
/// that was undone already.
pub(crate) fn undo(
    authority: &impl Authority,
    id: RecordId,
    expect: Option<&Expect>,
    viewer: &Viewer,
    now: Millis,
) -> Result<Undoing> {
    authority.write(|tx| match lookup::live(tx, id, viewer, now)? {
        Some(record) => {
            expect.map_or(Ok(()), |expect| expect.check(&record))?;
            undo_last(tx, &record, expect, viewer, now)
        }
        None if trash::scope_of(tx, id)?.is_some() => trash::put_back(tx, id, viewer, now).map(Undoing::Deletion),
        None => {
            let reason = Some("revived".to_owned());
            let revive = RecordUpdate { expires_at: Some(None), reason, ..RecordUpdate::default() };
            update::apply(tx, id, &revive, None, viewer, now).map(Undoing::Expiry)
        }
    })
}

fn undo_last(tx: &dyn Tx, record: &Record, expect: Option<&Expect>, viewer: &Viewer, now: Millis) -> Result<Undoing> {
    let id = record.id;
    let last = versions::last(tx, id)?;
    let changed_at = last.as_ref().map(|last| last.replaced_at);
    let linked = links::last(tx, id, viewer, now)?;
    if let Some((link, _)) = linked.filter(|(_, made_at)| changed_at.is_none_or(|at| *made_at > at)) {
        // A version does not tell with which links it was seen.
        if let Some(Expect::Version(version)) = expect {
            let other = link.other_end(id);
            let why = format!(
                "memory {id} was linked with memory {other} after it got version {version}; nothing was undone. Remove \
                 that link by linkedId {other}, without expect"
            );
            return Err(Error::invalid("expect", why));
        }
        links::remove(tx, link, viewer, now)?;
        // A link from one's own record to another's: the history of that is not theirs to write.
        if viewer.changes(&record.scope) {
            versions::keep_as_it_is(tx, id, "undo of a link", &Cause::Undo, now)?;
        }
        return Ok(Undoing::Link(link));
    }
    viewer.check_change(id, &record.scope)?;
    let Some(last) = last else {
        return Err(Error::invalid(
            "id",
            format!("nothing to undo: memory {id} has no changes or links since it was saved"),
        ));
    };
    match last.cause {
        Cause::Undo => Err(Error::invalid(
            "id",
            format!(
                "the last change of memory {id} is undone already; give a version to go further back, or version {} \
                 to revert the undo",
                last.version
            ),
        )),
        Cause::CurrentAgain(turned) => {
            let by = turn_back(tx, id, &turned, viewer, now)?;
            versions::keep_as_it_is(tx, id, "undo", &Cause::Undo, now)?;
            Ok(Undoing::CurrentAgain(by))
        }
        Cause::Change => {
            let changed = update::back_to(tx, id, last.version, "undo", viewer, now)?;
            if changed.after.version > changed.before.version {
                versions::note(tx, id, changed.before.version, &Cause::Undo)?;
            }
            Ok(Undoing::Change(changed))
        }
    }
}

/// Reverts the links of a record that became current again. Returns the records that supersede it.
fn turn_back(tx: &dyn Tx, id: RecordId, turned: &Turned, viewer: &Viewer, now: Millis) -> Result<Vec<RecordId>> {
    let supersedes = |from, to| Link { from, to, kind: LinkKind::Supersedes };
    for &to in &turned.made {
        links::remove(tx, supersedes(id, to), viewer, now)?;
    }
    let mut by = Vec::new();
    for &(from, made_at) in &turned.removed {
        match links::insert(tx, supersedes(from, id), viewer, made_at, now) {
            Ok(_) => by.push(from),
            // It is gone, or others have come to supersede each other since.
            Err(Error::NotFound(_) | Error::Invalid { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(by)
}
