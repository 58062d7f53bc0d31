//! What has expired is deleted, and what a purge leaves to do is done: no file of the store holds it any more.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, io};

use memorist_durable::crash;

use super::clock::now;
use super::lock::WriterGuard;
use super::store::Sync;
use crate::config::Backend;
use crate::error::{Error, Result};
use crate::progress::{Progress, cancel_point};
use crate::records::{PurgeMark, Sought};
use crate::types::Millis;

/// Expired records deleted in one transaction.
const STEP: usize = 100;

impl Sync {
    /// Whether a record has expired so long ago that it is to be deleted.
    pub fn has_expired(&self) -> Result<bool> {
        self.records.has_expired(self.expired_by())
    }

    /// Deletes the records that have expired that long ago.
    pub fn remove_expired(&self, _proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<()> {
        let by = self.expired_by();
        loop {
            let started = Instant::now();
            if self.records.remove_expired(by, STEP)? < STEP {
                return Ok(());
            }
            crash::point("some expired");
            cancel_point(progress)?;
            // Half of the time is for those who write.
            std::thread::sleep(started.elapsed());
        }
    }

    fn expired_by(&self) -> Millis {
        let grace = Millis::try_from(self.config.expiry_grace.as_millis()).unwrap_or(Millis::MAX);
        now().saturating_sub(grace)
    }

    /// Removes from both indexes, from the log and from the files of the database what was removed from the tables up to
    /// `mark`: `sought`. Returns false when somebody keeps a file for longer than `patience`; then it is to be called again,
    /// with the mark that is there then and [`Sought::unknown`].
    pub fn finish_purge(
        &self,
        proof: &WriterGuard<'_>,
        mark: &PurgeMark,
        sought: &Sought,
        patience: Duration,
        progress: &dyn Progress,
    ) -> Result<bool> {
        // The indexes come first: of a database that was written anew they have nothing more.
        if !mark.is_written_anew() {
            // A rebuild that was killed has left files as well.
            self.mend(proof, progress)?;
            self.catch_up(proof, progress)?;
            if !self.forget_deleted(proof, progress)? {
                return Ok(false);
            }
        }
        if !self.records.remove_traces(mark, sought, patience)? {
            return Ok(false);
        }
        self.records.end_purge(mark)?;
        Ok(true)
    }

    /// What is in the store's folder and no part of the store, in order.
    pub fn elsewhere(&self) -> Result<Vec<PathBuf>> {
        let root = self.paths.root();
        let list = || fs::read_dir(root)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>();
        let mut found = list().map_err(|error| Error::io(root, error))?;
        found.retain(|path| !self.paths.is_part(path));
        found.sort();
        Ok(found)
    }

    /// Rewrites what of the indexes holds deleted records. Returns false when not all of it is gone.
    fn forget_deleted(&self, proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<bool> {
        let keywords = self.keywords.get().map(|index| index.forget_deleted());
        let keywords = self.in_use(keywords.ok())?;
        let vectors = self.vectors.get().map(|index| {
            while index.forget_deleted(progress)? {
                cancel_point(progress)?;
            }
            Ok(true)
        });
        let vectors = self.in_use(vectors.ok())?;
        let folder = self.paths.vectors();
        let is_on_disk = self.config.backend == Backend::Hnsw && self.model()?.is_some();
        if !is_on_disk && folder.exists() {
            // Nobody keeps it in step: it is of a backend, or of a database, that was here before.
            self.discard(proof, &folder)?;
        }
        // One that turned out to be damaged is rebuilt the next time.
        Ok(keywords == Some(true) && (vectors.is_some() || !is_on_disk))
    }
}
