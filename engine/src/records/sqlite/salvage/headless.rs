//! A database whose header is damaged: SQLite opens no page of it. A copy gets a new header, and is read like any other.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use memorist_durable::{NewFile, folder_of};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::pages::FILE_HEADER;
use crate::error::{Error, Result};
use crate::paths::companions;
use crate::records::sqlite::errors::{is_busy, open_error};

/// Such a database, which nobody else has open.
pub(super) struct Headless {
    path: PathBuf,
    // It is closed after the lock: closing it would drop SQLite's locks on the same file.
    pub(super) lock: Connection,
    file: File,
}

impl Headless {
    /// Locks out others by a transaction that is never committed, in which SQLite takes the file for an empty one.
    pub(super) fn open(path: &Path, lock: Connection) -> Result<Self> {
        let set = |name, value| lock.pragma_update_and_check(None, name, value, |_| Ok(()));
        let prepare = || {
            lock.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
            // Else closing it would write the write-ahead log into the file.
            lock.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            set("locking_mode", "EXCLUSIVE")?;
            // No journal on the disk: one that a killed process leaves would be played into the next database. To leave the
            // mode of a write-ahead log is to write to the file.
            let mode: String = lock.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
            if mode != "wal" {
                set("journal_mode", "MEMORY")?;
            }
            lock.execute_batch("BEGIN EXCLUSIVE")
        };
        prepare().map_err(|error| lock_error(path, error))?;
        let file = File::open(path).map_err(|error| Error::io(path, error))?;
        Ok(Headless { path: path.to_owned(), lock, file })
    }

    /// Copies all pages, under a new header, including those in the write-ahead log.
    pub(super) fn copy(&self, to: &NewFile) -> Result<()> {
        let ([log, ..], [log_of_copy, ..]) = (companions(&self.path), companions(to.path()));
        let copy = || {
            io::copy(&mut &self.file, &mut to.file())?;
            to.file().rewind()?;
            to.file().write_all(&header())?;
            if log.exists() { fs::copy(&log, &log_of_copy).map(drop) } else { Ok(()) }
        };
        copy().map_err(|error| Error::io(to.path(), error))?;
        let apply = || {
            let conn = Connection::open(to.path())?;
            conn.pragma_update(None, "writable_schema", true)?;
            conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
            conn.close().map_err(|(_, error)| error)
        };
        if log_of_copy.exists() { apply().map_err(|error| open_error(&self.path, error)) } else { Ok(()) }
    }
}

/// Why the lock on the whole file was not given.
pub(super) fn lock_error(path: &Path, error: rusqlite::Error) -> Error {
    if is_busy(&error) {
        let why = "other processes use this store; end them first".into();
        return Error::Store { path: folder_of(path).to_owned(), why };
    }
    open_error(path, error)
}

/// The header of a database of memorist, without version and owner: the copy is read page by page. See
/// <https://www.sqlite.org/fileformat2.html#the_database_header>.
fn header() -> [u8; FILE_HEADER] {
    let mut header = [0; FILE_HEADER];
    let fields: [(usize, &[u8]); 5] = [
        (0, b"SQLite format 3\0"),
        // Pages of 4,096 bytes, as SQLite makes them by default.
        (16, &[16, 0, 2, 2, 0, 64, 32, 32]),
        // Another count of changes than at 92: the number of pages is the length of the file.
        (24, &[0, 0, 0, 1]),
        // How many pages are free is not known, and no list of them.
        (36, &[0xFF; 4]),
        // The format of the schema, and UTF-8.
        (44, &[0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    ];
    for (at, bytes) in fields {
        header[at..at + bytes.len()].copy_from_slice(bytes);
    }
    header
}
