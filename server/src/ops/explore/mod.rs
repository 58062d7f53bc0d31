//! What the explorer asks beside the tools. Looking changes nothing: no access is counted, no search is kept.
//!
//! | file | job |
//! |---|---|
//! | `overview.rs` | the store in numbers, and the searches that were made |
//! | `memory.rs` | a memory, what it is linked with, and what resembles it |
//! | `find.rs` | a search with its reasons, and why a memory is not found |
//! | `timeline.rs` | what happened when |
//! | `cleanup.rs` | what there is to clean up, and several memories made one |

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
pub use find::{search, why};
pub use memory::{graph, memory, similar};
pub use overview::{overview, searches};
pub use timeline::timeline;
