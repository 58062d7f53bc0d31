//! The explorer: the memory in a browser, over a listener of its own.
//!
//! | file | job |
//! |---|---|
//! | `serve.rs` | the command's work: opens the store, listens, prints and opens the address, ends |
//! | `opening.rs` | opens a browser |
//! | `gate.rs` | takes a request: to the page's files, or to a function |
//! | `guard.rs` | which requests are answered, by their heads |
//! | `sessions.rs` | codes and tokens: who may call functions |
//! | `page.rs` | the page's files |
//! | `answers.rs` | answers: JSON, errors, the headers of all |
//! | `api.rs` | the functions by name, called on the engine |
//! | `own.rs` | the functions that are answered in JSON: a few tools, and its own |
//! | `map.rs` | the map of all memories |
//! | `changing.rs` | changes of what somebody else may have changed |
//! | `pace.rs` | how often all memories are looked at |
//! | `streams.rs` | events and exports: answers that are sent piece by piece |
//! | `idle.rs` | whether a page is open |

mod answers;
mod api;
mod changing;
mod gate;
mod guard;
mod idle;
mod map;
mod opening;
mod own;
mod pace;
mod page;
#[cfg(test)]
mod result_types;
mod serve;
mod sessions;
mod streams;

pub use serve::{ExplorerOptions, run};
