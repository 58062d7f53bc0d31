//! What several modules ask of the file system.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};

/// Removes a file, or a folder with all that is in it, where there is one.
pub(crate) fn remove_if_present(path: &Path) -> Result<()> {
    unless_absent(path, if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) })
}

/// Removes a file where there is one, and nothing but a file.
pub(crate) fn remove_file_if_present(path: &Path) -> Result<()> {
    unless_absent(path, fs::remove_file(path))
}

fn unless_absent(path: &Path, removed: io::Result<()>) -> Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}

/// Drops, in a thread of its own, what has files mapped: others may have removed them, and the last who lets go of a removed
/// file waits for the disk to give its blocks back (measured: 30 to 60 ms for a few small ones). A search that still holds
/// it may be the last all the same.
pub(crate) fn drop_in_background(mapped: impl Send + 'static) {
    // Where no thread can be had it is dropped here.
    let _ = std::thread::Builder::new().name("memorist-unmap".into()).spawn(move || drop(mapped));
}

/// To make folders that only the user can look into, with those above them that are missing.
pub(crate) fn private_folders() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// To open files for writing that only the user can read, where they are made by it.
pub(crate) fn private_file() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Keeps a file that another library has made from the eyes of others.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Tells a file or folder from another that is put in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(u64, u64);

impl Stamp {
    /// Of what is at `path` now.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        Self::of_metadata(&path.metadata().ok()?)
    }

    /// Of an open file.
    pub(crate) fn of_open(file: &fs::File) -> Option<Self> {
        Self::of_metadata(&file.metadata().ok()?)
    }

    fn of_metadata(metadata: &fs::Metadata) -> Option<Self> {
        #[cfg(unix)]
        let stamp = {
            use std::os::unix::fs::MetadataExt;
            Stamp(metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let stamp = Stamp(0, metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos() as u64);
        Some(stamp)
    }
}
