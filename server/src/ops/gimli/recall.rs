//! `memory_recall`.

use memorist_engine::types::Kind;
use memorist_engine::{Engine, Result};

use super::search::{is_searched, off};
use crate::ops::{self, Context};
use crate::wire::gimli::ProactiveParams;
use crate::wire::{RecallParams, RecallResult};

/// Memories that `recall` adds to a turn, from the enabled sources.
pub fn recall(engine: &Engine, context: &Context, params: ProactiveParams) -> Result<RecallResult> {
    let mut request = RecallParams::from(params).request(&context.defaults)?;
    if let Some(off) = off(context) {
        return Ok(RecallResult { context: None, memories: Vec::new(), tokens: 0, warnings: vec![off.error] });
    }
    request.filter.kinds = Kind::ALL.into_iter().filter(|kind| is_searched(context, *kind)).collect();
    ops::recall_for(engine, &request)
}
