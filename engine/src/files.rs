//! What several modules ask of the file system.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};

/// Removes a file, or a folder with all that is in it, where there is one.
pub(crate) fn remove_if_present(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}

/// Makes the names in a folder durable. Windows does so by itself, and cannot open folders.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}
