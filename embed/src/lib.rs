//! Text to vectors: the interface of an embedding model, the default model, and how it is fetched.
//!
//! A program that brings its own [`Embedder`] needs no feature. `local` adds the default model, `onnx` the user's own,
//! which ONNX Runtime runs. `provision` fetches the default one and the library.
//!
//! A module imports only from the rows above its own:
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | [`error`], [`progress`] | errors; progress and cancellation |
//! | 1 | `identity`, `plan`, `settings`, `normalise`, `window` | which model it is, what a download will be, the settings, vectors of length 1, how much of a text is read |
//! | 1 | `wordpiece` | [`WordPiece`]: text to the ids of tokens, or their number |
//! | 2 | `embedder` | [`Embedder`]: what a model does |
//! | 3 | `loader`, [`hashed`] | [`Loader`]: what loads a model; [`HashEmbedder`]: vectors without one, for tests and benches only |
//! | 4 | `provision` | finds the library and the model, or has them fetched |
//! | 5 | `local_tokenizer` | [`local_tokenizer()`]: the tokenizer of the model, if it is on this machine |
//! | 5 | `local` | the default model |
//! | 5 | `onnx` | models that ONNX Runtime runs |
//! | 6 | `file_loader` | loads a model from files |
//! | 7 | `setup` | [`setup()`]: fetched and checked ahead of its first use |
//! | 7 | `host` | [`ModelHost`]: the model's life in memory, loaded on first use, released when idle |
//! | 7 | [`allocator`] | settings under which released memory goes back to the system |

pub mod allocator;
mod embedder;
pub mod error;
#[cfg(feature = "local")]
mod file_loader;
pub mod hashed;
mod host;
mod identity;
mod loader;
#[cfg(feature = "local")]
mod local;
#[cfg(feature = "local")]
mod local_tokenizer;
mod normalise;
#[cfg(feature = "onnx")]
mod onnx;
mod plan;
pub mod progress;
#[cfg(feature = "local")]
mod provision;
mod settings;
#[cfg(feature = "local")]
mod setup;
#[cfg(all(test, feature = "onnx", feature = "provision"))]
mod tests;
#[cfg(feature = "local")]
mod window;
#[cfg(feature = "local")]
mod wordpiece;

pub use embedder::Embedder;
pub use error::{Error, Result};
pub use hashed::HashEmbedder;
pub use host::ModelHost;
pub use identity::ModelIdentity;
pub use loader::Loader;
#[cfg(feature = "local")]
pub use local_tokenizer::local_tokenizer;
pub use plan::Plan;
#[cfg(feature = "provision")]
#[doc(hidden)]
pub use provision::fuzzing;
pub use settings::{ModelSettings, ModelSource};
#[cfg(feature = "local")]
pub use setup::{SetupReport, setup};
#[cfg(feature = "local")]
pub use wordpiece::WordPiece;
