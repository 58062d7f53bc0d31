//! Whether something was written since the last look, by whichever process.

use super::readers::Reader;
use super::store::Database;
use crate::error::Result;

/// Tells whether something was written. It holds a reading connection for as long as it lives.
pub struct Commits {
    reader: Reader,
    seen: i64,
    /// A database that cannot be written is read by connections that may not see a change: each look has to be a real one.
    is_unsure: bool,
}

impl Database {
    /// Tells of what is written from now on.
    pub fn commits(&self) -> Result<Commits> {
        let mut commits = Commits { reader: self.reader()?, seen: 0, is_unsure: !self.can_write() };
        commits.any()?;
        Ok(commits)
    }
}

impl Commits {
    /// Whether something was written since the last call.
    ///
    /// # Errors
    /// [`Database`](crate::Error::Database) if the store cannot be read.
    pub fn any(&mut self) -> Result<bool> {
        // It differs whenever another connection has committed, and this one never does.
        let newest = self.reader.query_row("PRAGMA data_version", [], |row| row.get(0))?;
        let seen = std::mem::replace(&mut self.seen, newest);
        Ok(self.is_unsure || seen != newest)
    }
}
