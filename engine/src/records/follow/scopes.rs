//! Scopes come over before the records that have them, and a comparison may be stopped in between. So each record here keeps a scope
//! with the names that it had, until the record itself comes over or goes.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::question::{Rows, Unit};
use super::tables::SCOPES;
use crate::error::Result;
use crate::records::log::Change;
use crate::records::rules::log::append;
use crate::records::transaction::{SelectExt, Tx, Value};
use crate::types::RecordId;

/// Whether two names of a scope are those of another one, `?1` and `?2`.
const SAME_NAMES: &str = "coalesce(agent, '') = coalesce(?1, '') AND coalesce(project, '') = coalesce(?2, '')";

/// Prepares that the scopes of a range become what the server has. Returns how many have to wait for the next round, because
/// something here has them.
pub(super) fn keep_used(tx: &dyn Tx, rows: &mut BTreeMap<Unit, Rows>) -> Result<usize> {
    let mut waiting = 0;
    let mut next = tx.first("SELECT max(id) FROM scopes", &[], |row| row.get::<Option<i64>>(0))?.flatten().unwrap_or(0);
    next = next.max(rows.keys().map(|(_, id)| *id).max().unwrap_or(0)) + 1;
    let mut kept = Vec::new();
    for (&(_, id), unit) in rows.iter() {
        let Some((row, _)) = unit.first() else {
            if is_used(tx, id)? {
                kept.push(id);
            }
            continue;
        };
        let name = |column: &str| row.get(column).and_then(Json::as_str).map_or(Value::Null, Value::Text);
        let names = [name("agent"), name("project"), id.into()];
        let is_other = format!("SELECT 1 FROM scopes WHERE id = ?3 AND NOT ({SAME_NAMES})");
        if tx.exists(&is_other, &names)? && is_used(tx, id)? {
            // The server has given its number to another scope.
            tx.execute("UPDATE scopes SET id = ?2 WHERE id = ?1", &[id.into(), next.into()])?;
            let copied = "INSERT INTO copied (number, id, rows, stamp) VALUES (?1, ?2, 1, 0)";
            tx.execute(copied, &[SCOPES.into(), next.into()])?;
            give(tx, id, next)?;
            next += 1;
            waiting += 1;
        }
        let same = format!("SELECT id FROM scopes WHERE id <> ?3 AND {SAME_NAMES}");
        if let Some(same) = tx.first(&same, &names, |row| row.get::<i64>(0))? {
            give(tx, same, id)?;
        }
    }
    for id in &kept {
        rows.remove(&(SCOPES, *id));
    }
    Ok(waiting + kept.len())
}

fn is_used(tx: &dyn Tx, id: i64) -> Result<bool> {
    for table in ["records", "versions", "trash"] {
        if tx.exists(&format!("SELECT 1 FROM {table} WHERE scope_id = ?1"), &[id.into()])? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Gives what has a scope to another one. The indexes have the numbers of scopes, too.
fn give(tx: &dyn Tx, from: i64, to: i64) -> Result<()> {
    let numbers = [from.into(), to.into()];
    let sql = "UPDATE records SET scope_id = ?2 WHERE scope_id = ?1 RETURNING id, version";
    for (id, version) in tx.all(sql, &numbers, |row| Ok((row.get::<RecordId>(0)?, row.get(1)?)))? {
        append(tx, id, &Change::Put { version, new_text: false })?;
    }
    for (table, column) in
        [("versions", "scope_id"), ("trash", "scope_id"), ("links", "from_scope"), ("links", "to_scope")]
    {
        tx.execute(&format!("UPDATE {table} SET {column} = ?2 WHERE {column} = ?1"), &numbers)?;
    }
    Ok(())
}
