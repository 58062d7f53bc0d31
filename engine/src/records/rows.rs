//! Rows of the tables as the types of the engine, and the forms in which their fields are stored.

use std::ops::Range;
use std::time::{Duration, SystemTime};

use ulid::Ulid;

use super::transaction::Row;
use crate::body::Body;
use crate::error::{Error, Result};
use crate::text::{self, Hash};
use crate::types::{
    Kind, Link, LinkKind, Millis, Place, Reach, Record, Replaced, Scope, Span, Version, is_same_tag, label,
};

/// Maximum of an access count: no memory is fetched as often, and the sum of all of them is still a number.
pub(super) const MOST_ACCESSES: i64 = u32::MAX as i64;

/// `SELECT` of the columns that [`to_record`] reads, from `records r` (or the given table) and `scopes s`, and then the
/// given clauses.
macro_rules! select_records {
    ($clauses:literal) => {
        select_records!("records", $clauses)
    };
    ($table:literal, $clauses:literal) => {
        concat!(
            "SELECT r.id, r.ulid, r.version, r.kind, r.importance, r.confidence, r.created_at, r.updated_at, ",
            "r.expires_at, r.access_count, r.last_accessed_at, r.content_hash, r.source, r.tags, r.context, ",
            "r.content, s.agent, s.project, r.body, r.valid_from, r.valid_to, r.session, r.turn, r.provenance FROM ",
            $table,
            " r JOIN scopes s ON s.id = r.scope_id ",
            $clauses
        )
    };
}
pub(super) use select_records;

/// The name of a reach in `searches`.
pub(super) fn reach_name(reach: &Reach) -> Option<&str> {
    match reach {
        Reach::Every => Some(Reach::EVERY),
        reach => reach.name(),
    }
}

/// The reach of a search by its name in `searches`.
pub(super) fn to_reach(name: Option<String>) -> Reach {
    match name {
        Some(name) if name == Reach::EVERY => Reach::Every,
        Some(name) => Reach::Own(name),
        None => Reach::Shared,
    }
}

/// Reads a row of [`select_records`].
pub(super) fn to_record(row: &dyn Row) -> Result<Record> {
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
        valid: Span { from: row.get(19)?, to: row.get(20)? },
        access_count: row.get(9)?,
        last_accessed_at: row.get(10)?,
        content_hash: text::to_hex(&row.get::<Hash>(11)?),
        source: row.get(12)?,
        tags: to_tags(row, 13)?,
        context: row.get(14)?,
        content: row.get(15)?,
        scope: Scope { agent: row.get(16)?, project: row.get(17)? },
        body: to_body(row, 18, kind)?,
        session: row.get(21)?,
        turn: row.get(22)?,
        place: to_place(row, 23)?,
    })
}

/// The columns that [`to_version`] reads, after the time at which the version was replaced and the reason.
macro_rules! version_columns {
    () => {
        "updated_at, content, kind, source, context, confidence, importance, tags, expires_at, body, version, valid_from, valid_to"
    };
}
pub(super) use version_columns;

/// Reads `replaced_at`, `reason` and [`version_columns`]; the first two are null for the newest version.
pub(super) fn to_version(row: &dyn Row) -> Result<Version> {
    let kind = to_kind(row, 4)?;
    let replaced = match (row.get(0)?, row.get(1)?) {
        (Some(at), Some(reason)) => Some(Replaced { at, reason }),
        _ => None,
    };
    Ok(Version {
        version: row.get(12)?,
        since: row.get(2)?,
        replaced,
        content: row.get(3)?,
        kind,
        source: row.get(5)?,
        context: row.get(6)?,
        confidence: row.get(7)?,
        importance: row.get(8)?,
        tags: to_tags(row, 9)?,
        expires_at: row.get(10)?,
        valid: Span { from: row.get(13)?, to: row.get(14)? },
        body: to_body(row, 11, kind)?,
    })
}

/// Reads `from_id`, `kind` and `to_id`.
pub(super) fn to_link(row: &dyn Row) -> Result<Link> {
    Ok(Link { from: row.get(0)?, kind: to_link_kind(row, 1)?, to: row.get(2)? })
}

