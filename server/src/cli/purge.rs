//! `memorist purge`: permanent removal.

use std::collections::BTreeSet;

use memorist_engine::Engine;
use memorist_engine::types::Viewer;

use super::app::{Maintenance, text_or_stdin};
use super::{App, format, links};
use crate::args::Purge;
use crate::exit::{Failure, Kind, Outcome};
use crate::ops;
use crate::wire::{Int, PurgeParams, PurgeResult};

/// Memories named in the question, at most.
const NAMED: usize = 10;

pub fn run(app: &App, args: Purge) -> Outcome {
    let ids: BTreeSet<_> = args.ids.into_iter().collect();
    let text = args.text.map(text_or_stdin).transpose()?;
    let engine = app.existing(Maintenance::On)?;
    let context = &app.settings().context;
    if !args.yes {
        let question = match &text {
            Some(text) => format!("Permanently erase everything that contains the text {:?}?", format::one_line(text)),
            None => question(&engine, &context.defaults.own_viewer(), &ids)?,
        };
        if !app.output().ask(&question, "--yes")? {
            app.output().note("nothing was purged");
            return Ok(Kind::Cancelled.code());
        }
    }
    let by_id = text.is_none();
    let params = PurgeParams {
        ids: by_id.then(|| ids.iter().copied().map(Int).collect()),
        text,
        confirm: true,
        ..PurgeParams::default()
    };
    let bars = app.bars()?;
    let result = ops::purge(&engine, context, params, &bars)?;
    drop(bars);
    app.output().result(&result, report)?;
    engine.close();
    // An unknown id is a mistake; a text without matches is what the user wants.
    let missing = by_id && usize::try_from(result.records).is_ok_and(|gone| gone < ids.len());
    Ok(if missing { Kind::NotFound.code() } else { 0 })
}

/// Names the memories in the question.
fn question(engine: &Engine, viewer: &Viewer, ids: &BTreeSet<i64>) -> Result<String, Failure> {
    let mut question = String::new();
    for id in ids.iter().take(NAMED) {
        let record = engine.viewed_by(viewer).get((*id).into())?;
        let line = record.map_or_else(|| "(no such memory)".to_owned(), |record| links::line(&record.content));
        question += &format!("{id:>8}  {line}\n");
    }
    if ids.len() > NAMED {
        question += &format!("{:>8}  and {} more\n", "", ids.len() - NAMED);
    }
    Ok(question + &format!("Permanently erase {}, with all versions?", format::memories(ids.len() as u64)))
}

fn report(result: &PurgeResult) -> String {
    let count = |number: i64, one: &str, many: &str| {
        format!("{} {}", format::thousands(number.unsigned_abs()), if number == 1 { one } else { many })
    };
    let mut text = format!(
        "purged: {}, {}, {}",
        format::memories(result.records.unsigned_abs()),
        count(result.versions, "earlier version of other memories", "earlier versions of other memories"),
        count(result.queries, "search", "searches"),
    );
    if !result.complete {
        text += "\nsome files are not cleaned yet, because other processes use the store; they continue, or the next \
             one that opens it";
    }
    for stays in &result.stays {
        text += &format!("\nkept, because the store needs it: {stays}");
    }
    for path in &result.remaining_files {
        text += &format!("\nnot part of the store, and may still contain it: {path}");
    }
    text
}
