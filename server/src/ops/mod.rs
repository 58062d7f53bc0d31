//! One function per tool: parameters in, the engine asked, the result out. MCP and the command line both call these.
//!
//! | file | job |
//! |---|---|
//! | `context.rs` | what fills in what a call leaves out |
//! | `records.rs` | saving, finding, changing, deleting, listing, counting |
//! | `graph.rs` | links, what hangs together by them, and the digest |
//! | `history.rs` | versions and going back to one, and forgetting for good |
//! | `exchange.rs` | files of the export folder, written and read |
//! | `export.rs`, `import.rs` | memories and links as lines, and lines as memories and links |

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
