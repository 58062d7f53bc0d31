//! One function per tool: parameters in, the engine asked, the result out. MCP and the command line both call these.

use memorist_engine::types::{Millis, Weights};
use memorist_engine::{Engine, Error, Result};

use crate::wire::{
    self, AddParams, AddResult, Defaults, DeleteParams, DeleteResult, GetParams, GetResult, IndexCounts, SearchParams,
    SearchResult, StatsResult, UpdateParams, UpdateResult,
};

/// What fills in what a call leaves out.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Project and agent.
    pub defaults: Defaults,
    /// The weights of a hybrid search.
    pub weights: Weights,
}

/// `memory_add`.
pub fn add(engine: &Engine, context: &Context, params: AddParams) -> Result<AddResult> {
    let record = wire::new_record(params, &context.defaults);
    record.validate()?;
    check_expiry(record.expires_at)?;
    let outcome = engine.add(&record)?;
    Ok(AddResult {
        id: outcome.id,
        created: outcome.created,
        duplicate: !outcome.created,
        embedding: outcome.embedding,
    })
}

/// A memory that nobody would ever see is a mistake.
fn check_expiry(at: Option<Millis>) -> Result<()> {
    match at {
        Some(at) if at <= memorist_engine::now() => {
            let why = format!("{at} is in the past; leave it out to keep the memory, or delete it with memory_delete");
            Err(Error::invalid("expiresAt", why))
        }
        _ => Ok(()),
    }
}

/// `memory_search`.
pub fn search(engine: &Engine, context: &Context, params: &SearchParams) -> Result<SearchResult> {
    let query = wire::query(params, &context.defaults, context.weights)?;
    query.validate()?;
    Ok(wire::search_result(engine.search(&query)?, params))
}

/// `memory_get`. An id without a memory is an answer, not an error.
pub fn get(engine: &Engine, params: &GetParams) -> Result<GetResult> {
    match engine.get(params.id.0) {
        Ok(record) => Ok(GetResult { entry: Some(wire::entry(record)), error: None }),
        Err(error @ Error::NotFound(_)) => Ok(GetResult { entry: None, error: Some(error.to_string()) }),
        Err(error) => Err(error),
    }
}

/// `memory_update`. An id without a memory is an answer, not an error.
pub fn update(engine: &Engine, params: UpdateParams) -> Result<UpdateResult> {
    let id = params.id.0;
    let update = wire::record_update(params);
    update.validate()?;
    check_expiry(update.expires_at.flatten())?;
    match engine.update(id, &update) {
        Ok(outcome) => Ok(UpdateResult {
            id: Some(id),
            updated: Some(true),
            version: Some(outcome.record.version),
            embedding: Some(outcome.embedding),
            error: None,
        }),
        Err(error @ Error::NotFound(_)) => {
            Ok(UpdateResult { id: None, updated: None, version: None, embedding: None, error: Some(error.to_string()) })
        }
        Err(error) => Err(error),
    }
}

/// `memory_delete`.
pub fn delete(engine: &Engine, params: &DeleteParams) -> Result<DeleteResult> {
    let deleted = engine.delete(params.id.0)?;
    Ok(DeleteResult { success: deleted, deleted })
}

/// `memory_stats`.
pub fn stats(engine: &Engine) -> Result<StatsResult> {
    let stats = engine.stats()?;
    let indexes = engine.index_stats()?;
    Ok(StatsResult {
        total_entries: wire::count(stats.total),
        by_type: stats.by_kind.iter().map(|(kind, number)| (kind.to_string(), wire::count(*number))).collect(),
        avg_importance: stats.avg_importance,
        avg_confidence: stats.avg_confidence,
        total_accesses: wire::count(stats.total_accesses),
        oldest_entry: stats.oldest,
        newest_entry: stats.newest,
        pending_embeddings: wire::count(stats.pending_embeddings),
        indexes: IndexCounts {
            vectors: wire::count(indexes.vectors),
            documents: wire::count(indexes.documents),
            unapplied: wire::count(indexes.unapplied),
        },
        model: indexes.model,
    })
}
