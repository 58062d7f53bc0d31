//! Waits for batch jobs, or cancels them: for commands. Also the pauses between polls, which `background.rs` uses, too.

use std::time::{Duration, Instant};

use memorist_embed::JobFailure;

use super::poll::PollReport;
use super::target::{JobsGuard, Target};
use crate::error::{Error, Result};
use crate::progress::{Progress, cancel_point};
use crate::records::rules::jobs as job_records;
use crate::sync::store::Store;
use crate::types::BatchJob;

/// Maximum pause between two polls, unless the configured first pause is longer.
pub(super) const MAX_PAUSE: Duration = Duration::from_secs(10 * 60);
/// Pause between two attempts at the jobs lock, and between two polls after a cancellation.
const SHORT_PAUSE: Duration = Duration::from_millis(200);
/// How often a pause checks whether the caller has cancelled.
const CANCEL_CHECK: Duration = Duration::from_millis(50);

/// The pauses between polls: each is twice as long as the one before, up to [`MAX_PAUSE`] or the first pause if that is
/// longer. After a poll that closed a job, they begin again with the first pause.
#[derive(Debug)]
pub(super) struct Pauses {
    first: Duration,
    next: Duration,
}

impl Pauses {
    pub fn new(first: Duration) -> Self {
        Pauses { first, next: first }
    }

    /// The pause after the poll with this report.
    pub fn after(&mut self, report: &PollReport) -> Duration {
        if report.closed > 0 {
            self.next = self.first;
        }
        let pause = self.next;
        self.next = (pause * 2).min(MAX_PAUSE.max(self.first));
        pause
    }
}

impl Store {
    /// Waits for the jobs lock, and returns it.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the caller gives up.
    pub fn acquire_jobs(&self, progress: &dyn Progress) -> Result<JobsGuard<'_>> {
        let mut is_waiting = false;
        let guard = loop {
            if let Some(guard) = self.jobs_lock.try_acquire()? {
                break guard;
            }
            if !is_waiting {
                progress.start("waiting for the process that asks about the batch jobs", None);
                is_waiting = true;
            }
            pause(SHORT_PAUSE, progress)?;
        };
        if is_waiting {
            progress.finish();
        }
        Ok(guard)
    }

    /// Polls the jobs of the target's model until none is open. Calls `on_closed` after each poll that closed a job; it
    /// may submit more jobs. Returns how many vectors it stored.
    ///
    /// # Errors
    /// [`Error::Cancelled`], errors of the database and of `on_closed`, and a permanent error of the provider.
    pub fn await_jobs(
        &self,
        lock: &JobsGuard<'_>,
        target: &Target<'_>,
        progress: &dyn Progress,
        on_closed: &mut dyn FnMut() -> Result<()>,
    ) -> Result<u64> {
        let Some(provider) = target.embedder.batch_jobs() else { return Ok(0) };
        let mut pauses = Pauses::new(provider.terms().poll);
        let (mut stored, mut has_warned) = (0, false);
        loop {
            let report = self.poll_jobs(lock, target, progress)?;
            stored += report.stored;
            if let Some(problem) = &report.problem {
                if !problem.is_temporary {
                    return Err(memorist_embed::Error::Provider(problem.message.clone()).into());
                }
                if !has_warned {
                    tracing::warn!("{}", problem.message);
                    has_warned = true;
                }
            }
            if report.closed > 0 {
                on_closed()?;
            }
            // `on_closed` may have submitted jobs that the report does not count. So the database is asked, too, and the
            // progress shows at least one job.
            if report.open == 0 && !self.records.batch_jobs()?.iter().any(|job| job.model == target.model) {
                return Ok(stored);
            }
            let task = format!("waiting for {} batch jobs of {}", report.open.max(1), provider.provider());
            progress.start(&task, Some(report.texts));
            progress.advance(report.done);
            let waited = pause(pauses.after(&report), progress);
            progress.finish();
            waited?;
        }
    }

    /// Cancels every job of the target's model. Then waits up to 20 seconds for the provider to end the jobs, and stores
    /// the vectors that the provider has computed. A later poll closes jobs that have not ended by then. A job whose name
    /// is unknown is only marked here: the poll that finds it cancels it. Returns how many texts the jobs had.
    ///
    /// # Errors
    /// [`Error::Cancelled`], errors of the database, and the first error of the provider if it does not cancel a job.
    /// The other jobs are cancelled all the same.
    pub fn cancel_jobs(&self, lock: &JobsGuard<'_>, target: &Target<'_>, progress: &dyn Progress) -> Result<u64> {
        const TIMEOUT: Duration = Duration::from_secs(20);
        let (mut texts, mut refused) = (0, None);
        let Some(provider) = target.embedder.batch_jobs() else { return Ok(0) };
        for mut job in self.records.batch_jobs()?.into_iter().filter(|job| job.model == target.model) {
            texts += job.about.texts;
            if let Some(name) = &job.about.name
                && let Err(failure) = provider.cancel(name, progress)
            {
                match cancel_error(&job, &failure) {
                    Error::Cancelled => return Err(Error::Cancelled),
                    error => refused.get_or_insert(error),
                };
                continue;
            }
            (job.about.cancelled, job.about.is_unwanted) = (Some(self.now()), true);
            job_records::update(&self.records, &job)?;
        }
        if let Some(error) = refused {
            return Err(error);
        }
        let until = Instant::now() + TIMEOUT;
        // The user waits for this command, so it polls more often than the terms of the provider say.
        while self.poll_jobs(lock, target, progress)?.open > 0 && Instant::now() < until {
            pause(SHORT_PAUSE, progress)?;
        }
        Ok(texts)
    }
}

fn cancel_error(job: &BatchJob, failure: &JobFailure) -> Error {
    match failure {
        JobFailure::Cancelled => Error::Cancelled,
        other => {
            memorist_embed::Error::Provider(format!("a batch job at {} stays: {other}", job.about.provider)).into()
        }
    }
}

/// Waits this long.
///
/// # Errors
/// [`Error::Cancelled`] as soon as the caller gives up.
pub(super) fn pause(duration: Duration, progress: &dyn Progress) -> Result<()> {
    let until = Instant::now() + duration;
    loop {
        cancel_point(progress)?;
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(CANCEL_CHECK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_a_job_is_closed() {
        let mut pauses = Pauses::new(Duration::from_secs(30));
        let mut after = |closed| pauses.after(&PollReport { closed, ..PollReport::default() }).as_secs();
        assert_eq!([0, 0, 0, 0, 0, 0, 0, 1, 0].map(&mut after), [30, 60, 120, 240, 480, 600, 600, 30, 60]);
    }
}
