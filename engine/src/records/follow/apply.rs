//! Rows of the server, written to `memory.db`: each unit becomes equal to the server's.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use super::check::{self, Aside, Values};
use super::marks;
use super::question::{Rows, Unit};
use super::tables::{META, RECORDS, TABLES, Table};
use crate::error::{Error, Result};
use crate::records::models::REFUSED_HERE;
use crate::records::rules::{refused, searches};
use crate::records::transaction::{SelectExt, Tx, Value};
use crate::text;

/// Entries of `meta` that belong to the node itself: the server does not change them.
const LOCAL_META: [&str; 13] = [
    "clock_ahead",
    "trimmed_to",
    "superseding",
    "purging",
    "purged",
    "purged_to",
    "wide_to",
    "lineage",
    "followed",
    "follows",
    "node",
    check::KEY,
    REFUSED_HERE,
];
/// Entries with numbers, which the server keeps as texts.
const NUMBERS: [&str; 5] = ["model", "next_model", "cutter", "uncut", "batch_failures"];

/// The processes whose purge a new mark may belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purges {
    /// No process: nothing was here before.
    None,
    /// This process purges.
    Own,
    /// Another one, here or elsewhere.
    Others,
}

/// Makes units equal to the server's, in an order in which no row refers to a missing one.
///
/// Returns how many rows of other units had to make room: these have to be fetched again.
pub(super) fn apply(tx: &dyn Tx, units: &BTreeMap<Unit, Rows>, purges: Purges) -> Result<usize> {
    // A row may come before the one that it refers to, and go after it.
    tx.execute("PRAGMA defer_foreign_keys = ON", &[])?;
    let of = |table: &Table| {
        let number = table.number;
        units.range((number, i64::MIN)..=(number, i64::MAX)).map(|((_, id), rows)| (*id, rows))
    };
    // What is gone first: another row may have what was unique to it.
    for table in TABLES.iter().rev() {
        for (id, rows) in of(table) {
            remove_others(tx, table, id, rows)?;
        }
    }
    let (mut displaced, mut aside) = (0, Aside::read(tx)?);
    for table in &TABLES {
        for (id, rows) in of(table) {
            displaced += write(tx, table, id, rows, &mut aside)?;
        }
    }
    aside.store(tx)?;
    if let Some((_, rows)) = of(Table::numbered(META).expect("it is one of them")).next() {
        let entry = |key: &str| {
            let row = rows.iter().find(|(row, _)| row.get("key").and_then(Json::as_str) == Some(key));
            row.and_then(|(row, _)| row.get("value")?.as_str()).map(str::to_owned)
        };
        marks::notice(tx, marks::mark_of(&entry).as_deref(), purges == Purges::None, purges == Purges::Own)?;
    }
    // A purge takes the searches along that found a record; what was deleted is in the trash.
    let records = Table::numbered(RECORDS).expect("it is one of them");
    let mut some_gone = false;
    for (id, _) in of(records).filter(|(_, rows)| rows.is_empty()) {
        some_gone = true;
        forget_uses(tx, id)?;
        if !tx.exists("SELECT 1 FROM trash WHERE id = ?1", &[id.into()])? {
            searches::forget(tx, id.into())?;
        }
    }
    if some_gone {
        refused::forget_gone(tx, REFUSED_HERE)?;
    }
    Ok(displaced)
}

/// Removes the usage data of a record that is gone, or whose id belongs to another one now.
fn forget_uses(tx: &dyn Tx, id: i64) -> Result<()> {
    for table in ["access_log", "recalled", "unsent_accesses"] {
        tx.execute(&format!("DELETE FROM {table} WHERE record_id = ?1"), &[id.into()])?;
    }
    Ok(())
}

