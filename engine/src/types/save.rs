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
    /// Links from it to records that are there.
    pub links: Vec<(LinkKind, RecordId)>,
    /// How the record changes that has this text already, if there is one.
    pub update: Option<RecordUpdate>,
    /// Who saves it. They must see what it links to.
    pub viewer: Viewer,
}

/// The outcome of a [`Save`].
#[derive(Debug)]
pub struct Saved {
    /// The record.
    pub added: AddOutcome,
    /// For each link in order, whether it is new, or why it was not made.
    pub links: Vec<Result<bool>>,
    /// What became of the update, if there was a record to update.
    pub updated: Option<Result<UpdateOutcome>>,
}
