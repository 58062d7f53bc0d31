//! [`Filter`]s as SQL: the same rule as [`Filter::allows`], for records that are live.

use std::fmt::Write;

use rusqlite::types::Value;

use super::metadata::{self, MetadataOf};
use super::schema::happens;
use crate::records::rows;
use crate::types::{Filter, Kind, LinkKind, Millis, Reach, Viewer, spellings};

/// A condition on the row `r` of `records`, and the values of its question marks.
pub(super) struct Condition {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

impl Condition {
    /// Condition for rows that are live at `now`.
    pub(super) fn live(row: &str, now: Millis) -> Self {
        Condition { sql: format!("({row}.expires_at IS NULL OR {row}.expires_at > ?)"), values: vec![now.into()] }
    }

    /// Condition for records that are live at `now` and pass everything in the filter but the tags.
    pub(super) fn without_tags(filter: &Filter, project: Option<&str>, now: Millis) -> Self {
        let mut condition = Self::live("r", now);
        condition.and_filter(filter, project);
        condition.and_metadata(filter, MetadataOf::Records);
        condition
    }

    /// Condition for records that are deleted (rows of `trash`) or expired at `now`, and pass the filter.
    pub(super) fn gone(filter: &Filter, deleted: bool, now: Millis) -> Self {
        let mut condition = Self::of_all(filter);
        if !deleted {
            condition.and(" AND r.expires_at <= ?", Some(now));
        }
        condition
    }

    /// Condition for rows of records or of the trash that pass the filter, live or not.
    pub(super) fn of_all(filter: &Filter) -> Self {
        let mut condition = Condition { sql: "1".into(), values: Vec::new() };
        condition.and_filter(filter, None);
        if !filter.tags.is_empty() {
            let any = any_tag(filter).replace("tag IN", "lower(trim(value)) IN");
            let _ = write!(condition.sql, " AND EXISTS (SELECT 1 FROM json_each(r.tags) WHERE {any})");
            condition.values.extend(tag_values(filter));
        }
        condition.and_metadata(filter, MetadataOf::Bodies);
        condition
    }

    /// Adds everything in the filter but the tags and the metadata.
    fn and_filter(&mut self, filter: &Filter, project: Option<&str>) {
        self.and_tallied(filter, project);
        self.and(" AND r.confidence >= ?", filter.min_confidence);
        self.and(" AND r.created_at >= ?", filter.created_after);
        self.and(" AND r.created_at < ?", filter.created_before);
        self.and(" AND r.updated_at >= ?", filter.updated_after);
        self.and(" AND r.updated_at < ?", filter.updated_before);
        let [from, to] = happens!("r.");
        if filter.is_dated() {
            // For the index, which has those with a date alone.
            let _ = write!(self.sql, " AND {from} IS NOT NULL");
        }
        self.and(&format!(" AND {to} >= ?"), filter.happens_after);
        self.and(&format!(" AND {from} < ?"), filter.happens_before);
    }

    /// Adds the metadata of the filter.
    fn and_metadata(&mut self, filter: &Filter, of: MetadataOf) {
        if let Some(filter) = &filter.metadata {
            let (sql, values) = metadata::passes(filter, of);
            let _ = write!(self.sql, " AND {sql}");
            self.values.extend(values);
        }
    }

    /// Adds the kinds, the importance and the viewer of the filter, and the project: columns that `tallies` has, too.
    pub(super) fn and_tallied(&mut self, filter: &Filter, project: Option<&str>) {
        if !filter.kinds.is_empty() || filter.min_importance.is_some() {
            // All kinds, spelled out, let one index find importances: it begins with the kind.
            let kinds = if filter.kinds.is_empty() { &Kind::ALL[..] } else { &filter.kinds[..] };
            let _ = write!(self.sql, " AND r.kind IN ({})", rows::kind_codes(kinds));
        }
        self.and(" AND r.importance >= ?", filter.min_importance);
        self.and_seen("r.scope_id", &filter.viewer, project);
    }

    /// Condition for records that are live at `now` and pass the filter, of this project alone where one is given.
    pub(super) fn new(filter: &Filter, project: Option<&str>, now: Millis) -> Self {
        let mut condition = Self::without_tags(filter, project, now);
        if !filter.tags.is_empty() {
            let _ = write!(condition.sql, " AND r.id IN (SELECT record_id FROM record_tags WHERE {})", any_tag(filter));
            condition.values.extend(tag_values(filter));
        }
        condition
    }

