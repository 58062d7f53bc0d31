//! Defaults for what a call omits.

use std::path::PathBuf;
use std::sync::Arc;

use memorist_engine::types::Weights;

use crate::memory_search::MemorySearch;
use crate::wire::Defaults;

/// Defaults for what a call omits.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Project and agent.
    pub defaults: Defaults,
    /// The weights of a hybrid search.
    pub weights: Weights,
    /// The folder that tools export to and import from.
    pub exports: PathBuf,
    /// What the tools of Gimli follow.
    pub memory_search: Arc<MemorySearch>,
}
