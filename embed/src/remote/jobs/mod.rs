//! Batch jobs of a provider: many texts in its own time, at a lower price.
//!
//! | file | job |
//! |---|---|
//! | `api.rs` | what differs between providers |
//! | `caller.rs` | requests of a job, and their answers |
//! | `openai.rs`, `gemini.rs` | a provider each |
//! | `offer.rs` | [`BatchJobs`](crate::jobs::BatchJobs) of a provider |
//! | `tests.rs` | what every provider does, against a server that speaks its protocol |

mod api;
mod caller;
mod gemini;
mod offer;
mod openai;
#[cfg(test)]
mod tests;

pub(super) use offer::Offer;
