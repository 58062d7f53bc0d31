//! Keeps the two derived indexes in step with the records. Nothing else writes them.
//!
//! The sync log is a table of `memory.db`, written in the transaction of the record it speaks of. Each index carries, in
//! its own atomic commit, the sequence number up to which it has applied the log; applying is idempotent, because it
//! looks at the present state of each record that the log names. One process at a time holds the writer lock and
//! applies; entries that both indexes have made durable are trimmed.
//!
//! | file | job |
//! |---|---|
//! | `store.rs` | [`Sync`]: the records, their two indexes and the model, opened |
//! | `clock.rs` | what time it is |
//! | `lock.rs` | the writer lock: one process, one thread |
//! | `side.rs` | an index that is at hand, or out of use with the reason |
//! | `apply.rs` | the log into both indexes, then the trimming |
//! | `rebuild.rs` | an index anew from the records, beside the old one, and swapped in |
//! | `memory.rs` | an index in memory, where the store cannot be written |
//! | `backlog.rs` | embedding what waits for it |
//! | `reembed.rs` | another embedding model for the store |
//! | `forget.rs` | what has expired, and what a purge leaves to do |
//! | `worker.rs` | the thread that does all of this in the background |

mod apply;
mod backlog;
mod clock;
mod forget;
mod lock;
mod memory;
mod rebuild;
mod reembed;
mod side;
mod store;
mod worker;

pub use clock::now;
pub use lock::{WriterGuard, WriterLock};
pub use reembed::Reembedded;
pub use side::Side;
pub use store::{Sync, is_of};
pub use worker::{SearchedHit, Wake, Worker};
