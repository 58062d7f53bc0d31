//! Images: a node leaves its copy and its two indexes in a folder, and a new node begins with them instead of with nothing. An
//! image may be of any age: the node that takes it compares it with the server.
//!
//! An image is a folder with the id of the store as its name, and with `memory.db`, `vectors/` and `keywords/` in it. It has no
//! queries and no searches of the node that left it. It holds all memories of the team: protect it as the database.

use std::fs;
use std::path::Path;

use memorist_durable::sync_folder;

use super::image_files::{copy_folder, remove_if_there};
use super::lock::WriterGuard;
use super::store::Store;
use crate::error::{Error, Result};
use crate::files::private_folders;
use crate::paths::StorePaths;
use crate::progress::Progress;

/// Ends the name of an image that is not complete.
const UNFINISHED: &str = ".unfinished";

impl Store {
    /// Leaves an image in `folder`, which replaces the last one. Returns its length in bytes.
    pub fn leave_image(&self, proof: &WriterGuard<'_>, folder: &Path, progress: &dyn Progress) -> Result<u64> {
        let Some(store_id) = self.records.team_id()? else {
            return Err(Error::invalid("store", "it is not a team store; use `memorist backup`"));
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
