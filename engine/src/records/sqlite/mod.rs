//! `memory.db`: the records of a store in SQLite, and all the care that such a file needs.
//!
//! Nothing outside of this folder names SQLite. [`Database`](store::Database) is a store, and implements
//! [`Authority`](super::transaction::Authority) for the rules; [`Snapshot`](snapshot::Snapshot) reads one unchanging state.
//!
//! | file | job |
//! |---|---|
//! | *ground* | |
//! | `schema.rs` | the tables, on one page, and the migrations |
//! | `errors.rs` | what SQLite says, in words |
//! | `connection.rs` | connections and their settings |
//! | `readers.rs` | the connections that read, also of a store that cannot be written |
//! | `place.rs` | whether the files are still those that were opened |
//! | `folder.rs` | makes the store's folder and file, private to the user |
//! | `shape.rs` | whether a database has the tables of the schema and nothing else |
//! | `other_systems.rs` | databases of other memory systems |
//! | `migrate.rs` | checks that a database is memorist's; brings it up to date |
//! | *a store* | |
//! | `store.rs` | [`Database`](store::Database): its connections |
//! | `ids.rs` | ids as values of SQLite |
//! | `transaction.rs` | **its transactions: here a write becomes durable** |
//! | `queue.rs` | the queue for SQLite's write lock |
//! | `log.rs` | the sync log: head, tail, trimming |
//! | *reads* | |
//! | `snapshot.rs` | [`Snapshot`](snapshot::Snapshot): one state of everything |
//! | `commits.rs` | whether something was written since the last look |
//! | `filter.rs` | [`Filter`](crate::types::Filter)s as SQL |
//! | `metadata.rs` | [`MetadataFilter`](crate::types::MetadataFilter)s as SQL |
//! | `list.rs` | records by id, pages of a list, ids that pass a filter |
//! | `history.rs` | versions |
//! | `links.rs`, `chain.rs` | links, and the graph around a record |
//! | `threads.rs` | the records around one in its thread |
//! | `superseded.rs` | what others replace |
//! | `tally.rs`, `stats.rs` | totals that triggers keep; statistics |
//! | `digest.rs` | the summary of a project |
//! | `points.rs` | what a map shows of each record |
//! | `timeline.rs` | what happened on each day |
//! | `unused.rs` | what nobody has found for long |
//! | `names.rs` | the projects and tags in use |
//! | `narrow.rs` | replaces 32-bit floats of embeddings by 16-bit ones |
//! | `substring.rs` | the last tier of a search: texts that contain a text |
//! | `embeddings.rs` | the model, the texts that wait, the vectors |
//! | `files.rs` | sources, and the files that were read of them |
//! | `searches.rs` | searches that were made |
//! | `recalled.rs` | memories that automatic recall gave to sessions |
//! | `tokens.rs` | the tokens of a team store's clients |
//! | `export.rs` | records with all that belongs to them, for another store |
//! | `purge_scan.rs` | which rows have a text that is to be purged |
//! | *care* | |
//! | `wal.rs` | keeps the write-ahead log short |
//! | `space.rs` | gives the space of what was deleted back |
//! | `traces.rs` | removes what the files still hold of purged texts |
//! | `integrity.rs`, `recount.rs` | finds what contradicts itself; counts totals again |
//! | `backup.rs` | a whole database into one file, and back |
//! | `salvage/` | what can be read of a damaged database, saved into a new one |

pub(super) mod backup;
mod chain;
pub(super) mod commits;
mod connection;
mod digest;
mod embeddings;
pub(super) mod errors;
mod export;
mod files;
mod filter;
pub(super) mod folder;
mod history;
mod ids;
mod integrity;
mod jobs;
mod links;
mod list;
mod log;
mod metadata;
mod migrate;
mod names;
mod narrow;
mod other_systems;
mod place;
pub(super) mod points;
mod purge_scan;
mod queue;
mod readers;
mod recalled;
mod recount;
pub(super) mod salvage;
mod schema;
mod searches;
mod shape;
pub(super) mod snapshot;
mod space;
mod stamps;
pub(super) mod stats;
pub(super) mod store;
mod substring;
mod superseded;
mod tally;
#[cfg(test)]
pub(super) mod testing;
mod threads;
mod timeline;
mod tokens;
mod traces;
mod transaction;
mod unused;
mod wal;
