//! Defaults for what a call omits.

use std::path::PathBuf;
use std::sync::Arc;

use memorist_engine::types::{AddOutcome, Query, Viewer, Weights};
use memorist_engine::{Engine, Result};
use memorist_ingest::daily_log::DailyLog;

use crate::memory_search::MemorySearch;
use crate::wire::{self, Defaults, SearchParams};

/// Defaults for what a call omits.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Project and agent.
    pub defaults: Defaults,
    /// The weights of a hybrid search.
    pub weights: Weights,
    /// Whether a search is reranked if its parameters do not say.
    pub rerank: bool,
    /// The folder that tools export to and import from.
    pub exports: PathBuf,
    /// The settings of Gimli's tools.
    pub memory_search: Arc<MemorySearch>,
    /// The workspace of Mudpuppy, if it is read.
    pub workspace: Option<PathBuf>,
    /// The daily log, in which each new memory gets a line.
    pub daily_log: Option<Arc<DailyLog>>,
    /// The calling tool or command, as the search log names it.
    pub tool: &'static str,
}

impl Context {
    /// The search of `params` among what `viewer` sees.
    pub fn query(&self, params: &SearchParams, viewer: Viewer) -> Result<Query> {
        let params = &SearchParams { rerank: params.rerank.or(Some(self.rerank)), ..params.clone() };
        Ok(Query { tool: self.tool.into(), ..wire::query(params, viewer, &self.defaults, self.weights)? })
    }

    /// Writes a saved memory to the daily log, unless it existed already. Returns a note if that fails: the memory stays saved.
    pub fn log_saved(&self, engine: &Engine, saved: &AddOutcome) -> Option<String> {
        let log = self.daily_log.as_ref().filter(|_| saved.created)?;
        // The stored text: secrets are redacted in it.
        let written = match engine.viewed_by(&Viewer::OWNER).get(saved.id) {
            Ok(Some(record)) => {
                let now = jiff::Timestamp::now();
                log.append(&record.content, record.kind.as_str(), &record.source, now)
                    .map_err(|error| error.to_string())
            }
            Ok(None) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        let why = written.err()?;
        tracing::warn!("memory {} is not in the daily log: {why}", saved.id);
        Some(format!("it is saved, but has no line in the daily log: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_reranked_as_set_unless_it_says_otherwise() {
        for (set, said, reranked) in
            [(true, None, true), (false, None, false), (true, Some(false), false), (false, Some(true), true)]
        {
            let params = SearchParams { query: "harbour".into(), rerank: said, ..SearchParams::default() };
            let context = Context { rerank: set, ..Context::default() };
            let query = context.query(&params, Viewer::OWNER).unwrap();
            assert_eq!(query.rerank, reranked, "{set} {said:?}");
        }
    }
}
