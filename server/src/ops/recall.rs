//! Automatic recall: memories that are injected into a turn.

use memorist_engine::types::RecallRequest;
use memorist_engine::{Engine, Result};

use super::Context;
use crate::wire::{self, RecallParams, RecallResult};

/// `memory_recall`. Memories that do not fit into its tokens are not noted as injected: they may come later.
pub fn recall(engine: &Engine, context: &Context, params: RecallParams) -> Result<RecallResult> {
    answer(engine, &params.request(&context.defaults)?)
}

/// Memories for a request, which its session does not get again.
pub fn answer(engine: &Engine, request: &RecallRequest) -> Result<RecallResult> {
    let mut given = engine.recall_unnoted(request)?;
    let result = wire::recall_result(&given, request.max_tokens);
    given.memories.truncate(result.memories.len());
    if let Some(session) = &request.session
        && let Err(error) = engine.note_recalled(session, &given.given())
    {
        tracing::warn!("the memories given to a session could not be recorded: {error}");
    }
    Ok(result)
}
