//! A memory-mapped HNSW vector index: vectors and `u64` keys, nothing else.
//!
//! An index is a folder of immutable segments and a manifest that is replaced atomically. One [`Writer`] changes it;
//! any number of [`Reader`]s, in any number of processes, follow it. Opening maps the files and reads nothing but their
//! headers. The measure is the cosine.
//!
//! ```
//! use memorist_index::{Filter, IndexOptions, Reader, SearchParams, Writer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let mut writer = Writer::create(folder.path(), IndexOptions::new(2), b"applied 0")?;
//! writer.apply(&[(7, &[1.0, 0.0]), (8, &[0.6, 0.8])], &[], b"applied 2")?;
//!
//! let reader = Reader::open(folder.path())?;
//! let hits = reader.snapshot().search(&[0.0, 3.0], &SearchParams::new(1), Filter::All)?;
//! assert_eq!((hits[0].key, reader.snapshot().payload()), (8, &b"applied 2"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! # Rows
//!
//! A file imports only from the rows above its own, and files in one row do not import each other (`.ci/circles`).
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | `ids`, `layout`, `bounds`, `efforts`, `progress`, `best`, `random`, `sys` | keys and slots, what is kept of a vector, limits, measured efforts, progress, the best few, hashes, files and mappings |
//! | 1 | `error`, `filter` | errors; which keys a search may return |
//! | 2 | `format`, `options` | the bytes of the files; the settings |
//! | 3 | `simd` | dot products and estimates |
//! | 4 | `quantize` | vectors in codes of 16 or 8 bits |
//! | 5 | `rotate`, `graph` | the rotation of a vector before it is coded; the HNSW graph |
//! | 6 | `segment` | one segment: its mapped file, how it is written, its tombstones |
//! | 7 | `search`, `verify` | the search of a segment; the check of all segments |
//! | 8 | `calibrate`, `snapshot` | measures the effort of a new graph; one unchanging view of an index |
//! | 9 | `merge`, `reader` | merges segments; follows an index |
//! | 10 | `writer` | changes an index |
//! | 11 | [`fuzzing`] | the entry points of the fuzz targets |
//!
//! # The main path
//!
//! | step | where |
//! |---|---|
//! | a batch is checked, scaled to length 1, coded and published as a small segment | `writer.rs`, `quantize.rs` |
//! | segments are merged; the largest graph is taken over, the other vectors inserted | `merge.rs`, `graph/build.rs`, `graph/carry.rs` |
//! | how hard a search has to try for a recall is measured on a new graph, and shows while it runs | `calibrate.rs`, `graph/walk/patience.rs` |
//! | the files and what they hold | `format/mod.rs` (**the page of the format**), `sys/publish.rs` |
//! | another process sees the new manifest and maps what is new | `reader.rs`, `snapshot.rs` |
//! | a search picks a plan per segment: it walks the graph, by estimates or by codes, or scans the codes | `search.rs`, `graph/walk/`, `simd/` |
//! | everything is checked | `verify.rs` |

/// The example of the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod best;
mod bounds;
mod calibrate;
mod efforts;
mod error;
mod filter;
mod format;
#[doc(hidden)]
pub mod fuzzing;
mod graph;
mod ids;
mod layout;
mod merge;
mod options;
mod progress;
mod quantize;
mod random;
mod reader;
mod rotate;
mod search;
mod segment;
mod simd;
mod snapshot;
mod sys;
mod verify;
mod writer;

pub use bounds::{MAX_DIMS, MAX_PAYLOAD};
pub use error::{OpenError, OptionsError, Problem, SearchError, VectorError, WriteError};
pub use filter::{Filter, KeySet};
pub use format::FORMAT_VERSION;
// For the bench of the kernels, as `Kernel` is.
#[doc(hidden)]
pub use graph::edges::estimating;
pub use ids::Key;
pub use layout::Layout;
pub use merge::{Merge, Merged};
pub use options::{Effort, IndexOptions, SearchParams};
pub use progress::{Progress, Stage};
pub use reader::Reader;
#[doc(hidden)]
pub use simd::Kernel;
pub use snapshot::{Hit, Snapshot};
#[doc(hidden)]
pub use sys::steps::watch_steps;
pub use writer::Writer;
