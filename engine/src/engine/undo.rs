//! Undoing the last thing that was done to a memory.

use super::Engine;
use crate::error::{Error, Result};
use crate::records::{CURRENT_AGAIN, RESTORED, UNLINKED};
use crate::sync::Message;
use crate::types::{Link, LinkKind, RecordId, RecordUpdate, UpdateOutcome, Viewer};

/// What was undone.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Undone {
    /// It was deleted, and is back.
    Deletion(UpdateOutcome),
    /// It had expired, and is back without an expiry.
    Expiry(UpdateOutcome),
    /// It was changed, and is what it was before.
    Change(UpdateOutcome),
    /// It was linked, and the link is gone.
    Link(Link),
}

impl Engine {
    /// Undoes the last thing that was done to a memory: its deletion, its expiry, a change, or a link from it or to it. To
    /// undo that, call it again after a change; a link is made again with [`Engine::link`].
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none that `viewer` sees, and none that can come back; [`Error::Invalid`] if nothing
    /// was done to it since it was saved, or that was undone already; and as [`Engine::update`].
    pub fn undo(&self, id: RecordId, viewer: &Viewer) -> Result<Undone> {
        let Some(record) = self.peek(id, viewer)? else {
            let gone = self.gone(id, viewer)?.ok_or(Error::NotFound(id))?;
            if gone.deleted_at.is_some() {
                return Ok(Undone::Deletion(self.restore(id, viewer)?));
            }
            let reason = Some("revived".to_owned());
            let update = RecordUpdate { expires_at: Some(None), reason, ..RecordUpdate::default() };
            return Ok(Undone::Expiry(self.update(id, &update, viewer)?));
        };
        let before = self.history(id, viewer, Some(record.version), 1)?.pop();
        let replaced = before.as_ref().and_then(|version| version.replaced.clone());
        let reason = replaced.as_ref().map(|replaced| replaced.reason.as_str()).unwrap_or_default();
        let changed_at = replaced.as_ref().map(|replaced| replaced.at);
        let linked = self.store.records.snapshot()?.last_link(id, viewer, self.store.now())?;
        let newer_link = linked.filter(|(_, made_at)| changed_at.is_none_or(|at| *made_at > at));
        let turned = linked.filter(|(link, made_at)| {
            reason == CURRENT_AGAIN && Some(*made_at) == changed_at && link.kind == LinkKind::Supersedes
        });
        if let Some((link, _)) = newer_link.or(turned) {
            let back = turned.map(|_| Link { from: link.to, to: link.from, kind: link.kind });
            self.store.records.undo_link(id, link, back, viewer, self.store.now())?;
            self.worker.send(Message::Written);
            return Ok(Undone::Link(link));
        }
        match before {
            Some(_) if reason == RESTORED || reason.starts_with(UNLINKED) => Err(Error::invalid(
                "id",
                format!("what was done last to memory {id} is undone already; give a version to go further back"),
            )),
            Some(before) => Ok(Undone::Change(self.roll_back(id, before.version, Some("undo"), viewer)?)),
            None => Err(Error::invalid("id", format!("memory {id} was not changed or linked since it was saved"))),
        }
    }
}
