//! Batch jobs: many texts that a provider embeds in its own time, at a lower price.
//!
//! A job is noted, with its texts and a key, before it is submitted; the key is sent along. Whoever finds a job without a name
//! looks for its key at the provider, so that nothing is paid twice, wherever a process was killed. Its texts are offered to
//! nobody else until it is over: until what it made is stored, and then what the provider keeps of it is deleted. Texts that it
//! leaves over are embedded as others are. Two failures in a row switch jobs off.
//!
//! One process at a time holds the lock of the jobs, and it alone asks the provider about them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memorist_durable::crash;
use memorist_embed::{BatchJobs, Embedder, JobFailure, JobState};
use ulid::Ulid;

use super::lock::WriterGuard;
use super::store::{Store, as_stored};
use crate::error::{Error, Result};
use crate::progress::{Progress, cancel_point};
use crate::records::rules::{embeddings, jobs, next_model};
use crate::records::{MAX_JOB_FAILURES, Pending};
use crate::text::{Hash, from_hex, to_hex};
use crate::types::{BatchJob, JobEnd, Millis, ModelId, RecordId};

/// Most jobs at once: providers take about so many.
const MOST_JOBS: usize = 100;
/// Most texts that are looked at for one job.
const MOST_TEXTS: usize = 50_000;
/// Vectors stored in one transaction. Saves wait for it.
const STORED_AT_ONCE: usize = 128;
/// Longest pause between two looks.
const LONGEST_PAUSE: Duration = Duration::from_secs(10 * 60);
/// How often a pause looks whether the caller gives up.
const STEP: Duration = Duration::from_millis(50);
/// A cancelled job that does not end by then is given up.
const CANCELLED_BY: Duration = Duration::from_secs(15 * 60);

/// The state of a job whose submission was sent and not answered.
const UNANSWERED: &str = "not answered yet";
/// A process that lives no longer submits no job by itself: it might end in the middle of that.
const SETTLED: Duration = Duration::from_secs(10);

/// Proof that this process asks about the jobs of the store.
pub type JobsGuard<'lock> = WriterGuard<'lock>;

/// The model for which texts are embedded.
pub struct Target<'a> {
    /// It makes the vectors.
    pub embedder: &'a dyn Embedder,
    /// Its row.
    pub model: ModelId,
    /// Whether the store is changing to it.
    pub is_next: bool,
}

/// The result of a look at the jobs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tended {
    /// Vectors that were stored.
    pub stored: u64,
    /// Jobs that are over.
    pub ended: usize,
    /// Jobs that are not.
    pub open: usize,
    /// Their texts, and how many of those are done.
    pub texts: u64,
    /// See there.
    pub done: u64,
    /// The problem that prevented a look, and whether it may pass.
    pub trouble: Option<(String, bool)>,
}

/// The pauses between looks at jobs.
#[derive(Debug)]
pub struct Pauses {
    first: Duration,
    next: Duration,
}

impl Pauses {
    /// They begin with this one.
    pub fn new(first: Duration) -> Self {
        Pauses { first, next: first }
    }

    /// The next pause: each is twice as long as the one before, unless something has ended meanwhile.
    pub fn after(&mut self, tended: &Tended) -> Duration {
        if tended.ended > 0 {
            self.next = self.first;
        }
        let pause = self.next;
        self.next = (pause * 2).min(LONGEST_PAUSE.max(self.first));
        pause
    }
}

/// When the background thread turns to the jobs.
#[derive(Debug)]
pub struct JobsSchedule {
    started: Instant,
    look_at: Instant,
    pauses: Option<Pauses>,
    /// The problem that was reported last, so that it is reported once.
    said: Option<String>,
}

impl Default for JobsSchedule {
    fn default() -> Self {
        let now = Instant::now();
        JobsSchedule { started: now, look_at: now, pauses: None, said: None }
    }
}

impl Store {
    /// Whether it is time to look at open jobs.
    pub fn are_jobs_due(&self, schedule: &JobsSchedule) -> Result<bool> {
        Ok(Instant::now() >= schedule.look_at && !self.records.batch_jobs()?.is_empty())
    }

