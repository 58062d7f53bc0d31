//! Writes memories and links as the lines that `wire/exchange.rs` documents.

use std::io::{self, Write};

use memorist_engine::progress::Progress;
use memorist_engine::types::{Export, Exported};
use memorist_engine::{Engine, Error};

use crate::exit::Failure;
use crate::wire::ExportLine;

/// Numbers of exported memories and links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
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
