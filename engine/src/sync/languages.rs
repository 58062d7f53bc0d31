//! Whether many memories are in a language that the store's model does not know.

use memorist_embed::NamedModel;

use super::store::Store;
use crate::error::Result;
use crate::types::{ForeignMemories, RecordId};

/// The newest memories are examined, at most so many.
const EXAMINED: usize = 100;
/// The others are examined only if one of the first few is foreign: mostly none is.
const FIRST: usize = 3;
/// From here on, another model is worth its download.
const MANY: usize = 20;

impl Store {
    /// The memories in a language that the store's model does not know, if at least 20 of the newest 100 are.
    pub fn foreign_memories(&self) -> Result<Option<ForeignMemories>> {
        let (Some((model, about)), Some((_, scale))) = (self.model()?, self.scale()?) else { return Ok(None) };
        if about.weights_sha256 == NamedModel::E5Small.identity().weights_sha256 {
            return Ok(None);
        }
        let records = self.records.snapshot()?;
        let newest = records.newest_ids(EXAMINED, self.now())?;
        let count = |ids: &[RecordId]| -> Result<usize> {
            let (mut count, mut without_vector) = (0, Vec::new());
            for id in ids {
                match records.embedding(model, *id)? {
                    Some(vector) => count += usize::from(scale.is_foreign_language(&vector)),
                    None => without_vector.push(*id),
                }
            }
            // The list of what the model refused may be long, and is rarely needed.
            if !without_vector.is_empty() {
                let refused = self.records.refused(self.now())?;
                count += refused.iter().filter(|one| without_vector.contains(&one.record_id)).count();
            }
            Ok(count)
        };
        let (first, others) = newest.split_at(newest.len().min(FIRST));
        let in_first = if newest.len() < MANY { 0 } else { count(first)? };
        if in_first == 0 {
            return Ok(None);
        }
        let count = in_first + count(others)?;
        Ok((count >= MANY).then_some(ForeignMemories { count, examined: newest.len() }))
    }

    /// The result of [`Store::foreign_memories`] when it first finds any, and never again for this store.
    pub fn new_foreign_memories(&self) -> Result<Option<ForeignMemories>> {
        if !self.records.can_write() || self.records.has_suggested_model()? {
            return Ok(None);
        }
        let foreign = self.foreign_memories()?;
        if foreign.is_some() {
            self.records.note_suggestion()?;
        }
        Ok(foreign)
    }
}
