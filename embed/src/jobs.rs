//! The interface of batch jobs: a provider embeds many texts in its own time, at a lower price.
//!
//! A job is submitted with a key of ours, by which it can be found when the outcome of the submission is unknown.

use std::time::Duration;

use crate::progress::Progress;

/// A provider that takes batch jobs. Each method asks it once or a few times; none waits for a job.
pub trait BatchJobs: Send + Sync {
    /// Its name in messages.
    fn provider(&self) -> String;

    /// Settings of the jobs.
    fn terms(&self) -> JobTerms;

    /// How many of `texts`, from the first on, fit into a job.
    fn fitting(&self, texts: &[&str]) -> usize;

    /// Whether the vector of each text is kept on this machine, so that it costs nothing.
    fn are_kept(&self, texts: &[&str]) -> Vec<bool>;

    /// Keeps vectors on this machine, where the settings say so.
    fn keep(&self, vectors: &[(&str, &[f32])]);

    /// Submits texts, each with an id, under a key that no other job has. Returns how the provider calls the job. After
    /// [`JobFailure::Later`] nobody knows whether there is a job: see [`BatchJobs::find`]. After another failure no job exists.
    fn submit(&self, key: &str, texts: &[(&str, &str)], progress: &dyn Progress) -> Result<String, JobFailure>;

    /// The job with this key, among those made since about `since` (Unix milliseconds).
    fn find(&self, key: &str, since: i64, progress: &dyn Progress) -> Result<Option<String>, JobFailure>;

    /// The state of a job.
    fn look(&self, job: &str, progress: &dyn Progress) -> Result<JobState, JobFailure>;

    /// Calls `each` with every vector of a job that has ended, and with the id of its text. `ids` are those of the job, in their
    /// order. Unusable vectors are skipped. Returns why the first text without a vector has none, if that is known. An error of
    /// `each` ends it, and is returned as [`JobFailure::Later`].
    fn fetch(
        &self,
        job: &str,
        ids: &[String],
        each: &mut EachVector<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<String>, JobFailure>;

    /// Asks the provider to end a job early.
    fn cancel(&self, job: &str, progress: &dyn Progress) -> Result<(), JobFailure>;

    /// Deletes the provider's data of a job that is over; if `job` is `None`, the upload for it.
    fn remove(&self, key: &str, job: Option<&str>, progress: &dyn Progress) -> Result<(), JobFailure>;
}

/// Callback for each vector of a job, with the id of its text.
pub type EachVector<'a> = dyn FnMut(&str, Vec<f32>) -> Result<(), String> + 'a;

/// When texts go into jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobTerms {
    /// Whether new jobs are made. Those that are open are finished in any case.
    pub enabled: bool,
    /// Minimum number of texts for a job; fewer are embedded without one.
    pub min_texts: usize,
    /// Most texts of a job; `None` is the most that the provider takes.
    pub max_texts: Option<usize>,
    /// The first pause between two polls of a job; each further one is twice as long, up to ten minutes.
    pub poll: Duration,
    /// A job that takes longer is cancelled.
    pub timeout: Duration,
}

impl Default for JobTerms {
    fn default() -> Self {
        JobTerms {
            enabled: false,
            min_texts: 1_000,
            max_texts: None,
            poll: Duration::from_secs(30),
            // Providers promise 24 hours, and say themselves when these are over.
            timeout: Duration::from_secs(26 * 60 * 60),
        }
    }
}

/// The state of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobState {
    /// It has not ended.
    Running {
        /// Texts that are done, as far as the provider says.
        done: u64,
        /// The provider's name of this state.
        said: String,
    },
    /// It has ended, and its vectors can be fetched.
    Ended {
        /// Whether it ended without being cut short.
        is_complete: bool,
        /// The provider's name of this state.
        said: String,
    },
    /// It has ended without vectors, for this reason.
    Failed(String),
    /// The provider does not know it any more.
    Gone,
}

/// Why a request about a job failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobFailure {
    /// The provider did not do it, and will not.
    #[error("{0}")]
    Refused(String),
    /// It may succeed later. It is unknown whether the provider did it.
    #[error("{0}")]
    Later(String),
    /// The caller gave up.
    #[error("cancelled")]
    Cancelled,
}
