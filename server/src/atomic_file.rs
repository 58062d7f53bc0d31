//! A file that people named, written whole or not at all.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use memorist_durable::{ABANDONED, NewFile, folder_of, sweep};
use memorist_engine::paths::StorePaths;

use crate::exit::Failure;

/// Writes beside the file and renames, so that the file is whole or as it was.
///
/// # Errors
/// When the file is a part of the store in the folder `store`; those of `write`; and when the file cannot be put in its
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

/// The same with a file in the making, which will be `file`.
///
/// # Errors
/// That of `new`, too.
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
