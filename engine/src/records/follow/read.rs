//! The copy is read while the server is asked what is new: whoever searches waits for the slower of the two, not for both.

use std::time::{Duration, Instant};

use super::cursor::Cursor;
use super::follower::Follower;
use super::pull::{TIMEOUT, Why};
use crate::error::Result;
use crate::progress::NoProgress;
use crate::records::sqlite::store::Database;

impl Follower {
    /// Before something is read: the copy is brought up to date. If the server is away, what is here has to do.
    ///
    /// # Errors
    /// [`Server`](crate::Error::Server) if it is away and nothing was copied yet: "nothing found" would be wrong.
    pub(crate) fn refresh(&self, database: &Database) -> Result<()> {
        match self.pull(database, Why::Read, &NoProgress) {
            Err(error) if !self.has_copy(database)? => Err(error),
            // Else it was logged, and `state` says so.
            _ => Ok(()),
        }
    }

    /// Reads the copy as the server is now. `read` runs while the server is asked, and again where that brought something new.
    ///
    /// # Errors
    /// As [`Follower::refresh`], and those of `read`.
    pub(crate) fn read<T>(&self, database: &Database, mut read: impl FnMut() -> Result<T>) -> Result<T> {
        if let Some(early) = self.read_early(database, &mut read)? {
            return early;
        }
        self.refresh(database)?;
        read()
    }

    /// What was read while the server was asked; `None` if it must be read again.
    fn read_early<T>(&self, database: &Database, read: &mut impl FnMut() -> Result<T>) -> Result<Option<Result<T>>> {
        // One at a time: those who come meanwhile share a pull.
        let Some(_alone) = self.reading.try_lock() else { return Ok(None) };
        if self.is_new_enough() {
            return Ok(None);
        }
        let Some(cursor) = self.cursor(database)? else { return Ok(None) };
        let (mut early, mut meanwhile) = (None, Duration::ZERO);
        let asked = Instant::now();
        let answer = self.ask(&cursor, TIMEOUT, || {
            let began = Instant::now();
            early.get_or_insert_with(&mut *read);
            meanwhile += began.elapsed();
        });
        let waited = asked.elapsed().saturating_sub(meanwhile);
        let is_news = answer.as_ref().is_ok_and(|news| !news.continues(&cursor) || !news.is_empty());
        if is_news {
            return Ok(None);
        }
        // A server that is away is not asked again for this, and the answer says so.
        let Ok(news) = self.note(asked, waited, answer) else { return Ok(None) };
        self.note_state(&news.state);
        Ok(early)
    }

    /// How far this node is; `None` if everything has to be compared first.
    pub(super) fn cursor(&self, database: &Database) -> Result<Option<Cursor>> {
        Ok(Cursor::stored(&*database.reader()?)?.filter(|cursor| cursor.follow == self.follow))
    }
}
