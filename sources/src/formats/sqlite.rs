//! Databases of agents, which may write to them meanwhile.
//!
//! They are opened for reading only, and never created. SQLite itself may leave the `-wal` and `-shm` files beside a database in
//! WAL mode; the next program that opens it needs them.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, Params, Row};
use serde::{Deserialize, Serialize};

use super::{Cursor, ReadError};
use crate::database::{TOO_MANY_STEPS, checked_path, connect, is_table, size};
use crate::foreign::{Deadline, Foreign};

/// How long to wait for a lock of the agent.
const BUSY: Duration = Duration::from_secs(2);
/// The longest value that is read, in bytes. A longer one has the output of a tool.
pub const MAX_VALUE: i64 = 16 << 20;
/// Bytes that are read of any database, and those for each byte of a larger one. A row counts as so many beside its values. A
/// broken database can have the same page in many places, and rows without an end.
const ROWS: u64 = 64 << 20;
const ROWS_A_BYTE: u64 = 16;
const ROW: u64 = 256;

/// The value of a column, in SQL; an empty text instead of one that is too long.
pub fn limited(column: &str) -> String {
    format!("CASE WHEN octet_length({column}) > {MAX_VALUE} THEN '' ELSE {column} END")
}

/// A database of an agent.
pub struct Database {
    connection: Connection,
    deadline: Deadline,
    /// Bytes that may still be read.
    left: Cell<u64>,
}

impl Database {
    /// Opens it. In WAL mode all queries see the same state.
    ///
    /// # Errors
    /// Errors of the file system and of SQLite: it is locked, or no database.
    pub fn open(file: Foreign<'_>) -> Result<Self, ReadError> {
        let path = checked_path(file).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => ReadError::Unknown(error.to_string()),
            _ => error.into(),
        })?;
        let size = size(&path)?;
        let connection = connect(&path, "", file.deadline)?;
        connection.busy_timeout(BUSY)?;
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        // Elsewhere a transaction would keep the agent from writing until the last query.
        if mode == "wal" {
            connection.execute_batch("BEGIN")?;
        }
        let left = Cell::new(size.saturating_mul(ROWS_A_BYTE).saturating_add(ROWS));
        Ok(Database { connection, deadline: file.deadline.clone(), left })
    }

    /// The columns of a table; empty if there is no such table, or if it is a view or a virtual table.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn columns(&self, table: &str) -> Result<BTreeSet<String>, ReadError> {
        if !is_table(&self.connection, table).map_err(|error| self.failed(error))? {
            return Ok(BTreeSet::new());
        }
        let mut statement = self.connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([table], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// The columns of a table that must have these.
    ///
    /// # Errors
    /// [`ReadError::Unknown`] names the table or the column that is missing.
    pub fn require(&self, table: &str, columns: &[&str]) -> Result<BTreeSet<String>, ReadError> {
        let found = self.columns(table)?;
        if found.is_empty() {
            return Err(ReadError::Unknown(format!("the database has no table {table}")));
        }
        match columns.iter().find(|column| !found.contains(**column)) {
            Some(column) => Err(ReadError::Unknown(format!("the table {table} has no column {column}"))),
            None => Ok(found),
        }
    }

    /// Passes each row of a query to `take`.
    ///
    /// # Errors
    /// Errors of SQLite and of `take`.
    pub fn each(
        &self,
        query: &str,
        params: impl Params,
        mut take: impl FnMut(&Row<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut statement = self.connection.prepare_cached(query)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next().map_err(|error| self.failed(error))? {
            self.count(ROW)?;
            for column in 0..columns {
                if let ValueRef::Text(value) | ValueRef::Blob(value) = row.get_ref(column)? {
                    self.count(value.len() as u64)?;
                }
            }
            take(row)?;
        }
        Ok(())
    }

    /// Counts bytes that were read, or made of read ones.
    ///
    /// # Errors
    /// If they are more than a database of its size should have.
    pub fn count(&self, bytes: u64) -> Result<(), ReadError> {
        let too_many = || ReadError::Unknown("its rows have more than a database of its size can have".into());
        self.left.set(self.left.get().checked_sub(bytes).ok_or_else(too_many)?);
        Ok(())
    }

    fn failed(&self, error: rusqlite::Error) -> ReadError {
        let is_stopped = error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted);
        match self.deadline.check() {
            Err(over) if is_stopped => over.into(),
            Ok(()) if is_stopped => ReadError::Unknown(TOO_MANY_STEPS.into()),
            _ => error.into(),
        }
    }

    /// The numbers in the first column of a query.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn numbers(&self, query: &str, params: impl Params) -> Result<Vec<i64>, ReadError> {
        let mut numbers = Vec::new();
        self.each(query, params, |row| {
            numbers.extend(number(row, 0)?);
            Ok(())
        })?;
        Ok(numbers)
    }
}

