//! `memorist export`: every memory as a line that `memorist import` reads.

use std::io::{BufWriter, Write};
use std::path::Path;

use memorist_engine::Engine;
use memorist_engine::progress::Progress;
use memorist_engine::types::Filter;
use serde_json::json;

use super::app::Upkeep;
use super::progress::Bars;
use super::{App, format, list, whole_file};
use crate::args::Export;
use crate::exit::{Failure, Kind, Outcome};
use crate::output::stdout_failure;
use crate::wire;

/// Runs the command. Without --project and --agent it exports every scope.
pub fn run(app: &App, args: &Export) -> Outcome {
    let bars = app.bars()?;
    let engine = app.engine(Upkeep::Off)?;
    let filter = list::filter(&args.filters, &app.settings().context.defaults);
    filter.validate()?;
    if args.file == Path::new("-") {
        let mut out = BufWriter::new(std::io::stdout().lock());
        write_lines(&engine, &filter, &bars, &mut out, |error| stdout_failure(&error))?;
    } else {
        let failure = |error| Failure::file(&args.file, &error);
        let number = whole_file::write(&args.file, |out| write_lines(&engine, &filter, &bars, out, failure))?;
        let document = json!({ "file": args.file, "exported": number });
        app.output().result(&document, |_| format!("exported {}", format::memories(number)))?;
    }
    engine.close();
    Ok(0)
}

fn write_lines(
    engine: &Engine,
    filter: &Filter,
    bars: &Bars,
    out: &mut impl Write,
    failure: impl Fn(std::io::Error) -> Failure,
) -> Result<u64, Failure> {
    let total = if filter.is_empty() { Some(engine.stats(filter)?.total) } else { None };
    bars.start("exporting", total);
    let mut number = 0;
    list::each(engine, 0, filter, |record| {
        if bars.cancelled() {
            return Err(Failure::new(Kind::Cancelled, "interrupted"));
        }
        serde_json::to_writer(&mut *out, &wire::export_line(record)).map_err(|error| failure(error.into()))?;
        out.write_all(b"\n").map_err(&failure)?;
        number += 1;
        bars.advance(1);
        Ok(true)
    })?;
    out.flush().map_err(&failure)?;
    bars.finish();
    Ok(number)
}
