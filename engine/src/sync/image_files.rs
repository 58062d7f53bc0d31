//! The files of an image (`image.rs`): a new node takes them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memorist_durable::NewFile;

use crate::error::{Error, Result};
use crate::files::private_folders;
use crate::paths::StorePaths;
use crate::progress::{NoProgress, Progress, cancel_point};
use crate::records;

/// Begins a node with an image of the store with this id, if there is one and the node has nothing yet. Returns whether it did.
pub(super) fn take(paths: &StorePaths, images: &Path, store_id: &str) -> Result<bool> {
    let image = StorePaths::new(images.join(store_id));
    if paths.database().exists() || !image.database().is_file() {
        return Ok(false);
    }
    records::prepare_root(paths)?;
    for (from, to) in image.index_folders().iter().zip(paths.index_folders()) {
        copy_folder(from, &to, &NoProgress)?;
    }
    // Last, and whole or not at all: without it the folder has nothing.
    let database = paths.database();
    let io = |error| Error::io(&database, error);
    let new = NewFile::beside(&database).map_err(io)?;
    fs::copy(image.database(), new.path()).map_err(io)?;
    match new.place().map_err(io::Error::from) {
        // Another process of this node was first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        placed => placed.map(|_| true).map_err(io),
    }
}

/// Copies a folder of an index. Returns the bytes of its files.
pub(super) fn copy_folder(from: &Path, to: &Path, progress: &dyn Progress) -> Result<u64> {
    let mut bytes = 0;
    let io = |path: &Path| {
        let path: PathBuf = path.into();
        move |error| Error::io(&path, error)
    };
    remove_if_there(to).map_err(io(to))?;
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries.map_err(io(from))?,
    };
    private_folders().recursive(true).create(to).map_err(io(to))?;
    for entry in entries {
        cancel_point(progress)?;
        let entry = entry.map_err(io(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        // Not through a link.
        let kind = entry.file_type().map_err(io(&source))?;
        if kind.is_dir() {
            bytes += copy_folder(&source, &target, progress)?;
        } else if kind.is_file() {
            bytes += fs::copy(&source, &target).map_err(io(&source))?;
        }
    }
    Ok(bytes)
}

pub(super) fn remove_if_there(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
