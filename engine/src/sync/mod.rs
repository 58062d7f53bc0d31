//! Keeps the two derived indexes in step with the records. Nothing else writes them.
//!
//! The sync log is a table of `memory.db`, written in the transaction of the record that it names. Each index stores,
//! in its own atomic commit, the sequence number up to which it has applied the log. Applying is idempotent, because it
//! reads the current state of each record that the log names. One process at a time holds the writer lock and applies;
//! entries that both indexes have made durable are trimmed.
//!
//! | file | job |
//! |---|---|
//! | `store.rs` | [`Store`]: the records, their two indexes and the model, opened |
//! | `lock.rs` | the writer lock, and that of those who embed with a provider: one process, one thread |
//! | `index_slot.rs` | an open index, or the reason why it is unusable |
//! | `apply.rs` | applies the log to both indexes, then trims it |
//! | `rebuild.rs` | rebuilds an index from the records, beside the old one, and swaps it in |
//! | `memory.rs` | an index in memory, for a read-only store |
//! | `backlog.rs` | embeds waiting records |
//! | `jobs/` | batch jobs: a provider embeds many texts within a day |
//! | `reembed.rs` | another embedding model for the store |
//! | `languages.rs` | memories in a language that the model does not know |
//! | `scale.rs` | the scale of the model's cosines: measured, kept |
//! | `purge.rs` | deletes expired records, and finishes purges |
//! | `image.rs` | the copy and the indexes of a node, for a new one |
//! | `image_files.rs` | the files of an image: copied, and taken |
//! | `inbox.rs` | the next tasks of the background thread |
//! | `worker.rs` | the thread that does all of this in the background |

mod apply;
mod backlog;
#[cfg(feature = "postgres")]
mod image;
#[cfg(feature = "postgres")]
mod image_files;
mod inbox;
mod index_slot;
mod jobs;
mod languages;
mod lock;
mod memory;
mod purge;
mod rebuild;
mod reembed;
mod scale;
mod store;
mod worker;

pub use inbox::{Message, Searched, SearchedHit};
pub use index_slot::IndexSlot;
pub use jobs::{JobsGuard, Target};
pub use lock::{EmbeddingGuard, EmbeddingLock, WriterGuard, WriterLock};
pub use reembed::Reembedded;
pub use store::{Store, has_model, identity};
pub use worker::Worker;
