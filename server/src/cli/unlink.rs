//! `memorist unlink`: remove a link.

use super::app::Maintenance;
use super::{App, link};
use crate::args::Link;
use crate::exit::{Kind, Outcome};
use crate::ops;

pub fn run(app: &App, args: &Link) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    let result = ops::unlink(&engine, &app.settings().context, &link::params(args))?;
    engine.close();
    app.output().result(&result, |result| {
        let text = if result.removed { "removed the link" } else { "no such link" };
        format!("{text} {}", link::sentence(args))
    })?;
    Ok(if result.removed { 0 } else { Kind::NotFound.code() })
}
