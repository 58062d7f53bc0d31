//! Finding, changing, deleting, listing, counting.

use std::collections::BTreeSet;

use memorist_engine::types::{
    Explain, Filter, Gone, ListOnly, ListOrder, ListQuery, Mark, Millis, Query, Record, RecordId, SearchReply, Tier,
    Viewer,
};
use memorist_engine::{Engine, Error, Result};

use super::Context;
use super::save::to_update;
use crate::wire::{
    self, DeleteParams, DeleteResult, FileProblem, GetParams, GetResult, IndexCounts, ListParams, ListResult, ListSort,
    ListState, SearchParams, SearchResult, SearchTotals, StatsParams, StatsResult, UnreadFiles, UpdateParams,
    UpdateResult,
};
use crate::wording::Worded as _;

/// Most links shown with a memory.
pub const LINKS_SHOWN: usize = 50;
/// Default number of memories of a list.
const LISTED: usize = 50;
/// Files that could not be read and are named.
const UNREAD: usize = 5;

pub fn search(engine: &Engine, context: &Context, params: SearchParams) -> Result<SearchResult> {
    let query = context.query(&params, context.defaults.viewer(&params.project, &params.agent)?)?;
    query.validate()?;
    Ok(wire::search_result(reply(engine, &params, &query)?, &params, &query))
}

/// The reply to a search; an empty one if no memories of its types come from its sources.
pub fn reply(engine: &Engine, params: &SearchParams, query: &Query) -> Result<SearchReply> {
    no_reply(params, query).map_or_else(|| engine.search(query), Ok)
}

/// The empty reply to a search if no memories of its types come from its sources.
pub fn no_reply(params: &SearchParams, query: &Query) -> Option<SearchReply> {
    if wire::kinds_of(params.entry_types.as_deref(), params.sources.as_deref()).is_some() {
        return None;
    }
    let mut explain = Explain::default();
    explain.pool = query.pool();
    Some(SearchReply {
        hits: Vec::new(),
        more: false,
        reserved: 0,
        no_answer: true,
        tier: Tier::Full,
        warnings: vec!["these types never occur in these sources; omit one of the two".to_owned()],
        near_miss: None,
        remedy: None,
        terms: Vec::new(),
        missing: Vec::new(),
        is_foreign: false,
        weaker: 0,
        explain,
    })
}

/// The memories among `ids` that are superseded by one that `viewer` sees.
pub fn superseded(engine: &Engine, ids: &[RecordId], viewer: &Viewer) -> Result<BTreeSet<RecordId>> {
    let marks = engine.viewed_by(viewer).status_links(ids, 0)?.into_iter();
    Ok(marks.filter(|(_, marks)| marks.iter().any(Mark::is_of_successor)).map(|(id, _)| id).collect())
}

/// `memory_get`. An unknown id is an answer, not an error.
pub fn get(engine: &Engine, context: &Context, params: GetParams) -> Result<GetResult> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let links = |id| engine.viewed_by(&viewer).links(id, LINKS_SHOWN + 1);
    let found = engine.viewed_by(&viewer).access(params.id.0.into()).and_then(|record| Ok((links(record.id)?, record)));
    match found {
        Ok((links, record)) => {
            let more_links = (links.len() > LINKS_SHOWN).then_some(true);
            let links = links.iter().take(LINKS_SHOWN).map(|link| wire::step(record.id, link)).collect();
            Ok(GetResult { entry: Some(wire::Entry { links, more_links, ..wire::entry(record) }), error: None })
        }
        Err(error @ Error::NotFound(_)) => {
            let why = engine.viewed_by(&viewer).unfollowed()?.map_or_else(String::new, |why| format!("; {why}"));
            Ok(GetResult { entry: None, error: Some(error.worded() + &why) })
        }
        Err(error) => Err(error),
    }
}

/// `memory_update`. An unknown id is an answer, not an error.
pub fn update(engine: &Engine, context: &Context, params: UpdateParams) -> Result<UpdateResult> {
    let id = params.id.0;
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let update = to_update(engine, params)?;
    match engine.viewed_by(&viewer).update(id.into(), &update) {
        Ok(outcome) => Ok(UpdateResult::of(&outcome)),
        Err(error @ Error::NotFound(_)) => Ok(UpdateResult::none(&error)),
        Err(error) => Err(error),
    }
}

pub fn delete(engine: &Engine, context: &Context, params: DeleteParams) -> Result<DeleteResult> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let deleted = engine.viewed_by(&viewer).delete(params.id.0.into())?;
    Ok(DeleteResult { success: deleted, deleted })
}

