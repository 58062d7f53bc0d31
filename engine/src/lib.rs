//! The engine of memorist: records, keywords, vectors and embeddings, kept in step by a sync log, and hybrid search
//! over them.
//!
//! SQLite (`memory.db`) is the truth; the vector and keyword indexes are derived from it and can be rebuilt at any time.
//! [`Engine`] is the door. A file may import only rows above its own:
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | [`error`], [`types`], [`quality`], [`config`], [`paths`], [`progress`], [`text`], [`body`], [`secrets`], [`sensitive`], [`overlap`], `files`, `holders`, `inspection` | the vocabulary every other module speaks |
//! | 1 | [`records`] | SQLite: records, versions, embeddings, access log, the sync log |
//! | 1 | [`keywords`] | tantivy: BM25 over content, context and tags |
//! | 1 | [`vectors`] | the [`vectors::VectorIndex`] trait and its three implementations |
//! | 1 | [`embed`] | text to vectors: provisioning, the ONNX model, its life in memory |
//! | 2 | [`sync`] | applies the sync log to both indexes; the only writer of them |
//! | 3 | [`search`] | plan, candidates from both sides, merge, load |
//! | 3 | [`doctor`] | proves that all of it agrees |
//! | 3 | [`mod@bench`] | measures the vector search |
//! | 4 | [`engine`] | opens a store and ties the rows together |
//!
//! The row-1 modules are siblings and never import one another.

pub mod bench;
pub mod body;
pub mod config;
pub mod doctor;
pub mod embed;
pub mod engine;
pub mod error;
mod files;
#[doc(hidden)]
pub mod fuzzing;
mod holders;
mod inspection;
pub mod keywords;
pub mod overlap;
pub mod paths;
pub mod progress;
pub mod quality;
pub mod records;
pub mod search;
pub mod secrets;
pub mod sensitive;
pub mod sync;
pub mod text;
pub mod types;
pub mod vectors;

pub use engine::{Engine, Import, examine, restore, setup};
pub use error::{Error, ErrorKind, Result};
pub use sync::now;
