//! `memorist tidy`: proposals, applied by choice, and undone as a whole.
//!
//! | file | job |
//! |---|---|
//! | `plan.rs` | proposals: copies, near-duplicates, contradictions, old tasks |
//! | `apply.rs` | applying a plan, and undoing a run |
//! | `journal.rs` | the journal of a run, in the store's folder |

mod apply;
mod journal;
mod plan;
#[cfg(test)]
mod tests;

pub use apply::{apply, chosen, undo};
pub use journal::runs;
pub use plan::{copies, decisions, plan};
