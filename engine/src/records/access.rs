//! Who fetched what, and when: the access log and the counts that it feeds.

use rusqlite::types::Type;
use rusqlite::{Connection, Transaction};

use super::Records;
use super::tally::MOST_ACCESSES;
use crate::error::Result;
use crate::sensitive::logged_query;
use crate::types::{AccessKind, Accessed, Millis, RecordId};

/// Rows of the access log that are kept: the newest.
pub const MAX_ACCESS_ROWS: i64 = 100_000;

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

/// How an access counts.
const COUNT: &str =
    "UPDATE records SET access_count = min(access_count, ?3 - 1) + 1, last_accessed_at = ?2 WHERE id = ?1";

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
            let mut count = tx.prepare_cached(COUNT)?;
            for access in accesses {
                log.execute((access.id, now, access.kind.as_str(), access.score, access.query))?;
                if access.counts {
                    count.execute((access.id, now, MOST_ACCESSES))?;
                }
            }
            trim(tx)
        })
    }

    /// Counts an access of each of these records, without a row in the log; as with [`Records::record_access`], a power
    /// cut may forget it. One that is gone is passed over.
    pub fn count_accesses(&self, ids: &[RecordId], now: Millis) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        self.write_unsynced(|tx| {
            let mut count = tx.prepare_cached(COUNT)?;
            ids.iter().try_for_each(|id| count.execute((id, now, MOST_ACCESSES)).map(drop))?;
            Ok(())
        })
    }
}

/// Removes the oldest rows beyond [`MAX_ACCESS_ROWS`].
pub(super) fn trim(tx: &Transaction<'_>) -> Result<()> {
    tx.prepare_cached("DELETE FROM access_log WHERE id <= (SELECT max(id) FROM access_log) - ?")?
        .execute([MAX_ACCESS_ROWS])?;
    Ok(())
}

/// What the log holds of a record, oldest first. Earlier versions of memorist kept queries whole.
pub(super) fn of_record(conn: &Connection, id: RecordId) -> Result<Vec<Accessed>> {
    let mut statement = conn.prepare_cached(
        "SELECT accessed_at, access_type, relevance_score, query_text FROM access_log WHERE record_id = ? ORDER BY id",
    )?;
    let accesses = statement.query_map([id], |row| {
        let name = row.get_ref(1)?.as_str()?;
        let kind = [AccessKind::Get, AccessKind::Search].into_iter().find(|kind| kind.as_str() == name);
        let unknown = || rusqlite::Error::InvalidColumnType(1, format!("access_type {name:?}"), Type::Text);
        // Damage to a query must not keep the memory from being exported.
        let query = row.get_ref(3)?.as_bytes_or_null()?.map(String::from_utf8_lossy);
        let query = query.as_deref().map(logged_query);
        Ok(Accessed { at: row.get(0)?, kind: kind.ok_or_else(unknown)?, score: row.get(2)?, query })
    })?;
    Ok(accesses.collect::<rusqlite::Result<_>>()?)
}

