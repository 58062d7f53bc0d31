//! The types that the steps of a batch job share: the lock and the model.

use std::sync::Arc;

use memorist_embed::Embedder;

use crate::error::Result;
use crate::sync::lock::WriterGuard;
use crate::sync::store::{Store, as_stored};
use crate::types::ModelId;

/// `AboutJob::state` of a job whose submission was sent, but not answered. A missing job with this state counts as a
/// failure of the provider.
pub(super) const UNANSWERED: &str = "not answered yet";

/// The jobs lock of a store, held: not the writer lock, which has the same type.
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

    /// The embedder and the model of the open jobs, and whether it is the next model: the configured model if the store
    /// is changing to it, otherwise the current model.
    pub fn embedder_of_jobs(&self) -> Result<(Arc<dyn Embedder>, ModelId, bool)> {
        if let Some((next, model)) = self.records.next_model()?
            && as_stored(&self.host.identity()?).is_comparable_to(&model)
        {
            return Ok((self.host.embedder()?, next, true));
        }
        self.embedder().map(|(embedder, model)| (embedder, model, false))
    }
}
