//! `memorist browse`: an interactive screen to search as you type, read, follow links, and delete.
//!
//! | file | job |
//! |---|---|
//! | `message.rs` | what the other threads send to the screen's |
//! | `found.rs` | what the store answers, as far as it is shown |
//! | `state.rs` | what is on the screen: an event comes in, effects go out |
//! | `keys.rs` | what each key does to it |
//! | `worker.rs` | carries out the effects on the engine, so that typing never waits |
//! | `page.rs` | one memory, whole, as lines |
//! | `view.rs` | draws a state |
//! | `overlays.rs` | draws what lies over it: help, and the question before a deletion |
//! | `theme.rs` | the colours |
//! | `screen.rs` | takes the terminal, and gives it back |
//! | `session.rs` | the command: opens the store and turns until somebody leaves |
//!
//! `state.rs` and `keys.rs` know neither the engine nor the terminal, and `view.rs` knows only the state.

mod found;
mod keys;
mod message;
mod overlays;
mod page;
mod screen;
mod session;
mod state;
#[cfg(test)]
mod testing;
mod theme;
mod view;
mod worker;

pub use session::run;
