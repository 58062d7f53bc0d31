//! Rows of `records` to [`Record`]s, and the forms in which their fields are stored.

use std::time::{Duration, SystemTime};

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use ulid::Ulid;

use crate::body::Body;
use crate::error::Result;
use crate::text::{self, Hash};
use crate::types::{Kind, Millis, Record, RecordId, Scope, Viewer};

/// `SELECT` of the columns that [`to_record`] reads, from `records r` and `scopes s`, and then the given clauses.
macro_rules! select_records {
    ($clauses:literal) => {
        concat!(
            "SELECT r.id, r.ulid, r.version, r.kind, r.importance, r.confidence, r.created_at, r.updated_at, ",
            "r.expires_at, r.access_count, r.last_accessed_at, r.content_hash, r.source, r.tags, r.context, ",
            "r.content, s.agent, s.project, r.body FROM records r JOIN scopes s ON s.id = r.scope_id ",
            $clauses
        )
    };
}
pub(super) use select_records;

/// Reads a row of [`select_records`].
pub(super) fn to_record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let kind = to_kind(row, 3)?;
    Ok(Record {
        id: row.get(0)?,
        ulid: Ulid::from_bytes(row.get(1)?).to_string(),
        version: row.get(2)?,
        kind,
        importance: row.get(4)?,
        confidence: row.get(5)?,
        created_at: row.get(6)?,
        updated_at: row.get(7)?,
        expires_at: row.get(8)?,
        access_count: row.get(9)?,
        last_accessed_at: row.get(10)?,
        content_hash: text::to_hex(&row.get::<_, Hash>(11)?),
        source: row.get(12)?,
        tags: to_tags(row, 13)?,
        context: row.get(14)?,
        content: row.get(15)?,
        scope: Scope { agent: row.get(16)?, project: row.get(17)? },
        body: to_body(row, 18, kind)?,
    })
}

/// The body in this column.
pub(super) fn to_body(row: &Row<'_>, column: usize, kind: Kind) -> rusqlite::Result<Option<Body>> {
    let body = row.get_ref(column)?.as_str_or_null()?.map(|json| Body::from_stored(kind, json));
    body.transpose().map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

/// The kind whose code is in this column.
pub(super) fn to_kind(row: &Row<'_>, column: usize) -> rusqlite::Result<Kind> {
    let code: i64 = row.get(column)?;
    kind_of(code).ok_or_else(|| {
        let why = format!("{code} is no kind that this version knows");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, why.into())
    })
}

/// The kind with this code.
pub(super) fn kind_of(code: i64) -> Option<Kind> {
    usize::try_from(code).ok().and_then(|code| Kind::ALL.get(code)).copied()
}

/// The tags in this column.
pub(super) fn to_tags(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let Some(json) = row.get_ref(column)?.as_str_or_null()? else { return Ok(Vec::new()) };
    tags_of(json).map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

/// The tags that a column value stands for.
pub(super) fn tags_of(json: &str) -> serde_json::Result<Vec<String>> {
    serde_json::from_str(json)
}

/// The number that stands for a kind: its place in [`Kind::ALL`].
pub(super) fn kind_code(kind: Kind) -> i64 {
    kind as i64
}

/// The same of several, for a list in SQL.
pub(super) fn kind_codes(kinds: &[Kind]) -> String {
    kinds.iter().map(|&kind| kind_code(kind).to_string()).collect::<Vec<_>>().join(", ")
}

/// The column value of some tags.
pub(super) fn tags_json(tags: &[String]) -> Option<String> {
    (!tags.is_empty()).then(|| serde_json::Value::from(tags).to_string())
}

/// Each tag once, where it first occurs.
pub(super) fn unique_tags(tags: &[String]) -> Vec<String> {
    let mut unique: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags {
        if !unique.contains(tag) {
            unique.push(tag.clone());
        }
    }
    unique
}

/// The hash by which two contents are the same: that of an embedding without context.
pub(super) fn hash_of_content(content: &str) -> Hash {
    text::embedding_hash(None, content)
}

/// A new ULID for a record made at `now`.
pub(super) fn new_ulid(now: Millis) -> [u8; 16] {
    let since = Duration::from_millis(now.max(0).unsigned_abs());
    Ulid::from_datetime(SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)).to_bytes()
}

/// The row of `scopes` for this scope, made where there is none.
pub(super) fn scope_id(tx: &Transaction<'_>, scope: &Scope) -> Result<i64> {
    const GLOBAL: i64 = 1;
    if *scope == Scope::default() {
        return Ok(GLOBAL);
    }
    tx.prepare_cached("INSERT INTO scopes (agent, project) VALUES (?, ?) ON CONFLICT DO NOTHING")?
        .execute((&scope.agent, &scope.project))?;
    Ok(tx
        .prepare_cached(
            "SELECT id FROM scopes WHERE coalesce(agent, '') = coalesce(?, '') AND coalesce(project, '') = coalesce(?, '')",
        )?
        .query_row((&scope.agent, &scope.project), |row| row.get(0))?)
}

/// The live record of this id, where `viewer` sees it.
pub(super) fn live(tx: &Transaction<'_>, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Option<Record>> {
    let mut statement =
        tx.prepare_cached(select_records!("WHERE r.id = ?1 AND (r.expires_at IS NULL OR r.expires_at > ?2)"))?;
    let record = statement.query_row((id, now), to_record).optional()?;
    Ok(record.filter(|record| viewer.sees(&record.scope)))
}

/// The scope of a record, where there is one of this id.
pub(super) fn scope_of(conn: &Connection, id: RecordId) -> Result<Option<Scope>> {
    let mut statement = conn
        .prepare_cached("SELECT s.agent, s.project FROM records r JOIN scopes s ON s.id = r.scope_id WHERE r.id = ?")?;
    let scope = statement.query_row([id], |row| Ok(Scope { agent: row.get(0)?, project: row.get(1)? }));
    Ok(scope.optional()?)
}

/// Whether there is a record of this id, expired or not, that `viewer` sees.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when `viewer` sees it and may not change it.
pub(super) fn may_change(conn: &Connection, id: RecordId, viewer: &Viewer) -> Result<bool> {
    let scope = scope_of(conn, id)?.filter(|scope| viewer.sees(scope));
    scope.as_ref().map_or(Ok(()), |scope| viewer.check_change(id, scope))?;
    Ok(scope.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_kind_is_its_place_in_the_list() {
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind_code(kind), place as i64);
        }
        // Codes are on the disks of users: these three stand for an order that may only grow.
        assert_eq!((Kind::ALL[0], Kind::ALL[6], Kind::ALL[15]), (Kind::Fact, Kind::Decision, Kind::Chunk));
    }

    #[test]
    fn a_content_has_the_hash_that_its_text_has() {
        for content in ["text", " padded ", "cafe\u{301}"] {
            assert_eq!(text::to_hex(&hash_of_content(content)), text::content_hash(content));
        }
    }
}
