//! opencode: `~/.local/share/opencode/opencode.db`, or `opencode-<channel>.db`; Kilo Code, which is built on it by now:
//! `~/.local/share/kilo/kilo.db`.
//!
//! Version 1 has `session`, `message` and `part`; version 2 has `session_message`, and leaves the older tables as they
//! are. A message that was carried over keeps its identifier. What opencode kept in `storage/**.json` before is not read:
//! it imports that into its database.

use std::path::{Path, PathBuf};

use self::reader::OpenCodeReader;
use super::sqlite::{Database, Watermark, cursor, place};
use super::{Batch, Cursor, Format, ReadError};
use crate::foreign::Foreign;
use crate::machine::Machine;

mod answers;
mod reader;
mod v1;
mod v2;

/// Reads transcripts of opencode.
pub struct OpenCode;

impl Format for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let folder = machine.path("XDG_DATA_HOME", ".local/share").join("opencode");
        let database = machine.path("OPENCODE_DB", ".local/share/opencode/opencode.db");
        let is_elsewhere = !database.starts_with(&folder);
        let kilo = machine.path("XDG_DATA_HOME", ".local/share").join("kilo/kilo.db");
        [folder, kilo].into_iter().chain(is_elsewhere.then_some(database)).collect()
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Below its own folder it has databases of others; `OPENCODE_DB` may have any name elsewhere.
        let is_named = name == "opencode.db" || name.starts_with("opencode-");
        name.ends_with(".db") && (is_named || !path.iter().any(|part| part == "opencode"))
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let database = Database::open(file)?;
        let read: Watermark = place(since);
        let mut reader = OpenCodeReader { from: read.from(), read, batch: Batch::default() };
        let is_v2 = !database.columns("session_message")?.is_empty();
        if !is_v2 || !database.columns("message")?.is_empty() {
            v1::read(&database, &mut reader)?;
        }
        if is_v2 {
            v2::read(&database, &mut reader)?;
        }
        reader.read.prune();
        reader.batch.cursor = cursor(&reader.read);
        Ok(reader.batch)
    }
}

#[cfg(test)]
mod tests;
