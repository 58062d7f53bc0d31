//! `memorist add`: save a memory.

use super::App;
use super::app::{Upkeep, text_or_stdin};
use super::deadline;
use crate::args::{Add, Fields};
use crate::exit::Outcome;
use crate::ops;
use crate::wire::{AddParams, AddResult};

/// Runs the command.
pub fn run(app: &App, args: Add) -> Outcome {
    let params = params(text_or_stdin(args.text)?, args.fields);
    let engine = app.engine(Upkeep::Off)?;
    let result = ops::add(&engine, &app.settings().context, params)?;
    app.output().result(&result, text)?;
    result.warnings.iter().for_each(|warning| app.output().note(warning));
    deadline::settle(engine, result.embedding);
    Ok(0)
}

fn params(content: String, fields: Fields) -> AddParams {
    AddParams {
        content,
        entry_type: fields.kind,
        source: fields.source,
        context: fields.context,
        confidence: fields.confidence,
        importance: fields.importance,
        tags: Some(fields.tags),
        expires_at: fields.expires_at,
        ..AddParams::default()
    }
}

fn text(result: &AddResult) -> String {
    if result.created {
        format!("saved as memory {}", result.id)
    } else {
        format!("memory {} has this text already; nothing was saved", result.id)
    }
}
