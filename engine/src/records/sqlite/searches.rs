//! Searches that were made.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::snapshot::Snapshot;
use crate::error::Result;
use crate::records::rows;
use crate::records::transaction::{Row, Select};
use crate::types::{
    AccessKind, FoundBy, Millis, PastSearch, RecordId, SearchCounts, SearchTrace, SearchesQuery, Viewer,
};

impl Snapshot {
    /// A page of the searches, the newest first.
    pub fn searches(&self, query: &SearchesQuery) -> Result<Vec<PastSearch>> {
        let sql = "SELECT id, agent, project, searched_at, tool, query, mode, filters, hits, unanswered, best_score,
                 best_cosine, micros
             FROM searches s WHERE id < ?1 AND unanswered >= ?2 AND hits <= ?3
                 AND (?4 IS NULL OR unanswered = 0 AND best_cosine < ?4)
             ORDER BY id DESC";
        let values = [
            query.before.unwrap_or(i64::MAX).into(),
            i64::from(query.no_answer).into(),
            query.most_hits.map_or(i64::MAX, |most| i64::try_from(most).unwrap_or(i64::MAX)).into(),
            query.weak.then_some(SearchesQuery::NEAR).into(),
        ];
        let fetched = query.unopened.then(|| self.last_fetches()).transpose()?;
        let mut page = Vec::new();
        self.conn().select(sql, &values, &mut |row| {
            let viewer = searcher(row)?;
            let is_meant = query.viewer.made(&viewer)
                && match &fetched {
                    Some(fetched) => self.is_unopened(row.get(0)?, row.get(3)?, fetched)?,
                    None => true,
                };
            if is_meant {
                page.push(PastSearch { id: row.get(0)?, trace: trace(row, viewer)? });
            }
            Ok(if page.len() < query.limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(page)
    }

    /// When each record was last fetched, as far as the access log reaches back. In one pass: a record that is fetched often is
    /// found by many searches.
    fn last_fetches(&self) -> Result<HashMap<RecordId, Millis>> {
        let mut fetches = HashMap::new();
        let sql =
            "SELECT record_id, max(accessed_at) FROM access_log NOT INDEXED WHERE access_type = ?1 GROUP BY record_id";
        self.conn().select(sql, &[AccessKind::Get.as_str().into()], &mut |row| {
            fetches.insert(row.get(0)?, row.get(1)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(fetches)
    }

    /// Whether a search at this time found something, and nothing of it was fetched from then on.
    fn is_unopened(&self, search: i64, at: Millis, fetched: &HashMap<RecordId, Millis>) -> Result<bool> {
        let (mut has_hits, mut is_opened) = (false, false);
        let sql = "SELECT record_id FROM search_hits WHERE search_id = ?1";
        self.conn().select(sql, &[search.into()], &mut |row| {
            has_hits = true;
            is_opened = fetched.get(&row.get::<RecordId>(0)?).is_some_and(|last| *last >= at);
            Ok(if is_opened { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(has_hits && !is_opened)
    }

    /// The newest `limit` searches that `viewer` made and that found a record. The access log has its score, and is written
    /// within moments of the search.
    pub fn found_by(&self, id: RecordId, viewer: &Viewer, limit: usize) -> Result<Vec<FoundBy>> {
        const MOMENTS: Millis = 60_000;
        let sql = "SELECT s.id, s.agent, s.project, s.query, s.searched_at, s.tool
             FROM search_hits h INDEXED BY search_hits_by_record CROSS JOIN searches s ON s.id = h.search_id
             WHERE h.record_id = ?1 ORDER BY h.search_id DESC";
        let mut found: Vec<FoundBy> = Vec::new();
        self.conn().select(sql, &[id.into()], &mut |row| {
            if viewer.made(&searcher(row)?) {
                found.push(FoundBy { query: row.get(3)?, at: row.get(4)?, tool: row.get(5)?, score: None });
            }
            Ok(if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        // One pass over the record's accesses, of which there may be very many.
        let Some(first) = found.iter().map(|found| found.at).min() else { return Ok(found) };
        let sql = "SELECT query_text, accessed_at, relevance_score FROM access_log
             WHERE record_id = ?1 AND access_type = ?2 AND accessed_at >= ?3 ORDER BY id DESC";
        self.conn().select(sql, &[id.into(), AccessKind::Search.as_str().into(), first.into()], &mut |row| {
            let (query, at): (Option<String>, Millis) = (row.get(0)?, row.get(1)?);
            // The first after the search is the last that is read here.
            for one in found.iter_mut().filter(|one| Some(&one.query) == query.as_ref()) {
                if (one.at..=one.at + MOMENTS).contains(&at) {
                    one.score = row.get(2)?;
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// How many searches that `viewer` made are kept.
    pub fn search_counts(&self, viewer: &Viewer) -> Result<SearchCounts> {
        let mut counts = SearchCounts::default();
        let sql = "SELECT id, agent, project, unanswered FROM searches ORDER BY id DESC";
        self.conn().select(sql, &[], &mut |row| {
            if viewer.made(&searcher(row)?) {
                counts.logged += 1;
                if counts.logged <= SearchCounts::LAST {
                    counts.last += 1;
                    counts.no_answer += u64::from(row.get::<bool>(3)?);
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(counts)
    }
}

/// Who made the search of a row that begins with `id`, `agent` and `project`.
pub(super) fn searcher(row: &dyn Row) -> Result<Viewer> {
    Ok(Viewer { agent: rows::to_reach(row.get(1)?), project: rows::to_reach(row.get(2)?) })
}

fn trace(row: &dyn Row, viewer: Viewer) -> Result<SearchTrace> {
    let number = |column| Ok::<_, crate::Error>(row.get::<i64>(column)?.cast_unsigned());
    Ok(SearchTrace {
        at: row.get(3)?,
        viewer,
        tool: row.get::<String>(4)?.into(),
        query: row.get(5)?,
        mode: row.get::<&str>(6)?.parse()?,
        filters: row.get(7)?,
        hits: number(8)?,
        no_answer: row.get(9)?,
        best_score: row.get(10)?,
        best_cosine: row.get(11)?,
        micros: number(12)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestStore;
    use super::*;
    use crate::records::rules::searches::record_searches;
    use crate::types::Reach;

    fn search(query: &str, viewer: Viewer, hits: u64) -> SearchTrace {
        let (no_answer, best_score, best_cosine) = (hits < 2, Some(0.25), Some(-0.5));
        SearchTrace { hits, no_answer, best_score, best_cosine, ..SearchTrace::sample(query, viewer) }
    }

    fn queries(store: &TestStore, query: &SearchesQuery) -> Vec<String> {
        store.view().searches(query).unwrap().into_iter().map(|search| search.trace.query).collect()
    }

    #[test]
    fn searches_come_newest_first_in_pages_and_with_few_hits_alone() {
        let store = TestStore::new();
        let made: Vec<_> = (0..5).map(|hits| (search(&hits.to_string(), Viewer::OWNER, hits), vec![])).collect();
        record_searches(&*store, &made).unwrap();
        let all = SearchesQuery { limit: 2, ..SearchesQuery::new(Viewer::OWNER) };
        let page = store.view().searches(&all).unwrap();
        assert_eq!(page.iter().map(|search| &search.trace).collect::<Vec<_>>(), [&made[4].0, &made[3].0]);
        let next = SearchesQuery { before: Some(page[1].id), limit: 9, ..all.clone() };
        assert_eq!(queries(&store, &next), ["2", "1", "0"]);
        assert_eq!(queries(&store, &SearchesQuery { no_answer: true, ..next.clone() }), ["1", "0"]);
        assert_eq!(queries(&store, &SearchesQuery { most_hits: Some(0), ..next.clone() }), ["0"]);
        assert_eq!(queries(&store, &SearchesQuery { most_hits: Some(u64::MAX), ..all }), ["4", "3"]);
        let counts = SearchCounts { logged: 5, last: 5, no_answer: 2 };
        assert_eq!(store.view().search_counts(&Viewer::OWNER).unwrap(), counts);
        assert_eq!(store.view().search_counts(&Viewer::of_agent("a")).unwrap(), SearchCounts::default());
    }

    #[test]
    fn a_viewer_sees_its_own_searches() {
        let store = TestStore::new();
        let shared = Viewer { agent: Reach::Shared, project: Reach::Shared };
        let scribe = Viewer { agent: Reach::Own("scribe".into()), ..Viewer::in_project("atlas") };
        let only = Viewer { project: Reach::Only("atlas".into()), ..scribe.clone() };
        let viewers = [
            ("owner", Viewer::OWNER),
            ("shared", shared.clone()),
            ("atlas", Viewer::in_project("atlas")),
            ("borealis", Viewer::in_project("borealis")),
            ("scribe", scribe.clone()),
        ];
        let made: Vec<_> = viewers.into_iter().map(|(name, viewer)| (search(name, viewer, 1), vec![])).collect();
        record_searches(&*store, &made).unwrap();
        let seen = |viewer: &Viewer| queries(&store, &SearchesQuery::new(viewer.clone()));
        assert_eq!(seen(&Viewer::OWNER).len(), 5);
        assert_eq!(seen(&shared), ["shared"]);
        assert_eq!(seen(&Viewer::in_project("atlas")), ["scribe", "atlas"]);
        assert_eq!((seen(&scribe), seen(&only)), (vec!["scribe".to_owned()], vec!["scribe".to_owned()]));
        assert_eq!(seen(&Viewer::of_agent("scribe")), ["scribe"]);
    }
}
