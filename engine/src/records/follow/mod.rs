//! A node follows the server of a team: its `memory.db` is a copy of the records there.
//!
//! The server has the records, and writes what has changed to a table (`postgres/schema.rs`). A node asks for what is new with
//! each call that reads, after each write of its own, and every two seconds: [`Follower::pull`]. Where that does not do, it compares
//! itself with the server: [`Follower::compare_now`]. A file imports only rows above its own:
//!
//! | row | file | job |
//! |---|---|---|
//! | 0 | `tables.rs` | the tables that are copied |
//! | 0 | `cursor.rs` | how far a node has followed |
//! | 0 | `health.rs` | how a node is doing |
//! | 0 | `projects.rs` | which projects a node follows |
//! | 0 | `copies.rs` | copies beside that of this node |
//! | 0 | `once.rs` | a call asks once |
//! | 1 | `question.rs` | what it asks the server |
//! | 1 | `marks.rs` | purges of other nodes |
//! | 1 | `check.rs` | what cannot be applied is set aside |
//! | 2 | `apply.rs` | rows of the server are written here |
//! | 2 | `follower.rs` | [`Follower`] |
//! | 3 | `own_sources.rs` | the sources that were added on this node |
//! | 3 | `scopes.rs` | a record keeps its scope while a comparison lasts |
//! | 3 | `lost.rs` | what a promoted standby has lost is kept |
//! | 3 | `upkeep.rs` | what is done once a minute, and what one node does for all |
//! | 3 | `purging.rs` | purges of this node |
//! | 4 | `compare.rs` | everything is compared |
//! | 5 | `pull.rs` | what is new comes over |
//! | 6 | `turns.rs` | one process of a node follows for all |
//! | 6 | `read.rs` | the copy is read while the server is asked |

mod apply;
mod check;
mod compare;
mod copies;
mod cursor;
mod follower;
mod health;
mod lost;
mod marks;
mod once;
mod own_sources;
mod projects;
mod pull;
mod purging;
mod question;
mod read;
mod scopes;
pub(crate) mod tables;
#[cfg(all(test, unix))]
mod tests;
mod turns;
mod upkeep;

pub(crate) use check::set_aside;
pub use compare::Compared;
pub(crate) use follower::Follower;
pub(crate) use once::in_one_call;
pub(crate) use pull::PullReason;
pub(crate) use upkeep::note as note_accesses;
