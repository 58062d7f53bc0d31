//! The interface of loaders, which load a model when it is needed.

use std::sync::Arc;
use std::time::Duration;

use crate::embedder::Embedder;
use crate::error::Result;
use crate::identity::ModelIdentity;
use crate::plan::Plan;
use crate::progress::{NoProgress, Progress};

/// Loads a model, perhaps after fetching it.
pub trait Loader: Send + Sync {
    /// The identity of the model, if it is known without loading it.
    fn identity(&self) -> Option<ModelIdentity>;

    /// Whether it can be loaded without a download. An error says why it can not be loaded at all.
    fn is_local(&self) -> Result<bool>;

    /// Compares its files with their hashes, or asks the provider for a vector. Returns the name of the model, or `None` if it
    /// is not set up.
    fn verify(&self) -> Result<Option<String>>;

    /// Like [`Loader::verify`], for a check that waits for a provider no longer than this.
    fn verify_within(&self, _most: Duration) -> Result<Option<String>> {
        self.verify()
    }

    /// Whether the model is of a provider that takes batch jobs.
    fn takes_batch_jobs(&self) -> bool {
        false
    }

    /// Like [`Embedder::is_quick`], without loading the model.
    fn is_quick(&self) -> bool {
        true
    }

    /// Loads it. `announce` is called once before a download.
    fn load(&self, announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<Arc<dyn Embedder>>;

    /// Loads it for a caller that cannot wait for long, such as a search.
    fn load_for_search(&self, announce: &mut dyn FnMut(&Plan)) -> Result<Arc<dyn Embedder>> {
        self.load(announce, &NoProgress)
    }
}
