//! SQLite as an [`Authority`]: a write is one transaction of `memory.db`.
//!
//! Here a saved text becomes durable: [`Database::write`] returns when SQLite has committed, which it does by writing to
//! the write-ahead log and waiting until the disk has it (`synchronous = FULL`, set in `store.rs`).

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, Transaction, TransactionBehavior, params_from_iter};

use super::connection::{WRITE_TIMEOUT, wait_at_most};
use super::errors::{explain, held};
use super::queue::WriteTurn;
use super::store::Database;
use crate::error::{Error, Result};
use crate::records::transaction::{Authority, Each, Row, Select, Tx, Value, Work};

impl Authority for Database {
    fn run(&self, work: &mut Work<'_>) -> Result<()> {
        let began = Instant::now();
        let writing = self.writing()?;
        self.files.check()?;
        let conn = writing.writer.try_lock_for(WRITE_TIMEOUT);
        let mut conn = conn.ok_or_else(|| held(&self.path))?;
        // All who queue for the connection have waited when the first of them gives up.
        let left = || WRITE_TIMEOUT.saturating_sub(began.elapsed());
        let turn = writing.queue.turn(left());
        let written =
            wait_at_most(&mut conn, left()).map_err(Error::from).and_then(|()| transact(&mut conn, turn, work));
        written.map_err(|error| explain(&self.path, error))?;
        self.files.check()
    }

    fn run_unsynced(&self, timeout: Duration, work: &mut Work<'_>) -> Result<()> {
        self.run_unsynced_on(timeout, |conn, turn| transact(conn, turn, work))
    }
}

impl Database {
    /// Like [`Authority::write_unsynced_within`], but without foreign keys: for a copy that is put together table by
    /// table.
    #[cfg(feature = "postgres")]
    pub(in crate::records) fn write_part_within<T>(
        &self,
        timeout: Duration,
        work: impl FnMut(&dyn Tx) -> Result<T>,
    ) -> Result<T> {
        let run = |work: &mut Work<'_>| {
            self.run_unsynced_on(timeout, |conn, turn| {
                conn.pragma_update(None, "foreign_keys", false)?;
                let done = transact(conn, turn, work);
                conn.pragma_update(None, "foreign_keys", true)?;
                done
            })
        };
        crate::records::transaction::keep_result(work, run)
    }

    fn run_unsynced_on(
        &self,
        timeout: Duration,
        run: impl FnOnce(&mut Connection, WriteTurn) -> Result<()>,
    ) -> Result<()> {
        let began = Instant::now();
        let busy = || Error::Store { path: self.path.clone(), why: "other processes are writing to it".into() };
        let writing = self.writing()?;
        self.files.check()?;
        // Cheaper than to meet the other connection in SQLite's lock.
        let _alone = writing.writer.try_lock_for(timeout).ok_or_else(busy)?;
        let mut conn = writing.unsynced.lock();
        let left = || timeout.saturating_sub(began.elapsed());
        let turn = writing.queue.turn(left());
        wait_at_most(&mut conn, left())?;
        run(&mut conn, turn).map_err(|error| explain(&self.path, error))?;
        self.files.check()
    }
}

/// SQLite has one writer at a time, so that a transaction which has begun never has to run again.
fn transact(conn: &mut Connection, turn: WriteTurn, work: &mut Work<'_>) -> Result<()> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    drop(turn);
    work(&tx)?; // an error rolls back as `tx` goes
    tx.commit()?;
    Ok(())
}

impl Select for Connection {
    fn select(&self, sql: &str, values: &[Value<'_>], each: &mut Each<'_>) -> Result<()> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            if let ControlFlow::Break(()) = each(row)? {
                break;
            }
        }
        Ok(())
    }
}

impl Select for Transaction<'_> {
    fn select(&self, sql: &str, values: &[Value<'_>], each: &mut Each<'_>) -> Result<()> {
        Connection::select(self, sql, values, each)
    }
}

impl Tx for Transaction<'_> {
    fn keeps_tombstones(&self) -> bool {
        true
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize> {
        Ok(self.prepare_cached(sql)?.execute(params_from_iter(values))?)
    }

    fn insert(&self, sql: &str, values: &[Value<'_>]) -> Result<i64> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let id = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?.get(0)?;
        // To its end, where a statement says that it breaks a rule of the tables.
        while rows.next()?.is_some() {}
        Ok(id)
    }
}

impl Row for rusqlite::Row<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        Ok(match self.get_ref(column)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Real(number) => Value::Real(number),
            ValueRef::Text(bytes) => {
                Value::Text(str::from_utf8(bytes).map_err(|error| rusqlite::Error::Utf8Error(column, error))?)
            }
            ValueRef::Blob(bytes) => Value::Blob(bytes),
        })
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(number),
            Value::Real(number) => ValueRef::Real(number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::records::rules::references::OTHER_PROFILE;
    use crate::records::{Access, AccessKind};

    #[test]
    fn an_access_does_not_wait_long_for_others_who_write() {
        let store = TestStore::new();
        let id = store.add(&new("text"), NOW).unwrap().id;
        let access = Access { id, kind: AccessKind::Get, score: None, query: None, counts: true };
        let other = rusqlite::Connection::open(store.paths().database()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let started = std::time::Instant::now();
        assert!(store.record_access(&[access], NOW).is_err());
        assert!(started.elapsed() < std::time::Duration::from_secs(5));
        other.execute_batch("ROLLBACK").unwrap();
        store.record_access(&[access], NOW).unwrap();
    }

    /// The lookups of the rules for each record use an index.
    #[test]
    fn the_queries_of_the_rules_use_indexes() {
        let store = TestStore::new();
        let view = store.view();
        for (sql, index) in [
            (OTHER_PROFILE, "records_by_scope (scope_id=? AND kind=?)"),
            ("SELECT id, kind FROM records WHERE content_hash = ?1 AND scope_id = ?2", "records_by_content"),
            ("SELECT id FROM records WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2", "records_by_expiry"),
            (
                "SELECT id FROM records WHERE embedding_hash = ?1 AND embedding_id IS NULL ORDER BY id",
                "records_by_embedding",
            ),
        ] {
            let mut explain = view.conn().prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let nulls = vec![Value::Null; explain.parameter_count()];
            let plan = explain.query_map(params_from_iter(nulls), |row| row.get::<_, String>(3)).unwrap();
            let plan: Vec<String> = plan.map(Result::unwrap).collect();
            assert!(plan.join("; ").contains(index), "{sql}: {plan:?}");
        }
    }
}
