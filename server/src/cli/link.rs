//! `memorist link`: say what a memory is to another.

use super::App;
use super::app::Upkeep;
use crate::args::Link;
use crate::exit::Outcome;
use crate::ops;
use crate::wire::{Int, LinkParams, Patch};

/// Runs the command.
pub fn run(app: &App, args: &Link) -> Outcome {
    let engine = app.engine(Upkeep::Off)?;
    let result = ops::link(&engine, &app.settings().context, &params(args))?;
    engine.close();
    app.output().result(&result, |result| {
        let Link { from, kind, to } = args;
        let known = if result.created { "" } else { " already; nothing was changed" };
        format!("memory {from} {kind} memory {to}{known}")
    })?;
    Ok(0)
}

/// The link that was typed.
pub fn params(args: &Link) -> LinkParams {
    let (project, agent) = (Patch::Absent, Patch::Absent);
    LinkParams { from_id: Int(args.from), to_id: Int(args.to), link_type: args.kind, project, agent }
}
