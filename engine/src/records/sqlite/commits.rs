//! Whether something was written since the last look, by whichever process.

use super::readers::Reader;
use super::store::Database;
use crate::error::Result;

/// Tells whether something was written. It holds a reading connection for as long as it lives.
pub struct Commits {
    reader: Reader,
    seen: i64,
}

impl Database {
    /// Tells of what is written from now on.
    pub fn commits(&self) -> Result<Commits> {
        Commits::seen_by(self.reader()?)
    }
}

impl Commits {
    fn seen_by(reader: Reader) -> Result<Self> {
        let mut commits = Commits { reader, seen: 0 };
        commits.any()?;
        Ok(commits)
    }

    /// Whether something was written since the last call.
    ///
    /// # Errors
    /// [`Database`](crate::Error::Database) if the store cannot be read.
    pub fn any(&mut self) -> Result<bool> {
        // Of a database that cannot be written, the connection may not see what its files show.
        let is_outdated = self.reader.is_outdated();
        if is_outdated {
            self.reader = self.reader.another()?;
        }
        // It differs whenever another connection has committed, and this one never does.
        let newest = self.reader.query_row("PRAGMA data_version", [], |row| row.get(0))?;
        let seen = std::mem::replace(&mut self.seen, newest);
        Ok(is_outdated || seen != newest)
    }
}

#[cfg(test)]
mod tests {
    use super::super::readers::Readers;
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::paths::StorePaths;

    #[test]
    fn a_commit_is_reported_once_also_to_a_read_only_process() {
        let store = TestStore::new();
        let readers = Readers::new(store.paths().database(), false);
        let mut looks = [store.commits().unwrap(), Commits::seen_by(readers.lend().unwrap()).unwrap()];
        let mut any = || looks.each_mut().map(|look| look.any().unwrap());
        assert_eq!(any(), [false, false]);
        store.add(&new("the heron"), NOW).unwrap();
        assert_eq!(any(), [true, true]);
        assert_eq!(any(), [false, false]);
        // What is in the log goes into the file: nothing else is there then.
        let other = rusqlite::Connection::open(store.paths().database()).unwrap();
        other.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        assert_eq!(any(), [false, false]);
        drop(other);
        // Nobody has it open any more.
        drop((looks, readers));
        let folder = store.close();
        let readers = Readers::new(StorePaths::new(folder.path()).database(), false);
        let write = |sql: &str| {
            let writer = rusqlite::Connection::open(StorePaths::new(folder.path()).database()).unwrap();
            writer.execute_batch(sql).unwrap();
            // The log goes.
            writer.close().unwrap();
        };
        write("CREATE TABLE one (x)");
        let mut look = Commits::seen_by(readers.lend().unwrap()).unwrap();
        assert!(!look.any().unwrap());
        write("CREATE TABLE other (x)");
        assert_eq!([look.any().unwrap(), look.any().unwrap()], [true, false]);
    }
}
