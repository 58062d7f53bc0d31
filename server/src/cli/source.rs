//! `memorist source`: the files and folders that are read into the store.

use std::path::Path;

use memorist_engine::types::{NewSource, SourceKind};
use memorist_ingest::detect::detect;
use memorist_ingest::refit::replace_format;
use memorist_ingest::remove::remove_source;
use memorist_ingest::sources::formats;

use super::add_sources::{add, added, existing, machine, scope};
use super::app::Maintenance;
use super::sync::{NONE, find};
use super::{App, discover, format, sync, table};
use crate::args::{SourceAdd, SourceArgs, SourceCommand, SourceKindName, SourceRemove};
use crate::exit::{Failure, Outcome};
use crate::wire::{SourceRemoveResult, SourcesResult};

pub fn run(app: &App, args: &SourceArgs) -> Outcome {
    match &args.command {
        SourceCommand::Add(add) => run_add(app, add),
        SourceCommand::List => list(app),
        SourceCommand::Remove(remove) => run_remove(app, remove),
        SourceCommand::Discover(args) => discover::run(app, args),
    }
}

fn run_add(app: &App, args: &SourceAdd) -> Outcome {
    let path = existing(&args.path)?;
    let named = args.format.as_deref().map(known_format).transpose()?;
    let (kind, format) = match (args.kind, named) {
        (Some(SourceKindName::Notes), Some(_)) => {
            return Err(Failure::input("--format applies to sessions only; omit it, or pass --kind sessions"));
        }
        (Some(SourceKindName::Notes), None) => (SourceKind::Notes, None),
        (_, Some(format)) => (SourceKind::Sessions, Some(format)),
        (wanted, None) => match (detect(Path::new(&path), &machine()?), wanted) {
            ((_, None), Some(_)) => {
                let why = format!("{path}: no agent's transcripts were recognized; name the agent with --format");
                return Err(Failure::input(format!("{why} ({})", names())));
            }
            ((kind, format), _) => (kind, format.map(|format| format.name())),
        },
    };
    if kind == SourceKind::Sessions && !args.globs.is_empty() {
        return Err(Failure::input("--glob applies to notes only; transcripts are recognized by their names"));
    }
    let new = NewSource { kind, path, format: format.map(str::to_owned), globs: args.globs.clone(), scope: scope(app) };
    let engine = app.engine(Maintenance::Off)?;
    if args.format.is_some() {
        replace_format(&engine, &new)?;
    }
    let result = add(app, &engine, &[new], !args.no_sync, !args.no_embed)?;
    engine.close();
    app.output().result(&result, added)?;
    Ok(0)
}

fn known_format(name: &str) -> Result<&'static str, Failure> {
    formats::by_name(name)
        .map(|format| format.name())
        .ok_or_else(|| Failure::input(format!("unknown agent {name:?}; known are {}", names())))
}

fn names() -> String {
    formats::all().iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
}

fn list(app: &App) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    let sources = engine.source_stats()?.into_iter().map(Into::into).collect();
    engine.close();
    app.output().result(&SourcesResult { sources }, text)?;
    Ok(0)
}

fn text(result: &SourcesResult) -> String {
    if result.sources.is_empty() {
        return NONE.to_owned();
    }
    let mut table = table::table(&["id", "what", "files", "size", "newest", "gone", "failed", "path"]);
    for state in &result.sources {
        let source = &state.source;
        let cells = vec![
            source.id.to_string(),
            source.format.clone().unwrap_or_else(|| source.kind.to_owned()),
            format::thousands(state.files),
            format::bytes(state.bytes),
            format::time(state.newest),
            format::thousands(state.gone),
            format::thousands(state.failed),
            source.path.clone(),
        ];
        table::add_row(&mut table, cells);
    }
    table::align_right(&mut table, &[0, 2, 3, 5, 6]);
    let mut text = table.trim_fmt();
    for state in result.sources.iter().filter(|state| !state.skipped.is_empty()) {
        text += &format!("\n{}{}", state.source.id, sync::skipped(&state.skipped));
    }
    for state in &result.sources {
        for unread in &state.unread {
            text += &format!("\nnot read: {}: {}", unread.path, unread.why);
        }
        let more = state.all_unread - state.unread.len() as u64;
        if more > 0 {
            text += &format!("\nnot read: {} more of source {}", format::thousands(more), state.source.id);
        }
    }
    text
}

fn run_remove(app: &App, args: &SourceRemove) -> Outcome {
    let engine = app.engine(Maintenance::On)?;
    let id = find(&engine, &args.source)?;
    let bars = app.bars()?;
    let records = remove_source(&sync::syncer(app), &engine, id, args.records, &bars)?;
    engine.close();
    drop(bars);
    let result = SourceRemoveResult { removed: records.is_some(), records: records.unwrap_or(0) };
    app.output().result(&result, |result| match (args.records, result.records) {
        (true, count) => format!("removed source {id}, and {}", format::memories(count)),
        (false, _) => format!("removed source {id}; its memories stay"),
    })?;
    Ok(0)
}
