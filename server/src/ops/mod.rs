//! One function per tool: parameters in, engine calls, result out. MCP and the command line both call these.
//!
//! | file | job |
//! |---|---|
//! | `context.rs` | defaults for what a call omits |
//! | `records.rs` | saving, finding, changing, deleting, listing, counting |
//! | `graph.rs` | links, chains and digests |
//! | `history.rs` | versions, rollback and permanent removal |
//! | `exchange.rs` | files of the export folder |
//! | `export.rs`, `import.rs` | memories and links to lines, and back |

mod context;
mod exchange;
mod export;
mod graph;
mod history;
mod import;
mod records;

pub use context::Context;
pub use exchange::{export, export_as, import, import_as};
pub use export::write_lines;
pub use graph::{chain, digest, link, outdated, unlink};
pub use history::{history, purge, roll_back};
pub use import::{Importing, read_lines};
pub use records::{add, delete, get, list, resembling, save, search, stats, update};
