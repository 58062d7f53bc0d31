//! Puts files into the cache.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memorist_durable::{LockedFile, PrivateFolder};

use super::cache::{CacheFolder, Manifest, check, copy_and_hash};
use super::packages::{Artefact, FileSet};
use crate::error::{Error, Result};
use crate::progress::Progress;

impl CacheFolder {
    /// Where packages may be put by hand.
    pub(super) fn wheels(&self) -> PathBuf {
        self.root().join("wheels")
    }

    /// Waits until no other process is fetching into this cache. The lock ends with the returned file.
    pub(super) fn lock(&self, progress: &dyn Progress) -> Result<LockedFile> {
        self.create(self.root())?;
        let path = self.root().join("lock");
        let lock = || {
            let file = File::options().create(true).truncate(false).write(true).open(&path);
            file.and_then(LockedFile::try_lock).map_err(|error| Error::io(&path, error))
        };
        let mut waiting = false;
        loop {
            if let Some(locked) = lock()? {
                if waiting {
                    progress.finish();
                }
                return Ok(locked);
            }
            if progress.cancelled() {
                return Err(Error::Cancelled);
            }
            if !waiting {
                progress.start("waiting for another process that downloads the model", None);
                waiting = true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Deletes what killed fetches left. The caller holds the lock.
    pub(super) fn sweep(&self) {
        memorist_durable::sweep_work_folders(self.root());
    }

    /// Puts one file in place, if it is the expected one. The caller holds the lock.
    pub(super) fn place(&self, set: &FileSet, artefact: &Artefact, content: &mut dyn Read) -> Result<()> {
        let folder = self.create(&self.root().join(set.folder))?;
        self.forget(set)?;
        memorist_durable::sweep(folder.path(), memorist_durable::ABANDONED);
        let path = folder.path().join(artefact.file);
        let failed = |error| Error::io(&path, error);
        let new = folder.new_file(artefact.file).map_err(failed)?;
        let (bytes, sha256) = copy_and_hash(content, &mut new.file()).map_err(failed)?;
        check(&path, artefact, bytes, &sha256)?;
        new.replace().map(drop).map_err(|error| failed(error.into()))
    }

    /// Marks `set` as complete, after every file of it was placed. The caller holds the lock.
    pub(super) fn complete(&self, set: &FileSet) -> Result<()> {
        let path = self.manifest(set);
        let json = serde_json::to_vec_pretty(&Manifest::of(set))
            .map_err(|error| Error::Provision(format!("{} cannot be written: {error}", path.display())))?;
        memorist_durable::replace(&path, &json).map_err(|error| Error::io(&path, error.into()))
    }

    /// Creates a folder of the cache, or the cache itself, for this user only.
    fn create(&self, folder: &Path) -> Result<PrivateFolder> {
        PrivateFolder::create(folder).map_err(|error| self.refused(folder, error))
    }
}
