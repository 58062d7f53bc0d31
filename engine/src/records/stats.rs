//! Totals: what a store holds, told without reading a text.

use rusqlite::Params;

use super::{Snapshot, row};
use crate::error::Result;
use crate::types::{Kind, Millis, Stats};

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
    /// What the store holds.
    pub fn stats(&self, now: Millis) -> Result<Stats> {
        let mut statement = self.conn().prepare_cached(
            "SELECT kind, count(*), sum(importance), sum(confidence), sum(access_count), min(created_at), max(created_at)
             FROM records INDEXED BY records_by_kind
             WHERE expires_at IS NULL OR expires_at > ? GROUP BY kind",
        )?;
        let mut rows = statement.query([now])?;
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
            pending_embeddings: self.pending_count(now)?,
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
            embedded: live - self.pending_count(now)?,
            expired,
            versions: all("versions")?,
            embeddings: all("embeddings")?,
            accesses: all("access_log")?,
            log_entries: all("sync_log")?,
        })
    }

    /// How many live records wait for their embedding.
    pub fn pending_count(&self, now: Millis) -> Result<u64> {
        self.count(
            "SELECT count(*) FROM records INDEXED BY records_pending
             WHERE embedding_id IS NULL AND (expires_at IS NULL OR expires_at > ?)",
            [now],
        )
    }

    fn count(&self, sql: &str, values: impl Params) -> Result<u64> {
        let count: i64 = self.conn().prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }
}
