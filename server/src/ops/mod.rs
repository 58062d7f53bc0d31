//! One function per tool: parameters in, engine calls, result out. MCP and the command line both call these.
//!
//! | file | job |
//! |---|---|
//! | `context.rs` | defaults for what a call omits |
//! | `save.rs` | saving |
//! | `records.rs` | finding, changing, deleting, listing, counting |
//! | `recall.rs` | automatic recall: memories that are injected into a turn |
//! | `hooks.rs` | answers to hooks of clients |
//! | `core` | the tools of the core profile, whose answers are text |
//! | `graph.rs` | links, chains and digests |
//! | `history.rs` | versions, rollback and permanent removal |
//! | `gimli` | Gimli's tools: lines of files, found and read |
//! | `memory_files` | Claude's memory tool: files that are memories |
//! | `tidy` | proposals to tidy up, applied by choice, and undone |
//! | `exchange.rs` | files of the export folder |
//! | `explore` | requests of the explorer |
//! | `export.rs`, `import.rs` | memories and links to lines, and back |

mod context;
pub mod core;
mod exchange;
pub mod explore;
mod export;
pub mod gimli;
mod graph;
mod history;
pub mod hooks;
mod import;
pub mod memory_files;
mod recall;
mod records;
mod save;
pub mod tidy;
mod workspace;

pub use context::Context;
pub use exchange::{export, export_as, import, import_as};
pub use export::{Written, write_lines};
pub use graph::{chain, chain_query, digest, digest_local, digest_query, link, outdated, unlink};
pub use history::{history, purge, roll_back, undo, undo_each};
pub use import::{Importing, read_lines};
pub use recall::{answer as recall_for, recall};
pub use records::{
    LINKS_SHOWN, Listed, delete, get, list, list_filter, listed, no_reply, plain_filter, reply, search, stats,
    stats_in_view, superseded, update,
};
pub use save::{add, add_all, resembling, save, to_save, to_update, unfollowed};
pub use workspace::add_workspace;
