//! A file that is written whole or not at all.

use std::io::{BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::exit::Failure;

/// Writes beside the file and renames, so that the file is whole or as it was.
///
/// # Errors
/// Those of `write`, and when the file cannot be put in its place.
pub fn write<T>(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<&mut NamedTempFile>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let failure = |error: std::io::Error| Failure::file(file, &error);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = NamedTempFile::new_in(folder).map_err(failure)?;
    let mut out = BufWriter::new(&mut temporary);
    let written = write(&mut out)?;
    out.flush().map_err(failure)?;
    drop(out);
    temporary.as_file().sync_all().map_err(failure)?;
    temporary.persist(file).map_err(|error| failure(error.error))?;
    Ok(written)
}
