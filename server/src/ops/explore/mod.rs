//! Requests of the explorer beside the tools. Reading changes nothing: no access is counted, no search is logged.
//!
//! | file | job |
//! |---|---|
//! | `overview.rs` | the store in numbers, and the search log |
//! | `memory.rs` | a memory, its links, and similar memories |
//! | `find.rs` | a search with its reasons, and why a memory is not found |
//! | `timeline.rs` | events of memories over time |
//! | `cleanup.rs` | memories to clean up, and the merge of several into one |

mod cleanup;
mod find;
mod memory;
mod overview;
mod timeline;

#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;

pub use cleanup::{cleanup, merge};
pub use find::{explain, search};
pub use memory::{graph, memory, similar};
pub use overview::{overview, searches};
pub use timeline::timeline;
