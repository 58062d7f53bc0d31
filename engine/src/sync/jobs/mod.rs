//! Batch jobs: a provider embeds many texts within a day, at a lower price than ordinary requests.
//!
//! The life of a job:
//!
//! | step | function | file |
//! |---|---|---|
//! | record the job in the database with its texts and a new key, and submit it | `submit_job` | `submit.rs` |
//! | ask the provider for its state, until the provider has **ended** the job (`JobState::Ended`) | `poll_job` | `poll.rs` |
//! | fetch and store its vectors | `store_vectors` | `finish.rs` |
//! | delete its files at the provider, then call `close_job` | `clean_up` | `finish.rs` |
//! | **close** it: remove it from the database | `close_job` | `finish.rs` |
//!
//! The background thread runs these steps on a schedule (`background.rs`); a command waits for the jobs or cancels them
//! (`wait.rs`). `target.rs` has the types that these files share. A job is **open** until it is closed, also after the
//! provider has ended it.
//!
//! - **No text is paid for twice.** The texts of an open job are offered to no other job and to no ordinary request:
//!   the queries `pending` and `missing` in `records/models.rs` leave them out. The provider answers a submission with
//!   its own **name** for the job. If a process was killed before it recorded that name, the next poll finds the job at
//!   the provider by its key. A text can be paid for twice if the provider goes on with a job that was given up
//!   here: the job did not end after its cancellation, or was missing in the provider's list for too long.
//! - **A text without a vector when its job is closed is left over.** Ordinary requests embed it; it goes into no other
//!   job. No text is left over if the caller cancelled the submission, if it did not arrive, or if the store has
//!   another model by then.
//! - **Cancelled** has two meanings. The caller cancels a request or a wait (`JobFailure::Cancelled`). Or the job
//!   itself is cancelled (`AboutJob::cancelled`): by the user (`is_unwanted`), or because it takes longer than the
//!   provider's timeout.
//! - **Two failed jobs in a row switch jobs off** for the store, until the user runs `memorist backfill`.
//! - **Files may stay at the provider** if their deletion fails, or if another provider is configured by then. A
//!   warning says so, and the job is closed all the same: its texts would wait for it otherwise.
//! - **One process at a time submits and polls**: the holder of the jobs lock ([`JobsGuard`]).

mod background;
mod finish;
mod poll;
mod submit;
mod target;
mod wait;

pub use background::JobsSchedule;
pub use target::{JobsGuard, Target};
