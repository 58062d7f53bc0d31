//! Polls the open batch jobs of a model at the provider, and finishes those that have ended.

use std::time::Duration;

use memorist_durable::crash;
use memorist_embed::{BatchJobs, JobFailure, JobState};

use super::target::{JobsGuard, Target, UNANSWERED};
use crate::error::{Error, Result};
use crate::progress::{Progress, cancel_point};
use crate::records::rules::jobs as job_records;
use crate::sync::store::Store;
use crate::types::{BatchJob, JobEnd, Millis};

/// Time from the cancellation of a job until it is given up if it is still running.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// The result of one poll of all jobs of a model.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Tended {
    /// Vectors stored in this poll.
    pub stored: u64,
    /// Jobs that ended in this poll.
    pub ended: usize,
    /// Jobs that are still open.
    pub open: usize,
    /// Texts in the open jobs.
    pub texts: u64,
    /// Texts in the open jobs that the provider has finished.
    pub done: u64,
    /// The first problem with the provider. It prevented the poll of one job; the other jobs were polled all the same.
    pub problem: Option<PollProblem>,
}

/// A [`Trouble::Provider`], as [`Tended`] reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PollProblem {
    pub message: String,
    /// Whether a later poll may succeed.
    pub is_temporary: bool,
}

/// A job after its poll.
enum PollResult {
    /// It is no longer in the database. This many of its vectors were stored in this poll.
    Ended { stored: u64 },
    /// It is still in the database. The provider has finished this many of its texts.
    Open { done: u64 },
}

/// Why the poll of a job failed.
pub(super) enum Trouble {
    /// The provider failed, or the caller cancelled the request ([`JobFailure::Cancelled`]). The job stays open.
    Provider(JobFailure),
    /// The store failed.
    Other(Error),
}

impl From<JobFailure> for Trouble {
    fn from(failure: JobFailure) -> Self {
        Trouble::Provider(failure)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Other(error)
    }
}

impl Store {
    /// Polls every open job of the target's model. Stores the vectors of the jobs that the provider has ended, and
    /// removes these jobs from the database. Also removes the jobs of models that the store no longer has; the report
    /// leaves them out.
    ///
    /// # Errors
    /// [`Error::Cancelled`], and errors of the database. A failure of the provider is reported in [`Tended::problem`].
    pub(super) fn poll_jobs(
        &self,
        _proof: &JobsGuard<'_>,
        target: &Target<'_>,
        progress: &dyn Progress,
    ) -> Result<Tended> {
        let mut report = Tended::default();
        let provider = target.embedder.batch_jobs();
        for job in self.records.batch_jobs()? {
            if job.model != target.model {
                self.end_if_orphaned(provider, &job, progress)?;
                continue;
            }
            // The embedder takes no batch jobs any more.
            let Some(provider) = provider else { continue };
            cancel_point(progress)?;
            let polled = self.poll_job(target, provider, job.clone(), progress);
            if !matches!(polled, Ok(PollResult::Ended { .. })) {
                report.open += 1;
                report.texts += job.about.texts;
            }
            match polled {
                Ok(PollResult::Ended { stored }) => {
                    report.ended += 1;
                    report.stored += stored;
                }
                Ok(PollResult::Open { done }) => report.done += done,
                Err(Trouble::Other(error)) => return Err(error),
                Err(Trouble::Provider(JobFailure::Cancelled)) => return Err(Error::Cancelled),
                Err(Trouble::Provider(failure)) => {
                    report.problem.get_or_insert(PollProblem {
                        message: format!("a batch job at {} cannot be looked at: {failure}", job.about.provider),
                        is_temporary: matches!(failure, JobFailure::Later(_)),
                    });
                }
            }
        }
        Ok(report)
    }

    /// Ends a job whose model is neither the current nor the next model of the store. First cancels it and deletes its
    /// files, if its provider is still configured.
    fn end_if_orphaned(&self, provider: Option<&dyn BatchJobs>, job: &BatchJob, progress: &dyn Progress) -> Result<()> {
        let current = self.model()?.map(|(id, _)| id);
        let next = self.records.next_model()?.map(|(id, _)| id);
        if [current, next].contains(&Some(job.model)) {
            return Ok(());
        }
        let removed = match provider.filter(|provider| provider.provider() == job.about.provider) {
            Some(provider) => cancel_and_remove(provider, job, progress),
            None => Err(JobFailure::Refused("another provider is configured now".to_owned())),
        };
        match removed {
            Err(JobFailure::Cancelled) => return Err(Error::Cancelled),
            // The store does not need this job any more, so its cancellation is not tried again.
            Err(why) => tracing::warn!("files of a batch job may be left at {}: {why}", job.about.provider),
            Ok(()) => {}
        }
        self.end_job(job, JobEnd::Dropped, &[], "the store has another model now")
    }

