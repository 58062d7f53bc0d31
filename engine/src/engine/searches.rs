//! The searches that were made.

use serde_json::{Map, Value, json};

use super::{Engine, Memories};
use crate::error::Result;
use crate::sensitive::{logged_query, without_secrets};
use crate::types::bounds::check_limit;
use crate::types::{
    FoundBy, Millis, PastSearch, Query, Reach, RecordId, SearchCounts, SearchReply, SearchTrace, SearchesQuery, Viewer,
};

impl Engine {
    /// A page of the searches that are kept, the newest first, also those that found nothing. A search is kept within a
    /// second after it was answered.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names the bound that is violated.
    pub fn searches(&self, query: &SearchesQuery) -> Result<Vec<PastSearch>> {
        query.validate()?;
        self.store.records.snapshot()?.searches(query)
    }
}

impl Memories<'_> {
    /// The newest `limit` searches that found a memory, of those that the viewer made; none, if it does not see the memory.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names what is out of bounds.
    pub fn found_by(&self, id: RecordId, limit: usize) -> Result<Vec<FoundBy>> {
        self.viewer.validate()?;
        check_limit(limit)?;
        let snapshot = self.engine.store.records.snapshot()?;
        let now = self.engine.store.now();
        let is_seen = self.engine.store.records.copy().get(id, self.viewer, now)?.is_some()
            || snapshot.gone(id, self.viewer, now)?.is_some();
        if is_seen { snapshot.found_by(id, self.viewer, limit) } else { Ok(Vec::new()) }
    }

    /// How many searches that the viewer made are kept.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names the invalid name.
    pub fn search_counts(&self) -> Result<SearchCounts> {
        self.viewer.validate()?;
        self.engine.store.records.snapshot()?.search_counts(self.viewer)
    }
}

/// The entry of a search in the search log.
pub(super) fn trace(query: &Query, reply: &SearchReply, at: Millis) -> SearchTrace {
    SearchTrace {
        at,
        viewer: without_secrets_of(&query.filter.viewer),
        tool: without_secrets(&query.tool).into(),
        query: logged_query(&query.text),
        mode: query.mode,
        filters: filters(query),
        hits: reply.hits.len() as u64,
        no_answer: reply.no_answer,
        best_score: reply.hits.first().map(|hit| hit.score),
        best_cosine: reply.hits.iter().filter_map(|hit| hit.vector_score).max_by(f64::total_cmp),
        micros: reply.explain.total_us,
    }
}

/// Who searched. A name that contains a secret is of no project and no agent.
fn without_secrets_of(viewer: &Viewer) -> Viewer {
    let reach = |reach: &Reach| match reach {
        Reach::Own(name) => Reach::Own(without_secrets(name)),
        Reach::Only(name) => Reach::Only(without_secrets(name)),
        Reach::WithMain(Some(name)) => Reach::WithMain(Some(without_secrets(name))),
        other => other.clone(),
    };
    Viewer { agent: reach(&viewer.agent), project: reach(&viewer.project) }
}

/// The filters and thresholds that may have excluded results, where they differ from the defaults. The viewer is kept apart.
fn filters(query: &Query) -> Option<String> {
    let default = Query::new("");
    let filter = &query.filter;
    let mut filters = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            filters.insert(name.to_owned(), value);
        }
    };
    put("kinds", some(&filter.kinds, |kind| json!(kind)));
    put("tags", some(&filter.tags, |tag| json!(logged_query(tag))));
    put("minImportance", json!(filter.min_importance));
    put("minConfidence", json!(filter.min_confidence));
    put("createdAfter", json!(filter.created_after));
    put("createdBefore", json!(filter.created_before));
    put("updatedAfter", json!(filter.updated_after));
    put("updatedBefore", json!(filter.updated_before));
    put("happensAfter", json!(filter.happens_after));
    put("happensBefore", json!(filter.happens_before));
    // Its values may be secrets.
    put("where", json!(filter.metadata.is_some().then_some(true)));
    put("minSimilarity", json!(query.min_similarity));
    put("minScore", json!(query.min_score));
    put("minRelevance", json!(query.min_relevance));
    put("includeSuperseded", json!(query.include_superseded.then_some(true)));
    put("limit", json!((query.limit != default.limit).then_some(query.limit)));
    (!filters.is_empty()).then(|| Value::Object(filters).to_string())
}

