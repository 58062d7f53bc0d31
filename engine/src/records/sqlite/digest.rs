//! A summary of the records of a project: counts, and the few that matter most.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use roaring::RoaringTreemap;
use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use super::filter::Condition;
use super::snapshot::{Snapshot, stored_limit};
use super::superseded::superseding;
use super::tally;
use crate::error::Result;
use crate::records::rows;
use crate::types::{ByImportance, Digest, DigestQuery, Filter, Kind, Millis, Record, RecordId};

/// Maximum number of records in a list.
const LISTED: usize = 5;
/// Minimum importance of a key decision: high, or critical.
const KEY: i64 = 7;

/// Maximum number of groups that are looked up one by one; with more, all records of the kind are read.
const MOST_GROUPS: usize = 256;

/// A list of a digest.
struct List {
    kind: Kind,
    min_importance: Option<i64>,
    by_use: bool,
    most: usize,
}

const KEY_DECISIONS: List = List { kind: Kind::Decision, min_importance: Some(KEY), by_use: false, most: LISTED };
const ACTIVE_PATTERNS: List = List { kind: Kind::Pattern, min_importance: None, by_use: true, most: LISTED };
const RECENT_BUGFIXES: List = List { kind: Kind::Bugfix, min_importance: None, by_use: false, most: LISTED };

/// Sort key of a record in a list, largest first; the id comes last, so that the order is the same every time.
type DigestSortKey = (i64, Millis, RecordId);

impl List {
    fn columns(&self) -> &'static str {
        if self.by_use { "r.access_count, r.created_at, r.id" } else { "0, r.created_at, r.id" }
    }

    fn order(&self) -> &'static str {
        if self.by_use { "r.access_count DESC, r.created_at DESC, r.id DESC" } else { "r.created_at DESC, r.id DESC" }
    }
}

impl Snapshot {
    /// The digest of the records that are live at `now`. Its lists are without the records in `superseded`, the
    /// [superseded](Self::superseded) ones of the viewer, unless the query wants them.
    pub fn digest(&self, query: &DigestQuery, superseded: &RoaringTreemap, now: Millis) -> Result<Digest> {
        let none = RoaringTreemap::new();
        let hidden = if query.with_superseded { &none } else { superseded };
        let (mut by_kind, mut by_importance) = (BTreeMap::new(), ByImportance::default());
        for (kind, importance, count) in self.digested(query, now)? {
            *by_kind.entry(kind).or_default() += count;
            *by_importance.of_mut(importance) += count;
        }
        Ok(Digest {
            project: query.project.clone(),
            generated_at: now,
            total: by_kind.values().sum(),
            by_kind: by_kind.into_iter().collect(),
            by_importance,
            key_decisions: self.listed(&KEY_DECISIONS, query, hidden, now)?,
            active_patterns: self.listed(&ACTIVE_PATTERNS, query, hidden, now)?,
            recent_bugfixes: self.listed(&RECENT_BUGFIXES, query, hidden, now)?,
            outdated: match &query.feature {
                None => self.outdated_count(query.project.as_deref(), superseded, &query.viewer, now)?,
                Some(_) => self.outdated_of_feature(query, now)?,
            },
        })
    }

    /// The newest records of one kind that a digest with this query could list, at most `most`.
    pub fn newest(
        &self,
        query: &DigestQuery,
        kind: Kind,
        min_importance: Option<i64>,
        most: usize,
        superseded: &RoaringTreemap,
        now: Millis,
    ) -> Result<Vec<Record>> {
        self.listed(&List { kind, min_importance, by_use: false, most }, query, superseded, now)
    }

    /// How many records there are of each kind and importance.
    fn digested(&self, query: &DigestQuery, now: Millis) -> Result<Vec<(Kind, i64, u64)>> {
        if query.feature.is_none() {
            let tallies = self.tallies(&Filter::of(query.viewer.clone()), query.project.as_deref(), now)?;
            return Ok(tallies.iter().map(|tally| (tally.kind, tally.importance, tally.records)).collect());
        }
        let Condition { sql, values } = conditions(query, Filter::of(query.viewer.clone()), now);
        let sql = format!(
            "SELECT kind, importance, count(*) FROM records r INDEXED BY records_by_feature WHERE {sql}
             GROUP BY kind, importance"
        );
        let mut statement = self.conn().prepare_cached(&sql)?;
        let counts = statement.query_and_then(params_from_iter(values), |row| {
            Ok((rows::to_kind(row, 0)?, row.get(1)?, row.get::<_, i64>(2)?.unsigned_abs()))
        })?;
        counts.collect()
    }

