//! Checks of the server's rows before they are written: a row with a value that no search could read is set aside, and so
//! is one that breaks a rule of the tables here. The other rows are still copied.
//!
//! A bad row may come from a newer memorist, or from anybody who may write to the server. Its name and the reason stay in
//! an entry of `meta` until the row comes again in a form that can be read.

use std::collections::BTreeMap;

use super::tables::Table;
use crate::body::Body;
use crate::error::{Error, Result};
use crate::records::sqlite::errors::breaks_a_rule;
use crate::records::transaction::{Row, Select, SelectExt, Tx, Value};
use crate::records::{meta, rows};
use crate::types::embedding_of;

/// The entry of `meta` with the rows that are set aside.
pub(super) const KEY: &str = "set_aside";
/// Maximum number of rows that are named.
const MOST: usize = 100;

/// The rows that are set aside, one line each.
pub(crate) fn set_aside(db: &dyn Select) -> Result<Vec<String>> {
    let line = |(name, why): (String, String)| {
        format!("{name} of the team store cannot be applied here, and was set aside: {why}")
    };
    Ok(Aside::read(db)?.named.into_iter().map(line).collect())
}

/// Rows that are set aside: the name of each, and the reason.
pub(super) struct Aside {
    named: BTreeMap<String, String>,
    has_changed: bool,
}

impl Aside {
    /// Reads the entry of `meta`. A damaged entry counts as empty.
    pub(super) fn read(db: &dyn Select) -> Result<Self> {
        let named = meta::text(db, KEY)?.and_then(|json| serde_json::from_str(&json).ok());
        Ok(Aside { named: named.unwrap_or_default(), has_changed: false })
    }

    /// Sets a unit of a table aside, because of this error.
    pub(super) fn put(&mut self, table: &str, id: i64, error: Error) -> Result<()> {
        let name = name(table, id);
        let why = match error {
            Error::DatabaseFailed(why) => why.to_string(),
            Error::Invalid { .. } => error.to_string(),
            error => return Err(error),
        };
        if self.named.get(&name) != Some(&why) && (self.named.len() < MOST || self.named.contains_key(&name)) {
            tracing::warn!("{name} of the team store cannot be applied here, and was set aside: {why}");
            self.named.insert(name, why);
            self.has_changed = true;
        }
        Ok(())
    }

    /// Forgets a unit that can be read now, or is gone.
    pub(super) fn forget(&mut self, table: &str, id: i64) {
        self.has_changed |= !self.named.is_empty() && self.named.remove(&name(table, id)).is_some();
    }

    pub(super) fn store(&self, tx: &dyn Tx) -> Result<()> {
        match self.named.is_empty() {
            _ if !self.has_changed => Ok(()),
            true => meta::remove(tx, KEY),
            false => meta::put(tx, KEY, (&serde_json::json!(self.named).to_string()).into()),
        }
    }
}

fn name(table: &str, id: i64) -> String {
    format!("{table} {id}")
}

/// The outcome of writing a row: `Err` in `Ok` is an error in the row, all other errors are the database's.
pub(super) fn refused<T>(outcome: Result<T>) -> Result<Result<T>> {
    match outcome {
        Err(error) if breaks_a_rule(&error) => Ok(Err(error)),
        outcome => outcome.map(Ok),
    }
}

/// The values of a row, in the order of the columns.
pub(super) struct Values<'a>(pub(super) &'a [Value<'a>]);

impl Row for Values<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        self.0.get(column).copied().ok_or_else(|| Error::unreadable("a column is missing"))
    }
}

/// Checks that the values of a row can be read.
///
/// # Errors
/// The error of the first value that cannot be read.
pub(super) fn check(tx: &dyn Tx, table: &Table, values: &Values<'_>) -> Result<()> {
    let row: &dyn Row = values;
    for (at, &column) in table.columns.iter().enumerate() {
        match column {
            "kind" if table.name.ends_with("links") => drop(rows::to_link_kind(row, at)?),
            "kind" if table.name != "sources" => drop(rows::to_kind(row, at)?),
            "tags" | "globs" => drop(rows::to_tags(row, at)?),
            "body" => check_body(table, row, at)?,
            "vector" => check_vector(tx, table, row, at)?,
            _ => {}
        }
    }
    Ok(())
}

fn place(table: &Table, column: &str) -> usize {
    table.columns.iter().position(|other| *other == column).unwrap_or(usize::MAX)
}

fn check_body(table: &Table, row: &dyn Row, at: usize) -> Result<()> {
    let Some(json) = row.get::<Option<&str>>(at)? else { return Ok(()) };
    let kind = rows::to_kind(row, place(table, "kind"))?;
    Body::from_stored(kind, json).map(drop).map_err(|error| Error::unreadable(format!("a body: {error}")))
}

/// Checks that a vector has the dimensions of its model.
fn check_vector(tx: &dyn Tx, table: &Table, row: &dyn Row, at: usize) -> Result<()> {
    let model: i64 = row.get(place(table, "model_id"))?;
    let sql = "SELECT dims FROM models WHERE id = ?1";
    let Some(dims) = tx.first(sql, &[model.into()], |row| row.get::<i64>(0))? else { return Ok(()) };
    let vector = embedding_of(row.get(at)?, usize::try_from(dims).unwrap_or(0));
    vector.map(drop).ok_or_else(|| Error::unreadable(format!("a vector has not the {dims} numbers of its model")))
}
