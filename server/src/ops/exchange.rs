//! `memory_export` and `memory_import`: files by plain names, in the one folder that is set for them.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Export, Reach, Viewer};
use memorist_engine::{Engine, Error};

use super::Context;
use super::export::write_lines;
use super::import::{Importing, read_lines};
use crate::exit::Failure;
use crate::whole_file;
use crate::wire::{self, DEFAULT_FILE, Defaults, ExportParams, ExportResult, ImportParams, ImportResult};

/// Longest name of a file, in bytes: what file systems allow.
const LONGEST_NAME: usize = 255;

/// `memory_export`.
pub fn export(engine: &Engine, context: &Context, params: &ExportParams) -> Result<ExportResult, Failure> {
    let viewer = context.defaults.viewer(&params.project, &params.agent);
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
    let path = in_folder(&context.exports, file)?;
    make_private_folder(&context.exports).map_err(|error| Failure::file(&context.exports, &error))?;
    let export = Export { embeddings, ..Export::of(viewer) };
    let failure = |error| Failure::file(&path, &error);
    let written = whole_file::write(&path, |out| write_lines(engine, &export, &NoProgress, out, failure))?;
    Ok(ExportResult {
        file: path.display().to_string(),
        memories: wire::count(written.memories),
        links: wire::count(written.links),
    })
}

/// `memory_import`.
pub fn import(engine: &Engine, context: &Context, params: &ImportParams) -> Result<ImportResult, Failure> {
    let viewer = context.defaults.viewer(&params.project, &params.agent);
    import_as(engine, context, viewer, &params.file)
}

/// Imports a file of the folder for `viewer`, whose memories those are that name nobody.
pub fn import_as(engine: &Engine, context: &Context, viewer: Viewer, file: &str) -> Result<ImportResult, Failure> {
    let path = in_folder(&context.exports, file)?;
    let failure = |error| Failure::file(&path, &error);
    // A link could lead out of the folder.
    if !fs::symlink_metadata(&path).map_err(failure)?.is_file() {
        return Err(refused(file, "is not a plain file"));
    }
    let input = BufReader::with_capacity(1 << 16, File::open(&path).map_err(failure)?);
    let own = |reach: &Reach, otherwise: &Option<String>| match reach {
        Reach::Own(name) => Some(name.clone()),
        Reach::Shared => None,
        Reach::Every => otherwise.clone(),
    };
    let defaults = Defaults {
        project: own(&viewer.project, &context.defaults.project),
        agent: own(&viewer.agent, &context.defaults.agent),
        ..Defaults::default()
    };
    let importing = Importing { engine, viewer, defaults: &defaults, progress: &NoProgress, saved: &|_| {} };
    let mut result = ImportResult::default();
    read_lines(&importing, input, &path, &mut result)?;
    Ok(result)
}

/// The file of this name in the folder.
fn in_folder(folder: &Path, name: &str) -> Result<PathBuf, Failure> {
    let is_plain = !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0']);
    if name.trim().is_empty() || name.len() > LONGEST_NAME || !is_plain {
        return Err(refused(name, "is not the plain name of a file, like memories.jsonl; folders are not named"));
    }
    Ok(folder.join(name))
}

fn refused(name: &str, why: &str) -> Failure {
    Error::invalid("file", format!("{name:?} {why}")).into()
}

/// Makes the folder where it is missing, for the user's eyes only.
fn make_private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T38.
    #[test]
    fn only_plain_names_are_files_of_the_folder() {
        let folder = Path::new("exports");
        for name in ["memories.jsonl", "Mémoires 2026.jsonl", "a..b"] {
            assert_eq!(in_folder(folder, name).unwrap(), folder.join(name));
        }
        let long = "x".repeat(256);
        for name in ["", " ", ".", "..", "../x", "a/b", "/etc/passwd", "a\\b", "c:x", ".hidden", "a\0b", &long] {
            let error = in_folder(folder, name).unwrap_err().to_string();
            assert!(error.starts_with("file: ") && error.contains("plain name"), "{error}");
        }
    }
}
