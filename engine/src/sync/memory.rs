//! The indexes of a store that cannot be written: one that is missing there, or too old, is made in memory.

use std::sync::Arc;

use parking_lot::Mutex;

use super::clock::now;
use super::rebuild::each_step;
use super::store::{Sync, identity};
use crate::error::Result;
use crate::keywords::MemoryIndex;
use crate::progress::NoProgress;
use crate::types::Millis;
use crate::vectors::exact::ExactIndex;

/// Most records whose indexes are made in memory.
const MOST: u64 = 200_000;

/// One thread at a time makes them; the others wait for what it makes.
static MAKING: Mutex<()> = Mutex::new(());

impl Sync {
    /// Makes the sides that are out of use in memory, unless the store is large: a search does without them then.
    pub fn index_in_memory(&self) -> Result<()> {
        let _making = MAKING.lock();
        self.reopen()?;
        if !self.is_out()? || self.records.snapshot()?.live_count(now())? > MOST {
            return Ok(());
        }
        if self.keywords.is_out() {
            let records = self.records.snapshot()?;
            let index = MemoryIndex::filled(records.head(), |add| {
                each_step(&records, &NoProgress, |ids| add(&records.records(ids, Millis::MIN)?))
            })?;
            self.keywords.open(&self.paths.keywords(), || Ok(Arc::new(index)))?;
        }
        if self.vectors.is_out()
            && let Some((id, model)) = self.model()?
        {
            let index = self.filled(Arc::new(ExactIndex::new(&identity(&model))), id)?;
            self.vectors.open(&self.paths.vectors(), || Ok(index))?;
        }
        Ok(())
    }
}