    /// Polls one job, and finishes it if it has ended.
    fn poll_job(
        &self,
        target: &Target<'_>,
        provider: &dyn BatchJobs,
        mut job: BatchJob,
        progress: &dyn Progress,
    ) -> Result<PollResult, Trouble> {
        let name = match &job.about.name {
            Some(name) => name.clone(),
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
        // Its vectors were stored before a kill: only the files at the provider are left.
        if job.about.is_stored {
            self.clean_up(provider, &job, &name, JobEnd::Done, "", progress)?;
            return Ok(PollResult::Ended { stored: 0 });
        }
        match provider.look(&name, progress)? {
            JobState::Running { done, said: state } => {
                match self.follow_running(provider, job, &name, state, progress)? {
                    true => Ok(PollResult::Ended { stored: 0 }),
                    false => Ok(PollResult::Open { done }),
                }
            }
            JobState::Ended { is_complete, said: state } => {
                let (stored, text_error) = self.store_vectors(target, provider, &job, &name, progress)?;
                let end = match (is_complete, job.about.is_unwanted) {
                    // If a process was killed while it stored the vectors, the job is fetched from the start, and
                    // `stored` counts all of its vectors.
                    (true, _) if stored > 0 => JobEnd::Done,
                    // The user cancelled the job. The vectors that the provider had computed until then are stored.
                    (false, true) => JobEnd::Dropped,
                    // Complete without any vector; or expired, or cancelled after its timeout, with vectors or without.
                    _ => JobEnd::Failed,
                };
                // A later poll ends a job with this mark as `Done`. A job with another end is fetched again after a
                // kill.
                job.about.is_stored = end == JobEnd::Done;
                job.about.state.clone_from(&state);
                job_records::update(&self.records, &job)?;
                crash::point("job stored");
                self.clean_up(provider, &job, &name, end, &text_error.unwrap_or(state), progress)?;
                Ok(PollResult::Ended { stored })
            }
            JobState::Failed(why) => {
                self.clean_up(provider, &job, &name, JobEnd::Failed, &why, progress)?;
                Ok(PollResult::Ended { stored: 0 })
            }
            JobState::Gone => {
                let left_over = self.texts_without_vector(&job)?;
                self.end_job(&job, JobEnd::Failed, &left_over, "the provider does not know it any more")?;
                Ok(PollResult::Ended { stored: 0 })
            }
        }
    }

    /// Handles a job that the provider does not list under its key. The list may be late, so the job ends only when it
    /// is still missing after twice the first poll interval. A job that was cancelled ends at the second poll, however
    /// soon that is.
    fn handle_missing(
        &self,
        provider: &dyn BatchJobs,
        mut job: BatchJob,
        progress: &dyn Progress,
    ) -> Result<PollResult, Trouble> {
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
        // The provider did not get the job, so nothing was paid. No text is left over: all may go into another job.
        self.end_job(&job, end, &[], "its submission did not arrive")?;
        Ok(PollResult::Ended { stored: 0 })
    }

    /// Cancels a running job after its timeout. Ends it if it is still running [`CANCEL_TIMEOUT`] after a cancellation.
    /// Otherwise records a changed state. Returns whether it ended the job.
    fn follow_running(
        &self,
        provider: &dyn BatchJobs,
        mut job: BatchJob,
        name: &str,
        state: String,
        progress: &dyn Progress,
    ) -> Result<bool, Trouble> {
        let now = self.now();
        match job.about.cancelled {
            Some(since) if now - since >= millis(CANCEL_TIMEOUT) => {
                let end = if job.about.is_unwanted { JobEnd::Dropped } else { JobEnd::Failed };
                self.clean_up(provider, &job, name, end, "it does not end", progress)?;
                return Ok(true);
            }
            None if now - job.about.began >= millis(provider.terms().timeout) => {
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

/// Cancels a job whose name was just found. A refusal is no error: the job has probably ended, and the poll will show
/// it.
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
