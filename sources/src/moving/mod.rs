//! The stores of other memory systems, read as memories and links of memorist.
//!
//! A store is opened for reading alone, and never made. Every memory comes with a key that is the same on every run. What
//! cannot be brought, or only after it was mended, is counted in [`Report::not_brought`]. Tables and columns of other
//! versions may be missing.
//!
//! | file | job |
//! |---|---|
//! | `system.rs` | the systems and their names |
//! | `types.rs` | what is read: memories, links, the report |
//! | `mudpuppy.rs` | Mudpuppy |
//! | `memorizer.rs`, `people.rs` | Memorizer: facts, conversations and profiles; skills, contacts and projects |
//! | `krolik.rs` | Krolik |
//! | `chunks.rs` | Gimli and OpenClaw |
//! | `basic_memory.rs`, `note.rs` | basic-memory: the folder, and a note of it |
//! | `server_memory.rs` | the reference memory server |
//! | `mem0.rs`, `mem0_history.rs`, `pickle.rs` | mem0: exports and vector stores; their history; Python's pickles |
//! | `claude_mem.rs` | claude-mem |
//! | `reader.rs`, `table.rs`, `database.rs` | connections to SQLite databases; rows of their tables; their tables |
//! | `files.rs` | the files of a store, below the path that was named |
//! | `places.rs` | the file of a store in a folder |
//! | `mend.rs`, `times.rs`, `body.rs` | values within the bounds of memorist; times; bodies |
//! | `out.rs` | where the readers pass what they read |
//! | `error.rs` | why a store cannot be read |

mod basic_memory;
mod body;
mod chunks;
mod claude_mem;
mod database;
mod error;
mod files;
mod krolik;
mod mem0;
mod mem0_history;
mod memorizer;
mod mend;
mod mudpuppy;
mod note;
mod out;
mod people;
mod pickle;
mod places;
mod reader;
mod server_memory;
mod system;
mod table;
mod times;
mod types;

use std::path::Path;

pub use error::{MoveError, StoreError};
pub use system::System;
pub use types::{Access, Earlier, FileSpan, Item, Link, Memory, Report};

use files::StoreFiles;
use out::Out;

/// Reads the store of `system` at `path`, a file or the folder that it is in; no link leads out of that folder. Passes all memories to `visit`, then all
/// links between them.
///
/// # Errors
/// [`MoveError::Store`] if it is no such store, or cannot be read. [`MoveError::Visit`] is the error of `visit`, which
/// ends the reading.
pub fn read<E>(
    system: System,
    path: &Path,
    visit: &mut dyn FnMut(Item) -> Result<(), E>,
) -> Result<Report, MoveError<E>> {
    let mut out = Out::new(visit);
    let files = &StoreFiles::open(system, path)?;
    match system {
        System::Mudpuppy => mudpuppy::read(files, &mut out),
        System::Memorizer => memorizer::read(files, &mut out),
        System::Krolik => krolik::read(files, &mut out),
        System::Gimli | System::Openclaw => chunks::read(files, &mut out),
        System::BasicMemory => basic_memory::read(files, &mut out),
        System::ServerMemory => server_memory::read(files, &mut out),
        System::Mem0 => mem0::read(files, &mut out),
        System::ClaudeMem => claude_mem::read(files, &mut out),
    }?;
    Ok(out.report)
}
