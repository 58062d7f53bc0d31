//! What fills in what a call leaves out.

use std::path::PathBuf;

use memorist_engine::types::Weights;

use crate::wire::Defaults;

/// What fills in what a call leaves out.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Project and agent.
    pub defaults: Defaults,
    /// The weights of a hybrid search.
    pub weights: Weights,
    /// The folder that tools export to and import from.
    pub exports: PathBuf,
}
