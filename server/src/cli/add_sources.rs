//! Adds sources, and reads them: what `source add` and `source discover` share.

use std::path::Path;

use directories::BaseDirs;
use memorist_engine::Engine;
use memorist_engine::types::{NewSource, Scope};
use memorist_ingest::sources::machine::Machine;
use memorist_ingest::sync::SyncOptions;

use super::{App, format, sync};
use crate::exit::Failure;
use crate::wire::{SourceAddResult, SourceEntry, SyncedSource};

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

/// The absolute path of a file or a folder that is there.
pub fn existing(path: &Path) -> Result<String, Failure> {
    let real = dunce::canonicalize(path).map_err(|error| Failure::file(path, &error))?;
    real.into_os_string()
        .into_string()
        .map_err(|path| Failure::input(format!("{}: its path is not Unicode", Path::new(&path).display())))
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
        let each = ids.iter().map(|&id| SyncOptions { source: Some(id), force: false }).collect::<Vec<_>>();
        let mut read = sync::read(app, engine, &each, embed, &bars)?;
        read.warnings.extend(read.sources.iter().filter_map(without_turns));
        Some(read)
    } else {
        None
    };
    let all = engine.sources()?.into_iter().filter(|source| ids.contains(&source.id));
    Ok(SourceAddResult { sources: all.map(SourceEntry::from).collect(), known, sync })
}

/// Names the added sources and what was read of them.
pub fn added(result: &SourceAddResult) -> String {
    let line = |source: &SourceEntry| {
        let what =
            source.format.as_ref().map_or_else(|| source.kind.to_owned(), |format| format!("sessions of {format}"));
        let verb = if result.known.contains(&source.id) { "known already" } else { "added" };
        format!("{verb} as source {}: {what} in {}", source.id, source.path)
    };
    let mut lines: Vec<String> = result.sources.iter().map(line).collect();
    match &result.sync {
        Some(read) => {
            lines.push(sync::text(read));
        }
        None if !result.sources.is_empty() => lines.push("`memorist sync` or a server indexes it".to_owned()),
        None => {}
    }
    lines.join("\n")
}

/// Why a source of transcripts has given no turn.
fn without_turns(read: &SyncedSource) -> Option<String> {
    let format = read.source.format.as_ref()?;
    if read.added + read.changed + read.kept + read.forgotten + read.failed > 0 || read.read < read.files {
        return None;
    }
    let why = if read.files == 0 {
        format!("no file looks like a transcript of {format}, by its content, name or folder")
    } else {
        format!("its {} files contain no messages of {format}", format::thousands(read.files))
    };
    Some(format!(
        "no turn was found: {why}; if another agent wrote them, name it: `memorist source add {} --format NAME`",
        read.source.path
    ))
}
