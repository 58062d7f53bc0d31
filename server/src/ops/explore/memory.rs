//! A memory, its links, and similar memories.

use memorist_engine::types::{ChainQuery, Gone, Link, LinkKind, RecordId, Similar};
use memorist_engine::words::{KeywordQuery, matching_spans};
use memorist_engine::{Engine, Error, Result};

use super::super::{Context, LINKS_SHOWN, superseded};
use crate::wire::explore::{
    FoundByEntry, GraphEdge, GraphNode, GraphParams, GraphResult, MemoryParams, MemoryResult, RecoverableEntry,
    SimilarHit, SimilarParams, SimilarResult,
};
use crate::wire::{self, Int};

/// Most searches that are listed with a memory.
const SEARCHES: usize = 20;
/// Most memories of a graph: more cannot be read.
const MOST_NODES: usize = 150;
/// Characters of a memory in a graph.
const NODE_CHARS: usize = 120;
/// Default number of similar memories.
const SIMILAR: usize = 10;

/// A memory, also one that was deleted or has expired and can be restored.
pub fn memory(engine: &Engine, context: &Context, params: MemoryParams) -> Result<MemoryResult> {
    let viewer = context.defaults.own_viewer();
    let (seen, id) = (engine.viewed_by(&viewer), RecordId::from(params.id.0));
    let (record, recoverable) = match seen.get(id)? {
        Some(record) => (record, None),
        None => {
            let Gone { record, deleted_at } = seen.get_gone(id)?.ok_or(Error::NotFound(id))?;
            let deleted = deleted_at.map(|at| RecoverableEntry { why: "deleted", at });
            let recoverable = deleted.or(record.expires_at.map(|at| RecoverableEntry { why: "expired", at }));
            (record, recoverable)
        }
    };
    let links = if recoverable.is_none() { seen.links(id, LINKS_SHOWN + 1)? } else { Vec::new() };
    let marks = seen.status_links(&[id], 0)?.remove(&id).unwrap_or_default();
    let by = |kind: LinkKind| {
        let by = marks.iter().filter(|mark| mark.by_other && mark.kind == kind && recoverable.is_none());
        by.map(|mark| mark.other.get()).collect()
    };
    let found_by = seen.found_by(id, SEARCHES)?.into_iter();
    Ok(MemoryResult {
        superseded_by: by(LinkKind::Supersedes),
        contradicted_by: by(LinkKind::Contradicts),
        found_by: found_by
            .map(|by| FoundByEntry { query: by.query, at: by.at, tool: by.tool, score: by.score })
            .collect(),
        entry: wire::Entry {
            more_links: (links.len() > LINKS_SHOWN).then_some(true),
            links: links.iter().take(LINKS_SHOWN).map(|link| wire::step(id, link)).collect(),
            ..wire::entry(record)
        },
        recoverable,
    })
}

/// The memories around one, and all links between them.
pub fn graph(engine: &Engine, context: &Context, params: GraphParams) -> Result<GraphResult> {
    let viewer = context.defaults.own_viewer();
    let start = RecordId::from(params.id.0);
    let within = |field, given: Option<Int>, most: usize, otherwise: usize| match wire::size(field, given, otherwise)? {
        size if (1..=most).contains(&size) => Ok(size),
        size => Err(Error::invalid(field, format!("{size} is outside 1 to {most}"))),
    };
    let max_depth = within("depth", params.depth, 3, 1)?;
    let limit = within("limit", params.limit, MOST_NODES, MOST_NODES)?;
    let chain = engine.chain(&ChainQuery { max_depth, limit, ..ChainQuery::new(start, viewer.clone()) })?;
    if chain.hops.is_empty() {
        return Err(Error::NotFound(start));
    }
    let ids: Vec<RecordId> = chain.hops.iter().map(|hop| hop.record.id).collect();
    let superseded = superseded(engine, &ids, &viewer)?;
    let nodes = chain.hops.into_iter().map(|hop| GraphNode {
        id: hop.record.id.get(),
        content: beginning(&hop.record.content, NODE_CHARS),
        entry_type: hop.record.kind,
        depth: wire::count(hop.depth as u64),
        is_current: !superseded.contains(&hop.record.id),
    });
    let edge = |link: Link| GraphEdge { from: link.from.get(), to: link.to.get(), link_type: link.kind };
    Ok(GraphResult {
        nodes: nodes.collect(),
        edges: engine.viewed_by(&viewer).links_among(&ids)?.into_iter().map(edge).collect(),
        truncated: chain.truncated,
    })
}

pub fn similar(engine: &Engine, context: &Context, params: SimilarParams) -> Result<SimilarResult> {
    let viewer = context.defaults.own_viewer();
    let id = RecordId::from(params.id.0);
    let limit = wire::size("limit", params.limit, SIMILAR)?;
    let similar = engine.viewed_by(&viewer).similar(id, limit)?;
    let own =
        engine.viewed_by(&viewer).get(id)?.map_or_else(Vec::new, |record| KeywordQuery::new(&record.content).terms());
    let hit = |one: Similar| SimilarHit {
        id: one.record.id.get(),
        similarity: one.likeness(),
        words: matching_spans(&one.record.content, &own),
        entry_type: one.record.kind,
        content: one.record.content,
    };
    Ok(SimilarResult { results: similar.into_iter().map(hit).collect() })
}

/// The beginning of a text, on one line.
fn beginning(text: &str, chars: usize) -> String {
    let line = wire::core::one_line(text);
    match line.char_indices().nth(chars - 1) {
        Some((end, last)) if end + last.len_utf8() < line.len() => format!("{}…", &line[..end]),
        _ => line,
    }
}
