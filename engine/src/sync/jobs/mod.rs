//! Batch jobs: a provider embeds many texts within a day, at a lower price than ordinary requests.
//!
//! The life of a job:
//!
//! | step | function | file |
//! |---|---|---|
//! | record the job in the database, with its texts and a new key, and submit it with the key | `submit_job` | `submit.rs` |
//! | ask the provider for its state, until it has ended | `poll_job` | `poll.rs` |
//! | fetch and store its vectors | `store_vectors` | `finish.rs` |
//! | delete its files at the provider | `clean_up` | `finish.rs` |
//! | remove it from the database | `end_job` | `finish.rs` |
//!
//! The background thread runs these steps on a schedule (`background.rs`); a command waits for the jobs or cancels them
//! (`wait.rs`). A job is **open** while it is in the database.
//!
//! - **No text is paid for twice.** The texts of an open job are offered to no other job and to no ordinary request.
//!   The provider answers a submission with its own **name** for the job. If a process was killed before it recorded
//!   that name, the next poll finds the job at the provider by its key.
//! - **A text without a vector at the end of its job is left over.** Ordinary requests embed it; it goes into no other
//!   job.
//! - **Two failed jobs in a row switch jobs off** for the store, until the user runs `memorist backfill`.
//! - **Files may stay at the provider** if their deletion fails, or if another provider is configured by then. A warning
//!   says so, and the job ends all the same: its texts would wait for it otherwise.
//! - **One process at a time submits and polls**: the holder of the jobs lock ([`JobsGuard`]).

mod background;
mod finish;
mod poll;
mod submit;
mod wait;

use std::sync::Arc;
use std::time::Duration;

use memorist_embed::Embedder;

pub use self::background::JobsSchedule;
use super::lock::WriterGuard;
use super::store::{Store, as_stored};
use crate::error::Result;
use crate::progress::Progress;
use crate::records::Pending;
use crate::types::{Millis, ModelId};

/// Pause between two attempts at the jobs lock, and between two polls after a cancellation.
const SHORT_PAUSE: Duration = Duration::from_millis(200);

/// `AboutJob::state` of a job whose submission was sent, but not answered. A missing job with this state counts as a
/// failure of the provider.
const UNANSWERED: &str = "not answered yet";

/// The jobs lock of a store, held: not the writer lock, which has the same type.
pub type JobsGuard<'lock> = WriterGuard<'lock>;

/// The model for which texts are embedded.
pub struct Target<'a> {
    /// The embedder that runs the model.
    pub embedder: &'a dyn Embedder,
    /// The row of the model in the table `models`.
    pub model: ModelId,
    /// Whether this is the next model of a store that is changing its model, and not the current one.
    pub is_next: bool,
}

impl Store {
    /// The number of texts in open jobs.
    pub fn texts_in_jobs(&self) -> Result<u64> {
        Ok(self.records.batch_jobs()?.iter().map(|job| job.about.texts).sum())
    }

    /// The embedder and the model of the open jobs, and whether it is the next model: the configured model if the store
    /// is changing to it, otherwise the current model.
    pub fn embedder_of_jobs(&self) -> Result<(Arc<dyn Embedder>, ModelId, bool)> {
        if let Some((next, model)) = self.records.next_model()?
            && as_stored(&self.host.identity()?).is_comparable_to(&model)
        {
            return Ok((self.host.embedder()?, next, true));
        }
        self.embedder().map(|(embedder, model)| (embedder, model, false))
    }

    /// Waits for the jobs lock.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) if the caller gives up.
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
            wait::pause(SHORT_PAUSE, progress)?;
        };
        if is_waiting {
            progress.finish();
        }
        Ok(guard)
    }
}

fn texts_of(pending: &[Pending]) -> Vec<&str> {
    pending.iter().map(|pending| pending.text.as_str()).collect()
}

fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}
