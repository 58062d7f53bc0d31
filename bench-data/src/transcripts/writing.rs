//! Lines of JSON, SQL texts, and times.

use std::io::{self, Write};

use jiff::Timestamp;
use serde_json::Value;

use crate::sessions::Session;

/// After so many turns an agent writes a summary.
pub(super) const TURNS_A_SUMMARY: usize = 100;

pub(super) fn line(out: &mut dyn Write, record: &Value) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    out.write_all(b"\n")
}

/// A time as in `2026-11-02T09:00:00.000Z`.
pub(super) fn time(at: i64) -> String {
    formatted(at, "%Y-%m-%dT%H:%M:%S%.3fZ")
}

/// A time in a format of `strftime`.
pub(super) fn formatted(at: i64, format: &str) -> String {
    Timestamp::from_millisecond(at).unwrap_or_default().strftime(format).to_string()
}

/// A text in SQL.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A path as a part of another: what is no letter or digit is a dash.
pub(super) fn slug(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The ids of the records of turn `turn` of a session: number 0 is that of its text.
pub(super) fn id(session: &Session, turn: usize, number: usize) -> String {
    session.record_id(1 + turn * 32 + number)
}
