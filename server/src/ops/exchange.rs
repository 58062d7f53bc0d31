//! `memory_export` and `memory_import`: files with plain names in the configured folder.

use std::io::{self, BufReader};
use std::path::Path;

use memorist_durable::{ABANDONED, PrivateFolder, sweep};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Export, Reach, Viewer};
use memorist_engine::{Engine, Error};

use super::Context;
use super::export::write_lines;
use super::import::{Importing, read_lines};
use crate::atomic_file;
use crate::exit::{Failure, Kind};
use crate::wire::{self, DEFAULT_FILE, Defaults, ExportParams, ExportResult, ImportParams, ImportResult};

/// Longest file name in bytes, as in most file systems.
const LONGEST_NAME: usize = 255;

pub fn export(engine: &Engine, context: &Context, params: ExportParams) -> Result<ExportResult, Failure> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let file = params.file.as_deref().unwrap_or(DEFAULT_FILE);
    export_as(engine, context, viewer, file, params.embeddings.unwrap_or(false))
}

/// Exports what `viewer` sees into a file of the folder.
pub fn export_as(
    engine: &Engine,
    context: &Context,
    viewer: Viewer,
    file: &str,
    embeddings: bool,
) -> Result<ExportResult, Failure> {
    check_name(file)?;
    let folder = PrivateFolder::create(&context.exports).map_err(|error| unusable(&context.exports, &error))?;
    sweep(folder.path(), ABANDONED);
    let path = context.exports.join(file);
    let export = Export { embeddings, ..Export::of(viewer) };
    let failure = |error| Failure::file(&path, &error);
    let new = folder.new_file(file);
    let written = atomic_file::fill(new, &path, |out| write_lines(engine, &export, &NoProgress, out, failure))?;
    Ok(ExportResult {
        file: path.display().to_string(),
        memories: wire::count(written.memories),
        links: wire::count(written.links),
    })
}

pub fn import(engine: &Engine, context: &Context, params: ImportParams) -> Result<ImportResult, Failure> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    import_as(engine, context, viewer, false, &params.file)
}

/// Imports a file of the folder for `viewer`, the owner of memories that name none. With `keep_shared`, memories that
/// belong to no agent are not replaced.
pub fn import_as(
    engine: &Engine,
    context: &Context,
    viewer: Viewer,
    keep_shared: bool,
    file: &str,
) -> Result<ImportResult, Failure> {
    check_name(file)?;
    let path = context.exports.join(file);
    let folder = PrivateFolder::open(&context.exports).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::file(&path, &error),
        _ => unusable(&context.exports, &error),
    })?;
    // A link could lead out of the folder, and a pipe would never end.
    let opened = folder.open_plain(file).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => refused(file, &format!("is refused: {error}")),
        _ => Failure::file(&path, &error),
    })?;
    let input = BufReader::with_capacity(1 << 16, opened);
    let own = |reach: &Reach, otherwise: Option<&str>| match reach {
        Reach::Every => otherwise.map(str::to_owned),
        reach => reach.name().map(str::to_owned),
    };
    let project = own(&viewer.project, context.defaults.project());
    let defaults = Defaults::named(project, own(&viewer.agent, context.defaults.agent()))?;
    let importing = Importing {
        engine,
        viewer,
        keep_shared,
        restore_deleted: false,
        from_another_system: false,
        from_machine: false,
        defaults: &defaults,
        progress: &NoProgress,
        saved: &|_| {},
    };
    let mut result = ImportResult::default();
    read_lines(&importing, input, &path, &mut result)?;
    Ok(result)
}

/// Refuses everything except a plain file name.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0']);
    if name.trim().is_empty() || name.len() > LONGEST_NAME || !is_plain {
        return Err(refused(name, "is not the plain name of a file, like memories.jsonl; folders are not named"));
    }
    Ok(())
}

/// Memories are not written where other users could read or change them, nor read from there.
fn unusable(folder: &Path, error: &io::Error) -> Failure {
    let failure = Failure::file(folder, error);
    // An error of the system needs no further explanation.
    if error.kind() != io::ErrorKind::PermissionDenied || error.raw_os_error().is_some() {
        return failure;
    }
    let why = "only you may be able to write to the export folder: remove the rights of others (`chmod go-w`), or \
         name another folder (export_folder in memorist.toml)";
    Failure::new(Kind::Io, format!("{failure}; {why}"))
}

fn refused(name: &str, why: &str) -> Failure {
    Error::invalid("file", format!("{name:?} {why}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T38.
    #[test]
    fn only_plain_names_are_files_of_the_folder() {
        for name in ["memories.jsonl", "Mémoires 2026.jsonl", "a..b"] {
            check_name(name).unwrap();
        }
        let long = "x".repeat(256);
        for name in ["", " ", ".", "..", "../x", "a/b", "/etc/passwd", "a\\b", "c:x", ".hidden", "a\0b", &long] {
            let error = check_name(name).unwrap_err().to_string();
            assert!(error.starts_with("file: ") && error.contains("plain name"), "{error}");
        }
    }
}
