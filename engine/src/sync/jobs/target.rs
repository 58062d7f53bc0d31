//! The types that the steps of a batch job share: the lock and the model.

use std::sync::Arc;

use memorist_embed::Embedder;

use crate::error::Result;
use crate::sync::lock::WriterGuard;
use crate::sync::store::{Store, as_stored};
use crate::types::ModelId;

/// Marks a job whose submission was sent, but not answered, in the text `AboutJob::state`. If the provider does not
/// list such a job under its key, the job counts as failed (`handle_missing`).
pub(super) const UNANSWERED: &str = "not answered yet";

/// Shows that the caller holds the jobs lock of a store. The guard of the writer lock has the same type, so the
/// compiler does not tell the two apart.
pub type JobsGuard<'lock> = WriterGuard<'lock>;

/// The model for which texts are embedded.
pub struct Target<'a> {
    /// The embedder that runs the model.
    pub embedder: &'a dyn Embedder,
    /// The row of the model in the table `models`.
    pub model: ModelId,
    /// Whether this is the next model of a store that is changing its model, and not the current one.
    pub is_next: bool,
}

impl Store {
    /// The number of texts in open jobs.
    pub fn texts_in_jobs(&self) -> Result<u64> {
        Ok(self.records.batch_jobs()?.iter().map(|job| job.about.texts).sum())
    }

    /// The model whose open jobs a command cancels, with its embedder. While the store is changing its model to the
    /// configured one, this is that next model, and the third value is true. Otherwise it is the current model.
    ///
    /// The background thread polls only jobs of the current model: `reembed` polls those of the next one itself.
    pub fn embedder_of_jobs(&self) -> Result<(Arc<dyn Embedder>, ModelId, bool)> {
        if let Some((next, model)) = self.records.next_model()?
            && as_stored(&self.host.identity()?).is_comparable_to(&model)
        {
            return Ok((self.host.embedder()?, next, true));
        }
        self.embedder().map(|(embedder, model)| (embedder, model, false))
    }
}