    /// Requires that `viewer` sees the scope with the id in `column`, and that it is of this project where one is given
    /// (global is not). One list for all of it: SQLite seeks by one list in an index, and it would take the longest of
    /// several.
    pub(super) fn and_seen(&mut self, column: &str, viewer: &Viewer, project: Option<&str>) {
        let mut scopes = Vec::new();
        for (owner, reach) in [("project", &viewer.project), ("agent", &viewer.agent)] {
            if *reach == Reach::Every {
                continue;
            }
            let named = reach.names().map(|name| format!(" OR {}", self.is_named(owner, name))).collect::<String>();
            scopes.push(format!("({owner} IS NULL{named})"));
        }
        if let Some(project) = project {
            scopes.push(self.is_named("project", project));
        }
        if !scopes.is_empty() {
            let _ = write!(self.sql, " AND {column} IN (SELECT id FROM scopes WHERE {})", scopes.join(" AND "));
        }
    }

    /// SQL that compares the name in `column` with `name`, in any spelling in which an earlier version may have saved it.
    pub(super) fn is_named(&mut self, column: &str, name: &str) -> String {
        let spellings = spellings(name);
        let sql = format!("trim({column}) IN (?{})", ", ?".repeat(spellings.len() - 1));
        self.values.extend(spellings.into_iter().map(Value::from));
        sql
    }

    /// Requires that a record that `viewer` sees links to the row `r` of `records`.
    pub(super) fn and_linked_from(&mut self, kind: LinkKind, viewer: &Viewer) {
        let mut from = Condition { sql: format!("l.kind = {}", rows::link_code(kind)), values: Vec::new() };
        from.and_seen("l.from_scope", viewer, None);
        let _ = write!(self.sql, " AND r.id IN (SELECT l.to_id FROM links l WHERE {})", from.sql);
        self.values.extend(from.values);
    }

    /// Requires that another live record contradicts the row `r` of `records`, and that neither is superseded: that would
    /// settle the contradiction.
    pub(super) fn and_contradicted(&mut self, viewer: &Viewer, now: Millis) {
        let superseded = |id: &str, values: &mut Vec<Value>| {
            let mut by =
                Condition { sql: format!("s.kind = {}", rows::link_code(LinkKind::Supersedes)), values: Vec::new() };
            by.and_seen("s.from_scope", viewer, None);
            values.extend(by.values);
            format!("EXISTS (SELECT 1 FROM links s WHERE s.to_id = {id} AND {})", by.sql)
        };
        let mut from =
            Condition { sql: format!("l.kind = {}", rows::link_code(LinkKind::Contradicts)), values: Vec::new() };
        from.and_seen("l.from_scope", viewer, None);
        let newer = superseded("l.from_id", &mut from.values);
        from.values.push(now.into());
        let older = superseded("r.id", &mut from.values);
        let _ = write!(
            self.sql,
            " AND r.id IN (SELECT l.to_id FROM links l JOIN records o ON o.id = l.from_id
                 WHERE {} AND NOT {newer} AND (o.expires_at IS NULL OR o.expires_at > ?)) AND NOT {older}",
            from.sql
        );
        self.values.extend(from.values);
    }

    pub(super) fn and(&mut self, sql: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.sql.push_str(sql);
            self.values.push(value.into());
        }
    }
}

/// Condition on a row of `record_tags`: it is one of the tags of the filter, with the values of [`tag_values`].
pub(super) fn any_tag(filter: &Filter) -> String {
    format!("tag IN (?{})", ", ?".repeat(tag_values(filter).count() - 1))
}

