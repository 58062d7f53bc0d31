//! Memories that become one.

use std::collections::BTreeSet;

use super::bounds::MAX_LIMIT;
use super::record::UpdateOutcome;
use super::units::RecordId;
use crate::error::{Error, Result};

/// Memories that become one: the others are superseded by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    /// The one that stays, and the version of it that was seen.
    pub keep: (RecordId, i64),
    /// The others, each with the version of it that was seen.
    pub replaced: Vec<(RecordId, i64)>,
    /// The new text of the one that stays.
    pub content: Option<String>,
}

impl Merge {
    /// Checks that each memory is named once.
    pub fn validate(&self) -> Result<()> {
        if self.replaced.is_empty() || self.replaced.len() >= MAX_LIMIT {
            let why = format!("names {} memories; give 1 to {}", self.replaced.len(), MAX_LIMIT - 1);
            return Err(Error::invalid("replaced", why));
        }
        let mut named = BTreeSet::from([self.keep.0]);
        match self.replaced.iter().find(|(id, _)| !named.insert(*id)) {
            Some((id, _)) => {
                Err(Error::invalid("replaced", format!("names memory {id} twice, or it is the one that stays")))
            }
            None => Ok(()),
        }
    }
}

/// The outcome of a merge.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The one that stayed.
    pub kept: UpdateOutcome,
    /// [`Memories::undo`](crate::Memories::undo) of each of these, one after another, takes it back.
    pub undo: Vec<RecordId>,
}