    fn listed(&self, list: &List, query: &DigestQuery, hidden: &RoaringTreemap, now: Millis) -> Result<Vec<Record>> {
        let filter =
            Filter { kinds: vec![list.kind], min_importance: list.min_importance, ..Filter::of(query.viewer.clone()) };
        let groups = match query.feature {
            None => self.groups(list, &filter, query.project.as_deref())?,
            Some(_) => None,
        };
        // SQLite keeps the best few of many rows much faster than it sorts them all; so more are read only when
        // too many of those are hidden.
        let mut page = 8 * list.most;
        loop {
            let keys = match &groups {
                Some(groups) => self.best_of_groups(list, groups, page, now)?,
                None => self.best(list, query, filter.clone(), page, now)?,
            };
            let shown = keys.iter().map(|(_, _, id)| *id).filter(|id| !hidden.contains(id.key()));
            let shown: Vec<RecordId> = shown.take(list.most).collect();
            if shown.len() == list.most || keys.len() < page {
                return self.records(&shown, now);
            }
            page *= 8;
        }
    }

    /// The scopes and importances that have records of the list, where they are few.
    fn groups(&self, list: &List, filter: &Filter, project: Option<&str>) -> Result<Option<Vec<(i64, i64)>>> {
        let Condition { sql, values } = tally::tallied(filter, project);
        // Use is in order whatever the importance.
        let importance = if list.by_use { "0" } else { "importance" };
        let sql =
            format!("SELECT DISTINCT scope_id, {importance} FROM tallies r WHERE {sql} LIMIT {}", MOST_GROUPS + 1);
        let mut statement = self.conn().prepare_cached(&sql)?;
        let groups = statement.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let groups: Vec<_> = groups.collect::<rusqlite::Result<_>>()?;
        Ok((groups.len() <= MOST_GROUPS).then_some(groups))
    }

    /// The sort keys of the first `page` records of the list: an index has those of each group in order.
    fn best_of_groups(
        &self,
        list: &List,
        groups: &[(i64, i64)],
        page: usize,
        now: Millis,
    ) -> Result<Vec<DigestSortKey>> {
        let (index, importance) = match list.by_use {
            true => ("patterns_by_use", "?2 = 0"),
            false => ("records_by_scope", "r.importance = ?2"),
        };
        // The kind as a number, because one of the indexes is of the rows that have it.
        let sql = format!(
            "SELECT {} FROM records r INDEXED BY {index}
             WHERE r.scope_id = ?1 AND r.kind = {} AND {importance} AND (r.expires_at IS NULL OR r.expires_at > ?3)
             ORDER BY {} LIMIT ?4",
            list.columns(),
            rows::kind_code(list.kind),
            list.order(),
        );
        let mut statement = self.conn().prepare_cached(&sql)?;
        let mut keys = Vec::new();
        for (scope, importance) in groups {
            let best = statement.query_map((scope, importance, now, stored_limit(page)), to_sort_key)?;
            keys.extend(best.collect::<rusqlite::Result<Vec<DigestSortKey>>>()?);
        }
        keys.sort_unstable_by_key(|key| Reverse(*key));
        keys.truncate(page);
        Ok(keys)
    }

    /// The sort keys of the first `page` records of the list, from all records of the kind or the feature.
    fn best(
        &self,
        list: &List,
        query: &DigestQuery,
        filter: Filter,
        page: usize,
        now: Millis,
    ) -> Result<Vec<DigestSortKey>> {
        let Condition { sql, mut values } = conditions(query, filter, now);
        values.push(stored_limit(page).into());
        let index = if query.feature.is_some() { "records_by_feature" } else { "records_by_kind" };
        let sql = format!(
            "SELECT {} FROM records r INDEXED BY {index} WHERE {sql} ORDER BY {} LIMIT ?",
            list.columns(),
            list.order()
        );
        let mut statement = self.conn().prepare_cached(&sql)?;
        let keys = statement.query_map(params_from_iter(values), to_sort_key)?;
        Ok(keys.collect::<rusqlite::Result<_>>()?)
    }

    fn outdated_of_feature(&self, query: &DigestQuery, now: Millis) -> Result<u64> {
        let Condition { sql, mut values } = conditions(query, Filter::of(query.viewer.clone()), now);
        let by = superseding(&query.viewer);
        values.extend(by.values);
        let sql = format!(
            "SELECT count(*) FROM records r INDEXED BY records_by_feature WHERE {sql}
                 AND EXISTS (SELECT 1 FROM links l INDEXED BY links_that_supersede
                     WHERE {} AND l.to_scope = r.scope_id AND l.to_id = r.id)",
            by.sql
        );
        self.count(&sql, params_from_iter(values))
    }
}

/// Condition for live records that the viewer sees, of the project and the feature of the query, that pass `filter`.
fn conditions(query: &DigestQuery, filter: Filter, now: Millis) -> Condition {
    let mut condition = Condition::new(&filter, query.project.as_deref(), now);
    let feature = query.feature.clone().map(Value::from);
    condition.and(" AND r.body IS NOT NULL AND json_extract(r.body, '$.feature') = ?", feature);
    condition
}

