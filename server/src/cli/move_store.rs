//! `memorist move`: all memories of a store into another, from a folder to a team's server and back; then both are compared.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Seek};
use std::path::Path;

use memorist_engine::Engine;
use memorist_engine::paths::StorePaths;
use memorist_engine::progress::Progress;
use memorist_engine::types::{Export, Viewer};
use serde_json::json;

use super::app::Maintenance;
use super::progress::Bars;
use super::{App, format};
use crate::args::Move;
use crate::exit::{Failure, Kind, Outcome};
use crate::ops::{Importing, Written, read_lines, write_lines};
use crate::wire::{Defaults, ImportResult};

/// Runs the command. An interrupted one can be repeated: what is there already is not moved again.
pub fn run(app: &App, args: &Move) -> Outcome {
    let bars = app.bars()?;
    let (from, to) = (app.settings().at(&args.from)?, app.settings().at(&args.to)?);
    if from.engine.team.is_none() && !StorePaths::new(&from.store).is_any_there() {
        let why = format!("no store in {}", args.from.display());
        return Err(Failure::new(Kind::Store, why));
    }
    if from.store == to.store {
        return Err(Failure::input("both are the same store"));
    }
    let [from, to] = [App::new(from), App::new(to)].map(|app| app.engine(Maintenance::Off));
    let (from, to) = (from?, to?);
    let (mut lines, written) = exported(&from, true, &bars)?;
    let mut read = ImportResult::default();
    bars.start("moving", Some(lines.metadata().map_err(|error| temporary(&error))?.len()));
    let importing = Importing {
        engine: &to,
        viewer: Viewer::OWNER,
        keep_shared: false,
        restore_deleted: false,
        from_another_system: false,
        from_machine: false,
        defaults: &Defaults::default(),
        progress: &bars,
        saved: &|_| {},
    };
    lines.rewind().map_err(|error| temporary(&error))?;
    read_lines(&importing, BufReader::new(lines), Path::new("what is moved"), &mut read)?;
    bars.finish();
    // What is counted of accesses belongs to each machine.
    let (moved, there) = (exported(&from, false, &bars)?.0, exported(&to, false, &bars)?.0);
    let others = compared(moved, there)?;
    from.close();
    to.close();
    drop(bars);
    let Written { memories, links } = written;
    let document = json!({ "memories": memories, "links": links, "othersThere": others });
    app.output().result(&document, |_| {
        let there = match others {
            0 => "it has these and no others".to_owned(),
            _ => format!(
                "it has these, and {} other lines of an export that were there before",
                format::thousands(others)
            ),
        };
        format!(
            "moved {} and {} links to {}; compared: {there}\n{} is unchanged",
            format::memories(memories),
            format::thousands(links),
            args.to.display(),
            args.from.display()
        )
    })?;
    Ok(0)
}

/// An export with embeddings, in a file that has no name.
fn exported(engine: &Engine, accesses: bool, bars: &Bars) -> Result<(File, Written), Failure> {
    let export = Export { embeddings: true, accesses, ..Export::default() };
    let mut file = tempfile::tempfile().map_err(|error| temporary(&error))?;
    bars.start("exporting", Some(engine.stats(&export.filter)?.total));
    let mut out = BufWriter::new(&file);
    let written = write_lines(engine, &export, bars, &mut out, |error| temporary(&error))?;
    drop(out);
    bars.finish();
    file.rewind().map_err(|error| temporary(&error))?;
    Ok((file, written))
}

/// Every line of one export must be in the other; both are in the same order. Returns how many more the other has.
fn compared(moved: File, there: File) -> Result<u64, Failure> {
    let mut moved = BufReader::new(moved).lines();
    let mut wanted = moved.next().transpose().map_err(|error| temporary(&error))?;
    let mut others = 0;
    for line in BufReader::new(there).lines() {
        let line = line.map_err(|error| temporary(&error))?;
        if wanted.as_ref() == Some(&line) {
            wanted = moved.next().transpose().map_err(|error| temporary(&error))?;
        } else {
            others += 1;
        }
    }
    match wanted {
        None => Ok(others),
        Some(missing) => {
            let what: String = missing.chars().take(120).collect();
            Err(Failure::new(
                Kind::Store,
                format!(
                    "copied, but the stores differ, beginning with {what}…: somebody changed it meanwhile, or the \
                     other store already had the same text. Run it again to see the differences"
                ),
            ))
        }
    }
}

fn temporary(error: &std::io::Error) -> Failure {
    Failure::file(&std::env::temp_dir(), error)
}
