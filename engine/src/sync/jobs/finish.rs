//! Finishes a batch job: stores its vectors, deletes its files at the provider, and closes it.

use std::collections::HashSet;

use memorist_durable::crash;
use memorist_embed::{BatchJobs, JobFailure};

use super::poll::PollError;
use super::target::Target;
use crate::error::Result;
use crate::progress::Progress;
use crate::records::MAX_JOB_FAILURES;
use crate::records::rules::{embeddings, jobs as job_records, next_model};
use crate::sync::store::Store;
use crate::text::{Hash, from_hex, to_hex};
use crate::types::{BatchJob, JobEnd};

/// Vectors stored in one transaction. Saves wait while it runs, so the number is small.
const VECTORS_PER_TRANSACTION: usize = 128;

impl Store {
    /// Fetches the vectors of a job and stores them. Returns how many it stored, and the provider's reason for the
    /// first text without a vector.
    pub(super) fn store_vectors(
        &self,
        target: &Target<'_>,
        provider: &dyn BatchJobs,
        job: &BatchJob,
        name: &str,
        progress: &dyn Progress,
    ) -> Result<(u64, Option<String>), PollError> {
        let hashes = self.records.batch_texts(job)?;
        let ids: Vec<String> = hashes.iter().map(|hash| to_hex(hash)).collect();
        let mut unanswered: HashSet<Hash> = hashes.into_iter().collect();
        let (mut batch, mut stored) = (Vec::new(), 0);
        // The callback of `fetch` can only return a `String` as its error. An error of the store is kept here, and the
        // callback returns an empty string to stop `fetch`.
        let mut store_error = None;
        let dims = target.embedder.dims();
        progress.start(
            &format!("downloading the results of a batch job of {}", provider.provider()),
            Some(job.about.texts),
        );
        let mut on_vector = |id: &str, vector: Vec<f32>| {
            // Ignored: a second vector for a text, one for a text outside the job, and one of another length.
            if let Some(hash) = from_hex(id).filter(|hash| vector.len() == dims && unanswered.remove(hash)) {
                batch.push((hash, vector));
            }
            if batch.len() == VECTORS_PER_TRANSACTION {
                stored += self.store_batch(target, provider, &mut batch).map_err(|error| {
                    store_error = Some(error);
                    String::new()
                })?;
                progress.advance(VECTORS_PER_TRANSACTION as u64);
                crash::point("job partly stored");
            }
            Ok(())
        };
        let fetched = provider.fetch(name, &ids, &mut on_vector, progress);
        progress.finish();
        if let Some(error) = store_error {
            return Err(error.into());
        }
        let no_vector_reason = fetched?;
        stored += self.store_batch(target, provider, &mut batch)?;
        Ok((stored, no_vector_reason))
    }

    /// Stores the vectors of a batch in the database, and in the cache of this machine unless their text was deleted
    /// meanwhile. Empties the batch, and returns how many vectors it had, those of deleted texts included.
    fn store_batch(
        &self,
        target: &Target<'_>,
        provider: &dyn BatchJobs,
        batch: &mut Vec<(Hash, Vec<f32>)>,
    ) -> Result<u64> {
        if target.is_next {
            next_model::store_next(&self.records, target.model, batch)?;
        } else {
            embeddings::store_embeddings(&self.records, target.model, batch)?;
        }
        let texts = batch.iter().map(|(hash, _)| self.records.text_of(hash)).collect::<Result<Vec<_>>>()?;
        let for_cache: Vec<(&str, &[f32])> = texts
            .iter()
            .zip(&*batch)
            .filter_map(|(text, (_, vector))| Some((text.as_deref()?, vector.as_slice())))
            .collect();
        provider.keep(&for_cache);
        self.records.shorten_wal()?;
        let count = batch.len() as u64;
        batch.clear();
        Ok(count)
    }

    /// Deletes the files of a job at the provider, then closes the job; its texts without a vector are left over. If the
    /// deletion fails, warns and closes the job anyway.
    pub(super) fn clean_up(
        &self,
        provider: &dyn BatchJobs,
        job: &BatchJob,
        name: &str,
        end: JobEnd,
        why: &str,
        progress: &dyn Progress,
    ) -> Result<(), PollError> {
        match provider.remove(&job.key, Some(name), progress) {
            Err(JobFailure::Cancelled) => return Err(JobFailure::Cancelled.into()),
            Err(failure) => tracing::warn!("files of a batch job are left at {}: {failure}", provider.provider()),
            Ok(()) => {}
        }
        let left_over = self.texts_without_vector(job)?;
        Ok(self.close_job(job, end, &left_over, why)?)
    }

    /// The texts of a job that have no vector of the job's model, and that a memory or one of its passages still has.
    pub(super) fn texts_without_vector(&self, job: &BatchJob) -> Result<Vec<Hash>> {
        self.records.lacking(job.model, &self.records.batch_texts(job)?)
    }

    /// Deletes the upload for a job that the provider does not have. A failure is logged only.
    pub(super) fn delete_upload(&self, provider: &dyn BatchJobs, job: &BatchJob, progress: &dyn Progress) {
        if let Err(failure) = provider.remove(&job.key, None, progress) {
            tracing::debug!("the upload of a batch job may be left at {}: {failure}", provider.provider());
        }
    }

    /// Closes a job: removes it from the database, and records its texts that are left over. Logs why.
    pub(super) fn close_job(&self, job: &BatchJob, end: JobEnd, left_over: &[Hash], why: &str) -> Result<()> {
        let failures = job_records::end(&self.records, job, end, left_over)?;
        let provider = &job.about.provider;
        match end {
            // Other jobs that are open by now may still fail: the switch is logged once.
            JobEnd::Failed if failures == MAX_JOB_FAILURES => tracing::warn!(
                "batch jobs are switched off for this store: {MAX_JOB_FAILURES} at {provider} failed in a row, the last \
                 because of this: {why}; its texts are embedded one request after another; an explicit backfill switches \
                 jobs on again"
            ),
            JobEnd::Failed => tracing::warn!("a batch job at {provider} failed: {why}"),
            JobEnd::Dropped => tracing::info!("a batch job at {provider} was dropped: {why}"),
            JobEnd::Done => {}
        }
        Ok(())
    }
}
