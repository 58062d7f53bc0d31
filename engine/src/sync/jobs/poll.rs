//! Polls the open batch jobs of a model at the provider, and closes those that the provider has ended.

use std::time::Duration;

use memorist_durable::crash;
use memorist_embed::{BatchJobs, JobFailure, JobState};

use super::target::{JobsGuard, Target, UNANSWERED};
use crate::error::{Error, Result};
use crate::progress::{Progress, cancel_point};
use crate::records::rules::jobs as job_records;
use crate::sync::store::Store;
use crate::types::{BatchJob, JobEnd, Millis};

/// A job that is still running this long after its cancellation is given up.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// The result of one poll of all jobs of a model. All counts are 0 if the embedder takes no batch jobs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct PollReport {
    /// Vectors stored in this poll.
    pub stored: u64,
    /// Jobs closed in this poll.
    pub closed: usize,
    /// Jobs that are still open.
    pub open: usize,
    /// Texts in the open jobs.
    pub texts: u64,
    /// Texts in the open jobs that the provider has finished.
    pub done: u64,
    /// The first problem with the provider. It prevented the poll of one job; the other jobs were polled all the same.
    pub problem: Option<PollProblem>,
}

/// A failure of the provider, as [`PollReport`] reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PollProblem {
    pub message: String,
    /// Whether a later poll may succeed.
    pub is_temporary: bool,
}

/// The outcome of the poll of one job.
enum PollResult {
    /// The job was removed from the database. This many of its vectors were stored in this poll.
    Closed { stored: u64 },
    /// The job is still in the database. The provider has finished this many of its texts.
    Open { done: u64 },
}

/// Why the poll of a job failed.
pub(super) enum PollError {
    /// The provider failed, or the caller cancelled the request ([`JobFailure::Cancelled`]). The job stays open.
    Provider(JobFailure),
    /// The store failed.
    Other(Error),
}

impl From<JobFailure> for PollError {
    fn from(failure: JobFailure) -> Self {
        PollError::Provider(failure)
    }
}

impl From<Error> for PollError {
    fn from(error: Error) -> Self {
        PollError::Other(error)
    }
}

impl Store {
    /// Polls every open job of the target's model. Stores the vectors of the jobs that the provider has ended, and
    /// removes these jobs from the database. Also removes the jobs of models that the store no longer has; the report
    /// leaves them out.
    ///
    /// # Errors
    /// [`Error::Cancelled`], and errors of the database. A failure of the provider is reported in [`PollReport::problem`].
    pub(super) fn poll_jobs(
        &self,
        _lock: &JobsGuard<'_>,
        target: &Target<'_>,
        progress: &dyn Progress,
    ) -> Result<PollReport> {
        let mut report = PollReport::default();
        let provider = target.embedder.batch_jobs();
        for job in self.records.batch_jobs()? {
            if job.model != target.model {
                self.close_if_orphaned(provider, &job, progress)?;
                continue;
            }
            // The embedder no longer takes batch jobs: the job stays open, and is not counted.
            let Some(provider) = provider else { continue };
            cancel_point(progress)?;
            let polled = self.poll_job(target, provider, job.clone(), progress);
            if !matches!(polled, Ok(PollResult::Closed { .. })) {
                report.open += 1;
                report.texts += job.about.texts;
            }
            match polled {
                Ok(PollResult::Closed { stored }) => {
                    report.closed += 1;
                    report.stored += stored;
                }
                Ok(PollResult::Open { done }) => report.done += done,
                Err(PollError::Other(error)) => return Err(error),
                Err(PollError::Provider(JobFailure::Cancelled)) => return Err(Error::Cancelled),
                Err(PollError::Provider(failure)) => {
                    report.problem.get_or_insert(PollProblem {
                        message: format!("a batch job at {} cannot be polled: {failure}", job.about.provider),
                        is_temporary: matches!(failure, JobFailure::Later(_)),
                    });
                }
            }
        }
        Ok(report)
    }

