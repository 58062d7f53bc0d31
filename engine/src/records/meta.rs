//! Single values of a store: the rows of `meta`.

use super::transaction::{Select, SelectExt, Tx, Value};
use crate::error::Result;

/// The text of an entry, where there is one.
pub(super) fn text(db: &dyn Select, key: &str) -> Result<Option<String>> {
    db.first("SELECT value FROM meta WHERE key = ?1", &[key.into()], |row| row.get(0))
}

/// The number of an entry, where there is one. A server has it as text.
pub(super) fn integer(db: &dyn Select, key: &str) -> Result<Option<i64>> {
    db.first("SELECT CAST(value AS BIGINT) FROM meta WHERE key = ?1", &[key.into()], |row| row.get(0))
}

/// Writes an entry over the one that is there.
pub(super) fn put(tx: &dyn Tx, key: &str, value: Value<'_>) -> Result<()> {
    let sql = "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    tx.execute(sql, &[key.into(), value]).map(drop)
}

/// Removes an entry.
pub(super) fn remove(tx: &dyn Tx, key: &str) -> Result<()> {
    tx.execute("DELETE FROM meta WHERE key = ?1", &[key.into()]).map(drop)
}
