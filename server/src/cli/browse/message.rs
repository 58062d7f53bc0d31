//! What the other threads send to the screen's.

use super::state::Event;
use crate::exit::Failure;

/// What reaches the screen's thread.
#[derive(Debug)]
pub enum Message {
    /// Something happened.
    Event(Event),
    /// It cannot go on.
    Failed(Failure),
}
