//! The traits through which `rules/` writes to a database.
//!
//! A **rule** decides what one operation may write (save a memory, delete it, link two), and writes it in one
//! transaction. Rules reach a database only through these traits.
//!
//! | trait or type | job |
//! |---|---|
//! | [`Authority`] | the database that a rule writes to: it runs transactions |
//! | [`Tx`] | a transaction |
//! | [`Select`] | runs queries, in a transaction or on a connection that only reads |
//! | [`Row`], [`Value`] | the data of queries and statements |
//!
//! Two databases implement [`Authority`]: SQLite (`sqlite/transaction.rs`), and for team stores PostgreSQL
//! (`postgres/transaction.rs`). `Records` (`store.rs`) implements it, too. In a team store it passes
//! [`Authority::write`] on to PostgreSQL, and [`Authority::write_unsynced`] to the replica. An *unsynced* write does
//! not wait for the disk; it stays on this node.
//!
//! Each node (a machine of a team) has a replica: an SQLite database with the rows of the PostgreSQL database, or only
//! with those of the projects that the node replicates. Reads outside of transactions use the replica. It is written to
//! apply changes from PostgreSQL (`follow/`), and for usage data such as access counts.
//!
//! # Requirements for a database
//!
//! - **Tables**: those of `TABLES` in `contract/mod.rs`, with the columns and cascades of `sqlite/schema.rs`, and ids
//!   that are never used twice. The column `value` of `meta` holds texts and integers. The tables of tombstones are
//!   needed only if [`Tx::keeps_tombstones`] is true. In PostgreSQL, `sources` and `files` are views of this node's
//!   rows.
//! - **SQL** that both databases understand: numbered parameters, `INSERT` with `RETURNING id`, `ON CONFLICT` with
//!   `DO NOTHING` and `DO UPDATE`, `IS DISTINCT FROM`, recursive queries. Statements of rules use no JSON functions.
//!   For PostgreSQL, `?1` becomes `$1`, and hints such as `INDEXED BY` are removed (`postgres/statement.rs`).
//! - **Serializable transactions**: nobody writes between the checks of a rule and its inserts. Such checks are: a text
//!   once per scope, at most one profile per scope, no cycle of `supersedes` links. SQLite has one writer at a time.
//!   PostgreSQL reports a conflict, and `postgres/transaction.rs` runs the transaction again. So the closure `work` of
//!   [`Authority::write`] may run several times: what it does outside of the transaction must be right when done twice.
//! - **An ordered sync log**, in SQLite: the log of changed records that the indexes follow (table `sync_log`,
//!   `log.rs`). Its sequence numbers rise in the order of the commits. In a team store, the indexes follow the log of
//!   the replica, which assigns the numbers when it applies changes. PostgreSQL also numbers its rows of `sync_log`,
//!   but not in the order of the commits. Nodes do not use these numbers.
//!
//! Rules use no data that SQLite derives with triggers, because PostgreSQL does not have it: `tallies`, `record_tags`,
//! `record_metadata`, and the value `superseding` in `meta` (the number of changes to `supersedes` links).
//!
//! `contract/` has the tests that both implementations pass.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::types::{ModelId, RecordId, Seq};

/// How long an unsynced write, such as an access count, waits for other writers.
const UNSYNCED_TIMEOUT: Duration = Duration::from_millis(500);

