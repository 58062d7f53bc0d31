//! Images: a node leaves its copy and its two indexes in a folder, and a new node begins with them instead of with nothing. An
//! image may be of any age: whoever takes it compares it with the server.
//!
//! An image is a folder with the id of the store as its name, and with `memory.db`, `vectors/` and `keywords/` in it. It has no
//! queries and no searches of the node that left it. It holds all memories of the team: protect it as the database.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memorist_durable::sync_folder;

use super::lock::WriterGuard;
use super::store::Store;
use crate::error::{Error, Result};
use crate::files::private_folders;
use crate::paths::StorePaths;
use crate::progress::{Progress, cancel_point};
use crate::records;

/// Ends the name of an image that is not complete.
const UNFINISHED: &str = ".unfinished";

impl Store {
    /// Leaves an image in `folder`, in the place of the last one. Returns its length in bytes.
    pub fn leave_image(&self, proof: &WriterGuard<'_>, folder: &Path, progress: &dyn Progress) -> Result<u64> {
        let Some(store_id) = self.records.team_id()? else {
            return Err(Error::invalid("store", "it is no team store: `memorist backup` copies it"));
        };
        self.catch_up(proof, progress)?;
        let place = folder.join(&store_id);
        let new = StorePaths::new(folder.join(format!("{store_id}.{}{UNFINISHED}", ulid::Ulid::generate())));
        let io = |error| Error::io(new.root(), error);
        private_folders().recursive(true).create(new.root()).map_err(io)?;
        let left = || {
            // The indexes first: the database must not be behind them.
            let mut bytes = 0;
            for (from, to) in self.paths.index_folders().iter().zip(new.index_folders()) {
                bytes += copy_folder(from, &to, progress)?;
            }
            bytes += self.records.copy_for_image(&new.database(), progress)?;
            remove_if_there(&place).and_then(|()| fs::rename(new.root(), &place)).map_err(io)?;
            sync_folder(folder).map_err(io)?;
            Ok(bytes)
        };
        let left = left();
        if left.is_err() {
            // What stays has a name that nobody takes for an image.
            let _ = fs::remove_dir_all(new.root());
        }
        left
    }
}

/// Begins a node with an image of the store with this id, if there is one and the node has nothing yet. Returns whether it did.
pub(super) fn take(paths: &StorePaths, images: &Path, store_id: &str) -> Result<bool> {
    let image = StorePaths::new(images.join(store_id));
    if paths.database().exists() || !image.database().is_file() {
        return Ok(false);
    }
    records::prepare_root(paths)?;
    for (from, to) in image.index_folders().iter().zip(paths.index_folders()) {
        copy_folder(from, &to, &crate::progress::NoProgress)?;
    }
    // Last, and whole or not at all: without it the folder has nothing.
    let database = paths.database();
    let io = |error| Error::io(&database, error);
    let new = memorist_durable::NewFile::beside(&database).map_err(io)?;
    fs::copy(image.database(), new.path()).map_err(io)?;
    match new.place().map_err(io::Error::from) {
        // Another process of this node was first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        placed => placed.map(|_| true).map_err(io),
    }
}

/// Copies a folder of an index. Returns the bytes of its files.
fn copy_folder(from: &Path, to: &Path, progress: &dyn Progress) -> Result<u64> {
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

fn remove_if_there(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
