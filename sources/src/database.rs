//! Databases of other programs. Their rows and their schema may be hostile.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::foreign::{Deadline, Foreign};

/// The longest value or row that SQLite makes, in bytes.
const LONGEST: i32 = 64 << 20;
/// SQLite calls the progress handler after this many steps.
const STEPS: i32 = 10_000;
/// The most steps that reading a database takes, and those for each byte of it. A healthy one takes some hundred for a row, which
/// has some dozen bytes, and it may have no index. SQLite makes about 100 million of them in a second: for a small database that
/// is half a minute.
const MOST_STEPS: u64 = if cfg!(test) { 300_000_000 } else { 3_000_000_000 };
const STEPS_A_BYTE: u64 = 1_000;
/// The files that SQLite opens beside a database by itself.
const BESIDE: [&str; 3] = [LOG, "-shm", "-journal"];
const LOG: &str = "-wal";

/// Connects to a database to read it until the deadline. `parameters` are parameters of SQLite's URIs.
///
/// The caller has checked its path, and SQLite follows no link. Its schema may neither call functions with effects nor change
/// the database behind SQLite's back, and no value in it is too long.
///
/// # Errors
/// Errors of SQLite.
pub fn connect(path: &Path, parameters: &str, deadline: &Deadline) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = if parameters.is_empty() {
        Connection::open_with_flags(path, flags)?
    } else {
        Connection::open_with_flags(uri(path) + parameters, flags | OpenFlags::SQLITE_OPEN_URI)?
    };
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    let deadline = deadline.clone();
    let size = size(path).unwrap_or_default();
    let mut left = size.saturating_mul(STEPS_A_BYTE).saturating_add(MOST_STEPS) / u64::from(STEPS.unsigned_abs());
    let is_over = move || {
        left = left.saturating_sub(1);
        left == 0 || deadline.is_over()
    };
    connection.progress_handler(STEPS, Some(is_over))?;
    Ok(connection)
}

/// The path of a database without links, once it is known to be a regular file below its root, as are those beside it.
///
/// # Errors
/// If one of them is no regular file; errors of the file system.
pub fn checked_path(file: Foreign<'_>) -> io::Result<PathBuf> {
    let path = file.checked_path()?;
    for end in BESIDE {
        let beside = beside(&path, end);
        // SQLite itself refuses folders and links, but it waits for the other end of a pipe.
        let cannot_wait = |kind: fs::FileType| kind.is_file() || kind.is_dir() || kind.is_symlink();
        if fs::symlink_metadata(&beside).is_ok_and(|found| !cannot_wait(found.file_type())) {
            let why = format!("the file with {end} at its end, beside it, is not a regular file");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
    }
    Ok(path)
}

/// The bytes of a database and of its log, which may have rows that the database does not have yet.
///
/// # Errors
/// Errors of the file system.
pub fn size(path: &Path) -> io::Result<u64> {
    let log = fs::symlink_metadata(log_of(path)).map_or(0, |log| log.len());
    Ok(fs::symlink_metadata(path)?.len().saturating_add(log))
}

/// The write-ahead log of a database.
pub fn log_of(path: &Path) -> PathBuf {
    beside(path, LOG)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Why SQLite has ended a query that was not over by its deadline.
pub const TOO_MANY_STEPS: &str = "reading it takes more steps than a database of its size can need";

/// Whether there is a plain table of this name. A view can be endless, and a virtual table can be code.
///
/// SQLite does not go by the kind that the schema names, but by the statement and its root page.
///
/// # Errors
/// Errors of SQLite.
pub fn is_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT min(type = 'table' AND rootpage > 0 AND substr(sql, 1, 13) = 'CREATE TABLE ')
        FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE";
    let found = connection.query_row(sql, [name], |row| row.get::<_, Option<bool>>(0)).optional()?;
    Ok(found.flatten() == Some(true))
}

fn uri(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    // Before a drive, the path in a URI begins with a slash.
    let mut uri = String::from(if has_drive(&path) { "file:///" } else { "file://" });
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b'.' | b'-' | b'_' | b':' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn has_drive(path: &Path) -> bool {
    cfg!(windows) && path.as_os_str().as_encoded_bytes().get(1) == Some(&b':')
}
