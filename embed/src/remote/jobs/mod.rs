//! Batch jobs of a provider: many texts in its own time, at a lower price.
//!
//! | file | job |
//! |---|---|
//! | `api.rs` | what differs between providers |
//! | `caller.rs` | requests of a job, and their answers |
//! | `openai.rs`, `gemini.rs` | a provider each |
//! | `offer.rs` | [`BatchJobs`](crate::jobs::BatchJobs) of a provider |
//!
//! `tests/integration/jobs.rs` tests what every provider does, with a store.

mod api;
mod caller;
mod gemini;
mod offer;
mod openai;

pub(super) use offer::Offer;