/// A list as JSON; null for an empty one.
fn some<T>(list: &[T], one: impl Fn(&T) -> Value) -> Value {
    if list.is_empty() { Value::Null } else { list.iter().map(one).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::progress::NoProgress;
    use crate::types::{Filter, Kind, NewRecord, Purge};

    /// Keeps what the worker has received, and returns all queries with their tool, the newest first.
    fn kept(engine: &Engine) -> Vec<(String, String, u64)> {
        engine.flush_accesses(&NoProgress).unwrap();
        let all = engine.searches(&SearchesQuery::new(Viewer::OWNER)).unwrap().into_iter();
        all.map(|PastSearch { trace, .. }| (trace.tool.into_owned(), trace.query, trace.hits)).collect()
    }

    #[test]
    fn searches_of_callers_are_kept_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
        let id = engine.add(&NewRecord::new("a heron in the reeds by the lake")).unwrap().id;
        let again = engine.add(&NewRecord::new("a heron in the reeds by the lake today")).unwrap().id;
        engine.viewed_by(&Viewer::OWNER).similar(again, 5).unwrap();
        engine.keyword_count("heron", Filter::default()).unwrap();
        assert_eq!(kept(&engine), [], "not the engine's own");
        let heron = Query { tool: "memory_search".into(), ..Query::new("heron") };
        engine.search(&heron).unwrap();
        engine.search(&Query { offset: 1, ..heron }).unwrap();
        engine.search(&Query::new("zebra")).unwrap();
        let search = |tool: &str, query: &str, hits| (tool.to_owned(), query.to_owned(), hits);
        let in_vain = search("search", "zebra", 0);
        assert_eq!(kept(&engine), [in_vain.clone(), search("memory_search", "heron", 2)], "a page is no search");
        let counts = SearchCounts { logged: 2, last: 2, no_answer: 1 };
        assert_eq!(engine.viewed_by(&Viewer::OWNER).search_counts().unwrap(), counts);
        let refused = engine.searches(&SearchesQuery { limit: 0, ..SearchesQuery::new(Viewer::OWNER) });
        assert!(refused.is_err());
        engine.viewed_by(&Viewer::OWNER).purge(&Purge::Ids(vec![id]), &NoProgress).unwrap();
        assert_eq!(kept(&engine), [in_vain]);
        engine.close();

        let config = Config { log_searches: false, ..Config::without_model() };
        let engine = Engine::open(folder.path(), config).unwrap();
        engine.search(&Query::new("reeds")).unwrap();
        assert_eq!(kept(&engine).len(), 1, "switched off");
    }

    /// It waits to be kept while the record is purged.
    #[test]
    fn a_purge_removes_a_queued_search_that_quotes_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
        engine.search(&Query::new("the amber key is in the boat")).unwrap();
        let id = engine.add(&NewRecord::new("the amber key is in the boat")).unwrap().id;
        let purged = engine.viewed_by(&Viewer::OWNER).purge(&Purge::Ids(vec![id]), &NoProgress).unwrap();
        assert_eq!((purged.records, purged.queries), (1, 1));
        assert_eq!(kept(&engine), []);
    }

    #[test]
    fn a_purge_of_a_text_removes_searches_whose_tool_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
        let by = |tool: &str| engine.search(&Query { tool: tool.to_owned().into(), ..Query::new("reeds") });
        by("the amber tool").unwrap();
        by("another").unwrap();
        assert_eq!(kept(&engine).len(), 2);
        engine.viewed_by(&Viewer::OWNER).purge(&Purge::Text("amber".into()), &NoProgress).unwrap();
        assert_eq!(kept(&engine), [("another".to_owned(), "reeds".to_owned(), 0)]);
        for refused in ["a\0b".to_owned(), "x".repeat(1 << 20)] {
            assert!(by(&refused).unwrap_err().to_string().contains("tool"));
        }
    }

    #[test]
    fn logged_filters_omit_defaults_the_viewer_and_secrets() {
        assert_eq!(filters(&Query { filter: Filter::of(Viewer::in_project("atlas")), ..Query::new("x") }), None);
        let secret = concat!("pass", "word: Tr0ub4dor&3");
        let filter = Filter { kinds: vec![Kind::Task], tags: vec!["a".into(), secret.into()], ..Filter::default() };
        let query = Query { limit: 3, min_score: Some(0.5), filter, ..Query::new("x") };
        let kept = filters(&query).unwrap();
        assert!(!kept.contains("Tr0ub4dor"), "{kept}");
        let kept: Value = serde_json::from_str(&kept).unwrap();
        assert_eq!((&kept["kinds"], &kept["tags"][0]), (&json!(["task"]), &json!("a")));
        assert_eq!((&kept["limit"], &kept["minScore"]), (&json!(3), &json!(0.5)));
        assert_eq!(kept.as_object().unwrap().len(), 4);
    }
}
