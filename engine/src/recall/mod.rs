//! What of the things that are known is worth a turn's attention. Mostly nothing is: whoever is given what he does not need
//! stops reading it.
//!
//! | file | job |
//! |---|---|
//! | `message.rs` | what of a message is searched for |
//! | `words.rs` | English words by which a name is known, and those that are none |
//! | `gate.rs` | whether a result of the search is worth it |
//! | `choice.rs` | which of these come, and how much of their texts |
//! | `action/` | the memory of exactly the file, the command or the error of an action |

mod action;
mod choice;
mod gate;
mod message;
mod words;

pub use action::{ACTION_CANDIDATES, ActionSubject, choose_one};
pub use choice::{CANDIDATES, choose};
pub use message::searched;
