//! Maintenance by a node, once a minute: it reports that it is there, sends its access counts, and trims rows that no
//! node needs any more.

use std::time::{Duration, Instant};

use tokio_postgres::SimpleQueryMessage;

use super::cursor::Cursor;
use super::follower::Follower;
use super::marks::KNOWN;
use crate::error::Result;
use crate::records::meta;
use crate::records::postgres::errors::{explained, is_denied};
use crate::records::postgres::schema::SCHEMA;
use crate::records::postgres::transaction::LOCALLY;
use crate::records::postgres::{format, quoted};
use crate::records::rows::MOST_ACCESSES;
use crate::records::sqlite::store::Database;
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::types::{Millis, RecordId};

/// Access counts sent in one transaction.
const SENT_AT_ONCE: i64 = 1_000;
/// Seconds for which one node does the work that one has to do for all.
const LEASE_SECONDS: u32 = 60;
/// Interval between two searches for rows that no node needs.
const TRIM_AGAIN: Duration = Duration::from_secs(60 * 60);

/// SQL that removes changes after a week: a node that was away for longer is compared. The number below which they are
/// gone is written in the same statement.
const TRIM: &str = "DELETE FROM {SCHEMA}.writes WHERE written_at < now() - interval '1 day';
    DELETE FROM {SCHEMA}.removed WHERE removed_at < now() - interval '1 year';
    WITH gone AS (DELETE FROM {SCHEMA}.changes WHERE changed_at < now() - interval '7 days' RETURNING xid),
        logged AS (DELETE FROM {SCHEMA}.sync_log WHERE xid <= (SELECT max(xid::text::numeric)::text::xid8 FROM gone))
    UPDATE {SCHEMA}.server SET value = greatest(value::numeric, gone.last + 1)::text
        FROM (SELECT max(xid::text::numeric) AS last FROM gone) gone
        WHERE key = 'trimmed_below' AND gone.last IS NOT NULL";

/// Accesses of a record that the server has not counted.
type Unsent = (RecordId, i64, Millis);

impl Follower {
    /// Keeps the server and this node in order.
    pub(crate) fn keep_up(&self, database: &Database) -> Result<()> {
        self.send_accesses(database)?;
        let address = self.server.pool().address();
        let mut client = explained(address, self.server.pool().lend())?;
        explained(address, format::check_server(&mut client))?;
        let (node, name, version) =
            (quoted::text(self.server.node()), quoted::text(&self.name), quoted::text(env!("CARGO_PKG_VERSION")));
        let clean = database.unfinished_purge()?.is_none();
        let purged_to = meta::text(&*database.reader()?, KNOWN)?.filter(|_| clean);
        let purged_to = purged_to.map_or("NULL".to_owned(), |mark| quoted::text(&mark));
        let here = format!(
            "{LOCALLY} INSERT INTO {SCHEMA}.nodes (node, name, version, purged_to) VALUES ({node}, {name}, {version}, {purged_to})
                 ON CONFLICT (node) DO UPDATE SET name = excluded.name, version = excluded.version, seen_at = now(),
                     purged_to = excluded.purged_to"
        );
        explained(address, client.batch_execute(&here))?;
        let is_time = self.trimmed.lock().is_none_or(|last| last.elapsed() >= TRIM_AGAIN);
        if is_time && self.claims("upkeep")? {
            *self.trimmed.lock() = Some(Instant::now());
            match client.batch_execute(&(LOCALLY.to_owned() + &TRIM.replace("{SCHEMA}", SCHEMA))) {
                // A role that is a member of some projects alone trims nothing: it does not see what it would trim.
                Err(error) if is_denied(&error) => {}
                trimmed => explained(address, trimmed)?,
            }
        }
        client.give_back();
        Ok(())
    }

    /// Whether the role of this node is a member of some projects, as far as the last pull has shown.
    pub(crate) fn is_member(database: &Database) -> Result<bool> {
        Ok(Cursor::stored(&*database.reader()?)?.is_some_and(|cursor| !cursor.sees.is_empty()))
    }

    /// Whether this node is the one that does the work `what` for all nodes, until it stops asking.
    pub(crate) fn claims(&self, what: &str) -> Result<bool> {
        let address = self.server.pool().address();
        let mut client = explained(address, self.server.pool().lend())?;
        explained(address, format::check_server(&mut client))?;
        let sql = format!(
            "{LOCALLY} INSERT INTO {SCHEMA}.leases AS l (name, node, until)
                 VALUES ('{what}', '{}', clock_timestamp() + interval '{LEASE_SECONDS} seconds')
             ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = excluded.until
                 WHERE l.node = excluded.node OR l.until < clock_timestamp()
             RETURNING 'claimed'",
            self.server.node()
        );
        let answer = explained(address, client.simple_query(&sql))?;
        client.give_back();
        let is_claimed = |message: &SimpleQueryMessage| matches!(message, SimpleQueryMessage::Row(row) if row.get(0) == Some("claimed"));
        Ok(answer.iter().any(is_claimed))
    }

    /// Sends the accesses that were counted here. If the connection is lost in between, the counts of this minute may be
    /// lost.
    fn send_accesses(&self, database: &Database) -> Result<()> {
        loop {
            let unsent = database.write_unsynced(|tx| {
                let sql = "DELETE FROM unsent_accesses WHERE record_id IN
                         (SELECT record_id FROM unsent_accesses ORDER BY record_id LIMIT ?1)
                     RETURNING record_id, count, last_accessed_at";
                tx.all(sql, &[SENT_AT_ONCE.into()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            })?;
            if unsent.is_empty() {
                return Ok(());
            }
            // On its disk: what a node has copied must be on the server after a crash.
            if let Err(error) = self.server.write_locally(|tx| count(tx, &unsent)) {
                database.write_unsynced(|tx| note(tx, &unsent))?;
                return Err(error);
            }
        }
    }
}

/// Adds accesses to the counts of records.
fn count(tx: &dyn Tx, accesses: &[Unsent]) -> Result<()> {
    let rows = accesses.iter().map(|(id, count, last)| format!("({}, {count}, {last})", id.get()));
    let sql = format!(
        "UPDATE records r SET access_count = least(r.access_count + u.count, ?1),
             last_accessed_at = greatest(coalesce(r.last_accessed_at, 0), u.last)
         FROM (VALUES {}) u (id, count, last) WHERE r.id = u.id",
        rows.collect::<Vec<_>>().join(", ")
    );
    tx.execute(&sql, &[MOST_ACCESSES.into()]).map(drop)
}

/// Notes accesses that the server has not counted.
pub(crate) fn note(tx: &dyn Tx, accesses: &[Unsent]) -> Result<()> {
    let sql =
        "INSERT INTO unsent_accesses (record_id, count, last_accessed_at) SELECT id, ?2, ?3 FROM records WHERE id = ?1
         ON CONFLICT (record_id) DO UPDATE SET count = count + excluded.count,
             last_accessed_at = max(last_accessed_at, excluded.last_accessed_at)";
    accesses
        .iter()
        .try_for_each(|&(id, count, last)| tx.execute(sql, &[id.into(), count.into(), last.into()]).map(drop))
}
