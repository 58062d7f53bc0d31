//! Text to vectors: the interface of an embedding model, the models with a name, and how they are fetched.
//!
//! A program that brings its own [`Embedder`] needs no feature. `models` adds the models with a name, and `onnx` the user's
//! own, which ONNX Runtime runs. `provision` fetches those with a name and the library. `remote` adds those of providers.
//!
//! A module imports only from the rows above its own:
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | [`error`], [`progress`] | errors; progress and cancellation |
//! | 0 | `jobs` | [`BatchJobs`]: what a provider embeds in its own time, at a lower price |
//! | 0 | `provider` | [`RemoteSettings`]: which provider embeds, with its key and its limits |
//! | 1 | `identity`, `plan`, `normalise`, `window` | which model it is, what a download will be, vectors of length 1, how much of a text is read |
//! | 2 | `named` | [`NamedModel`]: the models that have a name in the settings |
//! | 3 | `settings` | which model, and how long it stays in memory |
//! | 1 | `wordpiece` | [`WordPiece`]: text to the ids of tokens, or their number, as BERT does it |
//! | 1 | `unigram` | the same as SentencePiece does it |
//! | 2 | `tokenizer` | [`Tokenizer`]: either of them |
//! | 2 | `embedder` | [`Embedder`], [`Reranker`]: what a model does |
//! | 3 | `loader`, [`hashed`] | [`Loader`]: what loads a model; [`HashEmbedder`]: vectors without one, for tests and benches only |
//! | 4 | `provision` | finds the library and the model, or has them fetched |
//! | 5 | `local` | the models with a name |
//! | 5 | `onnx` | models that ONNX Runtime runs |
//! | 5 | `remote` | models of providers, over HTTP, and their [`Loader`]; the cache of what they made |
//! | 6 | `local_tokenizer` | [`local_tokenizer()`]: the tokenizer of the model, if it is on this machine |
//! | 6 | `file_loader` | loads a model from files |
//! | 7 | `setup` | [`setup()`]: fetched and checked ahead of its first use |
//! | 7 | `reranker` | [`RerankerHost`]: the reranker, once it is on this machine |
//! | 7 | `host` | [`ModelHost`]: the model's life in memory, loaded on first use, released when idle |
//! | 7 | [`allocator`] | settings under which released memory goes back to the system |

#![warn(missing_docs)]

pub mod allocator;
mod embedder;
pub mod error;
#[cfg(feature = "models")]
mod file_loader;
pub mod hashed;
mod host;
mod identity;
mod jobs;
mod loader;
#[cfg(feature = "models")]
mod local;
#[cfg(feature = "models")]
mod local_tokenizer;
#[cfg(all(test, feature = "onnx", feature = "provision"))]
mod multilingual_tests;
mod named;
mod normalise;
#[cfg(feature = "onnx")]
mod onnx;
mod plan;
pub mod progress;
#[cfg(feature = "remote")]
mod provider;
#[cfg(feature = "models")]
mod provision;
#[cfg(feature = "remote")]
mod remote;
mod reranker;
mod settings;
#[cfg(feature = "models")]
mod setup;
#[cfg(all(test, feature = "onnx", feature = "provision"))]
mod tests;
#[cfg(feature = "models")]
mod tokenizer;
#[cfg(feature = "models")]
mod unigram;
#[cfg(feature = "models")]
mod window;
#[cfg(feature = "models")]
mod wordpiece;

pub use embedder::{Embedder, Languages, Refusal, Reranker};
pub use error::{Error, Result};
pub use hashed::HashEmbedder;
pub use host::ModelHost;
pub use identity::ModelIdentity;
pub use jobs::{BatchJobs, EachVector, JobFailure, JobState, JobTerms};
pub use loader::Loader;
#[cfg(feature = "models")]
pub use local_tokenizer::local_tokenizer;
pub use named::NamedModel;
pub use plan::Plan;
#[cfg(feature = "remote")]
pub use provider::{CacheSettings, Fields, Protocol, RemoteSettings, Secret};
#[cfg(feature = "provision")]
#[doc(hidden)]
pub use provision::fuzzing;
#[cfg(feature = "remote")]
pub use remote::{CacheStats, Estimate, cache_stats, clear_caches, embeddings_dir, estimate};
pub use reranker::RerankerHost;
pub use settings::{ModelSettings, ModelSource};
#[cfg(feature = "models")]
pub use setup::{SetupReport, setup, setup_reranker};
#[cfg(feature = "models")]
pub use tokenizer::Tokenizer;
#[cfg(feature = "models")]
pub use wordpiece::WordPiece;
