//! Memories that automatic recall has injected into a session, so that it gets none twice.

use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::text::Hash;
use crate::types::{Millis, RecordId};

/// Maximum number of rows; the newest are kept.
pub(in crate::records) const MAX_RECALLED: i64 = 20_000;
/// Time after which a silent session is over.
const KEPT: Millis = 30 * 24 * 60 * 60 * 1000;
/// Timeout of the note: memories are injected without a note rather than late.
const TIMEOUT: Duration = Duration::from_millis(50);

/// A hash in place of a session's name: a purge of a text need not look for it here.
pub(in crate::records) fn key(session: &str) -> Hash {
    Sha256::digest(session).into()
}

/// Notes that these records were injected into a session, each at its version, unsynced. Removes the oldest rows.
pub(crate) fn note(authority: &impl Authority, session: &str, given: &[(RecordId, i64)], now: Millis) -> Result<()> {
    // One that is gone meanwhile needs no note.
    let sql = "INSERT INTO recalled (session, record_id, version, recalled_at)
         SELECT ?1, id, ?3, ?4 FROM records WHERE id = ?2
         ON CONFLICT (session, record_id) DO UPDATE SET version = ?3, recalled_at = ?4";
    let key = key(session);
    authority.write_unsynced_within(TIMEOUT, |tx| {
        for &(id, version) in given {
            tx.execute(sql, &[(&key).into(), id.into(), version.into(), now.into()])?;
        }
        trim(tx, now)
    })
}

/// Notes that a record was injected into a session at its version, unless that was noted before. Below `counted`, it counts the
/// records: after `most`, none is noted. Returns whether it was noted; of two processes that ask at once, one is told so.
pub(crate) fn note_once(
    authority: &impl Authority,
    session: &str,
    counted: &str,
    (id, version): (RecordId, i64),
    most: i64,
    now: Millis,
) -> Result<bool> {
    let sql = "INSERT INTO recalled (session, record_id, version, recalled_at)
         SELECT ?1, id, ?3, ?4 FROM records WHERE id = ?2
         ON CONFLICT (session, record_id) DO UPDATE SET version = ?3, recalled_at = ?4 WHERE recalled.version <> ?3";
    let (key, counted) = (key(session), key(counted));
    authority.write_unsynced_within(TIMEOUT, |tx| {
        let count: Option<Option<i64>> =
            tx.first("SELECT max(version) FROM recalled WHERE session = ?1", &[(&counted).into()], |row| row.get(0))?;
        let count = count.flatten().unwrap_or(0);
        if count >= most || tx.execute(sql, &[(&key).into(), id.into(), version.into(), now.into()])? == 0 {
            return Ok(false);
        }
        // The number of the record takes the place of a version.
        tx.execute(sql, &[(&counted).into(), id.into(), (count + 1).into(), now.into()])?;
        trim(tx, now)?;
        Ok(true)
    })
}

/// Forgets the memories that were injected into a session: it has lost them.
pub(crate) fn forget(authority: &impl Authority, session: &str) -> Result<()> {
    let key = key(session);
    authority.write_unsynced(|tx| tx.execute("DELETE FROM recalled WHERE session = ?1", &[(&key).into()]).map(drop))
}

fn trim(tx: &dyn Tx, now: Millis) -> Result<()> {
    let sql = "DELETE FROM recalled WHERE recalled_at < ?1
         OR recalled_at < (SELECT recalled_at FROM recalled ORDER BY recalled_at DESC LIMIT 1 OFFSET ?2)";
    tx.execute(sql, &[now.saturating_sub(KEPT).into(), (MAX_RECALLED - 1).into()]).map(drop)
}
