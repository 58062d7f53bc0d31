//! Maintenance of a store: its indexes, its model, its health.

use std::path::Path;
use std::time::Instant;

use memorist_embed::Plan;

use super::{Backfill, Engine, IndexStats, RebuildReport, ReembedReport};
use crate::bench::{self, BenchOptions, VectorBench};
use crate::doctor::{self, Diagnosis};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::records::MAX_JOB_FAILURES;
use crate::records::rules::jobs;
use crate::sync::Target;
use crate::types::ForeignMemories;

impl Engine {
    /// Sizes of the indexes, and how far they are behind the records.
    pub fn index_stats(&self) -> Result<IndexStats> {
        self.store.reopen()?;
        Ok(IndexStats {
            vectors: self.store.vector_snapshot()?.map_or(0, |index| index.len()),
            documents: self.store.keyword_snapshot()?.map_or(0, |index| index.len()),
            unapplied: self.store.unapplied()?,
            refused: self.store.records.refused(self.store.now())?.len() as u64,
            model: self.store.model()?.map(|(_, model)| model.name),
            batch_jobs: self.store.records.batch_jobs()?,
            batch_jobs_failed: self.store.records.batch_failures()? >= MAX_JOB_FAILURES,
        })
    }

    /// Whether the store can be written. If not, it is only searched.
    pub fn can_write(&self) -> bool {
        self.store.records.can_write()
    }

