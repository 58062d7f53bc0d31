//! Records by id, page by page, and the ids that pass a filter.

use std::collections::HashSet;

use roaring::RoaringTreemap;
use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::filter::{Condition, any_tag, tag_values};
use super::snapshot::{Snapshot, stored_limit};
use super::store::Database;
use crate::error::Result;
use crate::records::lookup;
use crate::records::rows::{self, select_records};
use crate::records::transaction::SelectExt;
use crate::types::{
    Filter, Gone, Kind, LinkKind, ListOnly, ListOrder, ListQuery, Millis, Period, Record, RecordId, Span, Viewer,
};

impl Database {
    /// The live record `id`, where `viewer` sees it.
    pub fn get(&self, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Option<Record>> {
        lookup::live(&*self.reader()?, id, viewer, now)
    }

    /// Whether a record was deleted by `by`.
    pub fn has_trash(&self, by: Millis) -> Result<bool> {
        self.reader()?.exists("SELECT 1 FROM trash WHERE deleted_at <= ?1", &[by.into()])
    }

    /// Whether a record has expired by `by`.
    pub fn has_expired(&self, by: Millis) -> Result<bool> {
        self.reader()?.exists("SELECT 1 FROM records WHERE expires_at <= ?1", &[by.into()])
    }
}

impl Snapshot {
    /// The live ones of these records, in the order of `ids`.
    pub fn records(&self, ids: &[RecordId], now: Millis) -> Result<Vec<Record>> {
        let mut statement = self
            .conn()
            .prepare_cached(select_records!("WHERE r.id = ?1 AND (r.expires_at IS NULL OR r.expires_at > ?2)"))?;
        let mut found = Vec::with_capacity(ids.len());
        for &id in ids {
            let mut rows = statement.query((id, now))?;
            if let Some(row) = rows.next()? {
                found.push(rows::to_record(row)?);
            }
        }
        Ok(found)
    }

    /// The ids of these records that are of a period.
    pub fn of_period(&self, period: Period, ids: &[RecordId]) -> Result<HashSet<RecordId>> {
        let mut statement = self.conn().prepare_cached(
            "SELECT valid_from, valid_to, created_at, CASE WHEN kind = 4 AND json_valid(body)
                 THEN json_extract(body, '$.due') END FROM records WHERE id = ?1",
        )?;
        let mut found = HashSet::new();
        for &id in ids {
            let mut rows = statement.query([id])?;
            if let Some(row) = rows.next()?
                && period.has(Span { from: row.get(0)?, to: row.get(1)? }, row.get(3)?, row.get(2)?)
            {
                found.insert(id);
            }
        }
        Ok(found)
    }

    /// A page of the live records that pass the filter.
    pub fn list(&self, query: &ListQuery, now: Millis) -> Result<Vec<Record>> {
        let Condition { sql, mut values } = listed(query, now);
        let (beyond, way) = if query.newest_first { ("<", "DESC") } else { (">", "ASC") };
        let of_tasks = matches!(query.only, Some(ListOnly::Open | ListOnly::Overdue));
        // Few have a date in the range of a filter.
        let is_dated = query.filter.is_dated();
        let (index, order) = match query.order {
            ListOrder::Saved if is_dated => ("INDEXED BY records_by_date", format!("r.id {way}")),
            ListOrder::Updated if is_dated => ("INDEXED BY records_by_date", format!("r.updated_at {way}, r.id {way}")),
            ListOrder::Saved if of_tasks => ("INDEXED BY records_by_kind", format!("r.id {way}")),
            // By id rather than by an index: a page of a broad filter is full after few rows.
            ListOrder::Saved => ("NOT INDEXED", format!("r.id {way}")),
            // A rare tag or state finds its few records first.
            ListOrder::Updated if query.only.is_some() || !query.filter.tags.is_empty() => {
                ("", format!("r.updated_at {way}, r.id {way}"))
            }
            ListOrder::Updated => ("INDEXED BY records_by_update", format!("r.updated_at {way}, r.id {way}")),
            ListOrder::Due => {
                ("INDEXED BY records_by_kind", format!("json_extract(r.body, '$.due') {way} NULLS LAST, r.id {way}"))
            }
            ListOrder::Expiry => ("", format!("r.expires_at {way} NULLS LAST, r.id {way}")),
        };
        let after = if query.newest_first && query.after == RecordId::START { RecordId::MAX } else { query.after };
        let beyond = match query.expires_after {
            Some(at) => {
                values.push(at.into());
                format!("(r.expires_at, r.id) {beyond} (?, ?)")
            }
            None => format!("r.id {beyond} ?"),
        };
        values.extend([after.into(), stored_limit(query.limit).into(), stored_limit(query.offset).into()]);
        let ids =
            format!("SELECT r.id FROM records r {index} WHERE {sql} AND {beyond} ORDER BY {order} LIMIT ? OFFSET ?");
        let sql = format!(select_records!("WHERE r.id IN ({}) ORDER BY {}"), ids, order);
        self.records_of(&sql, values)
    }

