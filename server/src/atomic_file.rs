//! A file that the user named, written atomically.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use memorist_durable::{ABANDONED, NewFile, folder_of, sweep};
use memorist_engine::paths::StorePaths;

use crate::exit::Failure;

/// Writes a temporary file and renames it, so that the target is complete or unchanged.
///
/// # Errors
/// If the file is part of the store in the folder `store`; those of `write`; and if the file cannot be moved into
/// place.
pub fn write<T>(
    store: &Path,
    file: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if StorePaths::new(store).would_replace_part(file) {
        return Err(Failure::input(format!("{} is a part of the store; name another file", file.display())));
    }
    sweep(folder_of(file), ABANDONED);
    fill(NewFile::beside(file), file, write)
}

/// Fills the temporary file `new`, which then becomes `file`.
///
/// # Errors
/// The error of `new`, those of `write`, and if the file cannot be moved into place.
pub fn fill<T>(
    new: std::io::Result<NewFile>,
    file: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let failure = |error: std::io::Error| Failure::file(file, &error);
    let new = new.map_err(failure)?;
    let mut out = BufWriter::new(new.file());
    let written = write(&mut out)?;
    out.flush().map_err(failure)?;
    drop(out);
    new.replace().map_err(|error| failure(error.into()))?;
    Ok(written)
}
