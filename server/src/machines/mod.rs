//! One memory on a person's own machines: what differs between two stores goes both ways, over ssh or over a folder that something
//! else carries. Nothing is deleted because it is absent.
//!
//! | file | job |
//! |---|---|
//! | `known.rs` | **what a store knows**: its name among the machines, the places where it meets others, conflicts |
//! | `turn.rs` | **the format**: what one machine tells another at a time, whole or not at all |
//! | `merge.rs` | a turn becomes part of the store; what is to be sent |
//! | `talk.rs` | an exchange over a pipe, turn by turn |
//! | `folder.rs` | an exchange over files |
//! | `ssh.rs` | the program on another machine |

mod folder;
mod known;
mod merge;
mod ssh;
mod talk;
#[cfg(test)]
mod tests;
mod turn;

pub use folder::meet as meet_in_folder;
pub use known::{Conflict, Files, Known, Peer, Place, PlaceStanding, Standing};
pub use merge::{Exchange, Met};
pub use ssh::meet as meet_over_ssh;
pub use talk::{Pipe, answer};
pub use turn::Done;
