//! Automatic recall: decides which memories are worth a turn's attention. Mostly none is: an agent that is given memories
//! it does not need stops reading them.
//!
//! | file | job |
//! |---|---|
//! | `message.rs` | makes the query of a message |
//! | `words.rs` | lists of words by which names, questions and languages are recognized |
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
pub use message::message_query;
