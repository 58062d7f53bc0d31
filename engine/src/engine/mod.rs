//! The entry point of the engine: [`Engine`] opens a store and ties its parts together.
//!
//! | file | job |
//! |---|---|
//! | `open.rs` | [`Engine`]: opening a store and closing it |
//! | `memories.rs` | [`Memories`]: what a viewer sees |
//! | `records.rs` | saving, fetching, changing and deleting |
//! | `own_vectors.rs` | saving and changing with vectors of the caller |
//! | `search.rs` | searching, and the model behind it |
//! | `searches.rs` | the searches that were made |
//! | `recall.rs` | automatic recall: the memories for a turn of an agent |
//! | `reminders.rs` | the memory of exactly the file, the command or the error of an action |
//! | `share.rs` | the share of memories in an answer |
//! | `exchange.rs` | export and import |
//! | `machines.rs` | a store's knowledge of the other machines of its person |
//! | `purge.rs` | permanent removal |
//! | `map.rs` | the map of all memories |
//! | `graph.rs` | links, chains and digests |
//! | `sources.rs` | files that are read into the store |
//! | `team.rs` | a node of a team store: its state, clock, images and tokens |
//! | `undo.rs` | undoing the last thing that was done to a memory |
//! | `names.rs` | the projects and tags in use |
//! | `similar.rs` | near-duplicates and suggestions for links |
//! | `timeline.rs` | event counts of memories, by time |
//! | `cleanup.rs` | duplicates, what nobody finds, and several memories made one |
//! | `copies.rs` | memories that say the same in the same words |
//! | `why.rs` | why a search does not find a memory |
//! | `maintenance.rs` | maintenance of a store: its indexes, its model, its health |
//! | `offline.rs` | operations on a store that is not open |
//! | `reports.rs` | the results of long operations |

mod cleanup;
mod copies;
mod exchange;
mod graph;
mod machines;
mod maintenance;
mod map;
mod memories;
mod names;
mod offline;
mod open;
mod own_vectors;
mod purge;
mod recall;
mod records;
mod reminders;
mod reports;
mod search;
mod searches;
mod share;
mod similar;
mod sources;
mod team;
mod timeline;
mod undo;
mod why;

pub use exchange::Import;
pub use map::{MapFrom, MapStage, MapState};
pub use memories::Memories;
pub use offline::{examine, restore, sources};
pub use open::Engine;
pub use reports::{Backfill, IndexStats, RebuildReport, ReembedReport};
pub use undo::Undone;
