//! A node follows the server of a team: its `memory.db` is a copy of the records there.
//!
//! | file | job |
//! |---|---|
//! | `tables.rs` | the tables that are copied |

pub(crate) mod tables;
