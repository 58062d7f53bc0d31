//! Embeddings of a provider, over HTTP.
//!
//! | file | job |
//! |---|---|
//! | `failure.rs` | why a request failed, and whether it may be repeated |
//! | `address.rs` | the address of a provider, checked |
//! | `known.rs` | what is known of models: limits, prefixes, prices |
//! | `text.rs` | about how many tokens a text has; cutting it |
//! | `dialect.rs` | what differs between protocols; one file for each: `openai.rs`, `gemini.rs`, `ollama.rs`, `cohere.rs` |
//! | `profile.rs` | the settings, with what is known of the model; its identity |
//! | `http.rs` | one request and its answer |
//! | `reason.rs` | why a provider refuses, in our own words |
//! | `retry.rs` | requests repeated, with growing pauses |
//! | `breaker.rs` | a provider that fails is left alone for a while |
//! | `cache.rs` | embeddings that are kept in a file |
//! | `batches.rs` | texts in requests, and what becomes of those that are refused |
//! | `provider.rs` | all of it together |
//! | `contract_tests` | what every provider does, against a server that speaks its protocol |
//! | `embedder.rs` | the [`Embedder`](crate::Embedder), and what loads it |
//! | `jobs/` | many texts in the provider's own time, at a lower price |
//! | `estimate.rs` | what embedding will cost |

mod address;
mod batches;
mod breaker;
mod cache;
mod cohere;
#[cfg(test)]
mod contract_tests;
mod dialect;
mod embedder;
mod estimate;
mod failure;
mod gemini;
mod http;
mod jobs;
mod known;
mod ollama;
mod openai;
mod profile;
mod provider;
mod reason;
mod retry;
mod text;

pub use cache::{CacheStats, cache_stats, clear_caches, embeddings_dir};
pub(crate) use embedder::RemoteLoader;
pub use estimate::{Estimate, estimate};
