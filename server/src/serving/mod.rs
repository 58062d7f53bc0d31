//! Parts that every server needs beside its protocol: the engine behind it, and the signal that ends it.
//!
//! | file | job |
//! |---|---|
//! | `dispatch.rs` | runs the calls of all clients on the engine |
//! | `changes.rs` | tells that something in the store has changed, whichever process did it |
//! | `warming.rs` | loads the model before the first save |
//! | `stopping.rs` | ends when the process is signalled to stop |

mod changes;
mod dispatch;
mod stopping;
mod warming;

pub use changes::{Changes, INTERVAL, Subscriber};
pub use dispatch::{Access, Dispatcher, Unavailable};
pub use stopping::stop_signal;
pub use warming::{wait_for_model, warm_up};
