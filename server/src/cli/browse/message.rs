//! Messages from other threads to the screen's thread.

use super::state::Event;
use crate::exit::Failure;

/// A message to the screen's thread.
#[derive(Debug)]
pub enum Message {
    Event(Event),
    /// It cannot continue.
    Failed(Failure),
}
