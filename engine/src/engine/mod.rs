//! The door of the engine: [`Engine`] opens a store and ties its parts together.
//!
//! | file | job |
//! |---|---|
//! | `open.rs` | [`Engine`]: opening a store and closing it |
//! | `records.rs` | saving, fetching, changing and deleting |
//! | `search.rs` | searching, and the model behind it |
//! | `exchange.rs` | everything for another store, and from one |
//! | `forget.rs` | removing for good |
//! | `graph.rs` | links, what hangs together by them, and digests |
//! | `names.rs` | the projects and tags in use |
//! | `similar.rs` | what resembles a memory |
//! | `upkeep.rs` | work on a store as a whole: its indexes, its model, its health |
//! | `offline.rs` | what is done to a store that is not open |
//! | `reports.rs` | what the longer works tell |

mod exchange;
mod forget;
mod graph;
mod names;
mod offline;
mod open;
mod records;
mod reports;
mod search;
mod similar;
mod upkeep;

pub use exchange::Import;
pub use offline::{examine, restore, setup};
pub use open::Engine;
pub use reports::{IndexStats, RebuildReport, ReembedReport, SetupReport};
