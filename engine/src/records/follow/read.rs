//! Reads the copy while the server is asked for news: a search waits for the slower of the two, not for both.

use std::time::{Duration, Instant};

use super::cursor::Cursor;
use super::follower::Follower;
use super::once;
use super::projects;
use super::pull::{PullReason, TIMEOUT};
use super::question::News;
use crate::error::Result;
use crate::progress::NoProgress;
use crate::records::sqlite::store::Database;

/// The outcome of reading while the server was asked.
enum Early<T> {
    /// The copy was current: this was read.
    Current(Result<T>),
    /// The server had news since this cursor.
    News(Box<(Cursor, News)>),
    /// The server was not asked, or did not answer.
    Unknown,
}

impl Follower {
    /// Brings the copy up to date, before it is read. If the server is away, the copy stays as it is.
    ///
    /// # Errors
    /// [`Server`](crate::Error::Server) if it is away and nothing was copied yet: "nothing found" would be wrong.
    pub(crate) fn refresh(&self, database: &Database) -> Result<()> {
        self.refresh_knowing(None, database)
    }

    fn refresh_knowing(&self, known: Option<(Cursor, News)>, database: &Database) -> Result<()> {
        if once::has_asked() {
            return Ok(());
        }
        match self.pull_knowing(known, database, PullReason::Read, &NoProgress) {
            Err(error) if !self.has_copy(database)? => Err(error),
            // Else it was logged, and `state` says so.
            _ => Ok(()),
        }
    }

    /// Reads the copy as the server is now. `read` runs while the server is asked, and again if there was news.
    ///
    /// # Errors
    /// Errors of [`Follower::refresh`], and of `read`.
    pub(crate) fn read<T>(&self, database: &Database, mut read: impl FnMut() -> Result<T>) -> Result<T> {
        if once::has_asked() {
            return read();
        }
        let known = match self.read_early(database, &mut read)? {
            Early::Current(early) => return early,
            Early::News(known) => Some(*known),
            Early::Unknown => None,
        };
        self.refresh_knowing(known, database)?;
        read()
    }

    fn read_early<T>(&self, database: &Database, read: &mut impl FnMut() -> Result<T>) -> Result<Early<T>> {
        // One at a time: those who come meanwhile share a pull.
        let Some(_alone) = self.reading.try_lock() else { return Ok(Early::Unknown) };
        if self.is_new_enough() {
            return Ok(Early::Unknown);
        }
        let Some(cursor) = self.cursor(database)? else { return Ok(Early::Unknown) };
        let (mut early, mut meanwhile) = (None, Duration::ZERO);
        let asked = Instant::now();
        let answer = self.ask(&cursor, TIMEOUT, || {
            let began = Instant::now();
            early.get_or_insert_with(&mut *read);
            meanwhile += began.elapsed();
        });
        let waited = asked.elapsed().saturating_sub(meanwhile);
        let news = match answer {
            Ok(news) if !news.continues(&cursor) || !news.is_empty(&cursor) => {
                return Ok(Early::News(Box::new((cursor, news))));
            }
            answer => self.note(asked, waited, answer),
        };
        // A server that is away is not asked again for this, and the answer says so.
        let Some((news, early)) = news.ok().zip(early) else { return Ok(Early::Unknown) };
        if !self.note_state(database, &news.state) {
            return Ok(Early::Unknown);
        }
        once::note_answer();
        Ok(Early::Current(early))
    }

    /// The cursor of this node; `None` if everything has to be compared first.
    pub(super) fn cursor(&self, database: &Database) -> Result<Option<Cursor>> {
        let follows = projects::of(database)?;
        Ok(Cursor::stored(&*database.reader()?)?.filter(|cursor| cursor.follow == follows))
    }
}
