//! Pull: copies new changes from the server. One round trip where there are none.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::apply::{Purges, apply};
use super::check::Aside;
use super::cursor::Cursor;
use super::follower::{APPLY_TIMEOUT, Follower};
use super::once;
use super::question::{self, News};
use crate::clock;
use crate::config::Reads;
use crate::error::{Error, Result};
use crate::progress::{NoProgress, Progress};
use crate::records::log::Change;
use crate::records::postgres::errors::{explain, was_dropped};
use crate::records::rules::log::append;
use crate::records::sqlite::store::Database;
use crate::records::transaction::{Authority, SelectExt, Tx, Work};
use crate::types::RecordId;

/// Timeout of the server for a search, or for reading after a write.
pub(super) const TIMEOUT: Duration = Duration::from_secs(2);
/// Timeout in the background: for many changes, or a slow line.
const TICK_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a pull is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PullReason {
    /// A caller reads. A server that was away a moment ago is not waited for, and the answer may be as old as the
    /// settings allow.
    Read,
    /// This process has written, and reads what it wrote.
    Written,
    /// A regular pull: also where the server was away.
    Tick,
}

impl Follower {
    /// Copies everything that the server had committed when this was called. Callers share a pull that begins after they
    /// came.
    ///
    /// # Errors
    /// [`Server`](crate::Error::Server) if the server cannot be asked: the copy is as it was.
    pub(crate) fn pull(&self, database: &Database, why: PullReason, progress: &dyn Progress) -> Result<()> {
        self.pull_knowing(None, database, why, progress)
    }

    /// Does a [pull](Self::pull), with news that were fetched already.
    pub(super) fn pull_knowing(
        &self,
        known: Option<(Cursor, News)>,
        database: &Database,
        why: PullReason,
        progress: &dyn Progress,
    ) -> Result<()> {
        if why == PullReason::Read && self.is_new_enough() && self.has_copy(database)? {
            return Ok(());
        }
        let came = self.begun.load(Ordering::Acquire);
        // An initial copy takes long: readers continue with the present replica.
        let turn = match why {
            PullReason::Read | PullReason::Written => self.turn.try_lock_for(TIMEOUT),
            PullReason::Tick => Some(self.turn.lock()),
        };
        let Some(turn) = turn else {
            return match self.has_copy(database)? {
                true => Ok(()),
                false => Err(Error::Held("this node is replicating the team store; retry soon".into())),
            };
        };
        if self.done.load(Ordering::Acquire) > came {
            once::note_answer();
            return Ok(());
        }
        let own = self.begun.fetch_add(1, Ordering::AcqRel) + 1;
        let started = Instant::now();
        let outcome = self.pull_once(known, database, why, progress);
        if outcome.is_ok() {
            self.done.store(own, Ordering::Release);
            once::note_answer();
        }
        let outcome = self.note(started, started.elapsed(), outcome);
        drop(turn);
        outcome
    }

    /// Notes the outcome of a pull, and how long its caller waited.
    pub(super) fn note<T>(&self, started: Instant, waited: Duration, outcome: Result<T>) -> Result<T> {
        let outcome = outcome.map_err(|error| explain(self.server.pool().address(), error));
        self.health.lock().note(started, waited, outcome.as_ref().err());
        outcome
    }

    /// Writes on the server, and copies the changes. They are saved even if they cannot be copied yet.
    pub(crate) fn write(&self, database: &Database, work: &mut Work<'_>) -> Result<()> {
        let (mut cursor, mut asked) = (None, 0);
        let question = || {
            cursor = self.cursor(database).ok().flatten();
            asked = clock::now();
            Some(question::question(Some(cursor.as_ref()?), self.server.node()))
        };
        let answer = self.server.write_and_ask(question, work)?;
        let known = cursor.zip(answer).and_then(|(cursor, answer)| {
            let news = question::answered(answer, Some(&cursor), asked).ok()?;
            Some((cursor, news))
        });
        // It was logged, and the next pull brings it.
        let _ = self.pull_knowing(known, database, PullReason::Written, &NoProgress);
        Ok(())
    }

