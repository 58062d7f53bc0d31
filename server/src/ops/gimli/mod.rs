//! Gimli's tools: lines of files, found and read.
//!
//! | file | job |
//! |---|---|
//! | `search.rs` | `memory_search` |
//! | `get.rs` | `memory_get` |
//! | `known_file.rs` | the file that a path names |
//! | `on_disk.rs` | its text, if it is still the file that was read |
//! | `recorded.rs` | its lines, from the memories that were read from it |
//! | `passage.rs` | some lines of a text, of a bounded size |
//! | `recall.rs` | `memory_recall` |
//! | `sync.rs` | `memory_sync` |
//! | `recency.rs` | `apply_recency_buffer` |
//! | `workspace.rs` | the notes of the workspace, and the transcripts |

mod get;
mod known_file;
mod on_disk;
mod passage;
mod recall;
mod recency;
mod recorded;
mod search;
mod sync;
mod workspace;

pub use get::get;
pub use recall::recall;
pub use recency::recency_buffer;
pub use search::search;
pub use sync::sync;
pub use workspace::add_sources;