/// Makes these what the log holds of a record.
pub(super) fn replace(tx: &Transaction<'_>, id: RecordId, accesses: &[Accessed]) -> Result<()> {
    tx.prepare_cached("DELETE FROM access_log WHERE record_id = ?")?.execute([id])?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO access_log (record_id, accessed_at, access_type, relevance_score, query_text)
         VALUES (?, ?, ?, ?, ?)",
    )?;
    for Accessed { at, kind, score, query } in accesses {
        insert.execute((id, at, kind.as_str(), score, query))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, new};
    use super::*;
    use crate::types::{Filter, Viewer};

    fn get(id: RecordId) -> Access<'static> {
        Access { id, kind: AccessKind::Get, score: None, query: None, counts: true }
    }

    /// R5, R6.
    #[test]
    fn a_get_counts_and_a_search_need_not() {
        let store = Store::new();
        let id = store.add(&new("text"), NOW).unwrap().id;
        let head = store.head().unwrap();
        store.record_access(&[get(id)], NOW + 1).unwrap();
        let search = Access { kind: AccessKind::Search, score: Some(0.5), query: Some("te"), counts: false, ..get(id) };
        store.record_access(&[search, get(99)], NOW + 2).unwrap();
        let record = store.get(id, &Viewer::OWNER, NOW).unwrap().unwrap();
        assert_eq!((record.access_count, record.last_accessed_at), (1, Some(NOW + 1)));
        assert_eq!(record.updated_at, NOW, "to be read is no change");
        assert_eq!(store.head().unwrap(), head, "the indexes need not hear of it");
        let rows = "SELECT count(*) FROM access_log WHERE";
        assert_eq!(
            store.number(&format!("{rows} access_type = 'get' AND accessed_at = {} AND query_text IS NULL", NOW + 1)),
            1
        );
        assert_eq!(
            store.number(&format!("{rows} access_type = 'search' AND relevance_score = 0.5 AND query_text = 'te'")),
            1
        );
        assert_eq!(store.number("SELECT count(*) FROM access_log"), 2, "an absent record is passed over");
    }

    #[test]
    fn uses_are_counted_without_a_row_in_the_log() {
        let store = Store::new();
        let [one, two] = ["one", "two"].map(|text| store.add(&new(text), NOW).unwrap().id);
        let head = store.head().unwrap();
        store.count_accesses(&[two, 99, one, two], NOW + 5).unwrap();
        let record = |id| store.get(id, &Viewer::OWNER, NOW).unwrap().unwrap();
        assert_eq!((record(one).access_count, record(one).last_accessed_at), (1, Some(NOW + 5)));
        assert_eq!((record(two).access_count, record(two).last_accessed_at), (2, Some(NOW + 5)));
        assert_eq!((store.number("SELECT count(*) FROM access_log"), store.head().unwrap()), (0, head));
    }

    #[test]
    fn an_access_count_at_its_maximum_stays_there_and_is_mended_beyond() {
        let store = Store::new();
        let ids: Vec<_> = (0..3).map(|n| store.add(&new(&format!("text {n}")), NOW).unwrap().id).collect();
        store.sql(&format!("UPDATE records SET access_count = {MOST_ACCESSES} - 1 WHERE id = {}", ids[0]));
        store.record_access(&[get(ids[0]), get(ids[0]), get(ids[0])], NOW).unwrap();
        let count = |id| store.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().access_count;
        assert_eq!(count(ids[0]), MOST_ACCESSES);
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());

        store.sql(&format!("UPDATE records SET access_count = {} WHERE id > {}", i64::MAX, ids[0]));
        store.record_access(&[get(ids[1])], NOW).unwrap();
        store.sql(&format!("UPDATE records SET access_count = {} WHERE id = {}", i64::MAX, ids[1]));
        let filters = [Filter::default(), Filter { min_confidence: Some(0.0), ..Filter::default() }];
        let totals = || filters.each_ref().map(|filter| store.view().stats(filter, NOW).unwrap().total_accesses);
        assert_eq!(totals(), [3 * MOST_ACCESSES.unsigned_abs(); 2]);
        let findings = store.integrity().unwrap();
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[0].ends_with("is out of range"), "{findings:?}");
        assert!(store.recount().unwrap());
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
        assert_eq!(count(ids[2]), MOST_ACCESSES);
    }

    #[test]
    fn the_log_is_bounded() {
        let store = Store::new();
        let id = store.add(&new("text"), NOW).unwrap().id;
        let many = vec![get(id); MAX_ACCESS_ROWS as usize / 2 + 1];
        store.record_access(&many, NOW).unwrap();
        store.record_access(&many, NOW + 1).unwrap();
        assert_eq!(store.number("SELECT count(*) FROM access_log"), MAX_ACCESS_ROWS);
        assert_eq!(
            store.number(&format!("SELECT count(*) FROM access_log WHERE accessed_at = {NOW}")),
            MAX_ACCESS_ROWS / 2 - 1
        );
        store.record_access(&[get(id)], NOW + 2).unwrap();
        assert_eq!(store.number("SELECT count(*) FROM access_log"), MAX_ACCESS_ROWS);
    }

    #[test]
    fn an_access_does_not_wait_long_for_others_who_write() {
        let store = Store::new();
        let id = store.add(&new("text"), NOW).unwrap().id;
        let other = rusqlite::Connection::open(store.paths().database()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let started = std::time::Instant::now();
        assert!(store.record_access(&[get(id)], NOW).is_err());
        assert!(started.elapsed() < std::time::Duration::from_secs(5));
        other.execute_batch("ROLLBACK").unwrap();
        store.record_access(&[get(id)], NOW).unwrap();
    }
}
