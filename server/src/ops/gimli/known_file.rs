//! The file that a path names, if anything of it was read that the viewer sees.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use memorist_engine::types::{Kind, Record, SourceKind, Viewer};
use memorist_engine::{Engine, Error, Result};

use crate::ops::Context;

/// Most files that are tried because their paths end with the given one.
const MOST_ENDINGS: usize = 200;
/// Most files that an error names.
const NAMED: usize = 5;

/// A file of a source.
pub struct KnownFile {
    pub path: String,
    pub kind: SourceKind,
    /// The memories read from it that the viewer sees.
    pub records: Vec<Record>,
}

/// The file that a path names: that path, one within the workspace or within a source, one that was
/// moved in, or the only one that ends with it.
pub fn known_file(engine: &Engine, context: &Context, path: &str, viewer: &Viewer) -> Result<KnownFile> {
    let named = Path::new(path.trim().trim_start_matches("./"));
    let is_plain = |part: Component<'_>| !matches!(part, Component::ParentDir);
    if named.as_os_str().is_empty() || path.contains('\0') || !named.components().all(is_plain) {
        return Err(unknown());
    }
    if let Some(file) = read_of(engine, named, viewer)? {
        return Ok(file);
    }
    if named.is_absolute() {
        return Err(unknown());
    }
    if let Some(workspace) = &context.memory_search.workspace
        && let Some(file) = read_of(engine, &workspace.join(named), viewer)?
    {
        return Ok(file);
    }
    let mut files = BTreeMap::new();
    for source in engine.sources()? {
        if let Some(file) = read_of(engine, &Path::new(&source.source.path).join(named), viewer)? {
            files.insert(file.path.clone(), file);
        }
    }
    if files.is_empty()
        && let Some(file) = moved(engine, path.trim(), viewer)?
    {
        return Ok(file);
    }
    if files.is_empty() {
        for path in engine.files_ending_with(&named.to_string_lossy(), MOST_ENDINGS)? {
            if let Some(file) = read_of(engine, Path::new(&path), viewer)? {
                files.insert(path, file);
            }
        }
    }
    if files.len() > 1 {
        let some: Vec<&str> = files.keys().take(NAMED).map(String::as_str).collect();
        return Err(Error::invalid("path", format!("may be {}; name one", some.join(" or "))));
    }
    files.into_values().next().ok_or_else(unknown)
}

fn read_of(engine: &Engine, path: &Path, viewer: &Viewer) -> Result<Option<KnownFile>> {
    let path = path.to_string_lossy().into_owned();
    let read = engine.viewed_by(viewer).read_of_file(&path)?;
    Ok(read.map(|(kind, records)| KnownFile { path, kind, records }))
}

/// A file that another system read, whose memories were moved in with their paths.
fn moved(engine: &Engine, path: &str, viewer: &Viewer) -> Result<Option<KnownFile>> {
    let records = engine.viewed_by(viewer).moved_of_file(path)?;
    let kind = match records.first() {
        None => return Ok(None),
        Some(record) if record.kind == Kind::Conversation => SourceKind::Sessions,
        Some(_) => SourceKind::Notes,
    };
    Ok(Some(KnownFile { path: path.to_owned(), kind, records }))
}

/// The path is not repeated: it may be one that the caller only guessed.
fn unknown() -> Error {
    Error::invalid("path", "is not an indexed file; give a path of memory_search")
}