    /// Looks at open jobs when it is time, and submits what waits. Returns whether what waits is to be left alone, because a
    /// job will take it.
    pub fn background_jobs(&self, schedule: &mut JobsSchedule, progress: &dyn Progress) -> Result<bool> {
        let host = self.host_in_use()?;
        if !host.takes_batch_jobs() {
            return Ok(false);
        }
        let is_due = self.are_jobs_due(schedule)?;
        let waiting = self.pending_count()?;
        if waiting == 0 && !is_due || !host.is_available() {
            return Ok(false);
        }
        let Ok((embedder, model)) = self.embedder() else { return Ok(false) };
        let is_wanted = self.wants_jobs(&*embedder, u64::MAX)?;
        if !is_wanted && !is_due {
            return Ok(false);
        }
        let Some(guard) = self.jobs_lock.try_acquire()? else { return Ok(is_wanted) };
        let target = Target { embedder: &*embedder, model, is_next: false };
        if is_due {
            self.look_in_background(&guard, &target, schedule, progress)?;
        }
        if !is_wanted {
            return Ok(false);
        }
        if schedule.started.elapsed() < SETTLED {
            return Ok(true);
        }
        self.hand_over(&guard, &target, u64::MAX, progress)?;
        Ok(false)
    }

    fn look_in_background(
        &self,
        guard: &JobsGuard<'_>,
        target: &Target<'_>,
        schedule: &mut JobsSchedule,
        progress: &dyn Progress,
    ) -> Result<()> {
        let tended = self.tend_jobs(guard, target, progress)?;
        let first = target.embedder.batch_jobs().map_or(LONGEST_PAUSE, |jobs| jobs.terms().poll);
        let pauses = schedule.pauses.get_or_insert_with(|| Pauses::new(first));
        schedule.look_at = Instant::now() + pauses.after(&tended);
        let trouble = tended.trouble.map(|(why, _)| why);
        if let Some(why) = trouble.as_ref().filter(|why| schedule.said.as_ref() != Some(why)) {
            tracing::warn!("{why}");
        }
        schedule.said = trouble;
        Ok(())
    }

    /// The configured model, if the store is changing to it; else the model of the store. And whether it is the next one.
    pub fn embedder_of_jobs(&self) -> Result<(Arc<dyn Embedder>, ModelId, bool)> {
        if let Some((next, model)) = self.records.next_model()?
            && as_stored(&self.host.identity()?).is_comparable_to(&model)
        {
            return Ok((self.host.embedder()?, next, true));
        }
        self.embedder().map(|(embedder, model)| (embedder, model, false))
    }