    /// The record with this id that is not live any more: expired, or deleted.
    pub fn gone(&self, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Option<Gone>> {
        let mut found = self.expired_where("r.id = ? AND r.expires_at <= ?", vec![id.into(), now.into()])?;
        found.extend(self.deleted_where("r.id = ?", vec![id.into()])?);
        found.retain(|gone| viewer.sees(&gone.record.scope));
        Ok(found.pop())
    }

    /// A page of the records that pass the filter and are not live any more, deleted or expired: the last ones first.
    pub fn list_gone(
        &self,
        filter: &Filter,
        deleted: bool,
        offset: usize,
        limit: usize,
        now: Millis,
    ) -> Result<Vec<Gone>> {
        let Condition { sql, mut values } = Condition::gone(filter, deleted, now);
        values.extend([stored_limit(limit).into(), stored_limit(offset).into()]);
        let order = if deleted { "deleted_at" } else { "expires_at" };
        let page = format!("{sql} ORDER BY r.{order} DESC, r.id DESC LIMIT ? OFFSET ?");
        if deleted { self.deleted_where(&page, values) } else { self.expired_where(&page, values) }
    }

    fn expired_where(&self, condition: &str, values: Vec<Value>) -> Result<Vec<Gone>> {
        let sql = format!(select_records!("WHERE {}"), condition);
        let expired = self.records_of(&sql, values)?;
        Ok(expired.into_iter().map(|record| Gone { record, deleted_at: None }).collect())
    }

    fn records_of(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Record>> {
        let mut statement = self.conn().prepare_cached(sql)?;
        let records = statement.query_and_then(params_from_iter(values), |row| rows::to_record(row))?;
        records.collect()
    }

    fn deleted_where(&self, condition: &str, values: Vec<Value>) -> Result<Vec<Gone>> {
        let mut gone = Vec::new();
        let sql = format!(select_records!("trash", "WHERE {}"), condition);
        for record in self.records_of(&sql, values)? {
            let sql = "SELECT deleted_at FROM trash WHERE id = ?1";
            let deleted_at = self.conn().first(sql, &[record.id.into()], |row| row.get(0))?;
            gone.push(Gone { record, deleted_at });
        }
        Ok(gone)
    }

    /// How many records the pages of a list have together.
    pub fn list_count(&self, query: &ListQuery, now: Millis) -> Result<u64> {
        let Condition { sql, values } = listed(query, now);
        // Kinds come first in this index, and most of what a filter needs is in it.
        let index = if query.filter.is_dated() { "records_by_date" } else { "records_by_kind" };
        let sql = format!("SELECT count(*) FROM records r INDEXED BY {index} WHERE {sql}");
        self.count(&sql, params_from_iter(values))
    }

    /// At most `limit` ids of live records above `after`, ascending: to walk over all of them.
    pub fn live_ids_after(&self, after: RecordId, limit: usize, now: Millis) -> Result<Vec<RecordId>> {
        let mut statement = self.conn().prepare_cached(
            "SELECT id FROM records WHERE id > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id LIMIT ?",
        )?;
        let ids = statement.query_map((after, now, stored_limit(limit)), |row| row.get(0))?;
        Ok(ids.collect::<rusqlite::Result<_>>()?)
    }

    /// The ids of the newest live records, the newest first, at most `limit`.
    pub fn newest_ids(&self, limit: usize, now: Millis) -> Result<Vec<RecordId>> {
        let sql = "SELECT id FROM records WHERE expires_at IS NULL OR expires_at > ? ORDER BY id DESC LIMIT ?";
        let mut statement = self.conn().prepare_cached(sql)?;
        let ids = statement.query_map((now, stored_limit(limit)), |row| row.get(0))?;
        Ok(ids.collect::<rusqlite::Result<_>>()?)
    }

    /// The ids of the records that have expired and are not deleted yet: indexes may still hold them.
    pub fn expired(&self, now: Millis) -> Result<RoaringTreemap> {
        self.ids("SELECT id FROM records WHERE expires_at <= ?", [now])
    }

    /// The ids of all live records that pass the filter.
    pub fn matching(&self, filter: &Filter, now: Millis) -> Result<RoaringTreemap> {
        let Condition { sql, mut values } = Condition::without_tags(filter, None, now);
        let sql = if filter.tags.is_empty() {
            // Only this one has the times of changes, and mostly those of the last days are meant.
            let changed = filter.updated_after.is_some() || filter.updated_before.is_some();
            let index = match (filter.is_dated(), changed) {
                (true, _) => "records_by_date",
                (false, true) => "records_by_update",
                (false, false) => "records_by_kind",
            };
            format!("SELECT r.id FROM records r INDEXED BY {index} WHERE {sql}")
        } else {
            // The tags first: they are the most selective.
            values.splice(0..0, tag_values(filter));
            format!(
                "SELECT r.id FROM record_tags t CROSS JOIN records r ON r.id = t.record_id WHERE {} AND {sql}",
                any_tag(filter)
            )
        };
        self.ids(&sql, params_from_iter(values))
    }
}

/// Condition for the records on all pages of a list.
fn listed(query: &ListQuery, now: Millis) -> Condition {
    let mut condition = Condition::new(&query.filter, query.project.as_deref(), now);
    let viewer = &query.filter.viewer;
    match query.only {
        None => {}
        Some(only @ (ListOnly::Open | ListOnly::Overdue)) => {
            let task = rows::kind_code(Kind::Task);
            let open = "coalesce(json_extract(r.body, '$.status'), 'open') = 'open'";
            condition.sql.push_str(&format!(" AND r.kind = {task} AND {open}"));
            let overdue = (only == ListOnly::Overdue).then_some(now);
            condition.and(" AND json_extract(r.body, '$.due') <= ?", overdue);
        }
        Some(ListOnly::Superseded) => condition.and_linked_from(LinkKind::Supersedes, viewer),
        Some(ListOnly::Contradicted) => condition.and_contradicted(viewer, now),
        Some(ListOnly::Expiring) => condition.sql.push_str(" AND r.expires_at IS NOT NULL"),
    }
    if !query.plain.is_empty() {
        let kinds = rows::kind_codes(&query.plain);
        let profile = rows::kind_code(Kind::Profile);
        // The body last: it is not in the index. As `Body::is_metadata_alone`.
        condition.sql.push_str(&format!(
            " AND (r.kind NOT IN ({kinds}) OR r.body IS NULL OR CASE WHEN r.kind <> {profile} AND json_valid(r.body)
                 THEN (SELECT min(key) = 'metadata' AND max(key) = 'metadata' FROM json_each(r.body)) END)"
        ));
    }
    condition
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{NOW, TestStore, new};
    use crate::records::rules::links;
    use crate::types::{
        Filter, Kind, Link, LinkKind, ListOnly, ListOrder, ListQuery, NewRecord, RecordId, RecordUpdate, Viewer,
    };

    #[test]
    fn records_keep_the_order_of_ids_and_skip_missing_and_expired() {
        let store = TestStore::new();
        for (text, expires_at) in [("one", None), ("two", Some(NOW + 1)), ("three", None)] {
            store.add(&NewRecord { expires_at, ..new(text) }, NOW).unwrap();
        }
        let snapshot = store.view();
        let texts = |now| {
            let records = snapshot.records(&[3, -5, 2, 99, 1, 3].map(RecordId::from), now).unwrap();
            records.into_iter().map(|record| record.content).collect::<Vec<_>>()
        };
        assert_eq!(texts(NOW), ["three", "two", "one", "three"]);
        assert_eq!(texts(NOW + 1), ["three", "one", "three"]);
        assert!(!store.has_expired(NOW).unwrap() && store.has_expired(NOW + 1).unwrap());
        assert_eq!(snapshot.expired(NOW).unwrap().len(), 0);
        assert_eq!(snapshot.expired(NOW + 1).unwrap().iter().collect::<Vec<_>>(), [2]);
        assert_eq!(store.get(2.into(), &Viewer::OWNER, NOW + 1).unwrap(), None);
        assert_eq!(store.get((-2).into(), &Viewer::OWNER, NOW + 1).unwrap(), None);
    }

    #[test]
    fn pages_of_what_expires_go_on_after_one_in_either_direction() {
        let store = TestStore::new();
        for (at, until) in [3, 1, 2, 1, 3].into_iter().enumerate() {
            let record = NewRecord { expires_at: Some(NOW + until), ..new(&at.to_string()) };
            store.add(&record, NOW).unwrap();
        }
        for (newest_first, expected) in [(false, [2, 4, 3, 1, 5]), (true, [5, 1, 3, 4, 2])] {
            let only = Some(ListOnly::Expiring);
            let mut query =
                ListQuery { order: ListOrder::Expiry, only, newest_first, limit: 2, ..ListQuery::default() };
            let mut ids = Vec::new();
            loop {
                let page = store.view().list(&query, NOW).unwrap();
                let Some(last) = page.last() else { break };
                (query.expires_after, query.after) = (last.expires_at, last.id);
                ids.extend(page.iter().map(|record| record.id.get()));
                assert!(ids.len() < 9, "{ids:?}");
            }
            assert_eq!(ids, expected);
        }
    }

    #[test]
    fn lists_go_page_by_page() {
        let store = TestStore::new();
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
        assert_eq!(snapshot.live_ids_after(22.into(), 2, NOW).unwrap(), [23, 24].map(RecordId::from));
    }

    #[test]
    fn a_list_is_by_time_due_date_or_state() {
        let store = TestStore::new();
        let task = |text: &str, body: serde_json::Value| {
            store.add(&NewRecord { kind: Kind::Task, body: Some(body), ..new(text) }, NOW).unwrap().id
        };
        let plain = |text: &str, expires_at| store.add(&NewRecord { expires_at, ..new(text) }, NOW).unwrap().id;
        let overdue = task("overdue", json!({ "due": NOW }));
        let later = task("later", json!({ "due": NOW + 9 }));
        let done = task("done", json!({ "status": "done", "due": NOW - 9 }));
        let undated = task("undated", json!({}));
        let [late, soon] = [NOW + 90, NOW + 50].map(|at| plain(&at.to_string(), Some(at)));
        let [old, new_one, rival] = ["old", "new", "rival"].map(|text| plain(text, None));
        for (from, kind, to) in [(new_one, LinkKind::Supersedes, old), (rival, LinkKind::Contradicts, new_one)] {
            store.link(Link { from, to, kind }, &Viewer::OWNER, NOW).unwrap();
        }
        let update = RecordUpdate { importance: Some(9), ..RecordUpdate::default() };
        store.update(later, &update, &Viewer::OWNER, NOW + 2).unwrap();
        store.update(old, &update, &Viewer::OWNER, NOW + 1).unwrap();
        let snapshot = store.view();
        let listed = |query: ListQuery| {
            let query = ListQuery { limit: 9, ..query };
            let records = snapshot.list(&query, NOW).unwrap();
            assert_eq!(records.len() as u64 + query.offset as u64, snapshot.list_count(&query, NOW).unwrap());
            records.into_iter().map(|record| record.id).collect::<Vec<_>>()
        };
        let only = |only| ListQuery { only: Some(only), ..ListQuery::default() };
        assert_eq!(listed(ListQuery { order: ListOrder::Due, ..only(ListOnly::Open) }), [overdue, later, undated]);
        assert_eq!(listed(ListQuery { newest_first: true, ..only(ListOnly::Open) }), [undated, later, overdue]);
        assert_eq!(listed(only(ListOnly::Overdue)), [overdue]);
        assert_eq!(listed(only(ListOnly::Superseded)), [old]);
        assert_eq!(listed(only(ListOnly::Contradicted)), [new_one]);
        // Settled, by what supersedes either.
        for settled in [new_one, rival] {
            let by = plain(&format!("settles {settled}"), None);
            let link = Link { from: by, to: settled, kind: LinkKind::Supersedes };
            store.link(link, &Viewer::OWNER, NOW).unwrap();
            let query = ListQuery { limit: 9, ..only(ListOnly::Contradicted) };
            assert_eq!(store.view().list(&query, NOW).unwrap(), []);
            assert!(links::unlink(&*store, link, &Viewer::OWNER, NOW).unwrap());
        }
        assert_eq!(listed(ListQuery { order: ListOrder::Expiry, ..only(ListOnly::Expiring) }), [soon, late]);
        let updated = ListQuery { order: ListOrder::Updated, newest_first: true, ..ListQuery::default() };
        assert_eq!(listed(updated.clone())[..3], [later, old, rival]);
        assert_eq!(listed(ListQuery { offset: 6, ..updated }), [undated, done, overdue]);
    }
}
