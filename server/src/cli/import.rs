//! `memorist import`: memories and links from JSONL, then their embeddings. With `--from`, the store of another system.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use memorist_durable::open_plain;
use memorist_engine::progress::Progress;
use memorist_engine::types::Viewer;

use super::app::Maintenance;
use super::import_embed::{RESTART, embed};
use super::import_report::ImportReport;
use super::{App, format, import_store};
use crate::args::Import;
use crate::exit::{Failure, Kind, Outcome};
use crate::ops::{Importing, read_lines};
use crate::wire::ImportResult;

pub fn run(app: &App, args: &Import) -> Outcome {
    if let Some(system) = args.from {
        return import_store::run(app, args, system);
    }
    let (input, size) = open(&args.file)?;
    let bars = app.bars()?;
    let engine = app.engine(Maintenance::Off)?;
    let mut report = ImportReport::default();
    bars.start_bytes("reading", size);
    let saved = |result: &ImportResult| bars.message(format!("reading ({})", format::memories(result.memories())));
    let importing = Importing {
        engine: &engine,
        viewer: Viewer::OWNER,
        keep_shared: false,
        restore_deleted: args.restore_deleted,
        from_another_system: false,
        from_machine: false,
        defaults: &app.settings().context.defaults,
        progress: &bars,
        saved: &saved,
    };
    let read = read_lines(&importing, input, &args.file, &mut report.read);
    bars.finish();
    if let Err(failure) = read {
        app.output().note(report.text());
        app.output().note(RESTART);
        return Err(failure);
    }
    let (embedded, warning) = embed(app, args, &engine, &bars)?;
    report.embedded = embedded;
    report.read.warnings.extend(warning);
    engine.close();
    drop(bars);
    app.output().result(&report, ImportReport::text)?;
    Ok(if report.read.refused > 0 { Kind::Input.code() } else { 0 })
}

fn open(file: &Path) -> Result<(Box<dyn BufRead>, Option<u64>), Failure> {
    if file == Path::new("-") {
        return Ok((Box::new(BufReader::new(io::stdin())), None));
    }
    let failure = |error: io::Error| Failure::file(file, &error);
    let opened = open_plain(file).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => {
            Failure::new(Kind::Io, format!("{}: {error}; or pipe it into `memorist import -`", file.display()))
        }
        _ => failure(error),
    })?;
    let size = opened.metadata().map_err(failure)?.len();
    Ok((Box::new(BufReader::with_capacity(1 << 16, opened)), Some(size)))
}
