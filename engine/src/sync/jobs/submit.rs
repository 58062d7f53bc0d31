//! Submits batch jobs for pending texts.

use std::collections::HashSet;

use memorist_durable::crash;
use memorist_embed::{BatchJobs, Embedder, JobFailure};
use ulid::Ulid;

use super::target::{JobsGuard, Target, UNANSWERED};
use crate::error::{Error, Result};
use crate::progress::{NoProgress, Progress, cancel_point};
use crate::records::rules::jobs as job_records;
use crate::records::{MAX_JOB_FAILURES, Pending};
use crate::sync::store::Store;
use crate::text::{Hash, to_hex};
use crate::types::{BatchJob, JobEnd, RecordId};

/// Maximum number of open jobs, close to the limits of the providers.
const MAX_OPEN_JOBS: usize = 100;
/// Maximum number of texts in a job. Providers may take fewer.
const MAX_TEXTS: usize = 50_000;

impl Store {
    /// Whether jobs are allowed, and enough texts are pending for one. `most` is the caller's limit of texts to embed.
    ///
    /// An estimate from counts. [`Store::submit_pending`] reads the texts, and may find too few.
    pub fn should_submit(&self, embedder: &dyn Embedder, most: u64) -> Result<bool> {
        let Some(terms) = embedder.batch_jobs().map(BatchJobs::terms) else { return Ok(false) };
        let min_texts = terms.min_texts.max(1) as u64;
        // A node of a team store whose role sees only some projects leaves jobs to the owner of the tables.
        if !terms.enabled || most < min_texts || !embedder.is_available() || self.records.is_member()? {
            return Ok(false);
        }
        // `pending_count` includes the texts in jobs. It counts the texts of all memories, so it may count equal texts
        // twice; a job has each text once.
        let outside_jobs = self.pending_count()?.saturating_sub(self.texts_in_jobs()?);
        // `left_over` comes last, because it looks up each text.
        Ok(outside_jobs >= min_texts
            && self.records.batch_failures()? < MAX_JOB_FAILURES
            && outside_jobs.saturating_sub(self.left_over()?.len() as u64) >= min_texts)
    }

    /// Returns the texts left over by former jobs, if they still have no vector of the current or of the next model.
    /// Removes all others from the list in the database.
    fn left_over(&self) -> Result<HashSet<Hash>> {
        let recorded = self.records.batch_left()?;
        if recorded.is_empty() {
            return Ok(HashSet::new());
        }
        let Some((current, _)) = self.model()? else { return Ok(recorded.into_iter().collect()) };
        let mut lacking: HashSet<Hash> = self.records.lacking(current, &recorded)?.into_iter().collect();
        if lacking.len() < recorded.len()
            && let Some((next, _)) = self.records.next_model()?
        {
            lacking.extend(self.records.lacking(next, &recorded)?);
        }
        if lacking.len() < recorded.len() {
            job_records::keep_left(&self.records, &lacking.iter().copied().collect::<Vec<_>>())?;
        }
        Ok(lacking)
    }

    /// Submits jobs while enough texts are pending, with at most `most` texts in all. Returns how many texts it
    /// submitted.
    ///
    /// # Errors
    /// [`Error::Cancelled`], and errors of the database. A refusal by the provider is logged instead.
    pub fn submit_pending(
        &self,
        _lock: &JobsGuard<'_>,
        target: &Target<'_>,
        most: u64,
        progress: &dyn Progress,
    ) -> Result<u64> {
        let Some(provider) = target.embedder.batch_jobs() else { return Ok(0) };
        let terms = provider.terms();
        let may_submit = match target.is_next {
            // `should_submit` would count the texts without a vector of the current model, not of the next one.
            // `reembed` has checked that the model is available.
            true => terms.enabled && self.records.batch_failures()? < MAX_JOB_FAILURES && !self.records.is_member()?,
            false => self.should_submit(target.embedder, most)?,
        };
        if !may_submit {
            return Ok(0);
        }
        let mut submitted = 0;
        while self.records.batch_jobs()?.len() < MAX_OPEN_JOBS {
            let limit = MAX_TEXTS.min(usize::try_from(most - submitted).unwrap_or(MAX_TEXTS));
            let texts = self.texts_for_next_job(target, provider, limit)?;
            if texts.len() < terms.min_texts.max(1) {
                break;
            }
            match self.submit_job(target, provider, &texts, progress)? {
                0 => break,
                count => submitted += count,
            }
        }
        Ok(submitted)
    }

