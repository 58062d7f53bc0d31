//! Automatic recall: decides which memories are worth a turn's attention. Mostly none is: an agent that is given memories
//! it does not need stops reading them.
//!
//! | file | job |
//! |---|---|
//! | `message.rs` | the query of a message |
//! | `words.rs` | English words by which a name is known, and those that are none |
//! | `gate.rs` | the relevance gate: which hits may be injected |
//! | `choice.rs` | chooses the memories that are injected, and how much of their texts |
//! | `action/` | the memory of exactly the file, the command or the error of an action |

mod action;
mod choice;
mod gate;
mod message;
mod words;

pub use action::{ACTION_CANDIDATES, ActionSubject, choose_one};
pub use choice::{CANDIDATES, choose};
pub use message::searched;
