//! Gimli's default sources: the notes of its workspace, and its transcripts.

use std::path::{Path, PathBuf};

use memorist_engine::types::{NewSource, Scope, SourceKind};
use memorist_engine::{Engine, Result};
use memorist_ingest::sources::formats;
use memorist_ingest::sources::machine::Machine;

use crate::ops::Context;

/// The notes of a workspace, by its document: two files, and all in a folder.
const NOTES: [&str; 3] = ["MEMORY.md", "memory.md", "memory"];
/// The format of its transcripts.
const FORMAT: &str = "gimli";

/// Adds the sources whose files exist.
pub fn add_sources(engine: &Engine, context: &Context) -> Result<()> {
    let settings = &context.memory_search;
    // Notes are of this workspace and agent alone; transcripts are of no workspace.
    let own = context.defaults.own_scope();
    let add = |kind: SourceKind, path: &Path| {
        let is_own = kind == SourceKind::Notes || context.defaults.is_only();
        let scope = if is_own { own.clone() } else { Scope::default() };
        let Some(path) = path.to_str() else { return Ok(()) };
        let format = (kind == SourceKind::Sessions).then(|| FORMAT.to_owned());
        let new = NewSource { kind, path: path.to_owned(), format, globs: Vec::new(), scope };
        let is_there =
            engine.sources()?.iter().any(|source| source.source.kind == kind && source.source.path == new.path);
        if is_there { Ok(()) } else { engine.add_source(&new).map(drop) }
    };
    let workspace = settings.workspace.iter().filter(|_| settings.memory);
    for folder in workspace {
        notes(folder).iter().try_for_each(|path| add(SourceKind::Notes, path))?;
    }
    let home = settings.home.iter().filter(|_| settings.sessions);
    for home in home {
        let places = formats::by_name(FORMAT).map(|format| format.places(&Machine::this(home))).unwrap_or_default();
        places.iter().filter(|place| place.is_dir()).try_for_each(|path| add(SourceKind::Sessions, path))?;
    }
    Ok(())
}

/// The notes of a workspace that are there, each once, where names differ only in case.
fn notes(workspace: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in NOTES.map(|name| workspace.join(name)) {
        let Ok(real) = dunce::canonicalize(&path) else { continue };
        if !found.contains(&real) {
            found.push(real);
        }
    }
    found
}
