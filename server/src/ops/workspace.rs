//! The notes of Mudpuppy's workspace, which is a source by default.

use std::path::Path;

use memorist_engine::types::{NewSource, Scope, SourceKind};
use memorist_engine::{Engine, Error, Result};
use memorist_ingest::daily_log::create_folder;

use super::Context;

/// The pattern of files that are notes.
const NOTES: &str = "**/*.md";

/// Adds the workspace as a source of notes, if the profile has one. The folder is created for notes that an agent may write there
/// later.
///
/// # Errors
/// Errors of the store, and if the folder cannot be created.
pub fn add_workspace(engine: &Engine, context: &Context) -> Result<()> {
    let Some(path) = context.workspace.as_deref().and_then(Path::to_str) else { return Ok(()) };
    if engine.sources()?.iter().any(|known| known.source.path == path) {
        return Ok(());
    }
    create_folder(Path::new(path)).map_err(|error| Error::io(path, error))?;
    // A server that keeps to a project adds nothing for others.
    let scope = if context.defaults.is_only() { context.defaults.own_scope() } else { Scope::default() };
    let (kind, globs) = (SourceKind::Notes, vec![NOTES.to_owned()]);
    engine.add_source(&NewSource { kind, path: path.to_owned(), format: None, globs, scope }).map(drop)
}
