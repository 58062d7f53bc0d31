//! `memory_sync`.

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Source, SourceId};
use memorist_engine::{Engine, Error, Result};
use memorist_ingest::sync::{SourceReport, SyncOptions, Syncer};

use super::search::is_read;
use super::workspace::add_sources;
use crate::ops::Context;
use crate::wire::gimli::{SyncParams, Synced};

/// Indexes the changed files of the store's sources, and reports on the sources that the caller sees. An isolated caller syncs
/// only its own sources.
pub fn sync(engine: &Engine, context: &Context, params: SyncParams) -> Result<Synced> {
    let settings = &context.memory_search;
    let Some(store) = &settings.store else {
        return Err(Error::invalid("store", "has no folder: its files are read by another server"));
    };
    add_sources(engine, context)?;
    let syncer = Syncer::new(store, settings.sync.clone(), settings.model.clone());
    let own = context.defaults.own_scope();
    let chosen: Vec<Option<SourceId>> = if context.defaults.is_only() {
        let is_own = |source: &Source| source.source.scope == own;
        engine.sources()?.into_iter().filter(is_own).map(|source| Some(source.id)).collect()
    } else {
        vec![None]
    };
    let viewer = context.defaults.own_viewer();
    let mut synced = Synced::default();
    for source in chosen {
        let report = syncer.sync(engine, &SyncOptions { source, force: params.force }, &NoProgress)?;
        let seen = report.sources.into_iter().filter(|SourceReport { source, .. }| {
            viewer.sees(&source.source.scope) && is_read(context, source.source.kind)
        });
        seen.for_each(|report| synced.add(report));
    }
    Ok(synced)
}
