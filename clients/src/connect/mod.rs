//! Registers the server and its hooks with clients, and undoes it.
//!
//! | row | file | job |
//! |---|---|---|
//! | 0 | `trouble.rs` | why something was left as it is, and the way out |
//! | 0 | `block.rs` | a paragraph of ours in a text |
//! | 0 | `trust.rs` | whether a person has trusted our hooks in Codex |
//! | 0 | `diff.rs` | a change, as people are shown it |
//! | 1 | `target.rs` | a file of a client: followed through links, read, written |
//! | 1 | `ledger.rs` | what was written where |
//! | 2 | `content.rs` | what a file says with what is ours, and without it |
//! | 3 | `plan.rs` | what would be done, step by step |
//! | 4 | `apply.rs` | does it |
//! | 4 | `status.rs` | how a client stands, for `doctor` |

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
