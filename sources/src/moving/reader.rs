//! A connection to an SQLite database of another program, which may be running.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

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
        let opened = match connect(path, "") {
            // Beside the database nothing can be written, as on a backup: then nobody writes to it either.
            Err(error) if is_refused(&error) && !has_log(path) => connect(path, "?immutable=1"),
            opened => opened,
        };
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

/// Opens a database with the parameters of SQLite's URIs.
fn connect(path: &Path, parameters: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if parameters.is_empty() {
        Connection::open_with_flags(path, flags)?
    } else {
        Connection::open_with_flags(uri(path) + parameters, flags | OpenFlags::SQLITE_OPEN_URI)?
    };
    connection.busy_timeout(TIMEOUT)?;
    // The schema is of others: none of its views and triggers may call a function.
    connection.pragma_update(None, "trusted_schema", false)?;
    // One snapshot for all that is read.
    connection.execute_batch("BEGIN")?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// A path as a URI.
fn uri(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let mut uri = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b'.' | b'-' | b'_' | b':' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    if cfg!(windows) { uri.replacen("file://", "file:///", 1) } else { uri }
}

fn is_refused(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Whether a write-ahead log has what the database does not have yet.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// A name within SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
