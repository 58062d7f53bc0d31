//! Totals: what a store holds, told without reading a text.

use rusqlite::{Params, params_from_iter};

use super::filter::Condition;
use super::{Snapshot, row};
use crate::error::Result;
use crate::types::{Filter, Kind, Millis, Stats};

/// How many rows of each sort there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Live records.
    pub live: u64,
    /// Live records whose embedding is stored.
    pub embedded: u64,
    /// Expired records that are not deleted yet.
    pub expired: u64,
    /// Earlier versions.
    pub versions: u64,
    /// Vectors, of texts (two records of one text share one).
    pub embeddings: u64,
    /// Rows of the access log.
    pub accesses: u64,
    /// Entries of the sync log.
    pub log_entries: u64,
}

impl Snapshot {
    /// What the store holds of the records that pass the filter.
    pub fn stats(&self, filter: &Filter, now: Millis) -> Result<Stats> {
        let Condition { sql, values } = Condition::new(filter, now);
        let mut statement = self.conn().prepare_cached(&format!(
            "SELECT kind, count(*), sum(importance), sum(confidence), sum(access_count), min(created_at), max(created_at)
             FROM records r INDEXED BY records_by_kind WHERE {sql} GROUP BY kind"
        ))?;
        let mut rows = statement.query(params_from_iter(values.iter()))?;
        let mut by_kind: Vec<(Kind, u64)> = Vec::new();
        let (mut total, mut importance, mut confidence, mut accesses) = (0, 0.0, 0.0, 0);
        let (mut oldest, mut newest) = (None, None);
        while let Some(row) = rows.next()? {
            let count = row.get::<_, i64>(1)?.unsigned_abs();
            by_kind.push((row::to_kind(row, 0)?, count));
            total += count;
            importance += row.get::<_, i64>(2)? as f64;
            confidence += row.get::<_, f64>(3)?;
            accesses += row.get::<_, i64>(4)?.unsigned_abs();
            let (first, last): (Millis, Millis) = (row.get(5)?, row.get(6)?);
            oldest = Some(oldest.map_or(first, |oldest: Millis| oldest.min(first)));
            newest = Some(newest.map_or(last, |newest: Millis| newest.max(last)));
        }
        let mean = |sum: f64| if total == 0 { 0.0 } else { sum / total as f64 };
        Ok(Stats {
            total,
            by_kind,
            avg_importance: mean(importance),
            avg_confidence: mean(confidence),
            total_accesses: accesses,
            oldest,
            newest,
            pending_embeddings: self.count(
                &format!(
                    "SELECT count(*) FROM records r INDEXED BY records_pending WHERE embedding_id IS NULL AND {sql}"
                ),
                params_from_iter(values.iter()),
            )?,
        })
    }

    /// How many live records there are.
    pub fn live_count(&self, now: Millis) -> Result<u64> {
        self.count("SELECT count(*) FROM records WHERE expires_at IS NULL OR expires_at > ?", [now])
    }

    /// How many rows of each sort there are.
    pub fn counts(&self, now: Millis) -> Result<Counts> {
        let all = |table: &str| self.count(&format!("SELECT count(*) FROM {table}"), ());
        let expired = self.count("SELECT count(*) FROM records WHERE expires_at <= ?", [now])?;
        let live = all("records")? - expired;
        Ok(Counts {
            live,
            embedded: live - self.pending_count(now, u64::MAX)?,
            expired,
            versions: all("versions")?,
            embeddings: all("embeddings")?,
            accesses: all("access_log")?,
            log_entries: all("sync_log")?,
        })
    }

    /// How many live records wait for their embedding, counted up to `at_most`.
    pub fn pending_count(&self, now: Millis, at_most: u64) -> Result<u64> {
        self.count(
            "SELECT count(*) FROM (SELECT 1 FROM records INDEXED BY records_pending
             WHERE embedding_id IS NULL AND (expires_at IS NULL OR expires_at > ?) LIMIT ?)",
            [now, i64::try_from(at_most).unwrap_or(i64::MAX)],
        )
    }

    pub(super) fn count(&self, sql: &str, values: impl Params) -> Result<u64> {
        let count: i64 = self.conn().prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, model, new};
    use super::super::{Access, AccessKind};
    use super::*;
    use crate::types::{NewRecord, RecordUpdate, Viewer};

    #[test]
    fn an_empty_store_has_no_times_and_no_means() {
        let stats = Store::new().view().stats(&Filter::default(), NOW).unwrap();
        let expected = Stats {
            total: 0,
            by_kind: vec![],
            avg_importance: 0.0,
            avg_confidence: 0.0,
            total_accesses: 0,
            oldest: None,
            newest: None,
            pending_embeddings: 0,
        };
        assert_eq!(stats, expected);
    }

    #[test]
    fn totals_are_of_live_records() {
        let store = Store::new();
        let add = |kind, importance, confidence, expires_at, at| {
            let text = format!("{kind} {importance}");
            store.add(&NewRecord { kind, importance, confidence, expires_at, ..new(&text) }, at).unwrap().id
        };
        let task = add(Kind::Task, 10, 1.0, None, NOW + 3);
        add(Kind::Fact, 1, 0.5, None, NOW + 1);
        add(Kind::Fact, 4, 0.0, None, NOW + 2);
        let brief = add(Kind::Event, 9, 1.0, Some(NOW + 10), NOW);
        for id in [task, brief] {
            let access = Access { id, kind: AccessKind::Get, score: None, query: None, counts: true };
            store.record_access(&[access, access], NOW).unwrap();
        }
        let model = store.model(&model(1)).unwrap();
        let hash = store.pending(model, 1, NOW).unwrap()[0].hash;
        store.store_embeddings(model, &[(hash, vec![1.0])]).unwrap();
        store.update(task, &RecordUpdate { importance: Some(8), ..Default::default() }, &Viewer::OWNER, NOW).unwrap();
        let expected = Stats {
            total: 3,
            by_kind: vec![(Kind::Fact, 2), (Kind::Task, 1)],
            avg_importance: 13.0 / 3.0,
            avg_confidence: 0.5,
            total_accesses: 2,
            oldest: Some(NOW + 1),
            newest: Some(NOW + 3),
            pending_embeddings: 2,
        };
        assert_eq!(store.view().stats(&Filter::default(), NOW + 10).unwrap(), expected);
        let counts =
            Counts { live: 3, embedded: 1, expired: 1, versions: 1, embeddings: 1, accesses: 4, log_entries: 6 };
        assert_eq!(store.view().counts(NOW + 10).unwrap(), counts);
        assert_eq!(store.view().stats(&Filter::default(), NOW).unwrap().total, 4);
    }
}
