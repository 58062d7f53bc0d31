//! Copies of the team store beside that of this node, which are not kept up to date: no purge would reach them.

use std::fs;
use std::path::{Path, PathBuf};

use memorist_durable::LockedFile;

use crate::error::{Error, Result};
use crate::files::private_file;
use crate::paths::StorePaths;
use crate::records::meta;
use crate::records::sqlite::store::Database;

/// Removes the copies that earlier versions of memorist left beside this one, whose folder has this name: they made one
/// for each list of followed projects.
pub(super) fn remove_old(copy: &Path, name: &str) {
    let old = format!("{name}-");
    let is_old =
        |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&old));
    for path in beside(copy, name).filter(is_old) {
        if let Err(error) = fs::remove_dir_all(&path) {
            tracing::warn!("{}: an old copy of the team store, which cannot be removed: {error}", path.display());
        }
    }
}

/// After a purge, removes the copies of the same team that no process has open: those of other spellings of the server's
/// address. A process that has one open cleans it.
pub(super) fn remove_others(copy: &Path, name: &str, database: &Database) -> Result<()> {
    let Some(team) = team_of(database)? else { return Ok(()) };
    for path in beside(copy, name).filter(|path| path.file_name() != copy.file_name()) {
        if let Err(error) = remove_if_of(&path, &team) {
            tracing::warn!(
                "{}: this may be a replica of the team store with purged texts; it cannot be removed: {error}",
                path.display()
            );
        }
    }
    Ok(())
}

fn remove_if_of(path: &Path, team: &str) -> Result<()> {
    let paths = StorePaths::new(path);
    if !paths.database().is_file() || team_of(&Database::open(&paths)?)?.as_deref() != Some(team) {
        return Ok(());
    }
    let io = |error| Error::io(path, error);
    let lock = private_file().create(true).truncate(false).open(paths.follow_lock()).map_err(io)?;
    match LockedFile::try_lock(lock).map_err(io)? {
        Some(_lock) => fs::remove_dir_all(path).map_err(io),
        None => Ok(()),
    }
}

fn team_of(database: &Database) -> Result<Option<String>> {
    meta::text(&*database.reader()?, "store_id")
}

/// The paths in the parent folder of a copy with this name; none where the copy is not in a cache folder.
fn beside(copy: &Path, name: &str) -> impl Iterator<Item = PathBuf> {
    let folder = copy.parent().filter(|_| copy.ends_with(name)).and_then(|nodes| fs::read_dir(nodes).ok());
    folder.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}
