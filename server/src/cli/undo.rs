//! `memorist undo`: the last thing that was done to a memory is undone. `memorist rollback`: an earlier version becomes the
//! newest again.

use memorist_engine::types::EmbeddingState;

use super::App;
use super::app::Maintenance;
use super::deadline;
use crate::args::{Rollback, Undo};
use crate::exit::Outcome;
use crate::ops;
use crate::wire::core::{UndoParams, beginning};
use crate::wire::{Int, RollbackParams, UndoResult};

pub fn run(app: &App, args: &Undo) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    let params = UndoParams { id: Int(args.id), ..UndoParams::default() };
    let result = ops::undo(&engine, &app.settings().context, params)?;
    app.output().result(&result, text)?;
    deadline::settle(engine, EmbeddingState::Pending);
    Ok(0)
}

pub fn roll_back(app: &App, args: Rollback) -> Outcome {
    let (id, version) = (args.id, args.version);
    let params =
        RollbackParams { id: Int(id), version: Int(version), reason: args.reason, ..RollbackParams::default() };
    let engine = app.existing(Maintenance::Off)?;
    let result = ops::roll_back(&engine, &app.settings().context, params)?;
    let code = app.answer(&result, result.error.as_deref(), |result| {
        let newest = result.version.unwrap_or_default();
        format!("restored version {version} of memory {id}, as version {newest}")
    })?;
    deadline::settle(engine, result.embedding.unwrap_or(EmbeddingState::Ready));
    Ok(code)
}

fn text(result: &UndoResult) -> String {
    let id = result.id;
    let now = beginning(result.content.as_deref().unwrap_or_default());
    match result.undone {
        "link" => {
            let removed = result.links.iter();
            let lines = removed
                .map(|link| format!("removed the link ({}) of memory {id} with memory {}", link.link_type, link.id));
            lines.collect::<Vec<_>>().join("\n")
        }
        "currentAgain" => {
            let by = result.links.iter().map(|link| link.id.to_string()).collect::<Vec<_>>().join(", ");
            format!("memory {id} is superseded again, by {by}")
        }
        "deletion" => format!("restored deleted memory {id}: {now}"),
        "expiry" => format!("restored expired memory {id}, without an expiry: {now}"),
        _ => format!("memory {id} has its previous content: {now}"),
    }
}
