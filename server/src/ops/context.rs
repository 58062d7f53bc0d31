//! Defaults for what a call omits.

use std::path::PathBuf;

use memorist_engine::Result;
use memorist_engine::types::{Query, Weights};

use crate::wire::{self, Defaults, SearchParams};

/// Defaults for what a call omits.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Project and agent.
    pub defaults: Defaults,
    /// The weights of a hybrid search.
    pub weights: Weights,
    /// The folder that tools export to and import from.
    pub exports: PathBuf,
    /// The tool or command that calls, as searches are kept with it.
    pub tool: &'static str,
}

impl Context {
    /// The search of `params`.
    pub fn query(&self, params: &SearchParams) -> Result<Query> {
        Ok(Query { tool: self.tool, ..wire::query(params, &self.defaults, self.weights)? })
    }
}
