//! `memorist export`: memories and links as lines that `memorist import` reads.

use std::path::Path;

use memorist_engine::progress::Progress;
use memorist_engine::types::Export;

use super::app::Maintenance;
use super::{App, format, list};
use crate::exit::{Failure, Outcome};
use crate::ops::write_lines;
use crate::output::stdout_failure;
use crate::wire::{self, ExportResult};
use crate::{args, atomic_file};

/// Runs the command. Without --project and --agent it exports every scope.
pub fn run(app: &App, args: &args::Export) -> Outcome {
    let bars = app.bars()?;
    let engine = app.existing(Maintenance::Off)?;
    let filter = list::filter(&args.filters, &app.settings().context.defaults);
    let total = if filter.is_empty() { Some(engine.stats(&filter)?.total) } else { None };
    bars.start("exporting", total);
    // A user with access to the store's file may see the queries.
    let export = Export { filter, ids: None, embeddings: args.embeddings, accesses: true };
    if args.file == Path::new("-") {
        let mut out = app.output().lines();
        write_lines(&engine, &export, &bars, &mut out, |error| stdout_failure(&error))?;
        bars.finish();
    } else {
        let failure = |error| Failure::file(&args.file, &error);
        let written = atomic_file::write(&app.settings().store, &args.file, |out| {
            write_lines(&engine, &export, &bars, out, failure)
        })?;
        bars.finish();
        let result = ExportResult {
            file: args.file.display().to_string(),
            memories: wire::count(written.memories),
            links: wire::count(written.links),
        };
        app.output().result(&result, |_| {
            format!("exported {} and {} links", format::memories(written.memories), format::thousands(written.links))
        })?;
    }
    engine.close();
    Ok(0)
}
