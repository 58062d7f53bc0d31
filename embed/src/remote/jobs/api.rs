//! Differences between the batch jobs of providers.

use super::caller::Caller;
use crate::jobs::{JobFailure, JobState};
use crate::remote::dialect::Numbers;

/// How jobs are requested of a provider.
pub(super) trait JobApi: Send + Sync {
    /// Limits of a job: texts, and bytes of all its requests.
    fn limits(&self) -> (usize, usize);

    /// The request for one text, as it stands in a job.
    fn request(&self, caller: &Caller<'_>, id: &str, text: &str) -> String;

    /// Submits requests under a key. Gives up before the job is made, or not at all.
    fn submit(&self, caller: &Caller<'_>, key: &str, requests: &[String]) -> Result<String, JobFailure>;

    /// The job with this key.
    fn find(&self, caller: &Caller<'_>, key: &str, since: i64) -> Result<Option<String>, JobFailure>;

    /// The state of a job.
    fn look(&self, caller: &Caller<'_>, job: &str) -> Result<JobState, JobFailure>;

    /// Calls `each` with the result of each text of the job.
    fn fetch(&self, caller: &Caller<'_>, job: &str, each: &mut Each<'_>) -> Result<(), JobFailure>;

    /// Asks for an early end.
    fn cancel(&self, caller: &Caller<'_>, job: &str) -> Result<(), JobFailure>;

    /// Deletes the provider's data of a job, or the upload for one.
    fn remove(&self, caller: &Caller<'_>, key: &str, job: Option<&str>) -> Result<(), JobFailure>;
}

/// Callback for the result of each text.
pub(super) type Each<'a> = dyn FnMut(Made) -> Result<(), JobFailure> + 'a;

/// The result of a text.
pub(super) struct Made {
    /// Its id; `None` where the provider leaves it out and keeps the order.
    pub id: Option<String>,
    /// Its vector, or why it has none.
    pub vector: Result<Numbers, String>,
}
