//! Work on a store as a whole: its indexes, its model, its health.

use std::path::Path;
use std::time::Instant;

use super::{Engine, IndexStats, RebuildReport, ReembedReport};
use crate::bench::{self, BenchOptions, VectorBench};
use crate::doctor::{self, Diagnosis};
use crate::embed::Plan;
use crate::error::{Error, Result};
use crate::progress::Progress;

impl Engine {
    /// How the indexes stand beside the records.
    pub fn index_stats(&self) -> Result<IndexStats> {
        self.sync.reopen()?;
        Ok(IndexStats {
            vectors: self.sync.vector_snapshot()?.map_or(0, |index| index.len()),
            documents: self.sync.keyword_snapshot()?.map_or(0, |index| index.len()),
            unapplied: self.sync.unapplied()?,
            model: self.sync.model()?.map(|(_, model)| model.name),
        })
    }

    /// Finds the model, or fetches it where that is allowed, and loads it. `announce` is told before anything is
    /// fetched.
    pub fn prepare_model(&self, announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<()> {
        self.sync.host.prepare(announce, progress).map(drop)
    }

    /// Embeds every record that waits for it, with progress. Returns how many texts this call embedded: while another
    /// process does the work, this one waits for it.
    pub fn embed_pending(&self, progress: &dyn Progress) -> Result<u64> {
        if !self.sync.records.can_write() || self.sync.pending_count()? == 0 {
            return Ok(0);
        }
        let done_by_others = || Ok(progress.cancelled() || self.sync.pending_count()? == 0);
        let Some(guard) = self.sync.lock.acquire_unless(progress, done_by_others)? else { return Ok(0) };
        self.sync.as_writer(guard, |guard| self.sync.embed_backlog(guard, progress))
    }

    /// Applies what was written before this call to both indexes, rebuilds one that is out of use, and merges what is
    /// worth merging. While another process does it, this one waits.
    pub fn flush(&self, progress: &dyn Progress) -> Result<()> {
        if !self.sync.records.can_write() {
            return Ok(());
        }
        let done_by_others = || {
            self.sync.reopen()?;
            Ok(progress.cancelled() || (!self.sync.is_out()? && self.sync.unapplied()? == 0))
        };
        let Some(guard) = self.sync.lock.acquire_unless(progress, done_by_others)? else { return Ok(()) };
        self.sync.as_writer(guard, |guard| {
            self.sync.mend(guard, progress)?;
            progress.start("indexing", Some(self.sync.unapplied()?));
            let applied = self.sync.catch_up(guard, progress);
            progress.finish();
            applied?;
            self.sync.maintain(guard, progress)
        })
    }

    /// Builds both indexes anew from the records, beside the old ones, and swaps them in. Nothing is embedded again.
    pub fn rebuild(&self, progress: &dyn Progress) -> Result<RebuildReport> {
        let started = Instant::now();
        let (documents, vectors) = self.rebuild_sides(true, true, progress)?;
        Ok(RebuildReport { vectors, documents, millis: started.elapsed().as_millis() as u64 })
    }

    fn rebuild_sides(&self, keywords: bool, vectors: bool, progress: &dyn Progress) -> Result<(u64, u64)> {
        self.sync.records.require_writing()?;
        let cancelled = || if progress.cancelled() { Err(Error::Cancelled) } else { Ok(false) };
        let Some(guard) = self.sync.lock.acquire_unless(progress, cancelled)? else { return Err(Error::Cancelled) };
        self.sync.as_writer(guard, |guard| {
            let documents = if keywords { self.sync.rebuild_keywords(guard, progress)? } else { 0 };
            let vectors = if vectors { self.sync.rebuild_vectors(guard, progress)? } else { 0 };
            Ok((documents, vectors))
        })
    }

    /// Makes the model at hand the store's: embeds every text anew beside the embeddings in use, which serve until the last
    /// is done, here and in other processes; then the new ones take their place at once. Interrupted, the next call goes
    /// on from where it was. Processes that are open with another model search words alone from then on.
    ///
    /// # Errors
    /// [`Error::NoEmbedder`] without a model; [`Error::Cancelled`]; [`Error::ModelMismatch`] when another process has
    /// begun the change to a third model meanwhile.
    pub fn reembed(&self, progress: &dyn Progress) -> Result<ReembedReport> {
        let started = Instant::now();
        let done = self.sync.reembed(progress)?;
        Ok(ReembedReport {
            before: done.before.map(|model| model.name),
            model: self.sync.model()?.map(|(_, model)| model.name),
            changed: done.changed,
            embedded: done.texts,
            millis: started.elapsed().as_millis() as u64,
        })
    }

    /// Proves that records, vectors and keywords agree; with `repair`, rebuilds the index that does not, and counts again
    /// where nothing but the totals of the database is wrong. A database that is damaged itself cannot be mended while it
    /// is open: see [`examine`](super::examine).
    pub fn doctor(&self, repair: bool, progress: &dyn Progress) -> Result<Diagnosis> {
        let mut diagnosis = doctor::examine(&self.sync, progress)?;
        if repair && diagnosis.has_failed(doctor::DATABASE) && self.sync.records.recount()? {
            diagnosis = doctor::examine(&self.sync, progress)?;
        }
        let [keywords, vectors] = [doctor::KEYWORDS, doctor::VECTORS].map(|name| repair && diagnosis.has_failed(name));
        if !keywords && !vectors {
            return Ok(diagnosis);
        }
        self.rebuild_sides(keywords, vectors, progress)?;
        doctor::examine(&self.sync, progress)
    }

    /// Measures the vector search on the store's own vectors: recall against an exact scan, and latency, along a ladder
    /// of efforts and for every quality that has a name. Others may use the store meanwhile.
    ///
    /// # Errors
    /// [`Error::NothingToMeasure`] without memories or without vectors, [`Error::Invalid`] when there are too few;
    /// [`Error::IndexUnusable`]; [`Error::Cancelled`].
    pub fn bench_vectors(&self, options: &BenchOptions, progress: &dyn Progress) -> Result<VectorBench> {
        bench::bench(&self.sync, options, progress)
    }

    /// Copies all records, versions and embeddings, as they are at one moment, into one file, while others read and write.
    /// The file appears whole or not at all, and takes the place of one of that name. Returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written.
    pub fn back_up(&self, to: &Path, progress: &dyn Progress) -> Result<u64> {
        self.sync.records.back_up(to, progress)
    }
}
