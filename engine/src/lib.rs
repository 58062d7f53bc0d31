//! The engine of memorist: records, keywords, vectors and embeddings, kept in step by a sync log, and hybrid search
//! over them.
//!
//! ```
//! use memorist_engine::Engine;
//! use memorist_engine::config::Config;
//! use memorist_engine::types::{NewRecord, Query};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().join("memories");
//! // `Config::default()` also searches by meaning: it fetches an embedding model on first use.
//! let engine = Engine::open(folder, Config::without_model())?;
//! let saved = engine.add(&NewRecord::new("User prefers dark mode for all applications"))?;
//! let reply = engine.search(&Query::new("dark applications"))?;
//! assert_eq!(reply.hits[0].record.id, saved.id);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | save, search, export, maintain | [`Engine`] |
//! | read, change, link, delete, undo, import, purge, for a viewer | [`Memories`] |
//! | say what to save and what to look for | [`types`] |
//! | choose a model, or bring one | [`config::ModelSettings`], [`embed::Embedder`] |
//! | show progress, cancel long work | [`progress::Progress`] |
//! | handle an error | [`Error`], [`Remedy`] |
//! | check, repair, restore, without an open store | [`examine`], [`restore`], [`sources`] |
//! | show a passage of a long text, and its matching words | [`snippet`], [`words`] |
//!
//! # How it is built
//!
//! SQLite (`memory.db`) is the source of truth; the vector and keyword indexes are derived from it and can be rebuilt
//! at any time. [`Engine`] is where a program starts. A module imports only from the rows above its own, and modules of
//! one row never import each other, except in row 0, which is the shared vocabulary (`.ci/circles` checks it):
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | [`error`], [`types`], [`body`], [`quality`], [`paths`], [`text`], [`snippet`], `passages`, `overlap` | the vocabulary that every other module uses |
//! | 1 | [`progress`], `address`, `clock`, `files`, `holders`, `verification` | progress, the address of a team store, the clock, files, lock holders, checksums |
//! | 2 | `index_folder` | replaces the folder of an index, or takes it out of use |
//! | 2 | [`sensitive`] | refuses or redacts passwords and keys in what is saved |
//! | 3 | [`config`] | the settings of a store |
//! | 4 | `records` | records, versions, links, embeddings, the access log, searches, the sync log: the rules, and SQLite |
//! | 4 | `keywords` | tantivy: BM25 over content, context and tags |
//! | 4 | `vectors` | the `VectorIndex` trait and its three implementations |
//! | 5 | [`words`] | words and identifiers of texts and queries |
//! | 5 | `scale` | one scale for the cosines of every model |
//! | 5 | [`team`] | the server of a team store: made, looked at, its tokens |
//! | 5 | [`map`] | a place on a plane for each record: laid out, kept, placed, seen |
//! | 6 | `sync` | applies the sync log to both indexes; the only writer of them |
//! | 7 | `search` | plan, candidates from both indexes, merge, load |
//! | 7 | `recall` | which results are worth a turn's attention |
//! | 7 | [`doctor`] | checks that all of it agrees |
//! | 7 | [`mod@bench`] | measures the vector search, and rankings whose answers are known |
//! | 8 | [`engine`] | opens a store and ties the rows together |
//! | 9 | `fuzzing` | what the fuzz targets call |

#![warn(missing_docs)]

mod address;
pub mod bench;
pub mod body;
mod clock;
pub mod config;
pub mod doctor;
pub mod engine;
pub mod error;
mod files;
mod holders;
mod index_folder;
pub mod map;
#[cfg(test)]
mod nightly;
mod overlap;
pub mod paths;
pub mod progress;
pub mod quality;
mod recall;
mod scale;
mod search;
pub mod sensitive;
pub mod snippet;
#[cfg(feature = "postgres")]
pub mod team;
pub mod text;
pub mod types;
mod vectors;
mod verification;
pub mod words;

// For the tests, benches and fuzz targets of this workspace: no part of the interface.
#[doc(hidden)]
pub mod fuzzing;
#[doc(hidden)]
pub mod keywords;
#[doc(hidden)]
pub mod passages;
#[doc(hidden)]
pub mod records;
#[doc(hidden)]
pub mod sync;

pub use memorist_embed as embed;

pub use clock::now;
pub use engine::{Engine, Import, MapFrom, MapStage, MapState, Memories, Undone, examine, restore, sources};
pub use error::{Error, ErrorKind, IndexKind, Remedy, Result};
pub use keywords::log_contained_panics;
pub use recall::ActionSubject;
#[cfg(feature = "postgres")]
pub use records::Compared;
pub use records::{Commits, Kept, PurgeText, Salvage};
pub use types::NodeState;
