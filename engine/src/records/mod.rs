//! The records of a store: the truth, from which both indexes are derived.
//!
//! [`Records`] is a store, [`Snapshot`] one unchanging state of it. Every change to what a search can find appends to the
//! sync log in the same transaction, so a record and its log entry are there together or not at all.
//!
//! The way of a write: `Engine::save` runs the rule of `rules/save.rs` on [`Records`], in a transaction of `transaction.rs`, which
//! SQLite commits in `sqlite/transaction.rs`: there a saved text becomes durable. A file imports only rows above its own:
//!
//! | row | file | job |
//! |---|---|---|
//! | 0 | `transaction.rs` | **the seam**: what a database supplies for the rules to write to it |
//! | 0 | `log.rs` | **the sync log**: its contract, and its bytes |
//! | 1 | `rows.rs` | rows of the tables as types of the engine |
//! | 1 | `meta.rs` | single values of a store |
//! | 2 | `jobs.rs` | batch jobs that are not over, and their texts |
//! | 2 | `lookup.rs` | live records, scopes, who may change them |
//! | 3 | `models.rs` | the embedding model, and the texts that wait for it |
//! | 3 | `purge/` | what a purge looks for, and the mark of one that is not finished |
//! | 4 | `rules/` | **what may be written**, whatever the database |
//! | 4 | `sqlite/` | **the database**: transactions, reads, and the care of its file |
//! | 4 | `follow/` | a node of a team follows its server; without the feature `postgres` `alone.rs` stands in |
//! | 5 | `store.rs` | [`Records`]: a database of its own, or the copy of a team's |
//! | 5 | `purging.rs` | a purge of [`Records`] as a whole |
//! | 6 | `machines.rs` | notes about the other machines of a person, and the number of purges |
//! | 6 | `contract/` | the tests that every database passes |

#[cfg(not(feature = "postgres"))]
mod alone;
#[cfg(test)]
mod contract;
#[cfg(feature = "postgres")]
mod follow;
mod jobs;
mod log;
mod lookup;
mod machines;
mod meta;
mod models;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
mod purge;
mod purging;
mod rows;
pub(crate) mod rules;
mod sqlite;
mod store;
pub(crate) mod transaction;

#[cfg(not(feature = "postgres"))]
use alone as follow;
#[cfg(feature = "postgres")]
pub use follow::Compared;
pub(crate) use follow::in_one_call;
pub use jobs::MAX_JOB_FAILURES;
pub use log::{Change, LogEntry};
pub use models::{NextModel, Pending, Refused};
pub use purge::mark::PurgeMark;
pub use purge::patterns::{PurgePatterns, PurgeText};
pub use rules::access::{Access, MAX_ACCESS_ROWS};
pub use rules::embeddings::Vectors;
pub use rules::import::Aliases;
pub use rules::next_model::MAX_UNEMBEDDED_AT_SWITCH;
pub use rules::purge::Removed;
pub use rules::save::StoredSave;
pub use rules::searches::MAX_SEARCHES;
pub use rules::undo::Undoing;
pub use rules::update::Changed;
pub use sqlite::backup::restore;
pub use sqlite::commits::Commits;
#[cfg(feature = "postgres")]
pub use sqlite::folder::prepare_root;
pub use sqlite::points::{PointRow, PointRows};
pub use sqlite::salvage::{Kept, Salvage, salvage, survey};
pub use sqlite::snapshot::Snapshot;
pub use sqlite::stats::Counts;
pub use store::Records;

pub use crate::types::{AccessKind, Model, ModelId};
