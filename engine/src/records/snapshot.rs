//! [`Snapshot`]: one unchanging view of the records, the log and the embeddings.

use roaring::RoaringTreemap;
use rusqlite::{Connection, Params};

use super::filter::Condition;
use super::log::{self, LogEntry};
use super::reading::Reader;
use super::row::{self, select_records};
use crate::error::Result;
use crate::types::{ListQuery, Millis, Record, RecordId, Seq};

/// Everything as it was when the snapshot was taken, whatever is written meanwhile, by whatever process. It holds a
/// connection and keeps the write-ahead log from being emptied, so drop it soon.
pub struct Snapshot {
    reader: Reader,
    head: Seq,
    trimmed_to: Seq,
}

impl Snapshot {
    pub(super) fn begin(reader: Reader) -> Result<Self> {
        reader.prepare_cached("BEGIN")?.execute([])?;
        // SQLite takes its view with the first read.
        let head = log::head(&reader)?;
        let trimmed_to = log::trimmed_to(&reader)?;
        Ok(Snapshot { reader, head, trimmed_to })
    }

    pub(super) fn conn(&self) -> &Connection {
        &self.reader
    }

    /// Checks, after a long read, that it was of one moment. Only a store that cannot be written here, and that somebody
    /// else wrote to meanwhile, fails.
    ///
    /// # Errors
    /// [`Store`](crate::Error::Store) says so.
    pub fn check_unchanged(&self) -> Result<()> {
        self.reader.check_unchanged()
    }

    /// The newest sequence number of the sync log, 0 for none.
    pub fn head(&self) -> Seq {
        self.head
    }

    /// Log entries up to here are gone. An index that has applied less must be rebuilt.
    pub fn trimmed_to(&self) -> Seq {
        self.trimmed_to
    }

    /// At most `limit` log entries after `after`, oldest first.
    pub fn tail(&self, after: Seq, limit: usize) -> Result<Vec<LogEntry>> {
        if after >= self.head {
            return Ok(Vec::new());
        }
        log::tail(&self.reader, after, limit)
    }

    /// The live ones of these records, in the order asked.
    pub fn records(&self, ids: &[RecordId], now: Millis) -> Result<Vec<Record>> {
        let mut statement = self
            .conn()
            .prepare_cached(select_records!("WHERE r.id = ?1 AND (r.expires_at IS NULL OR r.expires_at > ?2)"))?;
        let mut found = Vec::with_capacity(ids.len());
        for &id in ids {
            let mut rows = statement.query((id, now))?;
            if let Some(row) = rows.next()? {
                found.push(row::to_record(row)?);
            }
        }
        Ok(found)
    }

    /// A page of the live records that pass the filter, in the order of their ids.
    pub fn list(&self, query: &ListQuery, now: Millis) -> Result<Vec<Record>> {
        let Condition { sql, mut values } = listed(query, now);
        let (beyond, order) = if query.newest_first { ("<", "DESC") } else { (">", "ASC") };
        let after = if query.newest_first && query.after == 0 { RecordId::MAX } else { query.after };
        values.extend([after.into(), stored_limit(query.limit).into()]);
        // By id rather than by an index: a page of a broad filter is full after few rows.
        let ids = format!(
            "SELECT r.id FROM records r NOT INDEXED WHERE {sql} AND r.id {beyond} ? ORDER BY r.id {order} LIMIT ?"
        );
        let sql = format!(select_records!("WHERE r.id IN ({}) ORDER BY r.id {}"), ids, order);
        let mut statement = self.conn().prepare_cached(&sql)?;
        let records = statement.query_map(rusqlite::params_from_iter(values), row::to_record)?;
        Ok(records.collect::<rusqlite::Result<_>>()?)
    }

    /// How many records the pages of a list have together.
    pub fn list_count(&self, query: &ListQuery, now: Millis) -> Result<u64> {
        let Condition { sql, values } = listed(query, now);
        // Kinds come first in this index, and most of what is asked is in it.
        let sql = format!("SELECT count(*) FROM records r INDEXED BY records_by_kind WHERE {sql}");
        self.count(&sql, rusqlite::params_from_iter(values))
    }

    /// At most `limit` ids of live records above `after`, ascending: to walk over all of them.
    pub fn live_ids_after(&self, after: RecordId, limit: usize, now: Millis) -> Result<Vec<RecordId>> {
        let mut statement = self.conn().prepare_cached(
            "SELECT id FROM records WHERE id > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id LIMIT ?",
        )?;
        let ids = statement.query_map((after, now, stored_limit(limit)), |row| row.get(0))?;
        Ok(ids.collect::<rusqlite::Result<_>>()?)
    }

