//! Totals of records, kept by triggers in `tallies`: to count a million records, even in an index, takes longer than
//! anybody waits for a number.
//!
//! A tally is of all records, expired ones too. Those that have expired and are not deleted yet are few, and are
//! subtracted when a total is read.

use rusqlite::params_from_iter;

use super::filter::Condition;
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::records::rows::{self, MOST_ACCESSES};
use crate::types::{Filter, Kind, Millis};

/// Factor of confidences in stored sums.
pub(super) const BILLIONTHS: f64 = 1e9;

/// Totals of the live records of one kind and importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) kind: Kind,
    pub(super) importance: i64,
    pub(super) records: u64,
    /// Records that wait for an embedding.
    pub(super) waiting: u64,
    /// The sum of their access counts.
    pub(super) accesses: u64,
    /// The sum of their confidences, in billionths.
    pub(super) confidence: u64,
}

/// Whether the totals can answer this filter.
pub(super) fn answers(filter: &Filter) -> bool {
    let (kinds, min_importance, viewer) = (filter.kinds.clone(), filter.min_importance, filter.viewer.clone());
    *filter == Filter { kinds, min_importance, viewer, ..Filter::default() }
}

/// Condition on the row `r` of `tallies`: it has records that pass the filter, of this project alone where one is given.
pub(super) fn tallied(filter: &Filter, project: Option<&str>) -> Condition {
    let mut condition = Condition { sql: "r.records > 0".into(), values: Vec::new() };
    condition.and_tallied(filter, project);
    condition
}

impl Snapshot {
    /// The totals of what passes a filter that they [answer](answers), of this project alone where one is given.
    pub(super) fn tallies(&self, filter: &Filter, project: Option<&str>, now: Millis) -> Result<Vec<Tally>> {
        let all = tallied(filter, project);
        let mut expired = Condition { sql: "r.expires_at <= ?".into(), values: vec![now.into()] };
        expired.and_tallied(filter, project);
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
        let tallies = statement.query_and_then(params_from_iter([all.values, expired.values].concat()), |row| {
            let number = |column| Ok::<_, Error>(row.get::<_, i64>(column)?.max(0).unsigned_abs());
            Ok(Tally {
                kind: rows::to_kind(row, 0)?,
                importance: row.get(1)?,
                records: number(2)?,
                waiting: number(3)?,
                accesses: number(4)?,
                confidence: number(5)?,
            })
        })?;
        tallies.collect()
    }
}
