//! The rows of a table; columns may be missing.

use rusqlite::types::ValueRef;
use rusqlite::{Rows, ToSql};
use serde_json::Value;

use super::error::{MoveError, StoreError};
use super::out::Outcome;
use super::reader::{SnapshotReader, quoted};
use super::types::Report;

/// The longest value that is read, in bytes: a memory has less.
const MAX_VALUE: usize = 16 << 20;

/// A table and the columns that it has.
pub struct Table<'d> {
    reader: &'d SnapshotReader,
    name: &'static str,
    columns: Vec<String>,
}

pub struct Row<'t> {
    columns: &'t [String],
    values: Vec<Value>,
}

impl<'d> Table<'d> {
    pub(super) fn of(reader: &'d SnapshotReader, name: &'static str) -> Result<Self, StoreError> {
        let columns =
            reader.connection().prepare("SELECT name FROM pragma_table_info(?1)").and_then(|mut statement| {
                statement.query_map([name], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()
            });
        Ok(Table { reader, name, columns: columns.map_err(|error| reader.failed(error))? })
    }

    /// The table without a column, which is not read then.
    pub fn without(mut self, column: &str) -> Self {
        self.columns.retain(|known| known != column);
        self
    }

    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|known| known == column)
    }

    /// Passes its rows to `visit`, ordered by the columns of `order` that exist; if none does, as they were saved.
    ///
    /// # Errors
    /// Errors of the database and of `visit`.
    pub fn each<E>(&self, order: &[&str], mut visit: impl FnMut(&Row<'_>) -> Outcome<E>) -> Outcome<E> {
        self.select(&self.order(order), &[], &mut visit)
    }

    /// Passes the rows with `value` in `column` to `visit`, in order.
    ///
    /// # Errors
    /// Errors of the database and of `visit`.
    pub fn each_of<E>(
        &self,
        column: &str,
        value: &dyn ToSql,
        order: &[&str],
        mut visit: impl FnMut(&Row<'_>) -> Outcome<E>,
    ) -> Outcome<E> {
        if !self.has(column) {
            return Ok(());
        }
        let rest = format!("WHERE {} = ?1 {}", quoted(column), self.order(order));
        self.select(&rest, &[value], &mut visit)
    }

    fn order(&self, order: &[&str]) -> String {
        let columns: Vec<_> = order.iter().filter(|column| self.has(column)).map(|column| quoted(column)).collect();
        if columns.is_empty() { String::new() } else { format!("ORDER BY {}", columns.join(", ")) }
    }

    fn select<E>(
        &self,
        rest: &str,
        values: &[&dyn ToSql],
        visit: &mut impl FnMut(&Row<'_>) -> Outcome<E>,
    ) -> Outcome<E> {
        let failed = |error| MoveError::Store(self.reader.failed(error));
        let columns: Vec<_> = self.columns.iter().map(|column| limited(&quoted(column))).collect();
        let sql = format!("SELECT {} FROM {} {rest}", columns.join(", "), quoted(self.name));
        let mut statement = self.reader.connection().prepare_cached(&sql).map_err(failed)?;
        let mut rows: Rows<'_> = statement.query(values).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let values = (0..self.columns.len()).map(|column| row.get_ref(column).map(value_of));
            let values = values.collect::<rusqlite::Result<_>>().map_err(failed)?;
            visit(&Row { columns: &self.columns, values })?;
        }
        Ok(())
    }

    /// How many rows it has.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn count(&self) -> Result<u64, StoreError> {
        self.reader.count(&format!("SELECT count(*) FROM {}", quoted(self.name)))
    }

    /// How many rows have a value in `column` that is not in `parent_column` of `parent`.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn count_orphans(&self, column: &str, parent: &Table<'_>, parent_column: &str) -> Result<u64, StoreError> {
        if !self.has(column) || !parent.has(parent_column) {
            return Ok(0);
        }
        let (column, parent_column) = (quoted(column), quoted(parent_column));
        self.reader.count(&format!(
            "SELECT count(*) FROM {} c WHERE NOT EXISTS (SELECT 1 FROM {} p WHERE p.{parent_column} = c.{column})",
            quoted(self.name),
            quoted(parent.name),
        ))
    }

    /// Counts the values of the columns that are not among `known`.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn count_unknown_columns(&self, known: &[&str], report: &mut Report) -> Result<(), StoreError> {
        for column in self.columns.iter().filter(|column| !known.contains(&column.as_str())) {
            let sql = format!("SELECT count({}) FROM {}", quoted(column), quoted(self.name));
            let reason = format!("values of the column {}.{column}, which memorist does not know", self.name);
            report.count_many(reason, self.reader.count(&sql)?);
        }
        Ok(())
    }
}

/// The value of a column, in SQL; null instead of one that is too long.
fn limited(column: &str) -> String {
    format!("CASE WHEN octet_length({column}) > {MAX_VALUE} THEN NULL ELSE {column} END")
}

impl Row<'_> {
    /// The value of a column; null if there is no such column.
    pub fn get(&self, column: &str) -> &Value {
        let place = self.columns.iter().position(|known| known == column);
        place.and_then(|place| self.values.get(place)).unwrap_or(&Value::Null)
    }

    /// The first value of these columns that is not null.
    pub fn first(&self, columns: &[&str]) -> &Value {
        columns.iter().map(|column| self.get(column)).find(|value| !value.is_null()).unwrap_or(&Value::Null)
    }

    /// The value of a column as a part of a key.
    pub fn key(&self, column: &str) -> String {
        match self.get(column) {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

fn value_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        // None for what JSON does not have, as infinity.
        ValueRef::Real(number) => serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
    }
}
