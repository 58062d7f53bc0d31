//! What the tests of this folder share.

use std::ops::Deref;

use tempfile::TempDir;

use super::{Model, Records, Snapshot};
use crate::paths::StorePaths;
use crate::types::{Millis, NewRecord};

/// The time of the tests.
pub(super) const NOW: Millis = 1_700_000_000_000;

/// A store in a folder that goes with it.
pub(super) struct Store {
    records: Records,
    folder: TempDir,
}

impl Store {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Store { records: Records::open(&StorePaths::new(folder.path())).unwrap(), folder }
    }

    /// Closes it, and keeps its folder.
    pub(super) fn close(self) -> TempDir {
        self.folder
    }

    pub(super) fn paths(&self) -> StorePaths {
        StorePaths::new(self.folder.path())
    }

    /// The store as another process would open it.
    pub(super) fn again(&self) -> Records {
        Records::open(&self.paths()).unwrap()
    }

    /// Runs statements behind the back of [`Records`].
    pub(super) fn sql(&self, statements: &str) {
        let conn = rusqlite::Connection::open(self.paths().database()).unwrap();
        conn.execute_batch(statements).unwrap();
    }

    /// The number that a query gives.
    pub(super) fn number(&self, query: &str) -> i64 {
        let conn = rusqlite::Connection::open(self.paths().database()).unwrap();
        conn.query_row(query, [], |row| row.get(0)).unwrap()
    }

    pub(super) fn view(&self) -> Snapshot {
        self.records.snapshot().unwrap()
    }
}

impl Deref for Store {
    type Target = Records;

    fn deref(&self) -> &Records {
        &self.records
    }
}

/// A fact, with defaults.
pub(super) fn new(content: &str) -> NewRecord {
    NewRecord::new(content)
}

/// A model that nobody has.
pub(super) fn model(dims: usize) -> Model {
    Model { name: "test".into(), weights_sha256: "0".repeat(64), pooling: "mean".into(), dims }
}
