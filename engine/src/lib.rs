//! The engine of memorist: records, keywords, vectors and embeddings, kept in step by a sync log, and hybrid search
//! over them.
//!
//! SQLite (`memory.db`) is the source of truth; the vector and keyword indexes are derived from it and can be rebuilt
//! at any time. [`Engine`] is where a program starts. A module imports only from the rows above its own, and modules of
//! one row never import each other, except in row 0, which is the shared vocabulary (`.ci/circles` checks it):
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | [`error`], [`types`], [`body`], [`quality`], [`paths`], [`text`], [`overlap`] | the vocabulary that every other module uses |
//! | 1 | [`progress`], `files`, `holders`, `verification` | progress, files, lock holders, checksums |
//! | 2 | [`sensitive`] | refuses or redacts passwords and keys in what is saved |
//! | 3 | [`config`] | the settings of a store |
//! | 4 | [`records`] | records, versions, links, embeddings, the access log, the sync log: the rules, and SQLite |
//! | 4 | [`keywords`] | tantivy: BM25 over content, context and tags |
//! | 4 | [`vectors`] | the [`vectors::VectorIndex`] trait and its three implementations |
//! | 5 | [`sync`] | applies the sync log to both indexes; the only writer of them |
//! | 6 | [`search`] | plan, candidates from both indexes, merge, load |
//! | 6 | [`doctor`] | checks that all of it agrees |
//! | 6 | [`mod@bench`] | measures the vector search |
//! | 7 | [`engine`] | opens a store and ties the rows together |
//! | 8 | [`fuzzing`] | what the fuzz targets call |

pub mod bench;
pub mod body;
pub mod config;
pub mod doctor;
pub mod engine;
pub mod error;
mod files;
#[doc(hidden)]
pub mod fuzzing;
mod holders;
pub mod keywords;
pub mod overlap;
pub mod paths;
pub mod progress;
pub mod quality;
pub mod records;
pub mod search;
pub mod sensitive;
pub mod sync;
pub mod text;
pub mod types;
pub mod vectors;
mod verification;

pub use memorist_embed as embed;

pub use engine::{Engine, Import, examine, restore};
pub use error::{Error, ErrorKind, IndexKind, Remedy, Result};
pub use sync::now;
