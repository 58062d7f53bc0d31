//! `memorist search`: search memories by meaning and keyword.

use memorist_engine::Engine;
use memorist_engine::config::ModelSource;
use memorist_engine::progress::Progress;
use memorist_engine::types::{Mode, Threshold, Tier, WEAK};

use super::app::Maintenance;
use super::progress::Bars;
use super::{App, format, hidden, places, table};
use crate::args::Search;
use crate::exit::{Failure, Outcome};
use crate::ops::{self, Context};
use crate::wire::{Int, PlaceInfo, SearchParams, SearchResult};
use crate::wording::{Remarks, Worded as _};

pub fn run(app: &App, args: Search) -> Outcome {
    let (explain, is_first) = (args.explain, args.cursor.is_none());
    let is_usual = args.min_relevance.is_none();
    let params = params(args, app.output().json);
    let engine = app.existing(Maintenance::On)?;
    if engine.needs_rebuild()? {
        rebuild(app, &engine)?;
    }
    let context = &Context { tool: "memorist search", ..app.settings().context.clone() };
    let mut result = ops::search(&engine, context, params.clone())?;
    if wants_model(app, &params, &result) && provide_model(app, &engine)? {
        result = ops::search(&engine, context, params.clone())?;
    }
    hidden::note(app, &engine, result.results.len())?;
    // Before the engine closes: that may have to wait for other writers.
    let places: Vec<&PlaceInfo> = result.results.iter().filter_map(|hit| hit.place.as_ref()).collect();
    app.output().linked(&result, &places::links(&places), |result| text(result, explain, is_first, is_usual))?;
    if let Some(cursor) = result.next_cursor.filter(|_| !app.output().json) {
        app.output().note(format!("more results: raise --limit, or repeat with --cursor {cursor}"));
    }
    engine.close();
    Ok(0)
}

/// The parameters of the arguments. People always see the time that a search took.
fn params(args: Search, json: bool) -> SearchParams {
    let some = |list: Vec<_>| Some(list).filter(|list| !list.is_empty());
    SearchParams {
        query: args.query.join(" "),
        mode: args.mode,
        limit: args.limit.map(Int),
        sources: Some(args.sources).filter(|sources| !sources.is_empty()),
        entry_types: Some(args.filters.kinds).filter(|kinds| !kinds.is_empty()),
        min_importance: args.filters.min_importance,
        min_confidence: args.filters.min_confidence,
        tags: some(args.filters.tags),
        with_metadata: args.filters.with_metadata,
        created_after: args.filters.created_after,
        created_before: args.filters.created_before,
        updated_after: args.filters.updated_after,
        updated_before: args.filters.updated_before,
        happens_after: args.filters.happens_after,
        happens_before: args.filters.happens_before,
        vector_weight: args.vector_weight,
        keyword_weight: args.keyword_weight,
        min_similarity: args.min_similarity,
        min_score: args.min_score,
        min_relevance: args.min_relevance.or(Some(WEAK)),
        include_superseded: Some(args.include_superseded),
        rerank: args.no_rerank.then_some(false),
        neighbors: args.neighbors.map(Int),
        max_tokens: args.max_tokens.map(Int),
        cursor: args.cursor,
        detail: args.detail,
        explain: Some(args.explain || !json),
        ..SearchParams::default()
    }
}

/// Rebuilds what is unusable, with visible progress: this process may end before that is done in the background, and so
/// may every other one.
fn rebuild(app: &App, engine: &Engine) -> Result<(), Failure> {
    attempt(app, "an index could not be rebuilt", |bars| engine.flush(bars)).map(drop)
}

/// Runs work that a search does better with, with visible progress. False if it failed: a note says why, after `what`.
fn attempt(app: &App, what: &str, work: impl FnOnce(&Bars) -> memorist_engine::Result<()>) -> Result<bool, Failure> {
    let bars = app.bars()?;
    let done = work(&bars);
    bars.finish();
    match done {
        Ok(()) => Ok(true),
        Err(error @ memorist_engine::Error::Cancelled) => Err(error.into()),
        Err(error) => {
            app.output().note(format!("{what}: {}", error.worded()));
            Ok(false)
        }
    }
}

/// Whether a vector search was requested and failed for lack of a model that may be fetched.
fn wants_model(app: &App, params: &SearchParams, result: &SearchResult) -> bool {
    let config = &app.settings().engine;
    params.mode != Some(Mode::Keyword)
        && result.tier == Tier::Keyword
        && config.model.may_download
        && matches!(config.model.source, ModelSource::Default | ModelSource::Named(_))
}

/// Fetches the model and embeds what waits for it. False if that cannot be done now: the keyword search is the result
/// then, and says so itself.
fn provide_model(app: &App, engine: &Engine) -> Result<bool, Failure> {
    attempt(app, "keyword search only", |bars| {
        engine.prepare_model(&mut |plan| app.announce(plan), bars)?;
        engine.embed_pending(bars).map(drop)
    })
}

/// Microseconds below which the model was not used: a keyword search needs none.
const QUICK: u64 = 10;

/// The results; `is_first`: they are the first page, and so begin with the best; `is_usual`: no least relevance was given.
fn text(result: &SearchResult, explain: bool, is_first: bool, is_usual: bool) -> String {
    let nearest = result.near_miss.as_ref().filter(|best| is_usual && best.threshold == Threshold::Relevance);
    let remarks = Remarks {
        relevances: result.results.iter().map(|hit| hit.relevance).collect(),
        no_answer: result.no_answer && is_first,
        nearest: nearest.map(|best| (best.id, best.actual, &*best.content)),
        missing: &result.missing,
        weaker: usize::try_from(result.weaker).unwrap_or_default(),
    };
    let mut parts = Vec::new();
    if !result.results.is_empty() {
        parts.push(table::hits(&result.results, explain));
        parts.extend(places::lines(&result.results));
    }
    parts.extend(remarks.lines("--min-relevance 0"));
    let how = match result.tier {
        Tier::Full => "",
        Tier::Keyword => ", keyword search only",
        Tier::Substring => ", substring search",
    };
    let time = |name: &str| result.explain.as_ref().and_then(|times| times[name].as_u64()).unwrap_or_default();
    let (embedding, total) = (time("embedUs"), time("totalUs"));
    let found = format::micros(total.saturating_sub(embedding));
    let before = if embedding < QUICK || result.tier != Tier::Full {
        String::new()
    } else {
        format!(" after {} for the model", format::micros(embedding))
    };
    parts.push(format!("{} in {found}{before}{how}", format::memories(result.results.len() as u64)));
    parts.extend(result.warnings.iter().map(|warning| format!("note: {warning}")));
    if let (true, Some(serde_json::Value::Object(explained))) = (explain, &result.explain) {
        parts.extend(explained.iter().map(|(name, value)| format!("  {name:<18} {value}")));
    }
    parts.join("\n")
}
