//! `memorist source`: the files and folders that are read into the store.

use std::fs;
use std::path::{Path, PathBuf};

use directories::BaseDirs;
use memorist_engine::Engine;
use memorist_engine::types::{NewSource, Scope, SourceId, SourceKind};
use memorist_ingest::detect::detect;
use memorist_ingest::sources::formats;
use memorist_ingest::sources::machine::Machine;

use super::app::Maintenance;
use super::{App, discover, format, sync, table};
use crate::args::{Source, SourceAdd, SourceCommand, SourceKindName, SourceRemove};
use crate::exit::{Failure, Kind, Outcome};
use crate::wire::{SourceAddResult, SourceEntry, SourceRemoveResult, SourcesResult};

/// What to say without any source.
pub const NONE: &str =
    "there are no sources; `memorist source discover` looks for some, and `memorist source add PATH` adds one";

/// Runs the command.
pub fn run(app: &App, args: &Source) -> Outcome {
    match &args.command {
        SourceCommand::Add(add) => run_add(app, add),
        SourceCommand::List => list(app),
        SourceCommand::Remove(remove) => run_remove(app, remove),
        SourceCommand::Discover(args) => discover::run(app, args),
    }
}

/// This machine, for those who look for agents' files.
pub fn machine() -> Result<Machine, Failure> {
    let home = BaseDirs::new().ok_or_else(|| Failure::input("this account has no home folder"))?;
    Ok(Machine::this(home.home_dir()))
}

/// The scope that the settings give to the records of a source.
pub fn scope(app: &App) -> Scope {
    let defaults = &app.settings().context.defaults;
    Scope { project: defaults.project().map(str::to_owned), agent: defaults.agent().map(str::to_owned) }
}

/// The source with this number or path.
pub fn find(engine: &Engine, named: &str) -> Result<SourceId, Failure> {
    let sources = engine.sources()?;
    let by_number = named.parse::<i64>().ok();
    let path = fs::canonicalize(named).unwrap_or_else(|_| PathBuf::from(named));
    let found = sources.iter().find(|source| {
        by_number == Some(source.id.get()) || Path::new(&source.source.path) == path || source.source.path == named
    });
    found.map(|source| source.id).ok_or_else(|| {
        Failure::new(Kind::NotFound, format!("there is no source {named:?}; `memorist source list` shows them"))
    })
}

/// The absolute path of a file or a folder that is there.
pub fn existing(path: &Path) -> Result<String, Failure> {
    let real = fs::canonicalize(path).map_err(|error| Failure::file(path, &error))?;
    real.into_os_string()
        .into_string()
        .map_err(|path| Failure::input(format!("{}: its path is no Unicode text", Path::new(&path).display())))
}

fn run_add(app: &App, args: &SourceAdd) -> Outcome {
    let path = existing(&args.path)?;
    let named = args.format.as_deref().map(known_format).transpose()?;
    let (kind, format) = match (args.kind, named) {
        (Some(SourceKindName::Notes), Some(_)) => {
            return Err(Failure::input("--format is of sessions; leave it out, or give --kind sessions"));
        }
        (Some(SourceKindName::Notes), None) => (SourceKind::Notes, None),
        (_, Some(format)) => (SourceKind::Sessions, Some(format)),
        (wanted, None) => match (detect(Path::new(&path), &machine()?), wanted) {
            ((_, None), Some(_)) => {
                let why = format!("{path}: no agent's transcripts were recognised; name the agent with --format");
                return Err(Failure::input(format!("{why} ({})", names())));
            }
            ((kind, format), _) => (kind, format.map(|format| format.name())),
        },
    };
    if kind == SourceKind::Sessions && !args.globs.is_empty() {
        return Err(Failure::input("--glob is of notes; transcripts are known by their names"));
    }
    let new = NewSource { kind, path, format: format.map(str::to_owned), globs: args.globs.clone(), scope: scope(app) };
    let engine = app.engine(Maintenance::Off)?;
    let result = add(app, &engine, &[new], !args.no_sync, !args.no_embed)?;
    engine.close();
    app.output().result(&result, added)?;
    Ok(0)
}

/// Adds sources, and reads them unless that is left to others.
pub fn add(
    app: &App,
    engine: &Engine,
    sources: &[NewSource],
    read: bool,
    embed: bool,
) -> Result<SourceAddResult, Failure> {
    let (mut ids, mut known) = (Vec::new(), Vec::new());
    for source in sources {
        let (id, is_new) = engine.add_source(source)?;
        if !is_new {
            known.push(id.get());
        }
        ids.push(id);
    }
    let sync = if read && !ids.is_empty() {
        let bars = app.bars()?;
        Some(sync::read_each(app, engine, &ids, embed, &bars)?)
    } else {
        None
    };
    let all = engine.sources()?.into_iter().filter(|source| ids.contains(&source.id));
    Ok(SourceAddResult { sources: all.map(SourceEntry::from).collect(), known, sync })
}

/// What was added, and what was read of it.
pub fn added(result: &SourceAddResult) -> String {
    let line = |source: &SourceEntry| {
        let what =
            source.format.as_ref().map_or_else(|| source.kind.to_owned(), |format| format!("sessions of {format}"));
        let verb = if result.known.contains(&source.id) { "known already" } else { "added" };
        format!("{verb} as source {}: {what} in {}", source.id, source.path)
    };
    let mut lines: Vec<String> = result.sources.iter().map(line).collect();
    match &result.sync {
        Some(read) => lines.push(sync::text(read)),
        None if !result.sources.is_empty() => lines.push("`memorist sync`, or a server, reads it".to_owned()),
        None => {}
    }
    lines.join("\n")
}

fn known_format(name: &str) -> Result<&'static str, Failure> {
    formats::by_name(name)
        .map(|format| format.name())
        .ok_or_else(|| Failure::input(format!("{name:?} is no agent whose transcripts are known ({})", names())))
}

fn names() -> String {
    formats::all().iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
}

fn list(app: &App) -> Outcome {
    let engine = app.engine(Maintenance::Off)?;
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
    text
}

fn run_remove(app: &App, args: &SourceRemove) -> Outcome {
    let engine = app.engine(Maintenance::On)?;
    let id = find(&engine, &args.source)?;
    let records = engine.remove_source(id, args.records)?;
    engine.close();
    let result = SourceRemoveResult { removed: records.is_some(), records: records.unwrap_or(0) };
    app.output().result(&result, |result| match (args.records, result.records) {
        (true, count) => format!("removed source {id}, and {}", format::memories(count)),
        (false, _) => format!("removed source {id}; what was read of it stays"),
    })?;
    Ok(0)
}