    /// Whether everything that this node follows was copied once.
    pub(crate) fn has_copy(&self, database: &Database) -> Result<bool> {
        Ok(self.cursor(database)?.is_some())
    }

    /// Whether the copy may be read without asking the server.
    pub(super) fn is_new_enough(&self) -> bool {
        let health = self.health.lock();
        let age = health.age();
        match self.reads {
            Reads::Copy => true,
            Reads::Within(most) if age.is_some_and(|age| age <= most) => true,
            // The next tick looks whether it is back.
            Reads::Latest | Reads::Within(_) => health.is_away(),
        }
    }

    fn pull_once(
        &self,
        mut known: Option<(Cursor, News)>,
        database: &Database,
        why: PullReason,
        progress: &dyn Progress,
    ) -> Result<()> {
        loop {
            let (cursor, news) = match known.take() {
                Some(known) => known,
                None => {
                    let Some(cursor) = self.cursor(database)? else { return self.compare_for(database, why, progress) };
                    let news =
                        self.ask(&cursor, if why == PullReason::Tick { TICK_TIMEOUT } else { TIMEOUT }, || ())?;
                    (cursor, news)
                }
            };
            self.note_state(database, &news.state);
            if !news.continues(&cursor) {
                return self.compare_for(database, why, progress);
            }
            if news.is_empty(&cursor) {
                return Ok(());
            }
            let purges = if self.purges.load(Ordering::Relaxed) { Purges::Own } else { Purges::Others };
            if take(database, &cursor, &news, purges)? {
                return Ok(());
            }
            // Another process of this node was first.
        }
    }

    /// Compares everything. A writer does not wait for that: the next tick does it.
    fn compare_for(&self, database: &Database, why: PullReason, progress: &dyn Progress) -> Result<()> {
        if why == PullReason::Written && self.has_copy(database)? {
            return Ok(());
        }
        self.compare(database, progress).map(drop)
    }

    /// Asks for news, and does `meanwhile` until the answer comes. A connection that was lost while it was idle is replaced, and
    /// the question is asked again.
    pub(super) fn ask(&self, cursor: &Cursor, timeout: Duration, mut meanwhile: impl FnMut()) -> Result<News> {
        loop {
            let mut client = self.server.pool().lend()?;
            client.time_out_after(timeout);
            match question::news(&mut client, Some(cursor), self.server.node(), &mut meanwhile) {
                Ok(news) => {
                    client.give_back();
                    return Ok(news);
                }
                Err(error) if client.was_idle && was_dropped(&error) => self.server.pool().forget_idle(),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Writes the news, unless the copy has moved on meanwhile.
fn take(database: &Database, from: &Cursor, news: &News, purges: Purges) -> Result<bool> {
    let next = news.state.cursor(&from.follow);
    database.write_unsynced_within(APPLY_TIMEOUT, |tx| {
        if Cursor::stored(tx)?.as_ref() != Some(from) {
            return Ok(false);
        }
        apply(tx, &news.units, purges)?;
        log(tx, &news.log)?;
        next.store(tx)?;
        Ok(true)
    })
}

/// Appends entries to the log of this node. An unreadable entry is replaced by one that says that the record has changed.
fn log(tx: &dyn Tx, entries: &[(i64, i64, Vec<u8>)]) -> Result<()> {
    let mut aside = Aside::read(tx)?;
    for (op, record, payload) in entries {
        let id = RecordId::from(*record);
        if let Some(change) = Change::decode(*op, payload) {
            append(tx, id, &change)?;
            continue;
        }
        let why = format!("its operation is {op}, and it has {} bytes", payload.len());
        aside.put("sync_log of record", *record, Error::unreadable(why))?;
        let sql = "SELECT version FROM records WHERE id = ?1";
        if let Some(version) = tx.first(sql, &[id.into()], |row| row.get(0))? {
            append(tx, id, &Change::Put { version, new_text: true })?;
        }
    }
    aside.store(tx)
}