pub fn list(engine: &Engine, context: &Context, params: ListParams) -> Result<ListResult> {
    let limit = wire::size("limit", params.limit, LISTED)?;
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let records = listed(engine, list_filter(&params, viewer), &params, limit)?;
    let is_full = records.len() == limit;
    let detail = params.detail.unwrap_or_default();
    let mut results: Vec<_> = records.into_iter().map(|listed| wire::brief(listed.record, detail)).collect();
    let cut = match params.max_tokens {
        Some(most) => wire::fit(&mut results, wire::size("maxTokens", Some(most), 0)?),
        None => None,
    };
    let goes_on = is_full || cut.is_some();
    let by_id = order_of(&params).is_some_and(|(order, _)| order == ListOrder::Saved);
    let next = results.last().map(|brief| brief.id).filter(|_| goes_on && by_id);
    let shown = wire::size("offset", params.offset, 0)? + results.len();
    let next_offset = i64::try_from(shown).ok().filter(|_| goes_on && !by_id);
    Ok(ListResult { results, next, next_offset })
}

/// The filter of a list of what `viewer` sees.
pub fn list_filter(params: &ListParams, viewer: Viewer) -> Filter {
    Filter {
        kinds: params.entry_types.clone().unwrap_or_default(),
        tags: params.tags.clone().unwrap_or_default(),
        min_importance: params.min_importance.map(|wire::Importance(least)| least),
        created_after: params.created_after.map(wire::Past::at),
        created_before: params.created_before.map(|end| end.after(params.created_after)),
        updated_after: params.updated_after.map(wire::Past::at),
        updated_before: params.updated_before.map(|end| end.after(params.updated_after)),
        happens_after: params.happens_after.map(wire::Future::at),
        happens_before: params.happens_before.map(|end| end.after(params.happens_after)),
        metadata: params.with_metadata.clone().map(|wire::Where(metadata)| metadata),
        ..Filter::of(viewer)
    }
}

/// The filter of a list, for calls about all memories that pass it.
///
/// # Errors
/// [`Error::Invalid`] if the parameters choose by state, which is not part of the filter.
pub fn plain_filter(context: &Context, params: &ListParams) -> Result<Filter> {
    match params.state {
        Some(_) => Err(Error::invalid("state", "is for lists; leave it out here")),
        None => Ok(list_filter(params, context.defaults.viewer(&params.project, &params.agent)?)),
    }
}