    /// Closes a job whose model is neither the current nor the next model of the store. First cancels it and deletes its
    /// files, if its provider is still configured.
    fn close_if_orphaned(
        &self,
        provider: Option<&dyn BatchJobs>,
        job: &BatchJob,
        progress: &dyn Progress,
    ) -> Result<()> {
        let current = self.model()?.map(|(id, _)| id);
        let next = self.records.next_model()?.map(|(id, _)| id);
        if [current, next].contains(&Some(job.model)) {
            return Ok(());
        }
        let removed = match provider.filter(|provider| provider.provider() == job.about.provider) {
            Some(provider) => cancel_and_remove(provider, job, progress),
            None => Err(JobFailure::Refused("it is not the configured provider of batch jobs any more".to_owned())),
        };
        match removed {
            Err(JobFailure::Cancelled) => return Err(Error::Cancelled),
            // The store does not need this job any more, so its cancellation is not tried again.
            Err(why) => {
                tracing::warn!("a batch job may still run at {}, or its files be left there: {why}", job.about.provider)
            }
            Ok(()) => {}
        }
        self.close_job(job, JobEnd::Dropped, &[], "the store has another model now")
    }

    /// Polls one job, and closes it if the provider has ended it.
    fn poll_job(
        &self,
        target: &Target<'_>,
        provider: &dyn BatchJobs,
        mut job: BatchJob,
        progress: &dyn Progress,
    ) -> Result<PollResult, PollError> {
        let name = match &job.about.name {
            Some(name) => name.clone(),
            // The provider's answer to the submission was lost, or the process ended before it recorded the name.
            None => {
                let Some(name) = provider.find(&job.key, job.about.began, progress)? else {
                    return self.handle_missing(provider, job, progress);
                };
                // The user cancelled the job while its name was unknown, so the provider was not told.
                if job.about.cancelled.is_some() {
                    cancel_found(provider, &name, progress)?;
                }
                job.about.name = Some(name.clone());
                job_records::update(&self.records, &job)?;
                name
            }
        };
        // An earlier poll stored its vectors, and was killed or cancelled before it deleted the files at the provider.
        if job.about.is_stored {
            self.clean_up(provider, &job, &name, JobEnd::Done, "", progress)?;
            return Ok(PollResult::Closed { stored: 0 });
        }
        // `said` is the provider's name of the state.
        match provider.look(&name, progress)? {
            JobState::Running { done, said: state } => {
                match self.handle_running(provider, job, &name, state, progress)? {
                    true => Ok(PollResult::Closed { stored: 0 }),
                    false => Ok(PollResult::Open { done }),
                }
            }
            JobState::Ended { is_complete, said: state } => {
                let (stored, no_vector_reason) = self.store_vectors(target, provider, &job, &name, progress)?;
                let is_cancelled_by_user = job.about.is_unwanted;
                let end = match (is_complete, is_cancelled_by_user) {
                    // Complete, with vectors. `stored` counts all of them: after an interrupted poll, all are fetched
                    // and counted again.
                    (true, _) if stored > 0 => JobEnd::Done,
                    // The vectors that the provider had computed before the cancellation are stored.
                    (false, true) => JobEnd::Dropped,
                    // Complete without any vector; or expired, or cancelled after its timeout, with vectors or without.
                    _ => JobEnd::Failed,
                };
                // `is_stored` stands for `Done` only. If this poll is killed or cancelled from here on, the next one closes
                // such a job as `Done`, and fetches a job with another end again.
                job.about.is_stored = end == JobEnd::Done;
                job.about.state.clone_from(&state);
                job_records::update(&self.records, &job)?;
                crash::point("job stored");
                self.clean_up(provider, &job, &name, end, &no_vector_reason.unwrap_or(state), progress)?;
                Ok(PollResult::Closed { stored })
            }
            JobState::Failed(why) => {
                self.clean_up(provider, &job, &name, JobEnd::Failed, &why, progress)?;
                Ok(PollResult::Closed { stored: 0 })
            }
            JobState::Gone => {
                // Deletes nothing. Only the provider's answer about the job would name the files with its results. An
                // upload to OpenAI has the key in its name, but it is not looked for, and stays, too. Ordinary requests
                // embed the texts without a vector, which are left over (`mod.rs`).
                let left_over = self.texts_without_vector(&job)?;
                self.close_job(&job, JobEnd::Failed, &left_over, "the provider does not know it any more")?;
                Ok(PollResult::Closed { stored: 0 })
            }
        }
    }

