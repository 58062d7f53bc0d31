//! Comparison of a node with the server. Pulling changes is fast; comparing everything is certain.
//!
//! Both sides sum the stamps of their rows by ranges of units; where a sum differs, the rows of the range are fetched. A new
//! node, one that is far behind, and one whose server was replaced by a standby take the same way, and one that is stopped goes on
//! where it was, because each range is a transaction of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::time::Duration;

use memorist_durable::LockedFile;

use super::apply::{Purges, apply};
use super::cursor::Cursor;
use super::follower::{APPLY_TIMEOUT, Follower};
use super::lost::LostFile;
use super::projects;
use super::question::{self, Rows, Unit};
use super::scopes;
use super::tables::{LINKS, RECORDS, SCOPES, TABLES, Table};
use crate::error::{Error, Result};
use crate::progress::{Progress, cancel_point};
use crate::records::log::Change;
use crate::records::postgres::errors::explained;
use crate::records::postgres::schema::SCHEMA;
use crate::records::purge::mark::PurgeMark;
use crate::records::rules::log::append;
use crate::records::sqlite::store::Database;
use crate::records::transaction::{Authority, Select, SelectExt, Tx};
use crate::types::{Reach, RecordId};

/// Lock file of the process that compares a node; released when the process ends.
const LOCK: &str = "compare.lock";
/// Timeout for fetching a range, and for fetching all sums.
const TIMEOUT: Duration = Duration::from_secs(60);
/// SQL that forgets all changes, so that every node compares itself: the server is another one now.
const FORGET_TRANSACTIONS: &str = "BEGIN; LOCK TABLE {SCHEMA}.changes IN EXCLUSIVE MODE; DELETE FROM {SCHEMA}.changes; \
     DELETE FROM {SCHEMA}.sync_log; DELETE FROM {SCHEMA}.writes; \
     UPDATE {SCHEMA}.server SET value = '0' WHERE key = 'trimmed_below'; COMMIT";
/// Maximum number of rounds in which rows that made room are fetched again.
const ROUNDS: usize = 3;
/// A range has 2 to the power of this many units.
const BITS: u32 = 11;

/// The result of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compared {
    /// Ranges of rows, here or on the server.
    pub ranges: u64,
    /// Ranges that differed, and were fetched.
    pub differed: u64,
    /// Memories that the server has lost: they were removed here, and kept in a file.
    pub lost: u64,
    /// Links that it has lost: they were removed here, and kept in the same file.
    pub lost_links: u64,
}

impl Follower {
    /// Runs [`Follower::compare`] on request, never at the same time as a pull.
    pub(crate) fn compare_now(&self, database: &Database, progress: &dyn Progress) -> Result<Compared> {
        let _turn = self.turn.lock();
        explained(self.server.pool().address(), self.compare(database, progress))
    }

    /// Makes the copy equal to the server, whatever it was. One process of a node does so at a time: the others continue
    /// with what is here.
    pub(super) fn compare(&self, database: &Database, progress: &dyn Progress) -> Result<Compared> {
        let lock = File::create(self.folder.join(LOCK)).and_then(LockedFile::try_lock);
        let Some(_lock) = lock.map_err(|error| Error::io(&self.folder, error))? else {
            return Err(Error::Held("another process of this node is replicating from the server".into()));
        };
        self.health.lock().is_comparing = true;
        let compared = self.compare_locked(database, progress);
        self.health.lock().is_comparing = false;
        compared
    }

    fn compare_locked(&self, database: &Database, progress: &dyn Progress) -> Result<Compared> {
        let before = Cursor::stored(&*database.reader()?)?;
        let mut client = self.server.pool().lend()?;
        client.time_out_after(TIMEOUT);
        let mut state = question::news(&mut client, None, self.server.node(), || ())?.state;
        if state.is_of_another_cluster {
            // The database was moved here as a dump: the numbers of its transactions mean nothing here.
            client.batch_execute(&FORGET_TRANSACTIONS.replace("{SCHEMA}", SCHEMA))?;
            state = question::news(&mut client, None, self.server.node(), || ())?.state;
        }
        // Another team's memories were never this one's.
        let was_replaced = before
            .as_ref()
            .is_some_and(|before| before.incarnation != state.incarnation && before.store_id == state.store_id);
        let (follow, node) = (&projects::of(database)?, self.server.node());
        let leaves_some = before.as_ref().is_some_and(|before| projects::leave_some(&before.follow, follow));
        if before.as_ref().is_some_and(|before| before.follow != *follow) {
            // If this is stopped, the copy is of neither list.
            change_cursor(database, |cursor| cursor.follow = vec![Reach::EVERY.to_owned()])?;
        }
        let mut compared = Compared::default();
        // What made room for another row, or has to wait for one, is fetched in the next round.
        for round in 0..ROUNDS {
            let there = question::digest(&mut client, &TABLES, follow, node, BITS)?;
            let here = digest(&*database.reader()?)?;
            let all: BTreeSet<Unit> = there.keys().chain(here.keys()).copied().collect();
            let differing: Vec<Unit> =
                all.iter().filter(|range| there.get(range) != here.get(range)).copied().collect();
            if round == 0 {
                compared.ranges = all.len() as u64;
                if was_replaced {
                    // From here on, no other process of this node writes what the server of before has answered it: what is kept is
                    // all.
                    change_cursor(database, |cursor| cursor.sees = "\0".into())?;
                    let ranges = [RECORDS, LINKS].map(|table| ranges_of(table, &differing));
                    let mut lost = LostFile::of(self, state.now);
                    lost.keep(self, &mut client, database, ranges)?;
                    (compared.lost, compared.lost_links) = (lost.memories, lost.links);
                }
            }
            compared.differed += differing.len() as u64;
            let purges = if here.is_empty() { Purges::None } else { Purges::Others };
            let mut displaced = 0;
            progress.start("replicating from the server", Some(differing.len() as u64));
            for table in &TABLES {
                for &(_, range) in differing.iter().filter(|(number, _)| *number == table.number) {
                    cancel_point(progress)?;
                    let bounds = bounds(range);
                    displaced += loop {
                        // Another process of this node may pull meanwhile: what it has brought is newer than what was fetched
                        // before, and must not be overwritten.
                        let cursor = Cursor::stored(&*database.reader()?)?;
                        let mut rows = question::fetch_range(&mut client, table, bounds, follow, node)?;
                        let taken =
                            database.write_part_within(APPLY_TIMEOUT, |tx| match Cursor::stored(tx)? == cursor {
                                true => take(tx, table, bounds, &mut rows, purges).map(Some),
                                false => Ok(None),
                            })?;
                        if let Some(displaced) = taken {
                            break displaced;
                        }
                    };
                    progress.advance(1);
                }
            }
            progress.finish();
            if displaced == 0 {
                break;
            }
        }
        let cursor = state.cursor(follow);
        database.write(|tx| {
            if leaves_some {
                // The files have it still, as after a purge.
                let mark = PurgeMark::unwritten();
                mark.write(tx, &mark)?;
            }
            cursor.store(tx)
        })?;
        client.give_back();
        self.note_state(database, &state);
        Ok(compared)
    }
}

