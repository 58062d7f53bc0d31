//! A connection to an SQLite database of another program, which may be running.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use super::error::StoreError;
use super::files::StoreFiles;
use crate::database;
use crate::foreign::Deadline;

/// How long to wait for a program that writes.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The first bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// A connection that reads the database as it was when it was opened.
pub struct SnapshotReader {
    connection: Connection,
    path: PathBuf,
}

/// Whether the file at `path` is an SQLite database.
pub fn is_database(files: &StoreFiles, path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    files.at(path).open(MAGIC.len() as u64).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *MAGIC
}

impl SnapshotReader {
    /// Opens a database of a store to read it.
    ///
    /// # Errors
    /// If it does not exist, or cannot be read.
    pub fn open(files: &StoreFiles, path: &Path) -> Result<Self, StoreError> {
        let file = files.at(path);
        let real = database::checked_path(file).map_err(StoreError::io(path))?;
        if !is_database(files, path) {
            return Err(StoreError::unexpected(files.system(), path, "is no SQLite database"));
        }
        let opened = match connect(&real, "", file.deadline) {
            // Beside the database nothing can be written, as on a backup: then nobody writes to it either.
            Err(error) if is_refused(&error) && !has_log(path) => connect(&real, "?immutable=1", file.deadline),
            opened => opened,
        };
        let connection = opened.map_err(|error| StoreError::Database { path: path.into(), error })?;
        Ok(SnapshotReader { connection, path: path.into() })
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error of this database.
    pub fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError::Database { path: self.path.clone(), error }
    }

    /// Whether it has a plain table of this name.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn has_table(&self, name: &str) -> Result<bool, StoreError> {
        database::is_table(&self.connection, name).map_err(|error| self.failed(error))
    }

    /// The number that `sql` selects.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn count(&self, sql: &str) -> Result<u64, StoreError> {
        let count = self.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        count.map(|count| count.unsigned_abs()).map_err(|error| self.failed(error))
    }
}

/// Opens a database with the parameters of SQLite's URIs.
fn connect(path: &Path, parameters: &str, deadline: &Deadline) -> rusqlite::Result<Connection> {
    let connection = database::connect(path, parameters, deadline)?;
    connection.busy_timeout(TIMEOUT)?;
    // One snapshot for all that is read.
    connection.execute_batch("BEGIN")?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

fn is_refused(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Whether a write-ahead log has rows that the database does not have yet.
fn has_log(path: &Path) -> bool {
    std::fs::metadata(database::log_of(path)).is_ok_and(|log| log.len() > 0)
}

/// A name within SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
