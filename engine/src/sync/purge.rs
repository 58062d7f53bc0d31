//! Deletes expired records, and finishes a purge: no file of the store contains the data afterwards.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{
    fs,
    io::{self, Read},
};

use memorist_durable::crash;

use super::lock::WriterGuard;
use super::store::Store;
use crate::error::{Error, Result};
use crate::index_folder;
use crate::progress::{Progress, cancel_point};
use crate::records::rules::{expiry, trash};
use crate::records::{PurgeMark, PurgePatterns, PurgeText};
use crate::types::Millis;

/// Expired records deleted in one transaction.
const STEP: usize = 100;

impl Store {
    /// Whether a record expired, or was deleted, long enough ago to be removed.
    pub fn has_expired(&self) -> Result<bool> {
        Ok(self.records.has_expired(self.before(self.config.expiry_grace))?
            || self.records.has_trash(self.before(self.config.trash_grace))?)
    }

    /// Removes the records that expired, or were deleted, that long ago.
    pub fn remove_expired(&self, _proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<()> {
        let (expired, deleted) = (self.before(self.config.expiry_grace), self.before(self.config.trash_grace));
        loop {
            let started = Instant::now();
            let removed = expiry::remove_expired(&self.records, expired, STEP)?;
            if removed < STEP && trash::empty(&self.records, deleted, STEP)? < STEP {
                return Ok(());
            }
            crash::point("some expired");
            cancel_point(progress)?;
            // Half of the time is left to other writers.
            std::thread::sleep(started.elapsed());
        }
    }

    /// The moment that long ago.
    fn before(&self, grace: Duration) -> Millis {
        let grace = Millis::try_from(grace.as_millis()).unwrap_or(Millis::MAX);
        self.now().saturating_sub(grace)
    }

    /// Removes what was removed from the tables up to `mark` from both indexes, from the log and from the files of the
    /// database: `patterns`. Returns false if another process keeps a file open for longer than `timeout`; then call it
    /// again, with the current mark and [`PurgePatterns::unknown`].
    pub fn finish_purge(
        &self,
        proof: &WriterGuard<'_>,
        mark: &PurgeMark,
        patterns: &PurgePatterns,
        timeout: Duration,
        progress: &dyn Progress,
    ) -> Result<bool> {
        // The indexes come first: a rewritten database contains nothing more of them.
        if !mark.is_rewritten() {
            // A killed rebuild leaves files as well.
            self.repair_indexes(proof, progress)?;
            self.catch_up(proof, progress)?;
            if !self.forget_deleted(proof, progress)? {
                return Ok(false);
            }
        }
        if !self.records.remove_traces(mark, patterns, timeout)? {
            return Ok(false);
        }
        // After that no process publishes a map that has them: each reads the records first.
        self.map.forget(|| self.records.copy().snapshot()?.point_rows(self.now()))?;
        #[cfg(feature = "remote")]
        if let Some(folder) = &self.config.model.embeddings_dir {
            memorist_embed::clear_caches(folder)?;
        }
        self.records.end_purge(mark)?;
        Ok(true)
    }

    /// Removes each line that has a text from what hooks have left: paths of transcripts, as JSON.
    pub fn forget_noted(&self, text: &PurgeText) -> Result<()> {
        let folder = self.paths.hooks();
        let files = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            files => files.and_then(|files| files.map(|file| Ok(file?.path())).collect::<io::Result<Vec<_>>>()),
        };
        for file in files.map_err(|error| Error::io(&folder, error))? {
            // A socket has no lines, and no hook makes a link.
            let Ok(plain) = memorist_durable::open_plain(&file) else { continue };
            let mut bytes = Vec::new();
            io::BufReader::new(plain).read_to_end(&mut bytes).map_err(|error| Error::io(&file, error))?;
            let has_text = |line: &&[u8]| {
                let line = String::from_utf8_lossy(line);
                text.is_in(&line) || serde_json::from_str::<String>(&line).is_ok_and(|line| text.is_in(&line))
            };
            let lines = bytes.split_inclusive(|byte| *byte == b'\n');
            let kept = lines.filter(|line| !has_text(line)).collect::<Vec<_>>().concat();
            if kept.len() < bytes.len() {
                memorist_durable::replace(&file, &kept).map_err(|error| Error::io(&file, error.into()))?;
            }
        }
        Ok(())
    }

    /// Files in the store's folder that are not part of the store, in order. An empty one, such as a lock, has nothing.
    pub fn unowned_files(&self) -> Result<Vec<PathBuf>> {
        let root = self.paths.root();
        let list = || fs::read_dir(root)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>();
        let mut found = list().map_err(|error| Error::io(root, error))?;
        let is_empty = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() == 0);
        found.retain(|path| !self.paths.is_part(path) && !is_empty(path));
        found.sort();
        Ok(found)
    }

    /// Rewrites the parts of the indexes that contain deleted records. Returns false if some remain.
    fn forget_deleted(&self, proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<bool> {
        let keywords = self.keywords.get().map(|index| index.forget_deleted());
        let keywords = self.in_use(keywords.ok())?;
        let vectors = self.vectors.get().map(|index| index.forget_deleted(progress));
        let vectors = self.in_use(vectors.ok())?;
        let folder = self.paths.vectors();
        // Both, whatever the first one says.
        let mut all_gone = index_folder::sweep(&folder) & index_folder::sweep(&self.paths.keywords());
        let is_on_disk = self.config.backend.layout().is_some() && self.model()?.is_some();
        if !is_on_disk && folder.exists() {
            // It is not kept in step: it belongs to another backend, or to a previous database.
            all_gone &= self.discard(proof, &folder)?;
        }
        // An index that turned out to be damaged is rebuilt the next time.
        Ok(all_gone && keywords == Some(true) && (vectors == Some(true) || !is_on_disk))
    }
}
