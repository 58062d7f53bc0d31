//! Several records become one, in one transaction: it gets a text, and supersedes the others.

use super::embeddings::Vectors;
use super::update::Changed;
use super::{links, update, versions};
use crate::error::{Error, Result};
use crate::records::lookup;
use crate::records::transaction::{Authority, Tx};
use crate::types::{Expect, Link, LinkKind, Merge, Millis, Record, RecordId, RecordUpdate, Viewer};

/// Merges records. Returns what became of the one that stays, and whose last change has to be undone, in this order, to take
/// all of it back.
///
/// # Errors
/// [`Error::NotFound`] names a record that is not there; [`Error::Invalid`] says of `expect` which one has changed.
pub(crate) fn merge(
    authority: &impl Authority,
    merge: &Merge,
    update: &RecordUpdate,
    vectors: Option<&Vectors>,
    viewer: &Viewer,
    now: Millis,
) -> Result<(Changed, Vec<RecordId>)> {
    authority.write(|tx| {
        let keep = merge.keep.0;
        let before = as_seen(tx, merge.keep, viewer, now)?;
        // Its version does not tell, and the text that the others get would be in no search.
        if let Some((newer, _)) = links::superseding(tx, keep, viewer)?.first() {
            return Err(Error::invalid("expect", format!("memory {keep} is now superseded by {newer}: keep that one")));
        }
        for replaced in &merge.replaced {
            as_seen(tx, *replaced, viewer, now)?;
        }
        let changed = match update.content {
            Some(_) => {
                update::apply(tx, keep, update, vectors, viewer, now).map_err(|error| with_way_out(error, merge))?
            }
            None => Changed { before: before.clone(), after: before },
        };
        let mut undo = Vec::new();
        for &(id, _) in &merge.replaced {
            // The last thing that was done to it, also within a millisecond.
            let changed_at = versions::last(tx, id)?.map(|last| last.replaced_at);
            let linked_at = links::last(tx, id, viewer, now)?.map(|(_, made_at)| made_at);
            let made_at = [changed_at, linked_at].into_iter().flatten().map(|at| at + 1).fold(now, Millis::max);
            if links::insert(tx, Link { from: keep, to: id, kind: LinkKind::Supersedes }, viewer, made_at, now)? {
                undo.push(id);
            }
        }
        if changed.after.version > changed.before.version {
            undo.push(keep);
        }
        Ok((changed, undo))
    })
}

/// A live record that is still the version that was seen.
fn as_seen(tx: &dyn Tx, (id, version): (RecordId, i64), viewer: &Viewer, now: Millis) -> Result<Record> {
    let record = lookup::live(tx, id, viewer, now)?.ok_or(Error::NotFound(id))?;
    Expect::Version(version).check(&record)?;
    Ok(record)
}

/// A text that one of the others has already need not be written a second time.
fn with_way_out(error: Error, merge: &Merge) -> Error {
    match error {
        Error::Duplicate(twin) if merge.replaced.iter().any(|(id, _)| *id == twin) => {
            Error::invalid("content", format!("is the text of memory {twin}: keep that one instead"))
        }
        other => other,
    }
}
