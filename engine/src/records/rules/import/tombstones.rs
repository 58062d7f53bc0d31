//! Tombstones of another store: what was deleted, purged or united there.

use super::super::tombstones::{self, Tombstone};
use super::super::trash;
use super::ImportTx;
use crate::error::{Error, Result};
use crate::types::bounds::check_millis;
use crate::types::exchange::parse_ulid;
use crate::types::{Imported, MemoryTombstone};

impl ImportTx<'_> {
    /// Takes a tombstone over. What was purged there is purged here afterwards (`tombstones::to_purge`).
    pub(super) fn tombstone(&mut self, gone: &MemoryTombstone) -> Result<Imported> {
        let ulid = parse_ulid("ulid", &gone.ulid)?;
        let into = gone.into.as_deref().map(|into| parse_ulid("into", into)).transpose()?;
        if into.is_some_and(|into| into >= ulid) {
            return Err(Error::invalid("into", "is not smaller than the ULID itself"));
        }
        gone.deleted_at.map_or(Ok(()), |at| check_millis("deleted_at", at))?;
        gone.purged_versions.iter().try_for_each(|at| check_millis("purged_versions", *at))?;
        if !self.viewer.changes(&gone.scope) {
            return Err(self.not_changed(&gone.scope));
        }
        let here = self.known(&tombstones::resolve(self.tx, ulid)?)?;
        if here.as_ref().is_some_and(|here| !here.scope.is(&gone.scope) || here.place.is_some()) {
            return Err(Error::invalid("ulid", "belongs to a memory of another project or agent here"));
        }
        let before = (tombstones::of(self.tx, &ulid)?, tombstones::versions(self.tx, &ulid)?.len());
        let scope = Some(self.scope_id(&gone.scope)?);
        let Tombstone { deleted_at, is_purged, .. } = before.0;
        let taken = Tombstone { scope, deleted_at: gone.deleted_at, is_purged: gone.is_purged, into: None };
        if taken.deleted_at > deleted_at || taken.is_purged && !is_purged || !gone.purged_versions.is_empty() {
            tombstones::note(self.tx, &ulid, &taken)?;
        }
        let stands_for = tombstones::resolve(self.tx, ulid)?;
        if !gone.purged_versions.is_empty() && stands_for != ulid {
            tombstones::note(self.tx, &stands_for, &Tombstone { scope, ..Tombstone::default() })?;
        }
        for at in &gone.purged_versions {
            tombstones::note_version(self.tx, &ulid, *at)?;
            tombstones::note_version(self.tx, &stands_for, *at)?;
        }
        if let Some(into) = into {
            self.become_twin(ulid, into)?;
        }
        let after = (tombstones::of(self.tx, &ulid)?, tombstones::versions(self.tx, &ulid)?.len());
        // A twin may have been deleted as the memory that it stands for from now on.
        let stands_for = tombstones::resolve(self.tx, ulid)?;
        if let Some(here) = self.known(&stands_for)?
            && here.scope.is(&gone.scope)
            && here.place.is_none()
            && let Tombstone { deleted_at: Some(at), is_purged: false, .. } = tombstones::of(self.tx, &stands_for)?
            && tombstones::began(self.tx, here.id)? <= at
        {
            trash::put_away(self.tx, here.id, at)?;
            return Ok(Imported::Deleted);
        }
        Ok(if before == after { Imported::Unchanged } else { Imported::Replaced })
    }
}
