//! The place of a record in a thread.

use super::scopes::scope_id;
use crate::body::Body;
use crate::error::{Error, Result};
use crate::records::transaction::{SelectExt, Tx};
use crate::types::{Kind, MAX_TURN, NewRecord, Record, RecordId};

/// The session and the turn of a new record of this scope: the turn after the last of the session, if none is given.
pub(super) fn place(tx: &dyn Tx, scope: i64, new: &NewRecord, body: Option<&Body>) -> Result<Option<(String, i64)>> {
    let Some(session) = session(new, body) else { return Ok(None) };
    if let Some(turn) = new.turn {
        return Ok(Some((session.to_owned(), turn)));
    }
    Ok(Some((session.to_owned(), after_last(tx, scope, session)?)))
}

fn after_last(tx: &dyn Tx, scope: i64, session: &str) -> Result<i64> {
    let sql = "SELECT max(turn) FROM records WHERE scope_id = ?1 AND session = ?2";
    let last = tx.first(sql, &[scope.into(), session.into()], |row| row.get::<Option<i64>>(0))?.flatten();
    match last {
        Some(MAX_TURN..) => {
            Err(Error::invalid("turn", format!("the session {session:?} has the last one; give a turn")))
        }
        last => Ok(last.map_or(1, |last| last + 1)),
    }
}

/// The given one, or the one that a conversation names in its body.
fn session<'a>(new: &'a NewRecord, body: Option<&'a Body>) -> Option<&'a str> {
    new.session.as_deref().or_else(|| named(new.kind, body))
}

fn named(kind: Kind, body: Option<&Body>) -> Option<&str> {
    body.filter(|_| kind == Kind::Conversation)?.get("session_id")?.as_str()
}

/// Gives a record without a thread the place that a new one with its text asks for. Returns whether it did.
pub(super) fn join(tx: &dyn Tx, id: RecordId, scope: i64, new: &NewRecord, body: Option<&Body>) -> Result<bool> {
    if session(new, body).is_none()
        || tx.exists("SELECT 1 FROM records WHERE id = ?1 AND session IS NOT NULL", &[id.into()])?
    {
        return Ok(false);
    }
    let Some((session, turn)) = place(tx, scope, new, body)? else { return Ok(false) };
    let sql = "UPDATE records SET session = ?2, turn = ?3 WHERE id = ?1";
    tx.execute(sql, &[id.into(), (&session).into(), turn.into()])?;
    Ok(true)
}

/// Moves a conversation whose body names another session than before to the end of that one.
pub(super) fn follow_body(tx: &dyn Tx, before: &Record, after: &mut Record) -> Result<()> {
    let named = |record: &Record| named(record.kind, record.body.as_ref()).map(str::to_owned);
    let Some(session) = named(after).filter(|session| named(before).as_ref() != Some(session)) else { return Ok(()) };
    if after.session.as_ref() != Some(&session) {
        after.turn = Some(after_last(tx, scope_id(tx, &after.scope)?, &session)?);
        after.session = Some(session);
    }
    Ok(())
}
