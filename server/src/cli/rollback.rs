//! `memorist rollback`: an earlier version of a memory becomes the newest again.

use memorist_engine::types::EmbeddingState;

use super::App;
use super::app::Maintenance;
use super::deadline;
use crate::args::Rollback;
use crate::exit::Outcome;
use crate::ops;
use crate::wire::{Int, RollbackParams};

pub fn run(app: &App, args: Rollback) -> Outcome {
    let (id, version) = (args.id, args.version);
    let params =
        RollbackParams { id: Int(id), version: Int(version), reason: args.reason, ..RollbackParams::default() };
    let engine = app.existing(Maintenance::Off)?;
    let result = ops::roll_back(&engine, &app.settings().context, &params)?;
    let code = app.answer(&result, result.error.as_deref(), |result| {
        let newest = result.version.unwrap_or_default();
        format!("restored version {version} of memory {id}, as version {newest}")
    })?;
    deadline::settle(engine, result.embedding.unwrap_or(EmbeddingState::Ready));
    Ok(code)
}
