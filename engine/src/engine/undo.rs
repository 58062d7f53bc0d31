//! Undoing the last thing that was done to a memory.

use super::Memories;
use crate::error::Result;
use crate::records::rules::undo;
use crate::records::{Changed, Undoing};
use crate::sync::Message;
use crate::types::{Expect, Link, RecordId, UpdateOutcome};

/// The action that was undone.
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
    /// It was superseded, its text was saved again, and it is superseded again by these.
    CurrentAgain(Vec<RecordId>),
}

impl Memories<'_> {
    /// Undoes the last thing that was done to a memory: its deletion, its expiry, a change, or a link from it or to it. An
    /// undo is not undone: [`Memories::roll_back`] makes any version the newest, and [`Memories::link`] a link.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if there is none that the viewer sees, and none that can come back;
    /// [`Error::Invalid`](crate::Error::Invalid) if nothing was done to it since it was saved, or that was undone already;
    /// and as [`Memories::update`].
    pub fn undo(&self, id: RecordId) -> Result<Undone> {
        self.undo_expected(id, None)
    }

    /// Does what [`Memories::undo`] does if the memory meets `expect`, or is deleted or expired. Where a version is expected, no
    /// link is undone: a version does not tell its links.
    ///
    /// # Errors
    /// As [`Memories::undo`], and [`Error::Invalid`](crate::Error::Invalid) if it is something else.
    pub fn undo_expected(&self, id: RecordId, expect: Option<&Expect>) -> Result<Undone> {
        self.viewer.validate()?;
        match undo::undo(&self.engine.store.records, id, expect, self.viewer, self.engine.store.now())? {
            Undoing::Deletion(record) => self.engine.finish_change(None, record).map(Undone::Deletion),
            Undoing::Expiry(Changed { before, after }) => {
                self.engine.finish_change(Some(before), after).map(Undone::Expiry)
            }
            Undoing::Change(Changed { before, after }) => {
                self.engine.finish_change(Some(before), after).map(Undone::Change)
            }
            Undoing::Link(link) => {
                self.engine.worker.send(Message::Written);
                Ok(Undone::Link(link))
            }
            Undoing::CurrentAgain(by) => {
                self.engine.worker.send(Message::Written);
                Ok(Undone::CurrentAgain(by))
            }
        }
    }
}