/// The kind of link with the code in this column.
pub(super) fn to_link_kind(row: &dyn Row, column: usize) -> Result<LinkKind> {
    let code: i64 = row.get(column)?;
    let kind = usize::try_from(code).ok().and_then(|code| LinkKind::ALL.get(code)).copied();
    kind.ok_or_else(|| Error::unreadable(format!("unknown kind of link {code}")))
}

/// The number that stands for a kind of link: its place in [`LinkKind::ALL`].
pub(super) fn link_code(kind: LinkKind) -> i64 {
    kind as i64
}

/// The body in this column.
fn to_body(row: &dyn Row, column: usize, kind: Kind) -> Result<Option<Body>> {
    let body = row.get::<Option<&str>>(column)?.map(|json| Body::from_stored(kind, json));
    body.transpose().map_err(|error| Error::unreadable(format!("a body: {error}")))
}

/// The place in this column. Damage to it must not cost the text.
pub(super) fn to_place(row: &dyn Row, column: usize) -> Result<Option<Place>> {
    Ok(row.get::<Option<&str>>(column)?.and_then(|json| serde_json::from_str(json).ok()))
}

/// The column value of a place.
pub(super) fn place_json(place: &Place) -> String {
    serde_json::to_string(place).expect("texts and numbers")
}

/// The kind with the code in this column.
pub(super) fn to_kind(row: &dyn Row, column: usize) -> Result<Kind> {
    let code: i64 = row.get(column)?;
    kind_of(code).ok_or_else(|| Error::unreadable(format!("unknown kind {code}")))
}

/// The kind with this code.
pub(super) fn kind_of(code: i64) -> Option<Kind> {
    usize::try_from(code).ok().and_then(|code| Kind::ALL.get(code)).copied()
}

/// The tags in this column.
pub(super) fn to_tags(row: &dyn Row, column: usize) -> Result<Vec<String>> {
    let Some(json) = row.get::<Option<&str>>(column)? else { return Ok(Vec::new()) };
    tags_of(json).map_err(|error| Error::unreadable(format!("tags: {error}")))
}

/// The tags that a column value stands for.
pub(super) fn tags_of(json: &str) -> serde_json::Result<Vec<String>> {
    serde_json::from_str(json)
}

/// The number that stands for a kind: its place in [`Kind::ALL`].
pub(super) fn kind_code(kind: Kind) -> i64 {
    kind as i64
}

/// The numbers of several kinds, as a list in SQL.
pub(super) fn kind_codes(kinds: &[Kind]) -> String {
    kinds.iter().map(|&kind| kind_code(kind).to_string()).collect::<Vec<_>>().join(", ")
}

/// The column value of some tags.
pub(super) fn tags_json(tags: &[String]) -> Option<String> {
    (!tags.is_empty()).then(|| serde_json::Value::from(tags).to_string())
}

/// Each tag once, as it first occurs, as it is saved: upper and lower case (ASCII) are the same tag.
pub(super) fn unique_tags(tags: &[String]) -> Vec<String> {
    let mut unique: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags {
        if !unique.iter().any(|known| is_same_tag(known, tag)) {
            unique.push(label(tag).into_owned());
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

/// The bytes of a passage in this column and the next.
pub(super) fn to_bytes(row: &dyn Row, column: usize) -> Result<Range<usize>> {
    let at = |column| Ok::<_, Error>(usize::try_from(row.get::<i64>(column)?).unwrap_or(usize::MAX));
    Ok(at(column)?..at(column + 1)?)
}

/// The number of a passage in this column.
pub(super) fn to_passage(row: &dyn Row, column: usize) -> Result<u8> {
    let number = row.get::<i64>(column)?;
    u8::try_from(number).map_err(|_| Error::unreadable(format!("invalid passage number {number}")))
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
    fn the_code_of_a_kind_of_link_is_its_place_in_the_list() {
        for (place, kind) in LinkKind::ALL.into_iter().enumerate() {
            assert_eq!(link_code(kind), place as i64);
        }
        assert_eq!(link_code(LinkKind::Supersedes), 2, "as the triggers and an index of the schema have it");
    }

    #[test]
    fn a_content_has_the_hash_that_its_text_has() {
        for content in ["text", " padded ", "cafe\u{301}"] {
            assert_eq!(text::to_hex(&hash_of_content(content)), text::content_hash(content));
        }
    }
}
