//! `memorist delete`: delete memories.

use memorist_engine::types::EmbeddingState;
use serde_json::json;

use super::App;
use super::app::Maintenance;
use super::deadline;
use crate::args::Delete;
use crate::exit::{Kind, Outcome};
use crate::ops;
use crate::wire::{DeleteParams, Int};

/// Runs the command. Reports for each id whether it existed.
pub fn run(app: &App, args: &Delete) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    let mut results = Vec::new();
    for &id in &args.ids {
        let params = DeleteParams { id: Int(id), ..DeleteParams::default() };
        results.push((id, ops::delete(&engine, &app.settings().context, params)?));
    }
    let output = app.output();
    match results.as_slice() {
        [(_, only)] if output.json => output.document(only)?,
        all if output.json => {
            let all: Vec<_> = all
                .iter()
                .map(|(id, one)| json!({ "id": id, "success": one.success, "deleted": one.deleted }))
                .collect();
            output.document(&json!({ "results": all }))?;
        }
        all => {
            for (id, result) in all {
                let text = match result.deleted {
                    true => format!("deleted memory {id}; `memorist undo {id}` restores it for 30 days"),
                    false => format!("no memory {id}"),
                };
                output.text(text)?;
            }
        }
    }
    deadline::settle(engine, EmbeddingState::Ready);
    Ok(if results.iter().all(|(_, result)| result.deleted) { 0 } else { Kind::NotFound.code() })
}
