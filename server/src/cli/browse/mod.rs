//! `memorist browse`: an interactive screen to search as you type, read, follow links, and delete.
//!
//! | file | job |
//! |---|---|
//! | `found.rs` | results of the store, as far as they are shown |
//! | `state.rs` | the state of the screen: an event comes in, effects go out |
//! | `keys.rs` | the effect of each key |
//! | `worker.rs` | runs the effects on the engine, so that typing never waits |
//! | `page.rs` | one memory as lines |
//! | `view.rs` | draws a state |
//! | `overlays.rs` | draws the help, and the question before a deletion |
//! | `theme.rs` | the colours |
//! | `screen.rs` | takes over the terminal, and restores it |
//! | `session.rs` | the command: opens the store and runs the event loop |
//!
//! `state.rs` and `keys.rs` know neither the engine nor the terminal, and `view.rs` knows only the state.

mod found;
mod keys;
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