    /// Handles a job that the provider does not list under its key. The list may be late, so the job is closed only when
    /// it is still missing after twice [`JobTerms::poll`](memorist_embed::JobTerms::poll). A job that was cancelled is
    /// closed at the second poll, however soon that is.
    fn handle_missing(
        &self,
        provider: &dyn BatchJobs,
        mut job: BatchJob,
        progress: &dyn Progress,
    ) -> Result<PollResult, PollError> {
        let grace = millis(provider.terms().poll * 2);
        let Some(missing_since) = job.about.missed else {
            job.about.missed = Some(self.now());
            job_records::update(&self.records, &job)?;
            return Ok(PollResult::Open { done: 0 });
        };
        if self.now() - missing_since < grace && job.about.cancelled.is_none() {
            return Ok(PollResult::Open { done: 0 });
        }
        self.delete_upload(provider, &job, progress);
        // Only an unanswered submission counts as a failure. Otherwise the process was killed during the submission,
        // and probably before it was sent.
        let end = if job.about.state == UNANSWERED { JobEnd::Failed } else { JobEnd::Dropped };
        // Probably the provider did not get the job, and nothing was paid. So no text is recorded as left over
        // (`mod.rs`), and all may go into another job.
        self.close_job(&job, end, &[], "its submission did not arrive")?;
        Ok(PollResult::Closed { stored: 0 })
    }

    /// Cancels a running job after its timeout. Closes it if it is still running [`CANCEL_TIMEOUT`] after a cancellation.
    /// Otherwise records a changed state. Returns whether it closed the job.
    fn handle_running(
        &self,
        provider: &dyn BatchJobs,
        mut job: BatchJob,
        name: &str,
        state: String,
        progress: &dyn Progress,
    ) -> Result<bool, PollError> {
        let now = self.now();
        match job.about.cancelled {
            Some(since) if now - since >= millis(CANCEL_TIMEOUT) => {
                let is_cancelled_by_user = job.about.is_unwanted;
                let end = if is_cancelled_by_user { JobEnd::Dropped } else { JobEnd::Failed };
                self.clean_up(provider, &job, name, end, "it does not end", progress)?;
                return Ok(true);
            }
            None if now - job.about.began >= millis(provider.terms().timeout) => {
                // The job is running, so a refusal is reported as a problem, and the next poll tries again.
                provider.cancel(name, progress)?;
                job.about.cancelled = Some(now);
            }
            // There is nothing new to record.
            _ if job.about.state == state => return Ok(false),
            _ => {}
        }
        job.about.state = state;
        job_records::update(&self.records, &job)?;
        Ok(false)
    }
}

/// Cancels a job whose name was just found, and whose state is not known yet. A refusal is ignored: probably the
/// provider has ended the job already, and its state, which the poll asks for next, shows it.
fn cancel_found(provider: &dyn BatchJobs, name: &str, progress: &dyn Progress) -> Result<(), JobFailure> {
    match provider.cancel(name, progress) {
        Err(JobFailure::Refused(why)) => {
            tracing::debug!("{} has not cancelled a batch job: {why}", provider.provider());
            Ok(())
        }
        other => other,
    }
}

/// Cancels a job if it is still running, and deletes its files. Results that the provider writes after that may stay.
fn cancel_and_remove(provider: &dyn BatchJobs, job: &BatchJob, progress: &dyn Progress) -> Result<(), JobFailure> {
    let name = match &job.about.name {
        Some(name) => Some(name.clone()),
        None => provider.find(&job.key, job.about.began, progress)?,
    };
    if let Some(name) = &name
        && matches!(provider.look(name, progress)?, JobState::Running { .. })
    {
        provider.cancel(name, progress)?;
    }
    provider.remove(&job.key, name.as_deref(), progress)
}

fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}