/// Removes the rows of other units that hold a unique value of this row: on the server it has moved.
fn displace(tx: &dyn Tx, table: &Table, values: &[Value<'_>]) -> Result<usize> {
    let mut displaced = 0;
    for condition in table.unique {
        let (mut sql, mut used) =
            (format!("DELETE FROM {} WHERE id <> ?1 AND {condition} RETURNING id", table.name), vec![0]);
        for (at, column) in
            table.columns.iter().enumerate().filter(|(_, column)| condition.contains(&format!("{{{column}}}")))
        {
            used.push(at);
            sql = sql.replace(&format!("{{{column}}}"), &format!("?{}", used.len()));
        }
        let values: Vec<Value<'_>> = used.iter().map(|&at| values[at]).collect();
        for id in tx.all(&sql, &values, |row| row.get::<i64>(0))? {
            displaced += 1;
            let copied = "DELETE FROM copied WHERE number = ?1 AND id = ?2";
            tx.execute(copied, &[table.number.into(), id.into()])?;
            if table.number == RECORDS {
                forget_uses(tx, id)?;
            }
        }
    }
    if table.number == RECORDS {
        let [id, ulid] = [values[0], values[1]];
        if tx.exists("SELECT 1 FROM records WHERE id = ?1 AND ulid <> ?2", &[id, ulid])? {
            let Value::Integer(id) = id else { return Err(Error::unreadable("an id is not a number")) };
            forget_uses(tx, id)?;
            searches::forget(tx, id.into())?;
        }
    }
    Ok(displaced)
}

/// Removes the rows of a unit that the server does not have.
fn remove_others(tx: &dyn Tx, table: &Table, id: i64, rows: &Rows) -> Result<()> {
    let Table { name, key, local, .. } = table;
    if rows.is_empty() && *name != "meta" {
        tx.execute(&format!("DELETE FROM {name} WHERE {local}"), &[id.into()])?;
        return Ok(());
    }
    let kept = rows.iter().map(|(row, _)| Key::of_row(table, row)).collect::<Result<BTreeSet<_>>>()?;
    let sql = format!("SELECT {} FROM {name} WHERE {local}", key.join(", "));
    let all = tx.all(&sql, &[id.into()], |row| (0..key.len()).map(|at| KeyPart::of(row.value(at)?)).collect())?;
    let condition: Vec<String> = key.iter().enumerate().map(|(at, column)| format!("{column} = ?{}", at + 1)).collect();
    let delete = format!("DELETE FROM {name} WHERE {}", condition.join(" AND "));
    for gone in all.into_iter().map(Key).filter(|found| !kept.contains(found) && !found.is_local(table)) {
        tx.execute(&delete, &gone.values())?;
    }
    Ok(())
}

/// Writes the rows of a unit, and notes them. A row whose parent is not here is left out: a node that follows some
/// projects lacks the parent, or it comes with a later change.
fn write(tx: &dyn Tx, table: &Table, id: i64, rows: &Rows, aside: &mut Aside) -> Result<usize> {
    let sql = upsert(table);
    let (mut written, mut stamps, mut displaced) = (0, 0_i64, 0);
    aside.forget(table.name, id);
    for (row, stamp) in rows {
        if Key::of_row(table, row)?.is_local(table) {
            continue;
        }
        match write_row(tx, table, &sql, row, &mut displaced)? {
            Ok(true) => {
                written += 1;
                stamps = stamps.wrapping_add(*stamp);
            }
            Ok(false) => {}
            Err(wrong) => aside.put(table.name, id, wrong)?,
        }
    }
    let number = table.number.into();
    if written == 0 {
        tx.execute("DELETE FROM copied WHERE number = ?1 AND id = ?2", &[number, id.into()])?;
    } else {
        let sql = "INSERT INTO copied (number, id, rows, stamp) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (number, id) DO UPDATE SET rows = excluded.rows, stamp = excluded.stamp";
        tx.execute(sql, &[number, id.into(), written.into(), stamps.into()])?;
    }
    if table.name == "records" && written > 0 {
        // What this node has counted and the server not yet.
        let sql = "UPDATE records SET access_count = records.access_count + u.count,
                 last_accessed_at = max(coalesce(records.last_accessed_at, 0), u.last_accessed_at)
             FROM unsent_accesses u WHERE u.record_id = records.id AND records.id = ?1";
        tx.execute(sql, &[id.into()])?;
    }
    Ok(displaced)
}

/// Writes a row. Returns whether it was written, or the error in the row; counts the rows that made room.
fn write_row(
    tx: &dyn Tx,
    table: &Table,
    sql: &str,
    row: &Map<String, Json>,
    displaced: &mut usize,
) -> Result<Result<bool>> {
    let bytes = table.blobs.iter().map(|column| blob(row, column)).collect::<Result<Vec<_>>>()?;
    let mut values = Vec::with_capacity(table.columns.len());
    for column in table.columns {
        let at = table.blobs.iter().position(|blob| blob == column);
        values.push(match at {
            Some(at) => bytes[at].as_ref().into(),
            None => plain(table, row, column)?,
        });
    }
    if let Err(wrong) = check::check(tx, table, &Values(&values)) {
        return Ok(Err(wrong));
    }
    *displaced += displace(tx, table, &values)?;
    check::refused(tx.execute(sql, &values).map(|changed| changed > 0))
}

fn upsert(table: &Table) -> String {
    let Table { name, key, columns, parents, .. } = table;
    let numbers = (1..=columns.len()).map(|at| format!("?{at}")).collect::<Vec<_>>().join(", ");
    let place = |column: &str| columns.iter().position(|other| *other == column).map_or(0, |at| at + 1);
    let conditions = parents
        .iter()
        .map(|(column, parent)| format!(" AND EXISTS (SELECT 1 FROM {parent} WHERE id = ?{})", place(column)));
    let changed = columns.iter().filter(|column| !key.contains(column));
    let changed = changed.map(|column| format!("{column} = excluded.{column}")).collect::<Vec<_>>().join(", ");
    let action =
        if changed.is_empty() { "UPDATE SET origin = excluded.origin".into() } else { format!("UPDATE SET {changed}") };
    format!(
        "INSERT INTO {name} ({}) SELECT {numbers} WHERE true{} ON CONFLICT ({}) DO {action}",
        columns.join(", "),
        conditions.collect::<String>(),
        key.join(", ")
    )
}

/// The primary key of a row.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(Vec<KeyPart>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KeyPart {
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl KeyPart {
    fn of(value: Value<'_>) -> Result<Self> {
        match value {
            Value::Integer(number) => Ok(KeyPart::Number(number)),
            Value::Text(text) => Ok(KeyPart::Text(text.to_owned())),
            Value::Blob(bytes) => Ok(KeyPart::Bytes(bytes.to_vec())),
            Value::Null | Value::Real(_) => Err(Error::unreadable("a key is neither a number nor a text")),
        }
    }
}

impl Key {
    fn of_row(table: &Table, row: &Map<String, Json>) -> Result<Self> {
        let part = |column: &&'static str| match table.blobs.contains(column) {
            true => Ok(KeyPart::Bytes(blob(row, column)?.unwrap_or_default())),
            false => KeyPart::of(plain(table, row, column)?),
        };
        table.key.iter().map(part).collect::<Result<_>>().map(Key)
    }

    fn values(&self) -> Vec<Value<'_>> {
        let value = |part| match part {
            &KeyPart::Number(number) => Value::Integer(number),
            KeyPart::Text(text) => Value::Text(text),
            KeyPart::Bytes(bytes) => Value::Blob(bytes),
        };
        self.0.iter().map(value).collect()
    }

    /// Whether the row is in [`LOCAL_META`], and so is not the server's to change.
    fn is_local(&self, table: &Table) -> bool {
        table.name == "meta" && matches!(&self.0[..], [KeyPart::Text(key)] if LOCAL_META.contains(&key.as_str()))
    }
}

