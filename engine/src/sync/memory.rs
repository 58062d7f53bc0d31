//! In-memory indexes for a read-only store, if its own are missing or too old.

use std::sync::Arc;

use parking_lot::Mutex;

use super::rebuild::each_step;
use super::store::{Store, identity};
use crate::error::Result;
use crate::keywords::MemoryIndex;
use crate::progress::NoProgress;
use crate::types::Millis;
use crate::vectors::exact::ExactIndex;

/// Most records whose indexes are built in memory.
const MOST: u64 = 200_000;

/// One thread at a time builds them; the others wait for the result.
static MAKING: Mutex<()> = Mutex::new(());

impl Store {
    /// Builds the unusable indexes in memory, unless the store is large: then searches do without them.
    pub fn index_in_memory(&self) -> Result<()> {
        let _making = MAKING.lock();
        self.reopen()?;
        if !self.has_unusable_index()? || self.records.copy().snapshot()?.live_count(self.now())? > MOST {
            return Ok(());
        }
        if self.keywords.is_unusable() {
            let records = self.records.copy().snapshot()?;
            let index = MemoryIndex::filled(records.head(), |add| {
                each_step(&records, &NoProgress, |ids| add(&records.records(ids, Millis::MIN)?))
            })?;
            self.keywords.open(&self.paths.keywords(), || Ok(Arc::new(index)))?;
        }
        if self.vectors.is_unusable()
            && let Some((id, model)) = self.model()?
        {
            let index = self.filled(Arc::new(ExactIndex::new(&identity(&model))), id)?;
            self.vectors.open(&self.paths.vectors(), || Ok(index))?;
        }
        Ok(())
    }
}
