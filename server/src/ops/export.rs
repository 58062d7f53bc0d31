//! Writes memories and links as the lines that `wire/exchange.rs` documents.

use std::collections::BTreeSet;
use std::io::{self, Write};

use memorist_engine::progress::Progress;
use memorist_engine::types::{Export, Exported};
use memorist_engine::{Engine, Error};

use crate::exit::Failure;
use crate::wire::ExportLine;

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Memories.
    pub memories: u64,
    /// Links between them.
    pub links: u64,
}

/// Writes an export. `failure` converts a write error.
pub fn write_lines(
    engine: &Engine,
    export: &Export,
    progress: &dyn Progress,
    out: &mut impl Write,
    failure: impl Fn(io::Error) -> Failure,
) -> Result<Written, Failure> {
    write_some(engine, export, |_| true, progress, out, failure)
}

/// Writes the memories of an export that have these ids, and the links between them.
pub fn write_lines_of(
    engine: &Engine,
    export: &Export,
    ids: &[i64],
    progress: &dyn Progress,
    out: &mut impl Write,
    failure: impl Fn(io::Error) -> Failure,
) -> Result<Written, Failure> {
    let mut chosen = BTreeSet::new();
    for id in ids {
        chosen.extend(engine.peek((*id).into(), &export.filter.viewer)?.map(|record| record.ulid));
    }
    let is_chosen = |exported: &Exported| match exported {
        Exported::Record(record) => chosen.contains(&record.ulid),
        Exported::Link(link) => chosen.contains(&link.from) && chosen.contains(&link.to),
        Exported::Model(_) => true,
    };
    write_some(engine, export, is_chosen, progress, out, failure)
}

fn write_some(
    engine: &Engine,
    export: &Export,
    is_chosen: impl Fn(&Exported) -> bool,
    progress: &dyn Progress,
    out: &mut impl Write,
    failure: impl Fn(io::Error) -> Failure,
) -> Result<Written, Failure> {
    let mut written = Written::default();
    let mut has_begun = false;
    let mut write = |line: &ExportLine| {
        serde_json::to_writer(&mut *out, line).map_err(|error| failure(error.into()))?;
        out.write_all(b"\n").map_err(&failure)
    };
    engine.export(export, |exported| {
        if progress.cancelled() {
            return Err(Error::Cancelled.into());
        }
        if !is_chosen(&exported) {
            return Ok(());
        }
        if !has_begun && !matches!(exported, Exported::Model(_)) {
            write(&ExportLine::header(None))?;
        }
        has_begun = true;
        match &exported {
            Exported::Record(_) => {
                written.memories += 1;
                progress.advance(1);
            }
            Exported::Link(_) => written.links += 1,
            Exported::Model(_) => {}
        }
        write(&exported.into())
    })?;
    if !has_begun {
        write(&ExportLine::header(None))?;
    }
    out.flush().map_err(&failure)?;
    Ok(written)
}
