//! `memorist link` and `memorist unlink`: link two memories, and remove a link.

use memorist_engine::types::Direction;

use super::app::Maintenance;
use super::{App, links};
use crate::args::Link;
use crate::exit::{Kind, Outcome};
use crate::ops;
use crate::wire::{Int, LinkParams, Patch};

pub fn run(app: &App, args: &Link) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    let result = ops::link(&engine, &app.settings().context, params(args))?;
    engine.close();
    app.output().result(&result, |result| {
        let known = if result.created { "linked" } else { "linked already" };
        format!("{known}: {}", sentence(args))
    })?;
    Ok(0)
}

pub fn undo(app: &App, args: &Link) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    let result = ops::unlink(&engine, &app.settings().context, params(args))?;
    engine.close();
    app.output().result(&result, |result| {
        let text = if result.removed { "removed the link" } else { "no such link" };
        format!("{text} {}", sentence(args))
    })?;
    Ok(if result.removed { 0 } else { Kind::NotFound.code() })
}

fn sentence(args: &Link) -> String {
    format!("{} {} {}", args.from, links::says(args.kind, Direction::Forward), args.to)
}

/// The link of the arguments.
fn params(args: &Link) -> LinkParams {
    let (project, agent) = (Patch::Absent, Patch::Absent);
    LinkParams { from_id: Int(args.from), to_id: Int(args.to), link_type: args.kind, project, agent }
}
