//! Registers the server and its hooks with clients, and undoes it.
//!
//! | row | file | job |
//! |---|---|---|
//! | 0 | `trouble.rs` | why something was left as it is, and the way out |
//! | 0 | `block.rs` | a paragraph of ours in a text |
//! | 0 | `trust.rs` | whether a person has trusted our hooks in Codex |
//! | 0 | `diff.rs` | a change, as people are shown it |
//! | 1 | `target.rs` | a file of a client: followed through links, read, written |
//! | 1 | `ledger.rs` | records what was written where |
//! | 2 | `content.rs` | the content of a file with our part, and without it |
//! | 3 | `plan.rs` | plans the steps |
//! | 4 | `apply.rs` | applies a plan |
//! | 4 | `status.rs` | the status of a client, for `doctor` |

mod apply;
mod block;
mod content;
mod diff;
mod ledger;
mod plan;
mod status;
mod target;
mod trouble;
mod trust;

pub use apply::apply;
pub use ledger::{Ledger, Record};
pub use plan::{ClientPlan, Environment, Step, connect, disconnect};
pub use status::{Problem, State, Status, status};
pub use trouble::{Error, Trouble};

#[cfg(test)]
mod tests;
