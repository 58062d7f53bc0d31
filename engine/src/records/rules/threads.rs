//! The place of a record in a thread.

use crate::error::{Error, Result};
use crate::records::transaction::{SelectExt, Tx};
use crate::types::{MAX_TURN, NewRecord, RecordId};

/// The turn of a new record of this scope: the given one, or the one after the last of its session.
pub(super) fn turn(tx: &dyn Tx, scope: i64, new: &NewRecord) -> Result<Option<i64>> {
    let (Some(session), None) = (&new.session, new.turn) else { return Ok(new.turn) };
    let sql = "SELECT max(turn) FROM records WHERE scope_id = ?1 AND session = ?2";
    let last = tx.first(sql, &[scope.into(), session.into()], |row| row.get::<Option<i64>>(0))?.flatten();
    match last {
        Some(MAX_TURN..) => {
            Err(Error::invalid("turn", format!("the session {session:?} has the last one; give a turn")))
        }
        last => Ok(Some(last.map_or(1, |last| last + 1))),
    }
}

/// Gives a record without a thread the place that a new one with its text asks for.
pub(super) fn join(tx: &dyn Tx, id: RecordId, scope: i64, new: &NewRecord) -> Result<()> {
    let Some(session) = &new.session else { return Ok(()) };
    let turn = turn(tx, scope, new)?;
    let sql = "UPDATE records SET session = ?2, turn = ?3 WHERE id = ?1 AND session IS NULL";
    tx.execute(sql, &[id.into(), session.into(), turn.into()]).map(drop)
}