    /// The ids of the records that have expired and are not deleted yet: indexes may still hold them.
    pub fn expired(&self, now: Millis) -> Result<RoaringTreemap> {
        self.ids("SELECT id FROM records WHERE expires_at <= ?", [now])
    }

    /// The ids that a query gives in its first column.
    pub(super) fn ids(&self, sql: &str, values: impl Params) -> Result<RoaringTreemap> {
        let mut statement = self.conn().prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let mut ids = RoaringTreemap::new();
        while let Some(row) = rows.next()? {
            ids.insert(row.get::<_, RecordId>(0)?.unsigned_abs());
        }
        Ok(ids)
    }
}

/// What a list shows, on whatever page.
fn listed(query: &ListQuery, now: Millis) -> Condition {
    let mut condition = Condition::new(&query.filter, now);
    if !query.plain.is_empty() {
        let kinds = row::kind_codes(&query.plain);
        // The body last: it is not in the index.
        condition.sql.push_str(&format!(" AND (r.kind NOT IN ({kinds}) OR r.body IS NULL)"));
    }
    condition
}

pub(super) fn stored_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, new};
    use crate::types::{Filter, ListQuery, NewRecord, RecordUpdate, Viewer};

    #[test]
    fn a_snapshot_does_not_change_while_others_write() {
        let store = Store::new();
        let id = store.add(&new("before"), NOW).unwrap().id;
        let snapshot = store.view();
        let elsewhere = store.again();
        elsewhere.add(&new("after"), NOW).unwrap();
        let update = RecordUpdate { content: Some("changed".into()), ..Default::default() };
        store.update(id, &update, &Viewer::OWNER, NOW).unwrap();
        elsewhere.trim_log(1).unwrap();
        assert_eq!((snapshot.head(), snapshot.trimmed_to()), (1, 0));
        assert_eq!(snapshot.tail(0, usize::MAX).unwrap().len(), 1);
        assert_eq!(snapshot.records(&[id, 2], NOW).unwrap()[0].content, "before");
        assert_eq!(snapshot.matching(&Filter::default(), NOW).unwrap().len(), 1);
        assert_eq!(snapshot.stats(&Filter::default(), NOW).unwrap().total, 1);
        drop(snapshot);
        let snapshot = store.view();
        assert_eq!((snapshot.head(), snapshot.trimmed_to()), (3, 1));
        assert_eq!(snapshot.records(&[id], NOW).unwrap()[0].content, "changed");
    }

    #[test]
    fn records_come_in_the_order_asked_without_the_missing_and_expired() {
        let store = Store::new();
        for (text, expires_at) in [("one", None), ("two", Some(NOW + 1)), ("three", None)] {
            store.add(&NewRecord { expires_at, ..new(text) }, NOW).unwrap();
        }
        let snapshot = store.view();
        let texts = |now| {
            let records = snapshot.records(&[3, -5, 2, 99, 1, 3], now).unwrap();
            records.into_iter().map(|record| record.content).collect::<Vec<_>>()
        };
        assert_eq!(texts(NOW), ["three", "two", "one", "three"]);
        assert_eq!(texts(NOW + 1), ["three", "one", "three"]);
        assert_eq!(snapshot.expired(NOW).unwrap().len(), 0);
        assert_eq!(snapshot.expired(NOW + 1).unwrap().iter().collect::<Vec<_>>(), [2]);
        assert_eq!(store.get(2, &Viewer::OWNER, NOW + 1).unwrap(), None);
        assert_eq!(store.get(-2, &Viewer::OWNER, NOW + 1).unwrap(), None);
    }

    #[test]
    fn lists_go_page_by_page() {
        let store = Store::new();
        let news: Vec<_> = (1..=25).map(|n| NewRecord { importance: 1 + n % 2, ..new(&n.to_string()) }).collect();
        store.add_batch(&news, NOW).unwrap();
        let snapshot = store.view();
        let odd = Filter { min_importance: Some(2), ..Filter::default() };
        let listed = |newest_first| {
            let mut query = ListQuery { limit: 4, newest_first, filter: odd.clone(), ..ListQuery::default() };
            let mut seen = Vec::new();
            loop {
                let page = snapshot.list(&query, NOW).unwrap();
                let Some(last) = page.last() else { break seen };
                query.after = last.id;
                seen.extend(page.into_iter().map(|record| record.content));
            }
        };
        let wanted: Vec<_> = (1..=25).step_by(2).map(|n| n.to_string()).collect();
        assert_eq!(listed(false), wanted);
        assert_eq!(listed(true), wanted.into_iter().rev().collect::<Vec<_>>());
        assert_eq!(snapshot.live_ids_after(22, 2, NOW).unwrap(), [23, 24]);
    }
}
