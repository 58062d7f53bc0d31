//! Operations on a store that is not open, or that need none.

use std::path::{Path, PathBuf};

use super::Engine;
use crate::config::Config;
use crate::doctor::{self, Diagnosis};
use crate::error::{Error, Remedy, Result};
use crate::paths::StorePaths;
use crate::progress::Progress;
use crate::records::{self, Records};
use crate::types::Source;

/// Does what [`Engine::doctor`] does, also for a store whose database is so damaged that [`Engine::open`] refuses it.
/// Reports what can be salvaged; with `repair`, salvages it into a new database, which replaces the damaged one. The
/// damaged one is kept beside it. Of a database that is lost there is nothing to salvage: the diagnosis says that.
///
/// # Errors
/// Errors of [`Engine::open`] if the database is not ours; [`Error::Store`] if a repair finds the store open in another
/// process.
pub fn examine(root: impl Into<PathBuf>, config: Config, repair: bool, progress: &dyn Progress) -> Result<Diagnosis> {
    let paths = StorePaths::new(root);
    let mut damage = match Engine::open(paths.root(), config.clone()) {
        Ok(engine) => engine.doctor(repair, progress)?,
        Err(error) if error.remedy() == Some(Remedy::Restore) => return Ok(Diagnosis::of_unusable_database(&error)),
        Err(error @ (Error::Database { .. } | Error::DatabaseFailed(_))) => Diagnosis::of_unusable_database(&error),
        Err(error) => return Err(error),
    };
    if !damage.has_failed(doctor::DATABASE) {
        return Ok(damage);
    }
    if !repair {
        damage.salvage = Some(records::survey(&paths, progress)?);
        return Ok(damage);
    }
    let salvage = records::salvage(&paths, progress)?;
    let engine = Engine::open(paths.root(), config)?;
    engine.flush(progress)?;
    Ok(Diagnosis { salvage: Some(salvage), ..engine.doctor(false, progress)? })
}

/// Creates the store in the folder `root`, which must not contain one yet, from a file of [`Engine::back_up`]. The
/// indexes are built when it is opened.
///
/// # Errors
/// [`Error::Database`] if the file is not a backup or is damaged, [`Error::Store`] if there is a store already.
pub fn restore(from: &Path, root: impl Into<PathBuf>, progress: &dyn Progress) -> Result<()> {
    records::restore(from, &StorePaths::new(root), progress)
}

/// The sources of the store in the folder `root`, without its indexes and its model: for a process that must answer at once. None
/// if there is no store.
///
/// # Errors
/// Errors of [`Engine::open`] if the database is not ours; [`Error::DatabaseFailed`] if SQLite fails.
pub fn sources(root: impl Into<PathBuf>) -> Result<Vec<Source>> {
    let paths = StorePaths::new(root);
    if !paths.is_any_there() {
        return Ok(Vec::new());
    }
    Records::open(&paths)?.snapshot()?.sources()
}