fn to_sort_key(row: &Row<'_>) -> rusqlite::Result<DigestSortKey> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::records::{Access, AccessKind};
    use crate::types::{Link, LinkKind, NewRecord, RecordUpdate, Scope, Viewer};

    fn add(store: &TestStore, kind: Kind, importance: i64, project: Option<&str>, at: Millis) -> RecordId {
        let scope = Scope { agent: None, project: project.map(Into::into) };
        let text = format!("{kind} {importance} {project:?} {at}");
        store.add(&NewRecord { kind, importance, scope, ..new(&text) }, NOW + at).unwrap().id
    }

    fn digest(store: &TestStore, query: &DigestQuery, hidden: &[RecordId], now: Millis) -> Digest {
        let view = store.view();
        let hidden: RoaringTreemap = hidden.iter().map(|id| id.key()).collect();
        view.digest(query, &(view.superseded(&query.viewer).unwrap() | hidden), now).unwrap()
    }

    fn ids(records: &[Record]) -> Vec<RecordId> {
        records.iter().map(|record| record.id).collect()
    }

    fn of(project: &str) -> DigestQuery {
        DigestQuery { project: Some(project.into()), ..DigestQuery::default() }
    }

    /// T46, T47: the lists are as long and in the order that the specification has.
    #[test]
    fn digest_lists_have_the_specified_length_and_order() {
        let store = TestStore::new();
        let atlas = Some("atlas");
        // The order of time is not that of the ids.
        let decisions: Vec<_> = (0..7)
            .map(|at| add(&store, Kind::Decision, 7 + at % 4, atlas, if at < 3 { 10 - at } else { at }))
            .collect();
        add(&store, Kind::Decision, 6, atlas, 99);
        let patterns: Vec<_> = (0..6).map(|at| add(&store, Kind::Pattern, 1, atlas, at)).collect();
        let bugfixes: Vec<_> = (0..6).map(|at| add(&store, Kind::Bugfix, 1, atlas, at)).collect();
        add(&store, Kind::Bugfix, 9, None, 99);
        add(&store, Kind::Pattern, 9, Some("borealis"), 99);
        let used = Access { id: patterns[1], kind: AccessKind::Get, score: None, query: None, counts: true };
        store.record_access(&[used], NOW).unwrap();
        let pick = |of: &[RecordId], places: [usize; 5]| places.map(|at| of[at]).to_vec();
        let found = digest(&store, &of("atlas"), &[], NOW);
        assert_eq!((found.project.as_deref(), found.generated_at), (atlas, NOW));
        assert_eq!(ids(&found.key_decisions), pick(&decisions, [0, 1, 2, 6, 5]));
        assert_eq!(ids(&found.active_patterns), pick(&patterns, [1, 5, 4, 3, 2]));
        assert_eq!(ids(&found.recent_bugfixes), pick(&bugfixes, [5, 4, 3, 2, 1]));
        let found = digest(&store, &of("atlas"), &[decisions[0], patterns[5], bugfixes[3], bugfixes[4]], NOW);
        assert_eq!(ids(&found.key_decisions), pick(&decisions, [1, 2, 6, 5, 4]));
        assert_eq!(ids(&found.active_patterns), pick(&patterns, [1, 4, 3, 2, 0]));
        assert_eq!(ids(&found.recent_bugfixes), [5, 2, 1, 0].map(|at: usize| bugfixes[at]));
    }

    #[test]
    fn a_list_is_full_however_many_of_the_newest_are_hidden() {
        let store = TestStore::new();
        let news: Vec<_> = (0..500).map(|at| NewRecord { kind: Kind::Bugfix, ..new(&format!("bug {at}")) }).collect();
        store.add_batch(&news, NOW).unwrap();
        for hidden in [0, 36, 40, 360, 495, 498] {
            let hidden: Vec<RecordId> = (501 - hidden..=500).map(RecordId::from).collect();
            let found = digest(&store, &DigestQuery::default(), &hidden, NOW);
            let newest = 500 - hidden.len() as i64;
            let expected: Vec<RecordId> = (1..=newest).rev().take(5).map(RecordId::from).collect();
            assert_eq!(ids(&found.recent_bugfixes), expected, "{} hidden", hidden.len());
        }
    }

    /// T47: the counts of each scope, after every kind of change.
    #[test]
    fn the_counts_of_a_digest_are_those_of_live_records_in_view() {
        let store = TestStore::new();
        for (kind, importance, project) in [
            (Kind::Fact, 10, Some("atlas")),
            (Kind::Fact, 9, Some("atlas")),
            (Kind::Task, 8, Some("atlas")),
            (Kind::Task, 7, Some("borealis")),
            (Kind::Event, 6, None),
            (Kind::Event, 4, None),
            (Kind::Event, 3, None),
            (Kind::Event, 1, None),
        ] {
            add(&store, kind, importance, project, 0);
        }
        let brief = NewRecord { kind: Kind::Skill, expires_at: Some(NOW + 1), ..new("brief") };
        let brief = store.add(&brief, NOW).unwrap().id;
        let gone = add(&store, Kind::Profile, 5, None, 0);
        assert!(store.delete(gone, &Viewer::OWNER, NOW).unwrap());
        let counts = |query: &DigestQuery, now| {
            let Digest { total, by_kind, by_importance: ByImportance { critical, high, medium, low }, .. } =
                digest(&store, query, &[], now);
            (total, by_kind, [critical, high, medium, low])
        };
        let all = DigestQuery::default();
        let with_brief = vec![(Kind::Fact, 2), (Kind::Event, 4), (Kind::Task, 2), (Kind::Skill, 1)];
        let without = with_brief[..3].to_vec();
        assert_eq!(counts(&all, NOW), (9, with_brief, [2, 2, 3, 2]));
        assert_eq!(counts(&all, NOW + 1), (8, without, [2, 2, 2, 2]));
        assert_eq!(counts(&of("atlas"), NOW), (3, vec![(Kind::Fact, 2), (Kind::Task, 1)], [2, 1, 0, 0]));
        let from_borealis = DigestQuery { viewer: Viewer::in_project("borealis"), ..DigestQuery::default() };
        assert_eq!(counts(&from_borealis, NOW + 1).0, 5);
        let elsewhere = DigestQuery { project: Some("atlas".into()), ..from_borealis };
        assert_eq!(counts(&elsewhere, NOW), (0, vec![], [0; 4]), "strict, and within what is seen");
        let update = RecordUpdate { kind: Some(Kind::Decision), importance: Some(2), ..RecordUpdate::default() };
        store.update(1.into(), &update, &Viewer::OWNER, NOW).unwrap();
        assert_eq!(
            counts(&of("atlas"), NOW),
            (3, vec![(Kind::Fact, 1), (Kind::Task, 1), (Kind::Decision, 1)], [1, 1, 0, 1])
        );
        assert!(
            store.link(Link { from: 1.into(), to: 2.into(), kind: LinkKind::Supersedes }, &Viewer::OWNER, NOW).unwrap()
        );
        assert!(
            store.link(Link { from: 1.into(), to: brief, kind: LinkKind::Supersedes }, &Viewer::OWNER, NOW).unwrap()
        );
        let outdated = |query: &DigestQuery, now| digest(&store, query, &[], now).outdated;
        assert_eq!((outdated(&all, NOW), outdated(&all, NOW + 1), outdated(&of("atlas"), NOW)), (2, 1, 1));
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }

    /// T46.
    #[test]
    fn a_digest_of_a_feature_is_of_what_names_it() {
        let store = TestStore::new();
        let login: Vec<_> = (0..3).map(|at| add(&store, Kind::Bugfix, 8, Some("atlas"), at)).collect();
        add(&store, Kind::Bugfix, 2, Some("atlas"), 9);
        let billing = add(&store, Kind::Bugfix, 2, Some("atlas"), 10);
        store.sql(&format!(
            "UPDATE records SET body = '{{\"feature\":\"login\"}}' WHERE id <= {};
             UPDATE records SET body = '{{\"feature\":\"billing\"}}' WHERE id = {billing}",
            login[2]
        ));
        assert!(
            store.link(Link { from: billing, to: login[0], kind: LinkKind::Supersedes }, &Viewer::OWNER, NOW).unwrap()
        );
        assert!(
            store.link(Link { from: login[1], to: billing, kind: LinkKind::Supersedes }, &Viewer::OWNER, NOW).unwrap()
        );
        let query = DigestQuery { feature: Some("login".into()), with_superseded: true, ..of("atlas") };
        let found = digest(&store, &query, &[], NOW);
        assert_eq!(
            (found.total, found.by_kind, found.by_importance.high, found.outdated),
            (3, vec![(Kind::Bugfix, 3)], 3, 1)
        );
        assert_eq!(ids(&found.recent_bugfixes), [login[2], login[1], login[0]]);
        assert_eq!(
            digest(&store, &DigestQuery { project: Some("borealis".into()), ..query.clone() }, &[], NOW).total,
            0
        );
        for (viewer, seen) in [(Viewer::in_project("atlas"), 3), (Viewer::in_project("borealis"), 0)] {
            let found = digest(&store, &DigestQuery { viewer, project: None, ..query.clone() }, &[], NOW);
            assert_eq!((found.total, found.by_importance.high), (seen, seen), "of what is seen");
        }
    }
}