/// A text that is neither empty nor broken.
///
/// # Errors
/// The row has no such column.
pub fn text(row: &Row<'_>, column: usize) -> Result<Option<String>, ReadError> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(text) if !text.is_empty() => str::from_utf8(text).ok().map(str::to_owned),
        _ => None,
    })
}

/// A text that many rows may have alike, up to the length of a label.
///
/// # Errors
/// The row has no such column.
pub fn label(row: &Row<'_>, column: usize) -> Result<Option<String>, ReadError> {
    Ok(text(row, column)?.map(|text| super::field::label(&text)))
}

/// A whole number.
///
/// # Errors
/// The row has no such column.
pub fn number(row: &Row<'_>, column: usize) -> Result<Option<i64>, ReadError> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(number) => Some(number),
        _ => None,
    })
}

/// The bytes of a text or of a blob.
///
/// # Errors
/// The row has no such column.
pub fn bytes<'r>(row: &'r Row<'_>, column: usize) -> Result<Option<&'r [u8]>, ReadError> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
        _ => None,
    })
}

/// A number of seconds is below, one of milliseconds above.
pub const MAX_SECONDS: i64 = 100_000_000_000;

/// Milliseconds, of a number of them or of seconds.
pub fn milliseconds(number: i64) -> i64 {
    if (-MAX_SECONDS..MAX_SECONDS).contains(&number) { number * 1000 } else { number }
}

/// A time in Unix milliseconds, if there can be such a time.
pub fn time(milliseconds: i64) -> Option<i64> {
    Timestamp::from_millisecond(milliseconds).is_ok().then_some(milliseconds)
}

/// A row's number as the number of a line.
pub fn line(row: i64) -> u64 {
    u64::try_from(row).unwrap_or_default()
}

/// Reads a cursor; the default, if it is not of this kind.
pub fn place<T: for<'de> Deserialize<'de> + Default>(since: Option<&Cursor>) -> T {
    since.and_then(|cursor| serde_json::from_str(&cursor.0).ok()).unwrap_or_default()
}

pub fn cursor(place: &impl Serialize) -> Cursor {
    Cursor(serde_json::to_string(place).unwrap_or_default())
}

/// Rows can be committed later than others with a newer time, by as much, in milliseconds.
const MARGIN: i64 = 60_000;
/// How many rows within the margin are remembered.
const MAX_SEEN: usize = 4096;
/// A time that is ahead of now by more is wrong, in milliseconds.
const DAY: i64 = 86_400_000;

/// The time up to which rows were read, for rows with the time of their last change.
///
/// Rows within a margin are read again, and distinguished from changed ones by their hash.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Watermark {
    at: i64,
    seen: BTreeMap<u64, i64>,
}

impl Watermark {
    /// The time from which on rows are read.
    pub fn from(&self) -> i64 {
        if self.at == 0 { i64::MIN } else { self.at.saturating_sub(MARGIN) }
    }

    /// The newest time.
    pub fn at(&self) -> i64 {
        self.at
    }

    /// Whether a row with this time and hash was not read yet. Notes it as read.
    pub fn is_new(&mut self, at: i64, hash: u64) -> bool {
        if at <= now().saturating_add(DAY) {
            self.at = self.at.max(at);
        }
        let is_new = self.seen.insert(hash, at).is_none();
        if self.seen.len() > 4 * MAX_SEEN {
            self.prune();
        }
        is_new
    }

    /// Forgets rows that are not read again.
    pub fn prune(&mut self) {
        let from = self.from();
        self.seen.retain(|_, at| *at >= from);
        while self.seen.len() > MAX_SEEN {
            self.seen.pop_first();
        }
    }
}

/// In Unix milliseconds.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
