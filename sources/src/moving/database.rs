//! SQLite databases of other programs, which may be running.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::System;
use super::error::StoreError;
use super::table::Table;
use super::types::Report;

/// How long to wait for a program that writes.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The first bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// A database, as it was when it was opened.
pub struct Database {
    connection: Connection,
    path: PathBuf,
}

/// Whether the file at `path` is an SQLite database.
pub fn is_database(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *MAGIC
}

impl Database {
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
        Ok(Database { connection, path: path.into() })
    }

    /// The connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// An error of this database.
    pub fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError::Database { path: self.path.clone(), error }
    }

    /// The table of this name, if there is one.
    ///
    /// # Errors
    /// Those of the database.
    pub fn table(&self, name: &'static str) -> Result<Option<Table<'_>>, StoreError> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let found = self.connection.query_row(sql, [name], |_| Ok(())).optional();
        match found.map_err(|error| self.failed(error))? {
            Some(()) => Ok(Some(Table::of(self, name)?)),
            None => Ok(None),
        }
    }

    /// The table of this name.
    ///
    /// # Errors
    /// If there is none: then it is no store of `system`.
    pub fn needed_table(&self, system: System, name: &'static str) -> Result<Table<'_>, StoreError> {
        let missing = || StoreError::unexpected(system, &self.path, format!("has no table {name}"));
        self.table(name)?.ok_or_else(missing)
    }

    /// Counts the rows of the tables that are not among `known`. Virtual tables and what they keep are no data.
    ///
    /// # Errors
    /// Those of the database.
    pub fn count_unknown_tables(&self, known: &[&str], report: &mut Report) -> Result<(), StoreError> {
        let sql = "SELECT t.name FROM sqlite_schema t WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                   AND t.sql NOT LIKE 'CREATE VIRTUAL%' AND NOT EXISTS (SELECT 1 FROM sqlite_schema v \
                   WHERE v.sql LIKE 'CREATE VIRTUAL%' AND substr(t.name, 1, length(v.name) + 1) = v.name || '_')";
        let names = self.connection.prepare(sql).and_then(|mut statement| {
            statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()
        });
        for name in names.map_err(|error| self.failed(error))? {
            if !known.contains(&name.as_str()) {
                let rows = self.count(&format!("SELECT count(*) FROM {}", quoted(&name)))?;
                report.count_many(format!("rows of the table {name}, which memorist does not know"), rows);
            }
        }
        Ok(())
    }

    /// Counts the embeddings in a virtual table of sqlite-vec.
    ///
    /// # Errors
    /// Those of the database.
    pub fn count_embeddings(&self, table: &str, report: &mut Report) -> Result<(), StoreError> {
        let rows = format!("{table}_rowids");
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let found = self.connection.query_row(sql, [&rows], |_| Ok(())).optional();
        if found.map_err(|error| self.failed(error))?.is_some() {
            report.count_many(EMBEDDINGS, self.count(&format!("SELECT count(*) FROM {}", quoted(&rows)))?);
        }
        Ok(())
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

/// Why embeddings are not brought.
pub const EMBEDDINGS: &str = "embeddings (made again)";

/// A name within SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