    /// The first pending texts that may go into a job, at most `limit` and as many as the provider takes.
    fn texts_for_next_job(&self, target: &Target<'_>, provider: &dyn BatchJobs, limit: usize) -> Result<Vec<Pending>> {
        let left_over = self.left_over()?;
        // The texts left over are filtered out below. All of them may be among the first texts, so that many more are
        // read.
        let read_limit = limit.saturating_add(left_over.len());
        let mut texts = match target.is_next {
            // `missing` is for the next model what `pending` is for the current one.
            true => self.records.missing(target.model, RecordId::START, read_limit, self.now())?,
            false => self.records.pending(target.model, read_limit, self.now())?,
        };
        // Some providers refuse an empty text: it is left to ordinary requests.
        texts.retain(|text| !left_over.contains(&text.hash) && !text.text.trim().is_empty());
        // Texts whose vectors are in the cache of this machine are left to ordinary requests, which take them from
        // there.
        let mut are_cached = provider.are_kept(&texts_of(&texts)).into_iter();
        texts.retain(|_| !are_cached.next().unwrap_or(false));
        texts.truncate(limit);
        let count_that_fits = provider.fitting(&texts_of(&texts));
        texts.truncate(count_that_fits);
        Ok(texts)
    }

    /// Records a job and submits it. Returns its number of texts, also if the provider's answer was lost. Returns 0 if
    /// the provider refused the job; then the caller submits no further one.
    fn submit_job(
        &self,
        target: &Target<'_>,
        provider: &dyn BatchJobs,
        texts: &[Pending],
        progress: &dyn Progress,
    ) -> Result<u64> {
        cancel_point(progress)?;
        let count = texts.len() as u64;
        let key = Ulid::generate().to_string();
        let mut job = BatchJob::new(key, target.model, provider.provider(), self.now(), count);
        let hashes: Vec<Hash> = texts.iter().map(|text| text.hash).collect();
        job_records::begin(&self.records, &job, &hashes)?;
        crash::point("job noted");
        progress.start(&format!("submitting a batch job to {}", provider.provider()), Some(count));
        let ids: Vec<String> = hashes.iter().map(|hash| to_hex(hash)).collect();
        let texts_with_ids: Vec<(&str, &str)> =
            ids.iter().zip(texts).map(|(id, text)| (id.as_str(), text.text.as_str())).collect();
        let submitted = provider.submit(&job.key, &texts_with_ids, progress);
        progress.finish();
        match submitted {
            Ok(name) => {
                crash::point("job submitted");
                job.about.name = Some(name);
                job.about.state = "submitted".to_owned();
                job_records::update(&self.records, &job)?;
                crash::point("job named");
                Ok(count)
            }
            // `Later` says that the provider may have the job or not: the next polls look for its key.
            Err(JobFailure::Later(why)) => {
                tracing::warn!("whether {} has taken a batch job is not known yet: {why}", provider.provider());
                job.about.state = UNANSWERED.to_owned();
                job_records::update(&self.records, &job)?;
                Ok(count)
            }
            Err(JobFailure::Refused(why)) => {
                self.delete_upload(provider, &job, progress);
                // Every text is left over: one of them may be the reason for the refusal.
                self.close_job(&job, JobEnd::Failed, &hashes, &why)?;
                Ok(0)
            }
            Err(JobFailure::Cancelled) => {
                // The provider does not have the job: the request that starts it is never cancelled once it is sent.
                // Its upload may exist. `progress` is cancelled, and would stop the deletion, too.
                self.delete_upload(provider, &job, &NoProgress);
                self.close_job(&job, JobEnd::Dropped, &[], "cancelled")?;
                Err(Error::Cancelled)
            }
        }
    }
}

fn texts_of(pending: &[Pending]) -> Vec<&str> {
    pending.iter().map(|pending| pending.text.as_str()).collect()
}
