//! `memorist link`: link two memories.

use memorist_engine::types::Direction;

use super::app::Maintenance;
use super::{App, links};
use crate::args::Link;
use crate::exit::Outcome;
use crate::ops;
use crate::wire::{Int, LinkParams, Patch};

pub fn run(app: &App, args: &Link) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    let result = ops::link(&engine, &app.settings().context, &params(args))?;
    engine.close();
    app.output().result(&result, |result| {
        let known = if result.created { "linked" } else { "linked already" };
        format!("{known}: {}", sentence(args))
    })?;
    Ok(0)
}

pub fn sentence(args: &Link) -> String {
    format!("{} {} {}", args.from, links::says(args.kind, Direction::Forward), args.to)
}

/// The link of the arguments.
pub fn params(args: &Link) -> LinkParams {
    let (project, agent) = (Patch::Absent, Patch::Absent);
    LinkParams { from_id: Int(args.from), to_id: Int(args.to), link_type: args.kind, project, agent }
}