    /// Waits until no other process asks about the jobs. `None` if the caller gives up.
    pub fn acquire_jobs(&self, progress: &dyn Progress) -> Result<JobsGuard<'_>> {
        let mut is_said = false;
        let guard = loop {
            if let Some(guard) = self.jobs_lock.try_acquire()? {
                break guard;
            }
            if !is_said {
                progress.start("waiting for the process that asks about the batch jobs", None);
                is_said = true;
            }
            pause(STEP * 4, progress)?;
        };
        if is_said {
            progress.finish();
        }
        Ok(guard)
    }

    /// Whether so many texts wait that jobs are to take them, as far as that can be said without looking at them.
    pub fn wants_jobs(&self, embedder: &dyn Embedder, most: u64) -> Result<bool> {
        let Some(terms) = embedder.batch_jobs().map(BatchJobs::terms) else { return Ok(false) };
        let least = terms.min_texts.max(1) as u64;
        if !terms.enabled || most < least || !embedder.is_available() || self.records.is_member()? {
            return Ok(false);
        }
        let waiting = self.pending_count()?.saturating_sub(self.in_jobs()?);
        Ok(waiting >= least
            && self.records.batch_failures()? < MAX_JOB_FAILURES
            && waiting.saturating_sub(self.left_over()?.len() as u64) >= least)
    }

    /// The texts that jobs have left over and that wait still.
    fn left_over(&self) -> Result<Vec<Hash>> {
        let left = self.records.batch_left()?;
        let Some((model, _)) = self.model()?.filter(|_| !left.is_empty()) else { return Ok(left) };
        let mut waiting = self.records.lacking(model, &left)?;
        if waiting.len() < left.len() {
            let next = self.records.next_model()?.map(|(id, _)| id);
            waiting.extend(next.map_or(Ok(Vec::new()), |next| self.records.lacking(next, &left))?);
            jobs::keep_left(&self.records, &waiting)?;
        }
        Ok(waiting)
    }

    /// How many texts wait for a job.
    pub fn in_jobs(&self) -> Result<u64> {
        Ok(self.records.batch_jobs()?.iter().map(|job| job.about.texts).sum())
    }

    /// Submits jobs with what waits, at most so many texts, if there is enough for them. Returns how many texts were
    /// submitted.
    ///
    /// # Errors
    /// [`Error::Cancelled`], and errors of the database. It is no error if a provider does not take a job.
    pub fn hand_over(
        &self,
        _proof: &JobsGuard<'_>,
        target: &Target<'_>,
        most: u64,
        progress: &dyn Progress,
    ) -> Result<u64> {
        let Some(jobs) = target.embedder.batch_jobs() else { return Ok(0) };
        let terms = jobs.terms();
        let is_wanted = match target.is_next {
            true => terms.enabled && self.records.batch_failures()? < MAX_JOB_FAILURES,
            false => self.wants_jobs(target.embedder, most)?,
        };
        if !is_wanted {
            return Ok(0);
        }
        let mut submitted = 0;
        while self.records.batch_jobs()?.len() < MOST_JOBS {
            let limit = MOST_TEXTS.min(usize::try_from(most - submitted).unwrap_or(MOST_TEXTS));
            let texts = self.for_a_job(target, jobs, limit)?;
            if texts.len() < terms.min_texts.max(1) {
                break;
            }
            match self.submit(target, jobs, &texts, progress)? {
                0 => break,
                count => submitted += count,
            }
        }
        Ok(submitted)
    }

    /// The texts that a job may take.
    fn for_a_job(&self, target: &Target<'_>, jobs: &dyn BatchJobs, limit: usize) -> Result<Vec<Pending>> {
        let left: HashSet<Hash> = self.left_over()?.into_iter().collect();
        let limit = limit.saturating_add(left.len());
        let mut texts = match target.is_next {
            true => self.records.missing(target.model, RecordId::START, limit, self.now())?,
            false => self.records.pending(target.model, limit, self.now())?,
        };
        // Some providers refuse an empty text.
        texts.retain(|text| !left.contains(&text.hash) && !text.text.trim().is_empty());
        let mut are_kept = jobs.are_kept(&texts_of(&texts)).into_iter();
        texts.retain(|_| !are_kept.next().unwrap_or(false));
        let fitting = jobs.fitting(&texts_of(&texts));
        texts.truncate(fitting);
        Ok(texts)
    }

    /// Submits one job. Returns how many texts it has: none if the provider does not take it.
    fn submit(
        &self,
        target: &Target<'_>,
        jobs: &dyn BatchJobs,
        texts: &[Pending],
        progress: &dyn Progress,
    ) -> Result<u64> {
        cancel_point(progress)?;
        let count = texts.len() as u64;
        let key = Ulid::generate().to_string();
        let mut job = BatchJob::new(key, target.model, jobs.provider(), self.now(), count);
        let hashes: Vec<Hash> = texts.iter().map(|text| text.hash).collect();
        jobs::begin(&self.records, &job, &hashes)?;
        crash::point("job noted");
        progress.start(&format!("submitting a batch job to {}", jobs.provider()), Some(count));
        let ids: Vec<String> = hashes.iter().map(|hash| to_hex(hash)).collect();
        let pairs: Vec<(&str, &str)> =
            ids.iter().zip(texts).map(|(id, text)| (id.as_str(), text.text.as_str())).collect();
        let submitted = jobs.submit(&job.key, &pairs, progress);
        progress.finish();
        match submitted {
            Ok(name) => {
                crash::point("job submitted");
                job.about.name = Some(name);
                job.about.state = "submitted".to_owned();
                jobs::update(&self.records, &job)?;
                crash::point("job named");
                Ok(count)
            }
            Err(JobFailure::Later(why)) => {
                tracing::warn!("whether {} has taken a batch job is not known yet: {why}", jobs.provider());
                job.about.state = UNANSWERED.to_owned();
                jobs::update(&self.records, &job)?;
                Ok(count)
            }
            Err(JobFailure::Refused(why)) => {
                self.forget_upload(jobs, &job, progress);
                // They go into no other job: the reason may be one of them.
                self.end(&job, JobEnd::Failed, &hashes, &why)?;
                Ok(0)
            }
            Err(JobFailure::Cancelled) => {
                self.forget_upload(jobs, &job, &crate::progress::NoProgress);
                self.end(&job, JobEnd::Dropped, &[], "cancelled")?;
                Err(Error::Cancelled)
            }
        }
    }

    /// Looks at every job of this model, and stores what those made that have ended.
    ///
    /// # Errors
    /// [`Error::Cancelled`], and errors of the database. It is no error if a provider does not answer.
    pub fn tend_jobs(&self, _proof: &JobsGuard<'_>, target: &Target<'_>, progress: &dyn Progress) -> Result<Tended> {
        let mut tended = Tended::default();
        for job in self.records.batch_jobs()? {
            if job.model != target.model {
                self.drop_if_unwanted(&job, target.model)?;
                continue;
            }
            let Some(jobs) = target.embedder.batch_jobs() else { continue };
            cancel_point(progress)?;
            match self.tend(target, jobs, job.clone(), &mut tended, progress) {
                Ok(true) => tended.ended += 1,
                Ok(false) => {
                    tended.open += 1;
                    tended.texts += job.about.texts;
                }
                Err(Trouble::Other(error)) => return Err(error),
                Err(Trouble::Provider(JobFailure::Cancelled)) => return Err(Error::Cancelled),
                Err(Trouble::Provider(failure)) => {
                    tended.open += 1;
                    tended.texts += job.about.texts;
                    let may_pass = matches!(failure, JobFailure::Later(_));
                    let why = format!("a batch job at {} cannot be looked at: {failure}", job.about.provider);
                    tended.trouble.get_or_insert((why, may_pass));
                }
            }
        }
        Ok(tended)
    }

    /// A job for a model that the store neither has nor is changing to.
    fn drop_if_unwanted(&self, job: &BatchJob, model: ModelId) -> Result<()> {
        let current = self.model()?.map(|(id, _)| id);
        let next = self.records.next_model()?.map(|(id, _)| id);
        if [current, next, Some(model)].contains(&Some(job.model)) {
            return Ok(());
        }
        self.end(job, JobEnd::Dropped, &[], "the store has another model now").map(drop)
    }

    /// Looks at one job. Returns whether it is over.
    fn tend(
        &self,
        target: &Target<'_>,
        jobs: &dyn BatchJobs,
        mut job: BatchJob,
        tended: &mut Tended,
        progress: &dyn Progress,
    ) -> Result<bool, Trouble> {
        let name = match &job.about.name {
            Some(name) => name.clone(),
            None => match jobs.find(&job.key, job.about.began, progress)? {
                Some(name) => {
                    job.about.name = Some(name.clone());
                    jobs::update(&self.records, &job)?;
                    name
                }
                None => return self.not_found(jobs, job, progress),
            },
        };
        if job.about.is_stored {
            return self.clean_up(jobs, &job, &name, JobEnd::Done, "", progress);
        }
        match jobs.look(&name, progress)? {
            JobState::Running { done, said } => {
                tended.done += done;
                self.keep_waiting(jobs, job, &name, said, progress)
            }
            JobState::Ended { is_complete, said } => {
                let (stored, why) = self.store_job(target, jobs, &job, &name, progress)?;
                tended.stored += stored;
                let end = match (is_complete, job.about.is_unwanted) {
                    (true, _) if stored > 0 => JobEnd::Done,
                    (false, true) => JobEnd::Dropped,
                    _ => JobEnd::Failed,
                };
                job.about.is_stored = end == JobEnd::Done;
                job.about.state.clone_from(&said);
                jobs::update(&self.records, &job)?;
                crash::point("job stored");
                self.clean_up(jobs, &job, &name, end, &why.unwrap_or(said), progress)
            }
            JobState::Failed(why) => self.clean_up(jobs, &job, &name, JobEnd::Failed, &why, progress),
            JobState::Gone => {
                let left = self.records.batch_texts(&job)?;
                self.end(&job, JobEnd::Failed, &left, "the provider does not know it any more")?;
                Ok(true)
            }
        }
    }

    /// A job that the provider's list does not have. It may appear there late, so it is given up at a later look only.
    fn not_found(&self, jobs: &dyn BatchJobs, mut job: BatchJob, progress: &dyn Progress) -> Result<bool, Trouble> {
        let grace = millis(jobs.terms().poll * 2);
        match job.about.missed {
            Some(missed) if self.now() - missed >= grace || job.about.cancelled.is_some() => {
                self.forget_upload(jobs, &job, progress);
                // Whoever was killed before it was sent says nothing about the provider.
                let how = if job.about.state == UNANSWERED { JobEnd::Failed } else { JobEnd::Dropped };
                // They were not paid, and may go into another.
                self.end(&job, how, &[], "its submission did not arrive")?;
                Ok(true)
            }
            Some(_) => Ok(false),
            None => {
                job.about.missed = Some(self.now());
                jobs::update(&self.records, &job)?;
                Ok(false)
            }
        }
    }

    /// A job that has not ended: cancels it when it takes too long. Returns whether it is given up.
    fn keep_waiting(
        &self,
        jobs: &dyn BatchJobs,
        mut job: BatchJob,
        name: &str,
        said: String,
        progress: &dyn Progress,
    ) -> Result<bool, Trouble> {
        let now = self.now();
        match job.about.cancelled {
            Some(since) if now - since >= millis(CANCELLED_BY) => {
                let end = if job.about.is_unwanted { JobEnd::Dropped } else { JobEnd::Failed };
                return self.clean_up(jobs, &job, name, end, "it does not end", progress);
            }
            None if now - job.about.began >= millis(jobs.terms().timeout) => {
                jobs.cancel(name, progress)?;
                job.about.cancelled = Some(now);
                job.about.state = said;
                jobs::update(&self.records, &job)?;
            }
            _ if job.about.state != said => {
                job.about.state = said;
                jobs::update(&self.records, &job)?;
            }
            _ => {}
        }
        Ok(false)
    }

    /// Stores what a job has made. Returns how many vectors that were, and why a text has none.
    fn store_job(
        &self,
        target: &Target<'_>,
        jobs: &dyn BatchJobs,
        job: &BatchJob,
        name: &str,
        progress: &dyn Progress,
    ) -> Result<(u64, Option<String>), Trouble> {
        let hashes = self.records.batch_texts(job)?;
        let ids: Vec<String> = hashes.iter().map(|hash| to_hex(hash)).collect();
        // What is wanted: neither a text twice, nor one that the job does not have.
        let mut wanted: HashSet<Hash> = hashes.into_iter().collect();
        let (mut some, mut stored, mut failed) = (Vec::new(), 0, None);
        let dims = target.embedder.dims();
        progress.start(&format!("fetching a batch job of {}", jobs.provider()), Some(job.about.texts));
        let mut each = |id: &str, vector: Vec<f32>| {
            if let Some(hash) = from_hex(id).filter(|hash| vector.len() == dims && wanted.remove(hash)) {
                some.push((hash, vector));
            }
            if some.len() == STORED_AT_ONCE {
                stored += self.store_some(target, jobs, &mut some).map_err(|error| {
                    failed = Some(error);
                    String::new()
                })?;
                progress.advance(STORED_AT_ONCE as u64);
                crash::point("job partly stored");
            }
            Ok(())
        };
        let fetched = jobs.fetch(name, &ids, &mut each, progress);
        progress.finish();
        if let Some(error) = failed {
            return Err(error.into());
        }
        let why = fetched?;
        stored += self.store_some(target, jobs, &mut some)?;
        Ok((stored, why))
    }

    /// Stores vectors, and keeps those whose texts are still there. Returns how many there were.
    fn store_some(&self, target: &Target<'_>, jobs: &dyn BatchJobs, some: &mut Vec<(Hash, Vec<f32>)>) -> Result<u64> {
        match target.is_next {
            true => next_model::store_next(&self.records, target.model, some)?,
            false => drop(embeddings::store_embeddings(&self.records, target.model, some)?),
        }
        let texts = some.iter().map(|(hash, _)| self.records.text_of(hash)).collect::<Result<Vec<_>>>()?;
        let kept: Vec<(&str, &[f32])> = texts
            .iter()
            .zip(&*some)
            .filter_map(|(text, (_, vector))| Some((text.as_deref()?, vector.as_slice())))
            .collect();
        jobs.keep(&kept);
        self.records.shorten_wal()?;
        let count = some.len() as u64;
        some.clear();
        Ok(count)
    }

    /// Deletes what the provider keeps of a job, and drops the job.
    fn clean_up(
        &self,
        jobs: &dyn BatchJobs,
        job: &BatchJob,
        name: &str,
        how: JobEnd,
        why: &str,
        progress: &dyn Progress,
    ) -> Result<bool, Trouble> {
        match jobs.remove(&job.key, Some(name), progress) {
            Err(JobFailure::Cancelled) => return Err(JobFailure::Cancelled.into()),
            Err(other) => tracing::warn!("files of a batch job are left at {}: {other}", jobs.provider()),
            Ok(()) => {}
        }
        let left = self.records.lacking(job.model, &self.records.batch_texts(job)?)?;
        self.end(job, how, &left, why)?;
        Ok(true)
    }

    fn forget_upload(&self, jobs: &dyn BatchJobs, job: &BatchJob, progress: &dyn Progress) {
        if let Err(failure) = jobs.remove(&job.key, None, progress) {
            tracing::debug!("the upload of a batch job may be left at {}: {failure}", jobs.provider());
        }
    }

    /// Drops a job, and says what that means.
    fn end(&self, job: &BatchJob, how: JobEnd, left: &[Hash], why: &str) -> Result<()> {
        let failures = jobs::end(&self.records, job, how, left)?;
        let provider = &job.about.provider;
        match how {
            JobEnd::Failed if failures == MAX_JOB_FAILURES => tracing::warn!(
                "batch jobs are switched off for this store: two at {provider} failed in a row, the last because of this: \
                 {why}; its texts are embedded one request after another; an explicit backfill switches jobs on again"
            ),
            JobEnd::Failed => tracing::warn!("a batch job at {provider} failed: {why}"),
            JobEnd::Dropped => tracing::info!("a batch job at {provider} was dropped: {why}"),
            JobEnd::Done => {}
        }
        Ok(())
    }

    /// Looks at the jobs until none is open, with pauses between. `after` runs whenever some are over. Returns how many
    /// vectors were stored.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; if the provider says that it will not answer.
    pub fn await_jobs(
        &self,
        proof: &JobsGuard<'_>,
        target: &Target<'_>,
        progress: &dyn Progress,
        after: &mut dyn FnMut() -> Result<()>,
    ) -> Result<u64> {
        let Some(jobs) = target.embedder.batch_jobs() else { return Ok(0) };
        let mut pauses = Pauses::new(jobs.terms().poll);
        let (mut stored, mut warned) = (0, false);
        loop {
            let tended = self.tend_jobs(proof, target, progress)?;
            stored += tended.stored;
            match &tended.trouble {
                Some((why, false)) => return Err(memorist_embed::Error::Provider(why.clone()).into()),
                Some((why, true)) if !std::mem::replace(&mut warned, true) => tracing::warn!("{why}"),
                _ => {}
            }
            if tended.ended > 0 {
                after()?;
            }
            if tended.open == 0 && !self.records.batch_jobs()?.iter().any(|job| job.model == target.model) {
                return Ok(stored);
            }
            let what = format!("waiting for {} batch jobs of {}", tended.open.max(1), jobs.provider());
            progress.start(&what, Some(tended.texts));
            progress.advance(tended.done);
            let waited = pause(pauses.after(&tended), progress);
            progress.finish();
            waited?;
        }
    }

    /// Cancels every job, and waits a moment for what they have made. Returns how many texts they had.
    pub fn cancel_jobs(&self, proof: &JobsGuard<'_>, target: &Target<'_>, progress: &dyn Progress) -> Result<u64> {
        /// Providers need a while to cancel. What they have made then is fetched at a later look.
        const TIMEOUT: Duration = Duration::from_secs(20);
        let mut texts = 0;
        let Some(jobs) = target.embedder.batch_jobs() else { return Ok(0) };
        for mut job in self.records.batch_jobs()?.into_iter().filter(|job| job.model == target.model) {
            texts += job.about.texts;
            if let Some(name) = &job.about.name {
                jobs.cancel(name, progress).map_err(|failure| error_of(&job, &failure))?;
            }
            (job.about.cancelled, job.about.is_unwanted) = (Some(self.now()), true);
            jobs::update(&self.records, &job)?;
        }
        let until = Instant::now() + TIMEOUT;
        while self.tend_jobs(proof, target, progress)?.open > 0 && Instant::now() < until {
            pause(STEP * 4, progress)?;
        }
        Ok(texts)
    }
}

/// Why a look failed.
enum Trouble {
    Provider(JobFailure),
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

fn error_of(job: &BatchJob, failure: &JobFailure) -> Error {
    match failure {
        JobFailure::Cancelled => Error::Cancelled,
        other => {
            memorist_embed::Error::Provider(format!("a batch job at {} stays: {other}", job.about.provider)).into()
        }
    }
}

fn texts_of(pending: &[Pending]) -> Vec<&str> {
    pending.iter().map(|pending| pending.text.as_str()).collect()
}

fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

/// Waits, unless the caller gives up.
fn pause(duration: Duration, progress: &dyn Progress) -> Result<()> {
    let until = Instant::now() + duration;
    loop {
        cancel_point(progress)?;
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(STEP));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_something_ends() {
        let mut pauses = Pauses::new(Duration::from_secs(30));
        let mut after = |ended| pauses.after(&Tended { ended, ..Tended::default() }).as_secs();
        assert_eq!([0, 0, 0, 0, 0, 0, 0, 1, 0].map(&mut after), [30, 60, 120, 240, 480, 600, 600, 30, 60]);
    }
}
