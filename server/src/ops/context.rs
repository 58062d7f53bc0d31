//! Defaults for what a call omits.

use std::path::PathBuf;

use memorist_engine::types::Weights;

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
}
