//! What a turn is given unasked.

use memorist_engine::{Engine, Result};

use super::Context;
use crate::wire::{self, RecallParams, RecallResult};

/// `memory_recall`.
pub fn recall(engine: &Engine, context: &Context, params: RecallParams) -> Result<RecallResult> {
    let request = params.request(&context.defaults)?;
    Ok(wire::recall_result(&engine.recall(&request)?, request.max_tokens))
}
