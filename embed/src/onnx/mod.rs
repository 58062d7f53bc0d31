//! Models that ONNX Runtime runs.
//!
//! | file | job |
//! |---|---|
//! | `tokenize` | text to token numbers, and the plan of batches |
//! | `pooling` | token vectors to one vector of length 1 |
//! | `embedder` | the embedder: sessions of the runtime, batches, threads |
//! | `loader` | [`OnnxLoader`]: loads it from files that may have to be fetched |
//! | `setup` | [`setup`]: fetched and checked ahead of its first use |

pub(crate) mod embedder;
mod loader;
mod pooling;
mod setup;
pub(crate) mod tokenize;

pub(crate) use loader::OnnxLoader;
pub use setup::{SetupReport, setup};