/// A database that rules write to: the SQLite database of a store, or PostgreSQL and the replica of a team store.
pub(crate) trait Authority {
    /// Runs `work` in a transaction, and runs it again after a serialization conflict. On success, the changes are
    /// durable.
    ///
    /// On an error, the database is unchanged, with two exceptions. PostgreSQL: if it cannot be learned whether the COMMIT
    /// succeeded (the connection was lost, for example), the error ([`Error::Server`]) says so. SQLite: if somebody has
    /// replaced the store's files meanwhile, the error comes after the COMMIT, and the changes are in the old files.
    ///
    /// Fails if other writers block it for longer than 15 seconds. In PostgreSQL, this limits each wait for a lock, and
    /// no conflict leads to another run after that time.
    fn run(&self, work: &mut Work<'_>) -> Result<()>;

    /// Like [`Self::run`], but waits for other writers only as long as `timeout`, and does not wait for the disk: the
    /// changes survive a crash of the process, but perhaps not a power cut.
    fn run_unsynced(&self, timeout: Duration, work: &mut Work<'_>) -> Result<()>;

    /// Like [`Self::run`], with the result of `work`.
    fn write<T>(&self, work: impl FnMut(&dyn Tx) -> Result<T>) -> Result<T> {
        keep_result(work, |work| self.run(work))
    }

    /// Like [`Self::run_unsynced`], with the result of `work`.
    fn write_unsynced_within<T>(&self, timeout: Duration, work: impl FnMut(&dyn Tx) -> Result<T>) -> Result<T> {
        keep_result(work, |work| self.run_unsynced(timeout, work))
    }

    /// Calls [`Self::write_unsynced_within`] with a timeout of half a second.
    fn write_unsynced<T>(&self, work: impl FnMut(&dyn Tx) -> Result<T>) -> Result<T> {
        self.write_unsynced_within(UNSYNCED_TIMEOUT, work)
    }
}

/// The work of a transaction.
pub(crate) type Work<'a> = dyn FnMut(&dyn Tx) -> Result<()> + 'a;

/// Calls `run` with a form of `work` that keeps the result. So `run` is compiled once, not once for each result.
pub(crate) fn keep_result<T>(
    mut work: impl FnMut(&dyn Tx) -> Result<T>,
    run: impl FnOnce(&mut Work<'_>) -> Result<()>,
) -> Result<T> {
    let mut result = None;
    run(&mut |tx| {
        result = Some(work(tx)?);
        Ok(())
    })?;
    Ok(result.expect("a transaction runs its work"))
}

/// Runs queries, in a transaction or outside of one.
pub(crate) trait Select {
    /// Calls `each` with each row of a query, until `each` returns [`ControlFlow::Break`].
    fn select(&self, sql: &str, values: &[Value<'_>], each: &mut Each<'_>) -> Result<()>;
}

/// The callback for the rows of [`Select::select`].
pub(crate) type Each<'a> = dyn FnMut(&dyn Row) -> Result<ControlFlow<()>> + 'a;

/// A transaction.
pub(crate) trait Tx: Select {
    /// Runs a statement now. Returns how many rows it changed.
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize>;

    /// Runs an `INSERT` of one row that ends with `RETURNING id`, now. Returns the id.
    fn insert(&self, sql: &str, values: &[Value<'_>]) -> Result<i64>;

    /// Runs a statement whose count is not needed. SQLite runs it now. PostgreSQL gets it together with the next query or
    /// statement, or with the COMMIT, which then also returns its error.
    fn queue(&self, sql: &str, values: &[Value<'_>]) -> Result<()> {
        self.execute(sql, values).map(drop)
    }

    /// Whether the database has tombstones: notes of deleted records (`rules/tombstones.rs`). A store of one person has
    /// them, so that an exchange with another machine (`memorist sync-with`) does not bring the records back. A team
    /// store has none.
    fn keeps_tombstones(&self) -> bool;

    /// Lets PostgreSQL answer several queries in one round trip. SQLite does nothing. To be called before the first write.
    ///
    /// Calls `read` once as a dry run, with a transaction that records each query and returns no rows. So `read` must
    /// not write, and its queries must not depend on the rows of earlier ones. PostgreSQL then runs the recorded
    /// queries in one round trip. Until the first write, [`Select::select`] answers the same queries from these
    /// results.
    fn prefetch(&self, _read: &dyn Fn(&dyn Tx)) -> Result<()> {
        Ok(())
    }
}

/// Short forms of [`Select::select`].
pub(crate) trait SelectExt: Select {
    /// The first row, as `read` converts it; `None` if there is no row.
    fn first<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut first = None;
        self.select(sql, values, &mut |row| {
            first = Some(read(row)?);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(first)
    }

    /// All rows, as `read` converts them.
    fn all<T>(&self, sql: &str, values: &[Value<'_>], mut read: impl FnMut(&dyn Row) -> Result<T>) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.select(sql, values, &mut |row| {
            all.push(read(row)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(all)
    }

    /// Whether there is a row.
    fn exists(&self, sql: &str, values: &[Value<'_>]) -> Result<bool> {
        Ok(self.first(sql, values, |_| Ok(()))?.is_some())
    }
}

impl<S: Select + ?Sized> SelectExt for S {}

/// A row of a query.
pub(crate) trait Row {
    /// The value in a column, counted from 0. A boolean is the integer 0 or 1.
    fn value(&self, column: usize) -> Result<Value<'_>>;
}

impl dyn Row + '_ {
    /// The value in a column, as a `T`.
    ///
    /// # Errors
    /// If the value cannot be read as a `T` ([`FromValue`]).
    pub(crate) fn get<'a, T: FromValue<'a>>(&'a self, column: usize) -> Result<T> {
        T::from_value(self.value(column)?)
            .ok_or_else(|| Error::unreadable(format!("column {column} has a value of an unexpected type")))
    }
}

/// A value in a row, or a parameter of a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Integer(number)
    }
}

impl From<RecordId> for Value<'_> {
    fn from(id: RecordId) -> Self {
        Value::Integer(id.get())
    }
}

impl From<ModelId> for Value<'_> {
    fn from(id: ModelId) -> Self {
        Value::Integer(id.get())
    }
}

impl From<Seq> for Value<'_> {
    fn from(seq: Seq) -> Self {
        Value::Integer(seq.stored())
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Real(number)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Value::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Value::Blob(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Value<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Value::Blob(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Value<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Value::Blob(bytes)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// A type that a [`Value`] can be read as.
pub(crate) trait FromValue<'a>: Sized {
    /// `None` if the value cannot be read as this type. An integer can also be read as `f64`, or as `bool` (0 is
    /// false).
    fn from_value(value: Value<'a>) -> Option<Self>;
}

impl FromValue<'_> for i64 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Integer(number) = value { Some(number) } else { None }
    }
}

impl FromValue<'_> for RecordId {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value).map(RecordId::from)
    }
}

impl FromValue<'_> for ModelId {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value).map(ModelId::from)
    }
}

impl FromValue<'_> for Seq {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value).map(Seq::from_stored)
    }
}

impl FromValue<'_> for bool {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value).map(|number| number != 0)
    }
}

impl FromValue<'_> for f64 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Real(number) => Some(number),
            Value::Integer(number) => Some(number as f64),
            _ => None,
        }
    }
}

impl<'a> FromValue<'a> for &'a str {
    fn from_value(value: Value<'a>) -> Option<Self> {
        if let Value::Text(text) = value { Some(text) } else { None }
    }
}

impl FromValue<'_> for String {
    fn from_value(value: Value<'_>) -> Option<Self> {
        <&str>::from_value(value).map(str::to_owned)
    }
}

impl<'a> FromValue<'a> for &'a [u8] {
    fn from_value(value: Value<'a>) -> Option<Self> {
        if let Value::Blob(bytes) = value { Some(bytes) } else { None }
    }
}

impl<const N: usize> FromValue<'_> for [u8; N] {
    fn from_value(value: Value<'_>) -> Option<Self> {
        <&[u8]>::from_value(value)?.try_into().ok()
    }
}

impl<'a, T: FromValue<'a>> FromValue<'a> for Option<T> {
    fn from_value(value: Value<'a>) -> Option<Self> {
        if value == Value::Null { Some(None) } else { T::from_value(value).map(Some) }
    }
}
