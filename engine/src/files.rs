//! What several modules ask of the file system.

use std::fs::{self, File};
use std::io::{self, Write};
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

/// Drops, in a thread of its own, what has files mapped: others may have removed them, and the last who lets go of a removed
/// file waits for the disk to give its blocks back (measured: 30 to 60 ms for a few small ones). A search that still holds
/// it may be the last all the same.
pub(crate) fn drop_aside(mapped: impl Send + 'static) {
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

/// Puts `bytes` in the place of a file: after a crash the old or the new content is there, once this has returned the new.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_added_extension("tmp");
    let mut file = private_file().create(true).truncate(true).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_folder(folder_of(path))
}

/// Keeps a file that another library has made from the eyes of others.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The folder that a file is in.
pub(crate) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Tells a file or folder from another that is put in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// Of what is at `path` now.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok()?;
        #[cfg(unix)]
        let stamp = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let stamp = metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos() as u64;
        Some(Stamp(stamp))
    }
}

/// Makes the names in a folder durable. Windows does so by itself, and cannot open folders.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
