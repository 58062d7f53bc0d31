//! A connection to an SQLite database of another program, which may be running.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::System;
use super::error::StoreError;

/// How long to wait for a program that writes.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The first bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// A connection that reads the database as it was when it was opened.
pub struct Reader {
    connection: Connection,
    path: PathBuf,
}

/// Whether the file at `path` is an SQLite database.
pub fn is_database(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *MAGIC
}

impl Reader {
    /// Opens the database of `system` at `path` to read it.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn open(system: System, path: &Path) -> Result<Self, StoreError> {
        if !is_database(path) {
            let why = if path.exists() { "is no SQLite database" } else { "does not exist" };
            return Err(StoreError::unexpected(system, path, why));
        }
        // Without NO_MUTEX, SQLite locks on every call. Not `immutable`: that misses what is in the write-ahead log.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
            connection.busy_timeout(TIMEOUT)?;
            // The schema is of others: none of its views and triggers may call a function.
            connection.pragma_update(None, "trusted_schema", false)?;
            // One snapshot for all that is read.
            connection.execute_batch("BEGIN")?;
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(connection)
        });
        let connection = opened.map_err(|error| StoreError::Database { path: path.into(), error })?;
        Ok(Reader { connection, path: path.into() })
    }

    /// The connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error of this database.
    pub fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError::Database { path: self.path.clone(), error }
    }

    /// Whether it has a table of this name.
    ///
    /// # Errors
    /// Those of the database.
    pub fn has_table(&self, name: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let found = self.connection.query_row(sql, [name], |_| Ok(())).optional();
        found.map(|found| found.is_some()).map_err(|error| self.failed(error))
    }

    /// The number that `sql` selects.
    ///
    /// # Errors
    /// Those of the database.
    pub fn count(&self, sql: &str) -> Result<u64, StoreError> {
        let count = self.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        count.map(|count| count.unsigned_abs()).map_err(|error| self.failed(error))
    }
}

/// A name within SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
