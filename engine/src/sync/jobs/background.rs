//! The batch jobs of the background thread: polls open jobs on a schedule, and submits new ones.

use std::time::{Duration, Instant};

use super::target::{JobsGuard, Target};
use super::wait::{MAX_PAUSE, Pauses};
use crate::error::Result;
use crate::progress::Progress;
use crate::sync::store::Store;

/// The background thread submits no job in this time after its start: a short command might end in the middle of a
/// submission.
const MIN_UPTIME: Duration = Duration::from_secs(10);

/// When the background thread polls the jobs.
#[derive(Debug)]
pub struct JobsSchedule {
    started: Instant,
    next_poll: Instant,
    /// `None` before the first poll: the first pause is a setting of the provider.
    pauses: Option<Pauses>,
    /// The problem of the last poll, if any. The same problem is not logged again in the next poll.
    logged_problem: Option<String>,
}

impl Default for JobsSchedule {
    fn default() -> Self {
        let now = Instant::now();
        JobsSchedule { started: now, next_poll: now, pauses: None, logged_problem: None }
    }
}

impl Store {
    /// Whether a job is open and its next poll is due.
    pub fn are_jobs_due(&self, schedule: &JobsSchedule) -> Result<bool> {
        Ok(Instant::now() >= schedule.next_poll && !self.records.batch_jobs()?.is_empty())
    }

    /// Polls open jobs if a poll is due, and submits pending texts if there are enough.
    ///
    /// Returns true if the caller must not embed pending texts now: they are to go into a job, but another process
    /// holds the jobs lock or this process has just started. After a submission it returns false: the caller may embed,
    /// since the query for pending texts leaves out those in a job. (The number [`Store::pending_count`] includes
    /// them.)
    pub fn background_jobs(&self, schedule: &mut JobsSchedule, progress: &dyn Progress) -> Result<bool> {
        // Nothing before `self.embedder()` loads a model, so a store without jobs and pending texts does not load one
        // here.
        let host = self.host_in_use()?;
        if !host.takes_batch_jobs() {
            return Ok(false);
        }
        let is_due = self.are_jobs_due(schedule)?;
        let has_work = is_due || self.pending_count()? > 0;
        if !has_work || !host.is_available() {
            return Ok(false);
        }
        // Without a model there are no jobs to handle. If the caller embeds, it meets the same error.
        let Ok((embedder, model)) = self.embedder() else { return Ok(false) };
        // `u64::MAX`: the background thread has no limit of texts.
        let should_submit = self.should_submit(&*embedder, u64::MAX)?;
        if !should_submit && !is_due {
            return Ok(false);
        }
        // Another process holds the lock, and may be about to submit these texts.
        let Some(guard) = self.jobs_lock.try_acquire()? else { return Ok(should_submit) };
        let target = Target { embedder: &*embedder, model, is_next: false };
        if is_due {
            self.poll_in_background(&guard, &target, schedule, progress)?;
        }
        if !should_submit {
            return Ok(false);
        }
        if schedule.started.elapsed() < MIN_UPTIME {
            return Ok(true);
        }
        // It checks `should_submit` again: the poll may have switched jobs off.
        self.submit_pending(&guard, &target, u64::MAX, progress)?;
        Ok(false)
    }

    fn poll_in_background(
        &self,
        guard: &JobsGuard<'_>,
        target: &Target<'_>,
        schedule: &mut JobsSchedule,
        progress: &dyn Progress,
    ) -> Result<()> {
        let report = self.poll_jobs(guard, target, progress)?;
        let first_pause = target.embedder.batch_jobs().map_or(MAX_PAUSE, |provider| provider.terms().poll);
        let pauses = schedule.pauses.get_or_insert_with(|| Pauses::new(first_pause));
        schedule.next_poll = Instant::now() + pauses.after(&report);
        let problem = report.problem.map(|problem| problem.message);
        if let Some(message) = problem.as_ref().filter(|message| schedule.logged_problem.as_ref() != Some(message)) {
            tracing::warn!("{message}");
        }
        schedule.logged_problem = problem;
        Ok(())
    }
}
