//! A memory that is saved together with its links.

use super::link::LinkKind;
use super::record::{AddOutcome, NewRecord, RecordUpdate, UpdateOutcome};
use super::scope::Viewer;
use super::units::RecordId;
use crate::error::Result;

/// A record to save, with all that belongs to it.
#[derive(Debug, Clone)]
pub struct Save {
    /// The record.
    pub record: NewRecord,
    /// Links from it to other records. If one of these is not there, nothing of the save is stored.
    pub links: Vec<(LinkKind, RecordId)>,
    /// The fields that a record takes over which has this text already; `None` if it stays as it is.
    pub given: Option<GivenFields>,
    /// Who saves it. They must see what it links to.
    pub viewer: Viewer,
}

/// Which fields of its record a [`Save`] names: others have defaults, which replace nothing. Tags, dates and fields of the
/// body are taken over in any case.
#[derive(Debug, Clone, Copy, Default)]
pub struct GivenFields {
    /// The kind.
    pub kind: bool,
    /// The source.
    pub source: bool,
    /// The context.
    pub context: bool,
    /// The confidence.
    pub confidence: bool,
    /// The importance.
    pub importance: bool,
    /// When it expires.
    pub expires_at: bool,
}

impl GivenFields {
    /// How the record changes that has the text of `new` already, if it does.
    pub(crate) fn update(self, new: &NewRecord) -> Option<RecordUpdate> {
        let update = RecordUpdate {
            kind: self.kind.then_some(new.kind),
            source: self.source.then(|| new.source.clone()),
            context: self.context.then(|| new.context.clone()),
            confidence: self.confidence.then_some(new.confidence),
            importance: self.importance.then_some(new.importance),
            add_tags: new.tags.clone(),
            expires_at: self.expires_at.then_some(new.expires_at),
            valid_from: new.valid.from.map(Some),
            valid_to: new.valid.to.map(Some),
            body_fields: new.body.as_ref().and_then(|body| body.as_object().cloned()).unwrap_or_default(),
            reason: Some("saved again".into()),
            ..RecordUpdate::default()
        };
        (!update.is_empty()).then_some(update)
    }
}

/// The outcome of a [`Save`].
#[derive(Debug)]
pub struct Saved {
    /// The record.
    pub added: AddOutcome,
    /// For each link in order, whether it is new, or why it was not made.
    pub links: Vec<Result<bool>>,
    /// The outcome of the update, if there was a record to update.
    pub updated: Option<Result<UpdateOutcome>>,
}