/// A value of a column without bytes.
fn plain<'a>(table: &Table, row: &'a Map<String, Json>, column: &str) -> Result<Value<'a>> {
    let wrong = || Error::unreadable(format!("the server has a {} without {column}", table.name));
    Ok(match row.get(column).ok_or_else(wrong)? {
        Json::Null => Value::Null,
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Integer(number),
            None => Value::Real(number.as_f64().ok_or_else(wrong)?),
        },
        Json::String(text) if table.name == "meta" && column == "value" => {
            let is_number = row.get("key").and_then(Json::as_str).is_some_and(|key| NUMBERS.contains(&key));
            match text.parse().ok().filter(|_| is_number) {
                Some(number) => Value::Integer(number),
                None => Value::Text(text),
            }
        }
        Json::String(text) => Value::Text(text),
        Json::Bool(_) | Json::Array(_) | Json::Object(_) => return Err(wrong()),
    })
}

/// Bytes, as PostgreSQL writes them: `\x` and hex digits.
fn blob(row: &Map<String, Json>, column: &str) -> Result<Option<Vec<u8>>> {
    let wrong = || Error::unreadable(format!("the server has bytes in {column} that cannot be read"));
    match row.get(column) {
        Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => text.strip_prefix("\\x").and_then(text::bytes_of_hex).map(Some).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}