/// A memory of a list.
pub struct Listed {
    pub record: Record,
    /// `deleted` or `expired`, and when, if it is not live.
    pub gone: Option<(&'static str, Millis)>,
}

/// The memories of a list that pass the filter, at most `limit`.
pub fn listed(engine: &Engine, filter: Filter, params: &ListParams, limit: usize) -> Result<Vec<Listed>> {
    let offset = wire::size("offset", params.offset, 0)?;
    let order = order_of(params);
    if params.after.is_some() && order.is_none_or(|(order, _)| order != ListOrder::Saved) {
        return Err(Error::invalid("after", "is an id, and this list is not in the order of ids; give offset"));
    }
    let only = match params.state {
        Some(ListState::Expired | ListState::Deleted) => {
            let page = engine.list_gone(&filter, params.state == Some(ListState::Deleted), offset, limit)?;
            let listed = page.into_iter().map(|Gone { record, deleted_at }| {
                let deleted = deleted_at.map(|at| ("deleted", at));
                let gone = deleted.or(record.expires_at.map(|at| ("expired", at)));
                Listed { record, gone }
            });
            return Ok(listed.collect());
        }
        Some(ListState::Open) => Some(ListOnly::Open),
        Some(ListState::Overdue) => Some(ListOnly::Overdue),
        Some(ListState::Superseded) => Some(ListOnly::Superseded),
        Some(ListState::Contradicted) => Some(ListOnly::Contradicted),
        Some(ListState::Expiring) => Some(ListOnly::Expiring),
        None => None,
    };
    let after = params.after.map_or(RecordId::START, |wire::Int(id)| id.into());
    let (order, newest_first) = order.unwrap_or_default();
    let query = ListQuery { after, order, limit, offset, newest_first, filter, only, ..ListQuery::default() };
    Ok(engine.list(&query)?.into_iter().map(|record| Listed { record, gone: None }).collect())
}

/// The order of a list, and whether it is reversed; `None` for deleted or expired memories, the last of which comes first.
fn order_of(params: &ListParams) -> Option<(ListOrder, bool)> {
    Some(match (params.sort.unwrap_or_default(), params.state) {
        (_, Some(ListState::Expired | ListState::Deleted)) => return None,
        (ListSort::Created, Some(ListState::Expiring)) => (ListOrder::Expiry, params.newest_first.unwrap_or(false)),
        (ListSort::Created, _) => (ListOrder::Saved, params.newest_first.unwrap_or(true)),
        (ListSort::Updated, _) => (ListOrder::Updated, params.newest_first.unwrap_or(true)),
        (ListSort::Due, _) => (ListOrder::Due, params.newest_first.unwrap_or(false)),
    })
}

pub fn stats(engine: &Engine, context: &Context, params: StatsParams) -> Result<StatsResult> {
    stats_in_view(engine, context, context.defaults.viewer(&params.project, &params.agent)?)
}

/// The statistics of what `viewer` sees.
pub fn stats_in_view(engine: &Engine, context: &Context, viewer: Viewer) -> Result<StatsResult> {
    let mut stats = stats_of(engine, &Filter::of(viewer))?;
    // The indexes cover everyone's memories.
    stats.indexes = stats.indexes.filter(|_| !context.defaults.is_only());
    stats.unread = if context.defaults.is_only() { None } else { unread(engine)? };
    Ok(stats)
}

/// Files of which nothing was read; `None` if there are none.
fn unread(engine: &Engine) -> Result<Option<UnreadFiles>> {
    let sources = engine.source_stats()?;
    let count = sources.iter().map(|source| source.all_unread).sum();
    let files = sources.into_iter().flat_map(|source| source.unread).take(UNREAD);
    let files = files.map(|(path, why)| FileProblem { path, why }).collect();
    Ok((count > 0).then(|| UnreadFiles { count: wire::count(count), files }))
}

/// Statistics of the memories that pass `filter`.
pub fn stats_of(engine: &Engine, filter: &Filter) -> Result<StatsResult> {
    let stats = engine.stats(filter)?;
    let indexes = engine.index_stats()?;
    let searches = engine.viewed_by(&filter.viewer).search_counts()?;
    Ok(StatsResult {
        total_entries: wire::count(stats.total),
        by_type: stats.by_kind.iter().map(|(kind, number)| (kind.to_string(), wire::count(*number))).collect(),
        avg_importance: stats.avg_importance,
        avg_confidence: stats.avg_confidence,
        total_accesses: wire::count(stats.total_accesses),
        oldest_entry: stats.oldest,
        newest_entry: stats.newest,
        pending_embeddings: wire::count(stats.pending_embeddings),
        indexes: Some(IndexCounts {
            vectors: wire::count(indexes.vectors),
            documents: wire::count(indexes.documents),
            unapplied: wire::count(indexes.unapplied),
        }),
        model: indexes.model,
        searches: SearchTotals {
            logged: wire::count(searches.logged),
            last: wire::count(searches.last),
            no_answer: wire::count(searches.no_answer),
        },
        unread: None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use memorist_engine::config::Config;
    use memorist_engine::embed::HashEmbedder;
    use memorist_engine::progress::NoProgress;
    use memorist_engine::types::{Kind, Link, LinkKind, NewRecord, Viewer};
    use serde_json::{Value, json};

    use super::*;

    fn asked(engine: &Engine, arguments: Value) -> Result<SearchResult> {
        search(engine, &Context::default(), serde_json::from_value(arguments).unwrap())
    }

    fn meetings(count: usize) -> (tempfile::TempDir, Engine) {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::without_model();
        let engine = Engine::open_with_embedder(folder.path(), config, Arc::new(HashEmbedder::new(64))).unwrap();
        for at in 0..count {
            engine.add(&NewRecord::new(format!("meeting {at} with team {}", at % 11))).unwrap();
        }
        engine.embed_pending(&NoProgress).unwrap();
        (folder, engine)
    }

    /// Whatever the order, the pages of a list are the whole list.
    #[test]
    fn pages_of_a_list_are_the_whole_list_in_any_order() {
        let (_folder, engine) = meetings(9);
        let listed =
            |arguments: &Value| list(&engine, &Context::default(), serde_json::from_value(arguments.clone()).unwrap());
        let delete = || (1..=9).for_each(|id| assert!(engine.viewed_by(&Viewer::OWNER).delete(id.into()).unwrap()));
        for (sort, state) in [("created", None), ("updated", None), ("due", None), ("created", Some("deleted"))] {
            if state.is_some() {
                delete();
            }
            let mut arguments = json!({ "sort": sort, "state": state, "limit": 4 });
            let mut found = Vec::new();
            for _ in 0..4 {
                let page = listed(&arguments).unwrap();
                found.extend(page.results.iter().map(|brief| brief.id));
                match (page.next, page.next_offset) {
                    (Some(after), None) => arguments["after"] = after.into(),
                    (None, Some(offset)) => arguments["offset"] = offset.into(),
                    _ => break,
                }
            }
            found.sort_unstable();
            assert_eq!(found, (1..=9).collect::<Vec<_>>(), "{sort} {state:?}");
        }
        let refused = listed(&json!({ "sort": "updated", "after": 3 })).unwrap_err().to_string();
        assert!(refused.starts_with("after: "), "{refused}");
    }

    #[test]
    fn a_search_keeps_to_its_sources() {
        let (_folder, engine) = meetings(3);
        let turn = NewRecord { kind: Kind::Conversation, session: Some("talk".into()), ..NewRecord::new("team 1 met") };
        engine.add(&turn).unwrap();
        let found = |more: Value| {
            let mut arguments = json!({ "query": "team 1" });
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            asked(&engine, arguments).unwrap()
        };
        let ids = |more| found(more).results.iter().map(|hit| hit.id).collect::<Vec<_>>();
        assert_eq!(ids(json!({ "sources": ["sessions"] })), [4]);
        assert!(!ids(json!({ "sources": ["memories"] })).contains(&4));
        assert!(ids(json!({ "sources": ["notes"] })).is_empty());
        let none = found(json!({ "sources": ["notes", "memories"], "entryTypes": ["conversation"] }));
        assert!(none.results.is_empty() && none.no_answer && none.warnings[0].contains("sources"), "{none:?}");
    }

    /// T22: a memory with many links says that not all are shown.
    #[test]
    fn omitted_links_are_reported() {
        let (_folder, engine) = meetings(LINKS_SHOWN + 2);
        let shown = || {
            let params = serde_json::from_value(json!({ "id": 1 })).unwrap();
            let entry = get(&engine, &Context::default(), params).unwrap().entry.unwrap();
            (entry.links.len(), entry.more_links)
        };
        for to in 2..=LINKS_SHOWN as i64 + 2 {
            assert_eq!(shown(), (to as usize - 2, None));
            engine
                .viewed_by(&Viewer::OWNER)
                .link(Link { from: 1.into(), to: to.into(), kind: LinkKind::Related })
                .unwrap();
        }
        assert_eq!(shown(), (LINKS_SHOWN, Some(true)));
    }

    /// T13, T15: the cursors of a search lead through its results, without repeats and without gaps.
    #[test]
    fn cursors_lead_through_the_results_of_a_search() {
        let (_folder, engine) = meetings(120);
        let ids = |result: &SearchResult| result.results.iter().map(|hit| hit.id).collect::<Vec<_>>();
        // A page is cut by its limit, or by its tokens.
        for (limit, tokens) in [(7, 1_000_000), (12, 600)] {
            let mut arguments = json!({ "query": "team 5", "limit": limit, "maxTokens": tokens });
            let (mut found, mut pages) = (Vec::new(), 0);
            loop {
                let page = asked(&engine, arguments.clone()).unwrap();
                pages += 1;
                found.extend(ids(&page));
                match page.next_cursor {
                    Some(cursor) => arguments["cursor"] = cursor.into(),
                    None => {
                        assert!(page.warnings.iter().any(|text| text.contains("larger limit")), "{:?}", page.warnings);
                        break;
                    }
                }
            }
            assert!(pages > found.len() / 12 && found.len() >= 50, "{pages} pages of {} results", found.len());
            // The pool of a limit of 12 is that of 7, too.
            let whole = asked(&engine, json!({ "query": "team 5", "limit": 12, "detail": "ids" })).unwrap();
            assert_eq!(found[..12], ids(&whole), "{limit}");
            assert_eq!(found.iter().collect::<std::collections::BTreeSet<_>>().len(), found.len(), "{limit}");
            arguments["query"] = "team 6".into();
            let refused = asked(&engine, arguments).unwrap_err().to_string();
            assert!(refused.starts_with("cursor: does not match this query"), "{refused}");
        }
        let whole = asked(&engine, json!({ "query": "team 5", "limit": 1000 })).unwrap();
        assert_eq!((whole.total, whole.next_cursor), (120, None));
    }
}
