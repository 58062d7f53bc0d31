//! The place of a record in a thread.

use crate::body::Body;
use crate::error::{Error, Result};
use crate::records::transaction::{SelectExt, Tx};
use crate::types::{Kind, MAX_TURN, NewRecord, RecordId};

/// The session and the turn of a new record of this scope: the turn after the last of the session, if none is given.
pub(super) fn place(tx: &dyn Tx, scope: i64, new: &NewRecord, body: Option<&Body>) -> Result<Option<(String, i64)>> {
    let Some(session) = session(new, body) else { return Ok(None) };
    if let Some(turn) = new.turn {
        return Ok(Some((session.to_owned(), turn)));
    }
    let sql = "SELECT max(turn) FROM records WHERE scope_id = ?1 AND session = ?2";
    let last = tx.first(sql, &[scope.into(), session.into()], |row| row.get::<Option<i64>>(0))?.flatten();
    match last {
        Some(MAX_TURN..) => {
            Err(Error::invalid("turn", format!("the session {session:?} has the last one; give a turn")))
        }
        last => Ok(Some((session.to_owned(), last.map_or(1, |last| last + 1)))),
    }
}

/// The given one, or the one that a conversation names in its body.
fn session<'a>(new: &'a NewRecord, body: Option<&'a Body>) -> Option<&'a str> {
    let named = || body.filter(|_| new.kind == Kind::Conversation)?.get("session_id")?.as_str();
    new.session.as_deref().or_else(named)
}

/// Gives a record without a thread the place that a new one with its text asks for.
pub(super) fn join(tx: &dyn Tx, id: RecordId, scope: i64, new: &NewRecord, body: Option<&Body>) -> Result<()> {
    let Some((session, turn)) = place(tx, scope, new, body)? else { return Ok(()) };
    let sql = "UPDATE records SET session = ?2, turn = ?3 WHERE id = ?1 AND session IS NULL";
    tx.execute(sql, &[id.into(), (&session).into(), turn.into()]).map(drop)
}
