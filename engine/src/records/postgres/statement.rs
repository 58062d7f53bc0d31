//! [`Statement`]: a statement of a rule, as PostgreSQL has it.

use tokio_postgres::types::{ToSql, Type};

use crate::error::{Error, Result};
use crate::records::transaction::{Row, Value};

/// A statement, with the values of its parameters.
#[derive(Debug, PartialEq)]
pub(crate) struct Statement {
    pub(super) sql: String,
    values: Vec<Owned>,
}

impl Statement {
    /// The statement of a rule.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a text with a null character, which PostgreSQL cannot hold.
    pub(super) fn of(sql: &str, values: &[Value<'_>]) -> Result<Self> {
        Ok(Statement { sql: translated(sql), values: values.iter().map(Owned::of).collect::<Result<_>>()? })
    }

    /// Its values, each with its type.
    pub(super) fn typed(&self) -> impl Iterator<Item = (&(dyn ToSql + Sync), Type)> {
        self.values.iter().map(Owned::bound)
    }
}

/// The SQL of a rule as PostgreSQL has it: `?1` is `$1`, and there are no hints for a planner.
fn translated(sql: &str) -> String {
    let mut translated = String::with_capacity(sql.len());
    let mut words = sql.split_inclusive(char::is_whitespace);
    while let Some(word) = words.next() {
        if word.trim_end() == "INDEXED" {
            words.nth(1);
            continue;
        }
        translated.extend(word.chars().map(|char| if char == '?' { '$' } else { char }));
    }
    translated
}

/// A value that is kept until it is sent.
#[derive(Debug, PartialEq)]
enum Owned {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Owned {
    fn of(value: &Value<'_>) -> Result<Self> {
        Ok(match *value {
            Value::Null => Owned::Null,
            Value::Integer(number) => Owned::Integer(number),
            Value::Real(number) => Owned::Real(number),
            Value::Text(text) if text.contains('\0') => {
                let why = "it has a null character, which a team store cannot hold; remove it";
                return Err(Error::Invalid { field: "content", why: why.into() });
            }
            Value::Text(text) => Owned::Text(text.to_owned()),
            Value::Blob(bytes) => Owned::Blob(bytes.to_vec()),
        })
    }

    /// As the client of PostgreSQL takes it.
    fn bound(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            // The server infers the type.
            Owned::Null => (&None::<&str>, Type::UNKNOWN),
            Owned::Integer(number) => (number, Type::INT8),
            Owned::Real(number) => (number, Type::FLOAT8),
            Owned::Text(text) => (text, Type::TEXT),
            Owned::Blob(bytes) => (bytes, Type::BYTEA),
        }
    }
}

impl Row for tokio_postgres::Row {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        let Some(described) = self.columns().get(column) else {
            return Err(Error::unreadable(format!("there is no column {column}")));
        };
        let value = match *described.type_() {
            Type::INT8 => self.try_get::<_, Option<i64>>(column)?.map(Value::Integer),
            Type::INT4 => self.try_get::<_, Option<i32>>(column)?.map(|number| Value::Integer(number.into())),
            Type::INT2 => self.try_get::<_, Option<i16>>(column)?.map(|number| Value::Integer(number.into())),
            Type::BOOL => self.try_get::<_, Option<bool>>(column)?.map(|is| Value::Integer(is.into())),
            Type::FLOAT8 => self.try_get::<_, Option<f64>>(column)?.map(Value::Real),
            Type::BYTEA => self.try_get::<_, Option<&[u8]>>(column)?.map(Value::Blob),
            Type::TEXT | Type::VARCHAR => self.try_get::<_, Option<&str>>(column)?.map(Value::Text),
            ref other => return Err(Error::unreadable(format!("column {column} is of the type {other}"))),
        };
        Ok(value.unwrap_or(Value::Null))
    }
}
