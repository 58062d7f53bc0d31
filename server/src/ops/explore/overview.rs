//! The store in numbers, and the search log.

use memorist_engine::types::{Filter, Reach, SearchesQuery};
use memorist_engine::{Engine, Result};

use super::super::{Context, records};
use crate::wire::explore::{LoggedSearches, NameCount, OverviewParams, OverviewResult, SearchesOnly, SearchesParams};
use crate::wire::{self, Int, SearchEntry, SearchesResult, StatsResult};
use crate::wording;

/// Default number of searches.
const SEARCHES: usize = 50;

/// The store in numbers, as the page sees it.
pub fn overview(engine: &Engine, context: &Context, _: OverviewParams) -> Result<OverviewResult> {
    let viewer = context.defaults.own_viewer();
    let stats: StatsResult = records::stats_of(engine, &Filter::of(viewer.clone()))?;
    let names = engine.viewed_by(&viewer).names()?;
    let named = |names: Vec<(String, u64)>| {
        names.into_iter().map(|(name, count)| NameCount { name, count: wire::count(count) }).collect()
    };
    let reach = |reach: &Reach| match reach {
        Reach::Every => Some(Reach::EVERY.to_owned()),
        reach => reach.name().map(str::to_owned),
    };
    let mut warnings = Vec::new();
    if stats.model.is_none() {
        warnings.push("no embedding model has been used yet: keyword search only".to_owned());
    }
    warnings.extend(engine.foreign_memories()?.map(wording::foreign));
    if engine.needs_rebuild()? {
        warnings.push("an index is being rebuilt: searches run without it until then".to_owned());
    }
    Ok(OverviewResult {
        read_only: !engine.can_write(),
        project: reach(&viewer.project),
        agent: reach(&viewer.agent),
        model: stats.model,
        total: stats.total_entries,
        by_type: stats.by_type,
        projects: named(names.projects),
        agents: named(names.agents),
        oldest: stats.oldest_entry,
        newest: stats.newest_entry,
        pending_embeddings: stats.pending_embeddings,
        searches: LoggedSearches { logged: stats.searches.logged, no_answer: stats.searches.no_answer },
        warnings,
    })
}

/// A page of the search log.
pub fn searches(engine: &Engine, context: &Context, params: SearchesParams) -> Result<SearchesResult> {
    let query = SearchesQuery {
        before: params.before.map(|Int(before)| before),
        limit: wire::size("limit", params.limit, SEARCHES)?,
        no_answer: params.only == Some(SearchesOnly::NoAnswer),
        weak: params.only == Some(SearchesOnly::Weak),
        unopened: params.only == Some(SearchesOnly::NeverOpened),
        ..SearchesQuery::new(context.defaults.own_viewer())
    };
    let searches = engine.searches(&query)?;
    let next = searches.last().map(|search| search.id).filter(|_| searches.len() == query.limit);
    Ok(SearchesResult { results: searches.into_iter().map(SearchEntry::from).collect(), next })
}
