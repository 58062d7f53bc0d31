//! Records in SQLite: the truth of a store, from which both indexes are derived.
//!
//! [`Records`] writes; [`Snapshot`] reads one unchanging state of everything. Every change to what a search can find
//! appends to the sync log in the same transaction, so a record and its log entry are there together or not at all.
//!
//! | file | job |
//! |---|---|
//! | `schema.rs` | the tables, on one page; migrations; whose database this is |
//! | `shape.rs` | whether a database has those tables and nothing else |
//! | `folder.rs` | makes the store's folder and file, private to the user |
//! | `store.rs` | [`Records`]: its connections, and transactions on them |
//! | `reading.rs` | the connections that read, also of a store that cannot be written |
//! | `place.rs` | whether the files are still those that were opened |
//! | `write.rs` | add, delete |
//! | `change.rs` | update, and back to an earlier version |
//! | `history.rs` | the versions of a record |
//! | `links.rs` | links between records |
//! | `chain.rs` | what hangs together with a record |
//! | `superseded.rs` | what others have taken the place of |
//! | `digest.rs` | what the records of a project come to |
//! | `expiry.rs` | deletes what has expired |
//! | `purge.rs` | removes records and texts |
//! | `purging.rs` | the mark of a purge whose traces are not all removed |
//! | `sought.rs` | the texts of a purge: in what they occur |
//! | `traces.rs` | removes what the database's files still hold of removed texts |
//! | `access.rs` | who fetched what: the bounded access log |
//! | `embeddings.rs` | the model, the texts that wait for a vector, the vectors |
//! | `next_model.rs` | the embeddings of the model that the store is changing to, and the change |
//! | `log.rs` | the sync log and its bytes |
//! | `row.rs` | rows to [`Record`](crate::types::Record)s and back |
//! | `filter.rs` | [`Filter`](crate::types::Filter)s as SQL |
//! | `snapshot.rs` | [`Snapshot`]: records, ids, lists |
//! | `substring.rs` | the last resort of a search: texts that contain a text |
//! | `names.rs` | the names in use: projects, and tags |
//! | `export.rs` | records with all that belongs to them, for another store |
//! | `import.rs` | and from one |
//! | `tally.rs` | totals that are kept, not counted |
//! | `stats.rs` | what a store holds, in numbers |
//! | `backup.rs` | a whole database into one file, and back |
//! | `space.rs` | gives the room of what was deleted back |
//! | `integrity.rs` | proves that the database keeps its own rules |
//! | `salvage/` | what can be read of a damaged database, saved into a new one |

mod access;
mod backup;
mod chain;
mod change;
mod digest;
mod embeddings;
mod expiry;
mod export;
mod filter;
mod folder;
mod history;
mod import;
mod integrity;
mod links;
mod log;
mod names;
mod next_model;
mod place;
mod purge;
mod purging;
mod reading;
mod row;
mod salvage;
mod schema;
mod shape;
mod snapshot;
mod sought;
mod space;
mod stats;
mod store;
mod substring;
mod superseded;
mod tally;
#[cfg(test)]
mod testing;
mod traces;
mod write;

pub use access::{Access, MAX_ACCESS_ROWS};
pub use backup::restore;
pub use embeddings::{ModelId, Pending};
pub use import::Aliases;
pub use log::{Change, LogEntry};
pub use next_model::{FEW, NextModel};
pub use purge::Removed;
pub use purging::PurgeMark;
pub use salvage::{Kept, Salvage, salvage, survey};
pub use snapshot::Snapshot;
pub use sought::Sought;
pub use stats::Counts;
pub use store::Records;

pub use crate::types::{AccessKind, Model};
