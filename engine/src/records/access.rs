//! Who fetched what, and when: the access log and the counts that it feeds.

use super::Records;
use crate::error::Result;
use crate::types::{Millis, RecordId};

/// Rows of the access log that are kept: the newest.
pub const MAX_ACCESS_ROWS: i64 = 100_000;

/// How a record was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    /// It was asked for by id.
    Get,
    /// A search returned it.
    Search,
}

impl AccessKind {
    fn as_str(self) -> &'static str {
        match self {
            AccessKind::Get => "get",
            AccessKind::Search => "search",
        }
    }
}

/// One record reached once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Access<'a> {
    /// The record; one that is gone is passed over.
    pub id: RecordId,
    /// How it was reached.
    pub kind: AccessKind,
    /// The score it had in the search.
    pub score: Option<f64>,
    /// What was searched for.
    pub query: Option<&'a str>,
    /// Whether it adds to the record's access count and sets its time of last access.
    pub counts: bool,
}

impl Records {
    /// Writes accesses to the log, in one transaction that does not wait for the disk: a power cut may forget the last
    /// of them. The oldest rows beyond [`MAX_ACCESS_ROWS`] go.
    pub fn record_access(&self, accesses: &[Access<'_>], now: Millis) -> Result<()> {
        if accesses.is_empty() {
            return Ok(());
        }
        self.write_unsynced(|tx| {
            let mut log = tx.prepare_cached(
                "INSERT INTO access_log (record_id, accessed_at, access_type, relevance_score, query_text)
                 SELECT id, ?2, ?3, ?4, ?5 FROM records WHERE id = ?1",
            )?;
            let mut count = tx.prepare_cached(
                "UPDATE records SET access_count = access_count + 1, last_accessed_at = ?2 WHERE id = ?1",
            )?;
            for access in accesses {
                log.execute((access.id, now, access.kind.as_str(), access.score, access.query))?;
                if access.counts {
                    count.execute((access.id, now))?;
                }
            }
            tx.prepare_cached("DELETE FROM access_log WHERE id <= (SELECT max(id) FROM access_log) - ?")?
                .execute([MAX_ACCESS_ROWS])?;
            Ok(())
        })
    }
}
