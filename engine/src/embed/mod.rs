//! Text to vectors.
//!
//! | file | job |
//! |---|---|
//! | `embedder` | [`Embedder`]: what a model does |
//! | [`host`] | the model's life in memory: loaded on first use, released when idle |
//! | [`onnx`] | a model run by ONNX Runtime: [`OnnxEmbedder`] |
//! | [`tokenize`] | text to token numbers, and the plan of batches |
//! | [`pooling`] | token vectors to one vector of length 1 |
//! | [`hashed`] | [`HashEmbedder`]: vectors without a model, for tests and benches only |
//! | [`provision`] | finds the library and the model, or has them fetched |
//! | [`identity`] | the identity of a model, cached beside a custom one |
//! | `fetch` | packages by pip, files out of packages |
//! | `cache` | the cache folder: manifest, lock, files put in place whole |
//! | `python` | runs Python so that it executes nothing from the current folder |
//! | `packages` | which packages, which files in them, and their hashes |
//! | `source_file` | [`SourceFile`]: what is loaded is what was verified |
//! | [`allocator`] | settings under which released memory goes back to the system |

pub mod allocator;
mod cache;
mod embedder;
mod fetch;
pub(crate) mod fuzzing;
pub mod hashed;
pub mod host;
pub mod identity;
pub mod onnx;
mod packages;
pub mod pooling;
pub mod provision;
mod python;
mod source_file;
#[cfg(test)]
mod tests;
pub mod tokenize;

pub use embedder::Embedder;
pub use hashed::HashEmbedder;
pub use host::ModelHost;
pub use identity::ModelIdentity;
pub use onnx::OnnxEmbedder;
pub use provision::{ModelFiles, Plan, Provision};
pub use source_file::SourceFile;
