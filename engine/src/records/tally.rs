//! Totals of records, kept by triggers in `tallies`: to count a million records, even in an index, takes longer than
//! anybody waits for a number.
//!
//! A tally is of all records, expired ones too. Those that have expired and are not deleted yet are few, and are taken
//! off when somebody asks.

use rusqlite::params_from_iter;

use super::filter::Condition;
use super::integrity::MORE_LIKE_THIS;
use super::{Records, Snapshot, row};
use crate::error::Result;
use crate::types::{Filter, Kind, Millis};

/// An access count stays here: no memory is fetched as often, and the sum of all of them is still a number.
pub(super) const MOST_ACCESSES: i64 = u32::MAX as i64;

/// Confidences are added up in these.
pub(super) const BILLIONTHS: f64 = 1e9;

/// `SELECT` of what `tallies` must hold.
macro_rules! counted {
    () => {
        "SELECT scope_id, kind, importance, count(*), sum(embedding_id IS NULL),
             sum(min(max(access_count, 0), 4294967295)), sum(CAST(round(confidence * 1000000000) AS INTEGER))
         FROM records GROUP BY scope_id, kind, importance"
    };
}
pub(super) use counted;

/// What the doctor says of totals that are wrong, with the scope for `{}`.
pub(super) const WRONG_TALLY: &str = "the totals of scope {} are not those of its records";
/// What it says of an access count that is out of range, with the record for `{}`.
pub(super) const WRONG_ACCESSES: &str = "the access count of record {} is out of range";

/// Totals of the live records of one kind and importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) kind: Kind,
    pub(super) importance: i64,
    pub(super) records: u64,
    /// Those of them that wait for an embedding.
    pub(super) waiting: u64,
    /// The sum of their access counts.
    pub(super) accesses: u64,
    /// The sum of their confidences, in billionths.
    pub(super) confidence: u64,
}

/// Whether the totals can answer this filter.
pub(super) fn answers(filter: &Filter) -> bool {
    filter.tags.is_empty()
        && filter.min_confidence.is_none()
        && filter.created_after.is_none()
        && filter.created_before.is_none()
}

/// On the row `r` of `tallies`: it has records that pass the filter, of this project alone where one is given.
pub(super) fn tallied(filter: &Filter, project: Option<&str>) -> Condition {
    let mut condition = Condition { sql: "r.records > 0".into(), values: Vec::new() };
    condition.and_what_is_tallied(filter);
    condition.and_of("r.scope_id", project);
    condition
}

impl Snapshot {
    /// The totals of what passes a filter that they [answer](answers), of this project alone where one is given.
    pub(super) fn tallies(&self, filter: &Filter, project: Option<&str>, now: Millis) -> Result<Vec<Tally>> {
        let all = tallied(filter, project);
        let mut expired = Condition { sql: "r.expires_at <= ?".into(), values: vec![now.into()] };
        expired.and_what_is_tallied(filter);
        expired.and_of("r.scope_id", project);
        let sql = format!(
            "SELECT kind, importance, sum(n), sum(waiting), sum(accesses), sum(confidence) FROM (
                 SELECT kind, importance, records AS n, waiting, accesses, confidence FROM tallies r WHERE {}
                 UNION ALL SELECT kind, importance, -1, -(embedding_id IS NULL),
                     -min(max(access_count, 0), {MOST_ACCESSES}), -CAST(round(confidence * {BILLIONTHS:.0}) AS INTEGER)
                 FROM records r INDEXED BY records_by_expiry WHERE {}
             ) GROUP BY kind, importance HAVING sum(n) > 0",
            all.sql, expired.sql
        );
        let mut statement = self.conn().prepare_cached(&sql)?;
        let tallies = statement.query_map(params_from_iter([all.values, expired.values].concat()), |row| {
            let number = |column| Ok::<_, rusqlite::Error>(row.get::<_, i64>(column)?.max(0).unsigned_abs());
            Ok(Tally {
                kind: row::to_kind(row, 0)?,
                importance: row.get(1)?,
                records: number(2)?,
                waiting: number(3)?,
                accesses: number(4)?,
                confidence: number(5)?,
            })
        })?;
        Ok(tallies.collect::<rusqlite::Result<_>>()?)
    }
}

impl Records {
    /// Counts everything again, where the totals or access counts that are out of range are all that is wrong. Returns
    /// whether they were.
    pub fn recount(&self) -> Result<bool> {
        let findings = self.integrity()?;
        let is_of =
            |finding: &str, rule: &str| rule.split_once("{}").is_some_and(|(start, _)| finding.starts_with(start));
        let is_counted = |finding: &String| {
            is_of(finding, WRONG_TALLY) || is_of(finding, WRONG_ACCESSES) || finding.ends_with(MORE_LIKE_THIS)
        };
        if findings.is_empty() || !findings.iter().all(is_counted) {
            return Ok(false);
        }
        self.write(|tx| {
            limit_accesses(tx)?;
            tx.execute("DELETE FROM tallies", [])?;
            tx.execute(concat!("INSERT INTO tallies ", counted!()), [])?;
            Ok(true)
        })
    }
}

/// Brings access counts that are out of range to the nearest that is not.
pub(super) fn limit_accesses(conn: &rusqlite::Connection) -> rusqlite::Result<usize> {
    conn.execute(
        "UPDATE records SET access_count = min(max(access_count, 0), ?1) WHERE access_count NOT BETWEEN 0 AND ?1",
        [MOST_ACCESSES],
    )
}