/// The tags of a filter as `record_tags` has them.
pub(super) fn tag_values(filter: &Filter) -> impl Iterator<Item = Value> {
    filter.tags.iter().flat_map(|tag| spellings(tag)).map(|tag| tag.to_ascii_lowercase().into())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::*;
    use proptest::sample::select;
    use rusqlite::params_from_iter;

    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use serde_json::json;

    use crate::types::{ListOrder, ListQuery, MetadataFilter, NewRecord, Record, Scope, Span};

    const NAMES: [&str; 3] = ["one", "two", "One"];

    fn name() -> impl Strategy<Value = String> {
        select(&NAMES[..]).prop_map(str::to_owned)
    }

    /// A record, its expiry and the time of its creation.
    fn record() -> impl Strategy<Value = (NewRecord, Millis)> {
        let scope = (of(name()), of(name())).prop_map(|(agent, project)| Scope { agent, project });
        let confidence = select(vec![0.0, 0.5, 0.7, 1.0]);
        let dates = (of(-2..2_i64), of(0..3_i64), of(-2..2_i64));
        let times = (of(-1..3_i64), 0..4_i64, dates);
        let metadata = select(vec![
            None,
            Some(json!({ "n": 1, "of": ["one", 2, true] })),
            Some(json!({ "n": 1.0, "of": "One", "no": null })),
            Some(json!({ "n": 2.5, "of": [], "deep": { "n": 1 } })),
            Some(json!({ "n": 9_007_199_254_740_993_i64, "of": false })),
            Some(json!({ "n": "1", "of": "é".repeat(512) })),
            Some(json!({ "of": "é".repeat(513) })),
        ]);
        (select(&Kind::ALL[2..5]), vec(name(), 0..3), 1..=10_i64, confidence, scope, times, metadata).prop_map(
            |(kind, tags, importance, confidence, scope, (expires_in, age, (from, lasts, due)), metadata)| {
                let expires_at = expires_in.map(|later| NOW + later);
                let to = lasts.map(|lasts| NOW + from.unwrap_or_default() + lasts);
                let valid = Span { from: from.map(|from| NOW + from), to };
                let due = due.filter(|_| kind == Kind::Task).map(|due| NOW + due);
                let body = (due.is_some() || metadata.is_some()).then(|| json!({ "due": due, "metadata": metadata }));
                let body = body.map(|mut body| {
                    body.as_object_mut().unwrap().retain(|_, value| !value.is_null());
                    body
                });
                (NewRecord { kind, tags, importance, confidence, scope, expires_at, valid, body, ..new("") }, NOW - age)
            },
        )
    }

    fn reach() -> impl Strategy<Value = Reach> {
        let with_main = of(name()).prop_map(Reach::WithMain);
        prop_oneof![Just(Reach::Every), Just(Reach::Shared), name().prop_map(Reach::Own), with_main]
    }

    fn filter() -> impl Strategy<Value = Filter> {
        let bounds = (of(1..=10_i64), of(select(vec![0.0, 0.5, 0.6, 1.0])));
        let times = ((of(-4..1_i64), of(-4..2_i64)), (of(-4..1_i64), of(-4..2_i64)), (of(-3..4_i64), of(-3..4_i64)));
        let metadata = select(vec![
            json!({ "n": 1 }),
            json!({ "n": { "$gt": 1 } }),
            json!({ "n": { "$gte": 1, "$lt": 9_007_199_254_740_993_i64 } }),
            json!({ "n": { "$lte": 9_007_199_254_740_992.0 } }),
            json!({ "n": { "$gte": "0" } }),
            json!({ "of": { "$in": ["one", true] } }),
            json!({ "of": { "$nin": ["one", false] } }),
            json!({ "$or": [{ "of": { "$exists": true } }, { "n": "1" }], "no": null }),
            json!({ "$not": { "n": 1, "of": "One" } }),
            json!({ "of": { "$in": [] } }),
            json!({ "of": { "$gt": "a" } }),
        ]);
        let metadata = of(metadata.prop_map(|given| MetadataFilter::parse(&given).unwrap()));
        (vec(select(&Kind::ALL[1..5]), 0..3), vec(name(), 0..3), bounds, reach(), reach(), times, metadata).prop_map(
            |(kinds, tags, (min_importance, min_confidence), project, agent, times, metadata)| {
                let ((after, before), updated, happens) = times;
                Filter {
                    metadata,
                    kinds,
                    tags,
                    min_importance,
                    min_confidence,
                    viewer: Viewer { agent, project },
                    created_after: after.map(|after| NOW + after),
                    created_before: before.map(|before| NOW + before),
                    updated_after: updated.0.map(|after| NOW + after),
                    updated_before: updated.1.map(|before| NOW + before),
                    happens_after: happens.0.map(|after| NOW + after),
                    happens_before: happens.1.map(|before| NOW + before),
                }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        /// The rule in SQL is the rule in Rust.
        #[test]
        fn matching_and_list_are_what_the_filter_allows(records in vec(record(), 0..30), filters in vec(filter(), 1..20)) {
            let store = TestStore::new();
            for (number, (record, created_at)) in records.iter().enumerate() {
                store.add(&NewRecord { content: number.to_string(), ..record.clone() }, *created_at).unwrap();
            }
            let snapshot = store.view();
            let all = snapshot.live_ids_after(0.into(), usize::MAX, NOW).unwrap();
            let expired = snapshot.expired(NOW).unwrap();
            prop_assert_eq!(all.len() as u64 + expired.len(), records.len() as u64);
            let all = snapshot.records(&all, NOW).unwrap();
            for filter in filters.iter().chain([&Filter::default()]) {
                let whole = ListQuery { limit: usize::MAX, filter: filter.clone(), ..ListQuery::default() };
                let allowed: Vec<Record> = all.iter().filter(|record| filter.allows(record)).cloned().collect();
                let ids: Vec<u64> = allowed.iter().map(|record| record.id.key()).collect();
                prop_assert_eq!(snapshot.matching(filter, NOW).unwrap().iter().collect::<Vec<_>>(), ids, "{:?}", filter);
                prop_assert_eq!(&snapshot.list(&whole, NOW).unwrap(), &allowed, "{:?}", filter);
                prop_assert_eq!(snapshot.list_count(&whole, NOW).unwrap(), allowed.len() as u64, "{:?}", filter);
                let mut updated = snapshot.list(&ListQuery { order: ListOrder::Updated, ..whole }, NOW).unwrap();
                updated.sort_by_key(|record| record.id);
                prop_assert_eq!(&updated, &allowed, "{:?}", filter);
                if let Some(metadata) = &filter.metadata {
                    let without = snapshot.without_metadata(metadata).unwrap();
                    let passes = |record: &Record| metadata.allows(record.body.as_ref());
                    prop_assert!(all.iter().all(|record| without.contains(record.id.key()) != passes(record)));
                }
                // The trash has no index of metadata, and is asked in another way.
                let gone = snapshot.list_gone(filter, false, 0, usize::MAX, NOW).unwrap();
                let every = snapshot.list_gone(&Filter::default(), false, 0, usize::MAX, NOW).unwrap();
                prop_assert_eq!(gone.len(), every.iter().filter(|gone| filter.allows(&gone.record)).count());
            }
        }
    }

    /// R2: the type, the importance, the hash and the expiry each have their index.
    #[test]
    fn filters_are_answered_from_indexes() {
        let store = TestStore::new();
        let plan_by = |index: &str, filter: Filter| {
            let snapshot = store.view();
            let Condition { sql, values } = Condition::without_tags(&filter, None, NOW);
            let sql = format!("EXPLAIN QUERY PLAN SELECT r.id FROM records r {index} WHERE {sql}");
            let mut statement = snapshot.conn().prepare(&sql).unwrap();
            let plan = statement.query_map(params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
            plan.map(Result::unwrap).collect::<Vec<_>>().join("; ")
        };
        let plan = |filter| plan_by("INDEXED BY records_by_kind", filter);
        let soon = Filter { happens_before: Some(9), ..Filter::of(Viewer::in_project("p")) };
        let soon = plan_by("INDEXED BY records_by_date", soon);
        assert!(soon.contains("INDEX records_by_date (<expr><?)"), "{soon}");
        let later = plan_by("INDEXED BY records_by_date", Filter { happens_after: Some(9), ..Filter::default() });
        assert!(later.contains("INDEX records_by_date"), "{later}");
        let important = plan(Filter { min_importance: Some(9), ..Filter::default() });
        assert!(important.contains("COVERING INDEX records_by_kind (kind=? AND importance>?)"), "{important}");
        let project = plan(Filter::of(Viewer::in_project("p")));
        assert!(project.contains("COVERING INDEX records_by_kind"), "{project}");
        for (condition, index) in
            [("content_hash = x'00' AND scope_id = 1", "records_by_content"), ("expires_at <= 1", "records_by_expiry")]
        {
            let sql = format!("EXPLAIN QUERY PLAN SELECT id FROM records WHERE {condition}");
            let plan: String = store.view().conn().query_row(&sql, [], |row| row.get(3)).unwrap();
            assert!(plan.contains(index), "{condition}: {plan}");
        }
    }
}
