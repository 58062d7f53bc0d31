//! Rules for writing: which changes are allowed, and which belong together. Each operation is one transaction over
//! [`Tx`](super::transaction::Tx), whatever the database. Each file begins with the operations, which take an
//! [`Authority`](super::transaction::Authority).
//!
//! | file | rules |
//! |---|---|
//! | `add.rs` | a record is saved, and a text once in its scope; removed with all that belongs to it |
//! | `save.rs` | records are saved with their links and their vectors |
//! | `update.rs` | a record is changed, and the version before kept; an earlier version is restored |
//! | `references.rs` | references in a body; one profile a scope |
//! | `trash.rs` | a record is deleted, and restored |
//! | `undo.rs` | the last thing that was done to a record is undone |
//! | `merge.rs` | several records become one |
//! | `links.rs` | links, and that nothing supersedes itself |
//! | `import.rs`, `import/` | records, links and tombstones of another store, merged by ULID |
//! | `union.rs` | the histories of one memory in two stores become one |
//! | `tombstones.rs` | notes of deleted memories, so that another store does not bring them back |
//! | `purge.rs` | a purge removes rows |
//! | `expiry.rs` | expired records are deleted |
//! | `access.rs` | accesses are logged and counted |
//! | `searches.rs` | the search log |
//! | `recalled.rs` | memories injected into a session |
//! | `embeddings.rs` | the store's model, and the vectors of texts |
//! | `passages.rs` | the passages after the beginning of a long text |
//! | `refused.rs` | texts that the model refused are set aside |
//! | `jobs.rs` | batch jobs of a provider |
//! | `next_model.rs` | the change to another model |
//! | `versions.rs` | earlier versions |
//! | `threads.rs` | the place of a record in a thread |
//! | `files.rs` | sources, their files, and the records that are read from them |
//! | `origins.rs` | text from a file is read once |
//! | `scopes.rs` | rows of scopes |
//! | `log.rs` | appends to the sync log |

pub(crate) mod access;
pub(crate) mod add;
pub(crate) mod embeddings;
pub(crate) mod expiry;
pub(crate) mod files;
pub(crate) mod import;
pub(crate) mod jobs;
pub(crate) mod links;
pub(super) mod log;
pub(crate) mod merge;
pub(crate) mod next_model;
mod origins;
pub(crate) mod passages;
pub(super) mod purge;
pub(crate) mod recalled;
pub(super) mod references;
pub(crate) mod refused;
pub(crate) mod save;
mod scopes;
pub(crate) mod searches;
mod threads;
pub(crate) mod tombstones;
pub(crate) mod trash;
pub(crate) mod undo;
mod union;
pub(crate) mod update;
pub(super) mod versions;
