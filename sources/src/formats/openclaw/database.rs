//! The database of an agent, since 2026.8.
//!
//! Rows are only appended, but a session can be rewritten: then its generation changes, or rows are deleted and others get their
//! numbers.

use std::io::Read;

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use super::super::field::label;
use super::super::records::{UNREADABLE, hash, unpacked};
use super::super::sqlite::{Database, MAX_VALUE, Watermark, bytes, cursor, limited, line, number, place, text, time};
use super::super::{Batch, Cursor, ReadError};
use super::event::{OpenClawSession, take};
use crate::foreign::Foreign;

/// How far it was read.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct OpenClawCursor {
    row: i64,
    /// The hash of that row. If it is another row by now, the table was rewritten.
    hash: u64,
    rewrites: Watermark,
}

/// Reads the events since the last time, and those of sessions that were rewritten.
pub fn read(file: Foreign<'_>, since: Option<&Cursor>, batch: &mut Batch) -> Result<(), ReadError> {
    let database = Database::open(file)?;
    let columns = database.require("transcript_events", &["session_id", "seq", "event_json", "created_at"])?;
    let mut place: OpenClawCursor = place(since);
    if row_hash(&database, place.row)? != Some(place.hash) {
        place.row = 0;
    }
    let mut rows = database
        .numbers("SELECT rowid FROM transcript_events WHERE rowid > ?1 ORDER BY session_id, seq", [place.row])?;
    for session in rewritten(&database, &mut place.rewrites)? {
        // The first time every session is new.
        if place.row > 0 {
            let query = "SELECT rowid FROM transcript_events WHERE session_id = ?1 AND rowid <= ?2 ORDER BY seq";
            rows.extend(database.numbers(query, (session, place.row))?);
        }
    }
    let reader = EventReader {
        keys: !database.columns("session_windows")?.is_empty(),
        database,
        packed: columns.contains("event_zstd"),
    };
    reader.take(&rows, batch)?;
    place.row = rows.into_iter().fold(place.row, i64::max);
    place.hash = row_hash(&reader.database, place.row)?.unwrap_or_default();
    place.rewrites.prune();
    batch.cursor = cursor(&place);
    Ok(())
}

/// A hash that tells a row from another one with its number.
fn row_hash(database: &Database, row: i64) -> Result<Option<u64>, ReadError> {
    let mut found = None;
    let query = "SELECT session_id, seq, created_at FROM transcript_events WHERE rowid = ?1";
    database.each(query, [row], |row| {
        let number = |column| number(row, column).map(|number| number.unwrap_or_default().to_string());
        found = Some(hash(&[&text(row, 0)?.unwrap_or_default(), &number(1)?, &number(2)?]));
        Ok(())
    })?;
    Ok(found)
}

/// The sessions whose generation has changed.
fn rewritten(database: &Database, rewrites: &mut Watermark) -> Result<Vec<String>, ReadError> {
    let columns = database.columns("transcript_rewrite_watermarks")?;
    let mut sessions = Vec::new();
    if ["session_id", "generation", "updated_at"].iter().any(|column| !columns.contains(*column)) {
        return Ok(sessions);
    }
    let query = "SELECT session_id, CAST(generation AS TEXT), updated_at FROM transcript_rewrite_watermarks
        WHERE updated_at >= ?1";
    database.each(query, [rewrites.from()], |row| {
        let (session, generation) = (text(row, 0)?, text(row, 1)?.unwrap_or_default());
        if let Some(session) = session {
            let at = number(row, 2)?.unwrap_or_default();
            if rewrites.is_new(at, hash(&[&session, &generation])) {
                sessions.push(session);
            }
        }
        Ok(())
    })?;
    Ok(sessions)
}

struct EventReader {
    database: Database,
    /// Whether there are keys of sessions.
    keys: bool,
    /// Whether events may be compressed.
    packed: bool,
}

impl EventReader {
    fn take(&self, rows: &[i64], batch: &mut Batch) -> Result<(), ReadError> {
        let packed = if self.packed { limited("event_zstd") } else { "NULL".into() };
        let query = format!(
            "SELECT session_id, seq, created_at, {}, {packed} FROM transcript_events
            WHERE rowid = ?1",
            limited("event_json")
        );
        let mut session = OpenClawSession::default();
        // The header may name the session otherwise than its rows do.
        let mut of_rows = String::new();
        for &row in rows {
            self.database.each(&query, [row], |event| {
                let Some(id) = text(event, 0)? else {
                    batch.skipped.count(UNREADABLE);
                    return Ok(());
                };
                if id != of_rows || session.id.is_empty() {
                    session = self.session(&id, &query)?;
                    of_rows = id;
                }
                let written = number(event, 2)?.and_then(time);
                // Its turn has them again.
                self.database.count((session.id.len() + session.cwd.as_ref().map_or(0, String::len)) as u64)?;
                match content(event, &self.database)? {
                    Some(content) => take(&content, &mut session, batch, line(row), written),
                    None => batch.skipped.count(UNREADABLE),
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// A session, by its key and its first event.
    fn session(&self, id: &str, query: &str) -> Result<OpenClawSession, ReadError> {
        let mut session = OpenClawSession { id: label(id), ..OpenClawSession::default() };
        let first = "SELECT rowid FROM transcript_events WHERE session_id = ?1 ORDER BY seq LIMIT 1";
        for row in self.database.numbers(first, [id])? {
            self.database.each(query, [row], |event| {
                if let Some(content) = content(event, &self.database)? {
                    take(&content, &mut session, &mut Batch::default(), 0, None);
                }
                Ok(())
            })?;
        }
        if self.keys {
            self.database.each("SELECT session_key FROM session_windows WHERE session_id = ?1", [id], |row| {
                session.is_subagent = text(row, 0)?.is_some_and(|key| key.contains(":subagent:"));
                Ok(())
            })?;
        }
        Ok(session)
    }
}

/// The JSON of an event.
fn content(event: &Row<'_>, database: &Database) -> Result<Option<Vec<u8>>, ReadError> {
    if let Some(json) = bytes(event, 3)? {
        return Ok(Some(json.to_vec()));
    }
    let Some(packed) = bytes(event, 4)? else { return Ok(None) };
    let mut json = Vec::new();
    let read = unpacked(packed).and_then(|decoder| decoder.take(MAX_VALUE as u64).read_to_end(&mut json).ok());
    database.count(json.len() as u64)?;
    Ok(read.map(|_| json))
}
