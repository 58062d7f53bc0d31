//! The interface between the rules and a database: the operations that the rules of `rules/` need to write to it.
//!
//! [`Authority`] runs transactions, [`Tx`] is one of them, [`Select`] reads (a transaction, or a connection that only
//! reads), [`Row`] and [`Value`] carry the data. SQLite implements them in `sqlite/transaction.rs`.
//!
//! # What a second implementation supplies
//!
//! A team store (`postgres/`) keeps a copy of its records in `memory.db` on each machine, from which
//! everything is read as today. It replaces the [`Authority`] that writes, and nothing else. It supplies:
//!
//! - **The tables** of `sqlite/schema.rs` that rules name: `records`, `versions`, `trash` and its two others, `scopes`,
//!   `links`, `models`, `embeddings`, `passages`, `access_log`, `searches`, `search_hits`, `recalled`, `sync_log`, `meta`, with the same columns, the same cascades, and ids that are never used
//!   twice. `meta.value` holds texts and integers. The others (`tallies`, `record_tags`, `record_metadata`, and the count of changes to
//!   `supersedes` links) are derived by SQLite's triggers on each machine.
//! - **The SQL of the rules**, which both databases understand: numbered parameters (`?1` is `$1` there),
//!   `INSERT ... RETURNING id`, `ON CONFLICT DO NOTHING` and `DO UPDATE`, `IS DISTINCT FROM`, recursive queries. There are
//!   no JSON functions, no triggers and no hints for a planner in it.
//! - **Serializable transactions**. The rules check and then insert (no text twice in a scope, one profile a scope, no
//!   circle of superseding memories) and rely on it that nobody else writes in between. SQLite has one writer; a server
//!   retries a transaction that lost, which is why the work of [`Authority::write`] is an [`FnMut`]. Work must not change
//!   anything outside of the transaction that would be wrong when it runs twice.
//! - **The order of the log** (`log.rs`).
//!
//! `contract/` has the tests that every implementation must pass.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::types::{ModelId, RecordId, Seq};

/// Timeout of an unsynced write, of an access count.
const UNSYNCED_TIMEOUT: Duration = Duration::from_millis(500);

/// A database to which records are written.
pub(crate) trait Authority {
    /// Runs `work` in a transaction. When this returns what `work` returned, its changes are durable; when it returns an
    /// error, none of them was made. `work` runs again when the transaction lost against another one.
    fn write<T>(&self, work: impl FnMut(&dyn Tx) -> Result<T>) -> Result<T>;

    /// Like [`Self::write`], but does not wait until the changes are durable: a power cut may undo them, a crash may not.
    /// Fails when others are writing for longer than `timeout`.
    fn write_unsynced_within<T>(&self, timeout: Duration, work: impl FnMut(&dyn Tx) -> Result<T>) -> Result<T>;

    /// Like [`Self::write_unsynced_within`], with a short timeout.
    fn write_unsynced<T>(&self, work: impl FnMut(&dyn Tx) -> Result<T>) -> Result<T> {
        self.write_unsynced_within(UNSYNCED_TIMEOUT, work)
    }
}

/// Reads rows.
pub(crate) trait Select {
    /// Calls `each` with each row that a query gives, until it breaks.
    fn select(&self, sql: &str, values: &[Value<'_>], each: &mut Each<'_>) -> Result<()>;
}

/// The callback for the rows of [`Select::select`].
pub(crate) type Each<'a> = dyn FnMut(&dyn Row) -> Result<ControlFlow<()>> + 'a;

/// A transaction.
pub(crate) trait Tx: Select {
    /// Runs a statement. Returns how many rows it changed.
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize>;

    /// Runs an `INSERT` of one row that ends with `RETURNING id`. Returns the id.
    fn insert(&self, sql: &str, values: &[Value<'_>]) -> Result<i64>;

    /// Runs a statement whose outcome is not used. A remote database receives it together with the next statement.
    fn run(&self, sql: &str, values: &[Value<'_>]) -> Result<()> {
        self.execute(sql, values).map(drop)
    }

    /// Whether the database keeps tombstones of deleted records, for other machines of its owner (`rules/tombstones.rs`).
    fn keeps_tombstones(&self) -> bool;

    /// Announces the queries that come next, before anything is written. `read` runs them and gets no rows; a remote database
    /// answers all of them in one round trip.
    fn foresee(&self, read: &dyn Fn(&dyn Tx)) -> Result<()> {
        let _ = read;
        Ok(())
    }
}

/// Short forms of [`Select::select`].
pub(crate) trait SelectExt: Select {
    /// The first row.
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

    /// All rows.
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
    /// The value in a column; the first is 0. A truth value is the integer 0 or 1.
    fn value(&self, column: usize) -> Result<Value<'_>>;
}

impl dyn Row + '_ {
    /// The value in a column, as the expected type.
    pub(crate) fn get<'a, T: FromValue<'a>>(&'a self, column: usize) -> Result<T> {
        T::from_value(self.value(column)?)
            .ok_or_else(|| Error::unreadable(format!("column {column} holds a value of another type than it should")))
    }
}

/// A value in a row, or one that a statement is given.
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

/// A type as which a [`Value`] can be read.
pub(crate) trait FromValue<'a>: Sized {
    /// `None` where it is of another type.
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
