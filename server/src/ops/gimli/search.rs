//! `memory_search`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use memorist_engine::config::ModelSource;
use memorist_engine::types::{Filter, Hit, Kind, MAX_LIMIT, MAX_POOL, Query, Scale, SourceKind};
use memorist_engine::{Engine, Error, Result};

use crate::ops::Context;
use crate::wire::gimli::{FoundLines, GimliSearchParams, GimliSearchResult, Off, memory_path, passage};
use crate::wire::{count, size_up_to};
use crate::wording::{Worded as _, warnings};

/// Fewest candidates of each side, so that the first of one result is the first of ten.
const LEAST_POOL: usize = 50;

/// The best lines of files, and memories that have none.
pub fn search(engine: &Engine, context: &Context, params: GimliSearchParams) -> Result<GimliSearchResult> {
    let settings = &context.memory_search;
    if let Some(off) = off(context) {
        return Ok(GimliSearchResult { off: Some(off), ..GimliSearchResult::default() });
    }
    let limit =
        params.max_results.map_or(Ok(settings.max_results), |most| size_up_to("maxResults", most, MAX_LIMIT))?;
    if limit == 0 {
        return Err(Error::invalid("maxResults", "0 is outside 1 to 1000"));
    }
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| is_searched(context, *kind)).collect();
    let query = Query {
        tool: context.tool.into(),
        mode: settings.mode,
        limit,
        pool: Some((settings.candidates * limit).clamp(LEAST_POOL, MAX_POOL)),
        weights: Some(settings.weights),
        scale: Some(Scale::Pool),
        min_score: Some(params.min_score.unwrap_or(settings.min_score)),
        filter: Filter { kinds, ..Filter::of(context.defaults.own_viewer()) },
        ..Query::new(params.query.clone())
    };
    let reply = match engine.search(&query) {
        Ok(reply) => reply,
        Err(error @ Error::Invalid { .. }) => return Err(error),
        Err(error) => {
            let off = Off::because(error.worded(), "call memory_search again; if it stays so, run `memorist doctor`");
            return Ok(GimliSearchResult { off: Some(off), ..GimliSearchResult::default() });
        }
    };
    let warnings = warnings(&reply);
    let mut seen = HashSet::new();
    let roots = roots(engine, context)?;
    let mut results: Vec<FoundLines> = reply.hits.into_iter().map(|hit| found(hit, &params.query, &roots)).collect();
    // Parts of one turn have the same lines: the best of them says where it is.
    results.retain(|found| seen.insert((found.path.clone(), found.start_line, found.end_line)));
    let model = engine.index_stats()?.model;
    let provider = match (&model, &settings.model.source) {
        (None, _) => "none",
        (_, ModelSource::Remote(remote)) => &remote.name,
        _ => "local",
    };
    let provider = provider.to_owned();
    Ok(GimliSearchResult { results, provider: Some(provider), model, warnings, off: None })
}

/// Why memory is off, if it is.
pub fn off(context: &Context) -> Option<Off> {
    let settings = &context.memory_search;
    let why = match (settings.enabled, settings.memory || settings.sessions) {
        (true, true) => return None,
        (false, _) => ("memorySearch.enabled is false", "set it to true and start the server again"),
        (true, false) => ("no source is on", "name some in memorySearch.sources and start the server again"),
    };
    Some(Off::because(why.0, why.1))
}

/// Whether memories of this kind are searched and read.
pub fn is_searched(context: &Context, kind: Kind) -> bool {
    let settings = &context.memory_search;
    if kind == Kind::Conversation { settings.sessions } else { settings.memory }
}

/// Whether files of sources of this kind are searched and read.
pub fn is_read(context: &Context, kind: SourceKind) -> bool {
    is_searched(context, if kind == SourceKind::Sessions { Kind::Conversation } else { Kind::Chunk })
}

/// The folders that paths are relative to: the workspace, and those of transcripts.
fn roots(engine: &Engine, context: &Context) -> Result<Vec<PathBuf>> {
    let transcripts = engine.sources()?.into_iter().filter(|source| source.source.kind == SourceKind::Sessions);
    Ok(context
        .memory_search
        .workspace
        .iter()
        .cloned()
        .chain(transcripts.map(|source| source.source.path.into()))
        .collect())
}

fn found(hit: Hit, query: &str, roots: &[PathBuf]) -> FoundLines {
    let record = hit.record;
    let (path, start_line, end_line) = match &record.place {
        Some(place) => (shown(&place.path, roots), count(place.first_line), count(place.last_line)),
        None => (memory_path(record.id), 1, count(record.content.lines().count().max(1) as u64)),
    };
    FoundLines {
        path,
        start_line,
        end_line,
        score: hit.score,
        snippet: passage(&record, query),
        source: record.kind.into(),
    }
}

/// A path as it is shown: relative to the deepest folder that it is in.
fn shown(path: &str, roots: &[PathBuf]) -> String {
    let within = roots.iter().filter_map(|folder| Path::new(path).strip_prefix(folder).ok()?.to_str());
    within.filter(|path| !path.is_empty()).min_by_key(|path| path.len()).unwrap_or(path).to_owned()
}
