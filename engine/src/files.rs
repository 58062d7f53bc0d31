//! File system helpers.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};

/// Removes a file or a folder with its content, if it exists.
pub(crate) fn remove_if_present(path: &Path) -> Result<()> {
    unless_absent(path, if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) })
}

/// Removes a file if it exists, and never a folder.
pub(crate) fn remove_file_if_present(path: &Path) -> Result<()> {
    unless_absent(path, fs::remove_file(path))
}

fn unless_absent(path: &Path, removed: io::Result<()>) -> Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}

/// Drops memory-mapped files on a separate thread. Another process may have removed them, and dropping the last
/// reference to a removed file waits for the disk to free its blocks (measured: 30 to 60 ms for a few small ones). A
/// search that still uses it may be the last all the same. On Windows it is dropped at once: a file is removed there only
/// when it is mapped no more.
pub(crate) fn drop_in_background(mapped: impl Send + 'static) {
    if cfg!(windows) {
        return drop(mapped);
    }
    // If no thread can be started, it is dropped here.
    let _ = std::thread::Builder::new().name("memorist-unmap".into()).spawn(move || drop(mapped));
}

/// Creates folders that only this user can read, with their missing parents.
pub(crate) fn private_folders() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Opens files for writing; those that it creates are readable by this user only.
pub(crate) fn private_file() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a file that another library has created readable by this user only.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
