//! `memory_get`.

use std::path::Path;

use memorist_engine::types::SourceKind;
use memorist_engine::{Engine, Error, Result};

use super::known_file::known_file;
use super::on_disk;
use super::passage::{LineRange, passage};
use super::recorded::recorded;
use super::search::{is_read, is_searched, off};
use crate::ops::Context;
use crate::wire::Int;
use crate::wire::gimli::{GimliGetParams, GimliGetResult, memory_id, said};

/// Said of lines that are not from the file itself.
const FROM_RECORDS: &str = "the file is missing or has changed: this is its indexed text";

/// Lines of a file that was read, or of a memory.
pub fn get(engine: &Engine, context: &Context, params: GimliGetParams) -> Result<GimliGetResult> {
    let path = params.path.clone();
    if let Some(off) = off(context) {
        return Ok(GimliGetResult { path, off: Some(off), ..GimliGetResult::default() });
    }
    let wanted =
        LineRange { from: positive("from", params.from)?.unwrap_or(1), lines: positive("lines", params.lines)? };
    let viewer = context.defaults.own_viewer();
    if let Some(id) = memory_id(&params.path) {
        let record = engine.viewed_by(&viewer).access(id.into())?;
        if !is_searched(context, record.kind) {
            return Err(Error::NotFound(record.id));
        }
        return Ok(GimliGetResult { path, ..passage(&said(&record), wanted) });
    }
    let file = known_file(engine, context, &params.path, &viewer)?;
    if !is_read(context, file.kind) {
        return Err(Error::invalid("path", "is of a source that is off"));
    }
    // A transcript is read as it is found: as turns.
    if file.kind == SourceKind::Sessions {
        return Ok(GimliGetResult { path, ..recorded(&file.records, wanted) });
    }
    let most = context.memory_search.sync.max_file_bytes;
    match on_disk::text(Path::new(&file.path), &engine.sources()?, most) {
        Some(text) => Ok(GimliGetResult { path, ..passage(&text, wanted) }),
        None => Ok(GimliGetResult { path, warning: Some(FROM_RECORDS), ..recorded(&file.records, wanted) }),
    }
}

fn positive(field: &'static str, given: Option<Int>) -> Result<Option<u64>> {
    let positive = |Int(number)| match u64::try_from(number) {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(Error::invalid(field, format!("{number} is less than 1"))),
    };
    given.map(positive).transpose()
}