/// The units of a range: the first, and the one after the last.
fn bounds(range: i64) -> (i64, i64) {
    (range << BITS, (range + 1) << BITS)
}

/// The units of the ranges of one table.
fn ranges_of(table: i64, ranges: &[Unit]) -> Vec<(i64, i64)> {
    ranges.iter().filter(|(number, _)| *number == table).map(|&(_, range)| bounds(range)).collect()
}

fn change_cursor(database: &Database, change: impl Fn(&mut Cursor)) -> Result<()> {
    database.write(|tx| match Cursor::stored(tx)? {
        Some(mut cursor) => {
            change(&mut cursor);
            cursor.store(tx)
        }
        None => Ok(()),
    })
}

/// Makes a range of a table equal to the server's, and logs the changes for the indexes. Returns how many rows need
/// another round.
fn take(
    tx: &dyn Tx,
    table: &Table,
    (from, to): (i64, i64),
    rows: &mut BTreeMap<Unit, Rows>,
    purges: Purges,
) -> Result<usize> {
    let sql = "SELECT id, stamp, rows FROM copied WHERE number = ?1 AND id >= ?2 AND id < ?3";
    let known = tx.all(sql, &[table.number.into(), from.into(), to.into()], |row| {
        Ok((row.get::<i64>(0)?, (row.get::<i64>(1)?, row.get::<i64>(2)?)))
    })?;
    let known: BTreeMap<i64, (i64, i64)> = known.into_iter().collect();
    for &id in known.keys() {
        rows.entry((table.number, id)).or_default();
    }
    // What is as it was is not written again.
    let sum = |rows: &Rows| (rows.iter().fold(0_i64, |sum, (_, stamp)| sum.wrapping_add(*stamp)), rows.len() as i64);
    rows.retain(|(_, id), rows| known.get(id) != Some(&sum(rows)));
    let waiting = if table.number == SCOPES { scopes::keep_used(tx, rows)? } else { 0 };
    let ulids = match table.name {
        "records" => ulids(tx, rows.keys().map(|(_, id)| *id))?,
        _ => BTreeMap::new(),
    };
    let displaced = apply(tx, rows, purges)? + waiting;
    if !["records", "passages"].contains(&table.name) {
        return Ok(displaced);
    }
    for ((_, id), unit) in rows.iter() {
        let id = RecordId::from(*id);
        let version = tx.first("SELECT version FROM records WHERE id = ?1", &[id.into()], |row| row.get(0))?;
        match (version, ulids.get(&id)) {
            (Some(version), _) => append(tx, id, &Change::Put { version, new_text: true })?,
            (None, Some(&ulid)) if unit.is_empty() => append(tx, id, &Change::Delete { ulid })?,
            (None, _) => {}
        }
    }
    Ok(displaced)
}

fn ulids(tx: &dyn Tx, ids: impl Iterator<Item = i64>) -> Result<BTreeMap<RecordId, [u8; 16]>> {
    let mut ulids = BTreeMap::new();
    for id in ids {
        if let Some(ulid) = tx.first("SELECT ulid FROM records WHERE id = ?1", &[id.into()], |row| row.get(0))? {
            ulids.insert(id.into(), ulid);
        }
    }
    Ok(ulids)
}

/// How many rows each range has here, and the sum of their stamps.
fn digest(db: &dyn Select) -> Result<BTreeMap<Unit, (i64, i64)>> {
    let sql = format!("SELECT number, id >> {BITS}, sum(rows), sum(stamp) FROM copied GROUP BY 1, 2");
    let all = db.all(&sql, &[], |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?))))?;
    Ok(all.into_iter().collect())
}
