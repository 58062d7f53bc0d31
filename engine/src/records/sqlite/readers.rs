//! Connections that only read, and how a database is read that cannot be written.
//!
//! SQLite reads a database with a write-ahead log only where it finds that log and its index or can make them. In a
//! folder that cannot be written there are two cases:
//!
//! - The log is there: somebody has the store open for writing, or did not close it. It is read with the log.
//! - There is no log: the database is complete in itself, and is opened as one that does not change. A process that writes to it
//!   makes a log first. So before each read the log is looked for and the time and length of the file are compared; where
//!   they differ, new connections are made. Backups and exports, which read for long, compare them afterwards, too.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use memorist_durable::FileId;
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};

use super::connection::{WRITE_TIMEOUT, connect, connect_with};
use super::errors::open_error;
use crate::error::{Error, Result};
use crate::paths::companions;

/// Reading connections kept open while they are idle.
pub(super) const IDLE_READERS: usize = 4;

/// State of the files of a database: shows whether it was replaced, or, if it is read without a log, has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    file: Option<FileId>,
    has_log: bool,
    /// The length and the time, without a log. With one, SQLite sees changes; a checkpoint does not count as a change.
    state: Option<(u64, Option<SystemTime>)>,
}

impl Look {
    fn at(database: &Path) -> Self {
        let [wal, ..] = companions(database);
        let has_log = wal.metadata().is_ok_and(|wal| wal.len() > 0);
        let found = database.metadata().ok().filter(|_| !has_log);
        let state = found.map(|found| (found.len(), found.modified().ok()));
        Look { file: FileId::of(database), has_log, state }
    }
}

/// The reading connections of a store.
pub(super) struct Readers {
    path: PathBuf,
    can_write: bool,
    pub(super) idle: Mutex<Vec<Idle>>,
}

pub(super) struct Idle {
    conn: Connection,
    /// State of the files when they were opened; only for a store that cannot be written.
    look: Option<Look>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, can_write: bool) -> Arc<Self> {
        Arc::new(Readers { path, can_write, idle: Mutex::default() })
    }

    /// A connection that is not in use, or a new one.
    pub(super) fn lend(self: &Arc<Self>) -> Result<Reader> {
        let look = (!self.can_write).then(|| Look::at(&self.path));
        let idle = {
            let mut idle = self.idle.lock();
            idle.retain(|idle| idle.look == look);
            idle.pop()
        };
        let idle = match idle {
            Some(idle) => idle,
            None => {
                let conn = match &look {
                    None => connect(&self.path, WRITE_TIMEOUT),
                    Some(look) => connect_to_read(&self.path, look.has_log),
                };
                let conn = conn.map_err(|error| self.explain(error))?;
                conn.pragma_update(None, "query_only", true)?;
                if look.is_some() {
                    // SQLite opens files at the first read: what stands in the way shows here.
                    let version = conn.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
                    version.map_err(|error| self.explain(error))?;
                }
                Idle { conn, look }
            }
        };
        Ok(Reader { lent: Some(idle), home: Arc::clone(self) })
    }

    fn explain(&self, error: rusqlite::Error) -> Error {
        let [wal, index, _] = companions(&self.path);
        if !self.can_write && wal.exists() && !index.exists() {
            let why =
                "it cannot be written, and what memory.db-wal has cannot be read without memory.db-shm; copy the \
                       folder to where it can be written, and open it there"
                    .into();
            return Error::Store { path: self.path.clone(), why };
        }
        open_error(&self.path, error)
    }
}

fn connect_to_read(path: &Path, has_log: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if has_log {
        return connect_with(path, flags, WRITE_TIMEOUT);
    }
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(char::from(*byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    connect_with(Path::new(&(uri + "?immutable=1")), flags | OpenFlags::SQLITE_OPEN_URI, WRITE_TIMEOUT)
}

/// A reading connection, on loan from its pool.
pub(in crate::records) struct Reader {
    lent: Option<Idle>,
    home: Arc<Readers>,
}

impl Reader {
    pub(super) fn path(&self) -> &Path {
        &self.home.path
    }

    /// Fails if the database is read without a log and has changed since this reader was lent.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        let look = self.lent.as_ref().and_then(|lent| lent.look.as_ref());
        if look.is_some_and(|look| !look.has_log && *look != Look::at(&self.home.path)) {
            let why = "it was changed while it was read; try again".into();
            return Err(Error::Store { path: self.home.path.clone(), why });
        }
        Ok(())
    }

    /// Whether the files of a database that cannot be written show that it has changed since.
    pub(super) fn is_outdated(&self) -> bool {
        let look = self.lent.as_ref().and_then(|lent| lent.look.as_ref());
        look.is_some_and(|look| *look != Look::at(&self.home.path))
    }

    /// A new connection, to the database that is there now.
    pub(super) fn another(&self) -> Result<Reader> {
        self.home.lend()
    }

    #[cfg(test)]
    pub(super) fn conn_mut(&mut self) -> &mut Connection {
        &mut self.lent.as_mut().expect("the connection is taken only by drop").conn
    }
}

impl std::ops::Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.lent.as_ref().expect("the connection is taken only by drop").conn
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let Some(lent) = self.lent.take() else { return };
        // A connection that still is in a transaction would show its next user the past: it is closed instead.
        let clean = lent.conn.is_autocommit() || lent.conn.execute_batch("ROLLBACK").is_ok();
        let mut idle = self.home.idle.lock();
        if clean && idle.len() < IDLE_READERS {
            idle.push(lent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::Snapshot;
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::paths::StorePaths;
    use crate::records::Records;

    #[test]
    fn a_reader_sees_the_owner_s_writes_with_or_without_a_log() {
        let store = TestStore::new();
        store.add(&new("one"), NOW).unwrap();
        let kept = store.close();
        let paths = StorePaths::new(kept.path());
        let files = || std::fs::read_dir(kept.path()).unwrap().count();
        let readers = Readers::new(paths.database(), false);
        let count = || Snapshot::begin(readers.lend().unwrap()).unwrap().live_count(NOW).unwrap();
        // Beside it is the lock file of the queue, which is never removed.
        assert_eq!((count(), files()), (1, 2), "no log, and none is made");
        for (at, text) in ["two", "three"].into_iter().enumerate() {
            let records = Records::open(&paths).unwrap();
            records.add(&new(text), NOW).unwrap();
            assert_eq!(count(), at as u64 + 2, "in the log");
            readers.idle.lock().clear();
            drop(records);
            assert_eq!((count(), files()), (at as u64 + 2, 2), "in the database");
        }
        assert!(readers.lend().unwrap().execute_batch("DELETE FROM meta").is_err());
    }
}