    /// The memories in a language that the store's model does not know, if at least 20 of the newest 100 are. Takes a few
    /// milliseconds if one of the newest three is such a memory, else less than one.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn foreign_memories(&self) -> Result<Option<ForeignMemories>> {
        self.store.foreign_memories()
    }

    /// The result of [`Engine::foreign_memories`] when it first finds any, and never again for this store: to suggest another
    /// model once.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn new_foreign_memories(&self) -> Result<Option<ForeignMemories>> {
        self.store.new_foreign_memories()
    }

    /// Finds the model, or fetches it if that is allowed, and loads it. `announce` is called before a download.
    pub fn prepare_model(&self, announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<()> {
        Ok(self.store.host.prepare(announce, progress).map(drop)?)
    }

    /// Embeds every record that waits for it, with progress. Returns how many texts this call embedded. While another
    /// process does the work, this one waits.
    pub fn embed_pending(&self, progress: &dyn Progress) -> Result<u64> {
        self.embed_at_most(u64::MAX, Busy::Wait, progress)
    }

    /// Embeds records that wait for it, at most so many texts, and says how many remain. What the model has refused does
    /// not remain: it is not offered again. While another process does the work, this one waits; with a provider, which
    /// may take long, the work is left to that process, or to this one's background. Fetches no model.
    ///
    /// # Errors
    /// If texts wait and there is no model available.
    pub fn backfill(&self, most: u64, progress: &dyn Progress) -> Result<Backfill> {
        let embedded = self.embed_at_most(most, Busy::Leave, progress)?;
        Ok(Backfill { embedded, remaining: self.store.embeddable_count()?, in_batch_jobs: self.store.texts_in_jobs()? })
    }

    /// Waits until the batch jobs of the store are over, and stores what they made; what they leave over is embedded at once.
    /// Returns how many texts were embedded. While another process asks about the jobs, this one waits.
    ///
    /// # Errors
    /// [`Error::Cancelled`]: the jobs stay, and the next poll continues. If the provider cannot be asked.
    pub fn await_batch_jobs(&self, progress: &dyn Progress) -> Result<u64> {
        if !self.store.records.can_write() || self.store.records.batch_jobs()?.is_empty() {
            return Ok(0);
        }
        let guard = self.store.acquire_jobs(progress)?;
        let (embedder, model) = self.store.embedder()?;
        let target = Target { embedder: &*embedder, model, is_next: false };
        let mut embedded = 0;
        let stored = self.store.await_jobs(&guard, &target, progress, &mut || {
            self.flush(progress)?;
            self.store.submit_pending(&guard, &target, u64::MAX, progress)?;
            embedded += self.embed_at_once(u64::MAX, Busy::Wait, progress)?;
            Ok(())
        })?;
        Ok(stored + embedded)
    }

    /// Cancels the batch jobs of the store, and stores what they have made until now. The other texts are embedded as if there
    /// were no jobs. Returns how many texts the jobs had.
    ///
    /// # Errors
    /// If the provider cannot be asked; then the jobs stay.
    pub fn cancel_batch_jobs(&self, progress: &dyn Progress) -> Result<u64> {
        self.store.records.require_writing()?;
        if self.store.records.batch_jobs()?.is_empty() {
            return Ok(0);
        }
        let guard = self.store.acquire_jobs(progress)?;
        let (embedder, model, is_next) = self.store.embedder_of_jobs()?;
        self.store.cancel_jobs(&guard, &Target { embedder: &*embedder, model, is_next }, progress)
    }

    /// Switches batch jobs on again after two have failed in a row.
    pub fn allow_batch_jobs(&self) -> Result<()> {
        match self.store.records.can_write() && self.store.records.batch_failures()? > 0 {
            true => jobs::forgive(&self.store.records),
            false => Ok(()),
        }
    }

    fn embed_at_most(&self, most: u64, busy: Busy, progress: &dyn Progress) -> Result<u64> {
        if !self.store.records.can_write() {
            return Ok(0);
        }
        self.store.records.refresh()?;
        self.store.cut_texts(progress)?;
        if self.store.pending_count()? == 0 {
            self.store.measure_used(progress)?;
            return Ok(0);
        }
        self.store.decide()?;
        if self.store.host_in_use()?.takes_batch_jobs() {
            let (embedder, model) = self.store.embedder()?;
            if self.store.should_submit(&*embedder, most)? {
                // The process that polls the jobs submits the pending texts.
                let Some(guard) = self.store.jobs_lock.try_acquire()? else { return Ok(0) };
                let target = Target { embedder: &*embedder, model, is_next: false };
                self.store.submit_pending(&guard, &target, most, progress)?;
            }
        }
        self.embed_at_once(most, busy, progress)
    }

    fn embed_at_once(&self, most: u64, busy: Busy, progress: &dyn Progress) -> Result<u64> {
        let done_by_others = || Ok(progress.cancelled() || self.store.pending_count()? == 0);
        if !self.store.embeds_quickly()? {
            let guard = match busy {
                Busy::Wait => self.store.embedding.acquire_unless(progress, done_by_others)?,
                Busy::Leave => self.store.embedding.try_acquire()?,
            };
            return guard.map_or(Ok(0), |guard| self.store.embed_with_provider(&guard, most, progress));
        }
        let Some(guard) = self.store.lock.acquire_unless(progress, done_by_others)? else { return Ok(0) };
        self.store.as_writer(guard, |guard| self.store.embed_backlog(guard, most, progress))
    }

    /// Applies everything written before this call to both indexes, rebuilds an unusable one, and merges segments.
    /// While another process does it, this one waits.
    pub fn flush(&self, progress: &dyn Progress) -> Result<()> {
        if !self.store.records.can_write() {
            return Ok(());
        }
        self.store.records.refresh()?;
        let done_by_others = || {
            self.store.reopen()?;
            Ok(progress.cancelled() || (!self.store.has_unusable_index()? && self.store.unapplied()? == 0))
        };
        let Some(guard) = self.store.lock.acquire_unless(progress, done_by_others)? else { return Ok(()) };
        self.store.as_writer(guard, |guard| {
            self.store.repair_indexes(guard, progress)?;
            progress.start("indexing", Some(self.store.unapplied()?));
            let applied = self.store.catch_up(guard, progress);
            progress.finish();
            applied?;
            self.store.maintain(guard, progress)
        })
    }

    /// Rebuilds both indexes from the records, beside the old ones, and swaps them in. Nothing is embedded again.
    pub fn rebuild(&self, progress: &dyn Progress) -> Result<RebuildReport> {
        let started = Instant::now();
        let (documents, vectors) = self.rebuild_indexes(true, true, progress)?;
        Ok(RebuildReport { vectors, documents, millis: started.elapsed().as_millis() as u64 })
    }

    fn rebuild_indexes(&self, keywords: bool, vectors: bool, progress: &dyn Progress) -> Result<(u64, u64)> {
        self.store.records.require_writing()?;
        let cancelled = || if progress.cancelled() { Err(Error::Cancelled) } else { Ok(false) };
        let Some(guard) = self.store.lock.acquire_unless(progress, cancelled)? else { return Err(Error::Cancelled) };
        self.store.as_writer(guard, |guard| {
            let documents = if keywords { self.store.rebuild_keywords(guard, progress)? } else { 0 };
            let vectors = if vectors { self.store.rebuild_vectors(guard, progress)? } else { 0 };
            Ok((documents, vectors))
        })
    }

    /// Changes the store's model to the configured one. Every text is embedded again, beside the embeddings in use,
    /// which serve searches until the last text is done, here and in other processes; then the new ones replace them at
    /// once. If interrupted, the next call continues. Processes that are open with another model search by keywords
    /// from then on.
    ///
    /// # Errors
    /// [`Error::Embedding`] without a model; [`Error::Cancelled`]; [`Error::ModelChanging`] if another process has
    /// started a change to a third model meanwhile.
    pub fn reembed(&self, progress: &dyn Progress) -> Result<ReembedReport> {
        let started = Instant::now();
        let done = self.store.reembed(progress)?;
        Ok(ReembedReport {
            before: done.before.map(|model| model.name),
            model: self.store.model()?.map(|(_, model)| model.name),
            changed: done.changed,
            embedded: done.texts,
            millis: started.elapsed().as_millis() as u64,
        })
    }

    /// How many texts [`Engine::reembed`] will embed, and how many bytes they have; about, while others write.
    ///
    /// # Errors
    /// Errors of the model, if its identity is not known without loading it.
    pub fn to_reembed(&self) -> Result<(u64, u64)> {
        self.store.to_reembed()
    }

    /// Checks that records, vectors and keywords agree. With `repair`, rebuilds an index that does not, removes a damaged map, and
    /// recounts if only the totals of the database are wrong. A damaged database cannot be repaired while it is open: see
    /// [`examine`](super::examine).
    pub fn doctor(&self, repair: bool, progress: &dyn Progress) -> Result<Diagnosis> {
        let mut diagnosis = doctor::examine(&self.store, progress)?;
        if repair && diagnosis.has_failed(doctor::DATABASE) && self.store.records.recount()? {
            diagnosis = doctor::examine(&self.store, progress)?;
        }
        let map = repair && diagnosis.has_failed(doctor::MAP);
        if map {
            // It is made again when somebody wants it.
            self.store.records.require_writing()?;
            self.store.map.discard()?;
        }
        let [keywords, vectors] = [doctor::KEYWORDS, doctor::VECTORS].map(|name| repair && diagnosis.has_failed(name));
        if !keywords && !vectors && !map {
            return Ok(diagnosis);
        }
        self.rebuild_indexes(keywords, vectors, progress)?;
        doctor::examine(&self.store, progress)
    }

    /// Measures the vector search on the store's own vectors: recall against an exact scan, and latency, for a series
    /// of `ef` values and for every named quality. Others may use the store meanwhile.
    ///
    /// # Errors
    /// [`Error::NothingToMeasure`] without memories or without vectors, [`Error::Invalid`] if there are too few;
    /// [`Error::IndexUnusable`]; [`Error::Cancelled`].
    pub fn bench_vectors(&self, options: &BenchOptions, progress: &dyn Progress) -> Result<VectorBench> {
        bench::bench(&self.store, options, progress)
    }

    /// Copies all records, versions and embeddings, as of one moment, into one file, while others read and write. The
    /// file appears complete or not at all, and replaces an existing one. Returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    pub fn back_up(&self, to: &Path, progress: &dyn Progress) -> Result<u64> {
        self.store.records.back_up(to, progress)
    }
}

/// The behavior while another process embeds with a provider.
#[derive(Clone, Copy)]
enum Busy {
    Wait,
    Leave,
}
