//! Searching, getting, listing, following links.

use std::collections::BTreeMap;

use memorist_engine::types::{Direction, Hit, Mark, Record, RecordId, Scope, Version, Viewer};
use memorist_engine::{Engine, Error, Result};

use super::answers::{absent, max_tokens, unknown_project};
use crate::ops;
use crate::ops::Context;
use crate::wire::core::{GetParams, Line, Page, beginning, one_line};
use crate::wire::{self, ChainParams, Detail, Int, ListParams, SearchParams, moment};
use crate::wording::Worded as _;

/// Characters of a text in a search or list, by default: of a longer one the passage around the words of the query.
const SNIPPET_CHARS: usize = 700;
/// The same where only ids were requested.
const ID_CHARS: usize = 60;
/// Default number of memories of a list or chain.
const LISTED: usize = 20;
/// Most links that are shown with a memory.
const LINKS_SHOWN: usize = 20;
/// Most versions that are shown with a memory.
const VERSIONS_SHOWN: usize = 20;
/// Characters of the other memory in a mark.
const MARK_CHARS: usize = 160;

/// `memory_search`.
pub fn search(engine: &Engine, context: &Context, params: &SearchParams) -> Result<String> {
    let query = wire::query(params, &context.defaults, context.weights)?;
    query.validate()?;
    let reply = engine.search(&query)?;
    let ids: Vec<RecordId> = reply.hits.iter().map(|hit| hit.record.id).collect();
    let marks = engine.marks(&ids, &query.filter.viewer, MARK_CHARS)?;
    let scope = context.defaults.scope(params.project.clone(), params.agent.clone()).ok();
    let mut page = Page::new(max_tokens(params.max_tokens)?);
    for hit in &reply.hits {
        let line = Line {
            relevance: Some(hit.score),
            marks: marks_of(&marks, hit.record.id),
            scope: scope.as_ref(),
            query: &params.query,
            changed: params.updated_after.is_some() || params.updated_before.is_some(),
            ..Line::default()
        };
        let explained = params.explain.unwrap_or(false).then(|| explained(hit)).unwrap_or_default();
        if !page.add(chars(params.detail), |most| line.of(&hit.record, most) + &explained) {
            break;
        }
    }
    let shown = page.lines();
    let mut notes = Vec::new();
    if reply.hits.is_empty() {
        notes.push("Nothing found.".to_owned());
    }
    notes.extend(unknown_project(engine, context, &params.project)?);
    let result = wire::search_page(&reply, params, &query, shown);
    notes.extend(result.warnings.into_iter().map(|warning| format!("Note: {warning}")));
    if let Some(cursor) = result.next_cursor {
        notes.push(format!("More: cursor {cursor}"));
    }
    if params.explain.unwrap_or(false) {
        let times = serde_json::to_string(&reply.explain).unwrap_or_default();
        notes.push(format!("Explain: {times}"));
    }
    Ok(page.finish(notes))
}

/// Characters of a text at this level of detail.
fn chars(detail: Option<Detail>) -> usize {
    match detail.unwrap_or_default() {
        Detail::Ids => ID_CHARS,
        Detail::Snippet => SNIPPET_CHARS,
        Detail::Full => usize::MAX,
    }
}

fn explained(hit: &Hit) -> String {
    let number = |score: Option<f64>| score.map_or("none".to_owned(), |score| format!("{score:.3}"));
    format!("\n  cosine {}, BM25 {}", number(hit.vector_score), number(hit.keyword_score))
}

fn marks_of(marks: &BTreeMap<RecordId, Vec<Mark>>, id: RecordId) -> &[Mark] {
    marks.get(&id).map(Vec::as_slice).unwrap_or_default()
}

/// `memory_list`.
pub fn list(engine: &Engine, context: &Context, params: &ListParams) -> Result<String> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let limit = wire::size("limit", params.limit, LISTED)?;
    // One more tells whether there are more.
    let mut records = ops::listed(engine, context, params, (limit + 1).min(memorist_engine::types::MAX_LIMIT))?;
    let mut more = records.len() > limit;
    records.truncate(limit);
    let gone = match params.only {
        Some(wire::Only::Deleted) => Some("deleted"),
        Some(wire::Only::Expired) => Some("expired"),
        _ => None,
    };
    let ids: Vec<RecordId> = records.iter().map(|record| record.id).collect();
    let marks = engine.marks(&ids, &viewer, MARK_CHARS)?;
    let scope = context.defaults.scope(params.project.clone(), params.agent.clone()).ok();
    let mut page = Page::new(max_tokens(params.max_tokens)?);
    for record in &records {
        let at = match gone {
            Some("deleted") => engine.gone(record.id, &viewer)?.and_then(|gone| gone.deleted_at),
            _ => record.expires_at,
        };
        let line = Line {
            marks: marks_of(&marks, record.id),
            scope: scope.as_ref(),
            changed: true,
            gone: gone.zip(at),
            ..Line::default()
        };
        if !page.add(chars(params.detail), |most| line.of(record, most)) {
            more = true;
            break;
        }
    }
    let shown = page.lines();
    let mut notes = Vec::new();
    if records.is_empty() {
        notes.push("No memories.".to_owned());
    }
    notes.extend(unknown_project(engine, context, &params.project)?);
    if more {
        notes.push(format!("More: offset {}", wire::size("offset", params.offset, 0)? + shown));
    }
    if gone.is_some() && !records.is_empty() {
        notes.push("memory_undo brings one back.".to_owned());
    }
    Ok(page.finish(notes))
}

/// `memory_get`.
pub fn get(engine: &Engine, context: &Context, params: &GetParams) -> Result<String> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let most = max_tokens(params.max_tokens)?;
    let ids: Vec<RecordId> = match (&params.id, &params.ids) {
        (Some(Int(id)), None) => return one(engine, context, params, (*id).into(), &viewer, most),
        (None, Some(ids)) if ids.len() == 1 => {
            return one(engine, context, params, ids[0].0.into(), &viewer, most);
        }
        (None, Some(ids)) if !ids.is_empty() => ids.iter().map(|Int(id)| (*id).into()).collect(),
        (Some(_), Some(_)) => return Err(Error::invalid("ids", "give either id or ids")),
        _ => return Err(Error::invalid("id", "is missing")),
    };
    let marks = engine.marks(&ids, &viewer, MARK_CHARS)?;
    let scope = context.defaults.scope(params.project.clone(), params.agent.clone()).ok();
    let mut page = Page::new(most);
    let mut left = 0;
    for id in &ids {
        let added = match engine.get(*id, &viewer) {
            Ok(record) => {
                let query = params.passage.as_deref().unwrap_or_default();
                let marks = marks_of(&marks, *id);
                let line = Line { marks, scope: scope.as_ref(), query, changed: true, ..Line::default() };
                page.add(usize::MAX, |most| line.of(&record, most))
            }
            Err(error @ Error::NotFound(_)) => {
                let why = absent(engine, *id, &viewer, error)?.worded();
                page.add(usize::MAX, |_| why.clone())
            }
            Err(error) => return Err(error),
        };
        left += usize::from(!added);
    }
    Ok(page.finish((left > 0).then(|| format!("{left} more did not fit; get them by themselves"))))
}

/// A memory whole, with everything that belongs to it.
fn one(
    engine: &Engine,
    context: &Context,
    params: &GetParams,
    id: RecordId,
    viewer: &Viewer,
    most: usize,
) -> Result<String> {
    let (record, gone) = match engine.get(id, viewer) {
        Ok(record) => (record, None),
        Err(error @ Error::NotFound(_)) => match engine.gone(id, viewer)? {
            // What has expired can be read until it is removed.
            Some(gone) if gone.deleted_at.is_none() => (gone.record.clone(), gone.record.expires_at),
            _ => return Err(absent(engine, id, viewer, error)?),
        },
        Err(error) => return Err(error),
    };
    let scope = context.defaults.scope(params.project.clone(), params.agent.clone()).ok();
    let mut lines = vec![about(&record, gone.is_some(), scope.as_ref())];
    if gone.is_none() {
        lines.extend(links(engine, id, viewer)?);
    }
    if params.history.unwrap_or(false) {
        let earlier = engine.history(id, viewer, None, VERSIONS_SHOWN + 1)?;
        lines.extend(earlier.iter().skip(1).map(version));
    }
    let head = lines.join("\n");
    let room = most.saturating_mul(wire::BYTES_PER_TOKEN).saturating_sub(head.len() + 120).max(80);
    let offset = wire::size("offset", params.offset, 0)?;
    let text = match &params.passage {
        Some(words) => wire::cut_to(&record.content, words, room / 2),
        None => None,
    };
    let text = text.unwrap_or_else(|| part(&record.content, offset, room));
    let mut answer = format!("{head}\n\n{text}");
    if answer.len() > most.saturating_mul(wire::BYTES_PER_TOKEN).max(400) {
        answer.truncate(answer.floor_char_boundary(most.saturating_mul(wire::BYTES_PER_TOKEN).max(400) - 4));
        answer.push('…');
    }
    Ok(answer)
}

/// A text from a character on, at most so many bytes, with how to go on.
fn part(text: &str, offset: usize, room: usize) -> String {
    let start = text.char_indices().nth(offset).map_or(text.len(), |(at, _)| at);
    let rest = &text[start..];
    if rest.len() <= room {
        return rest.to_owned();
    }
    let shown = &rest[..rest.floor_char_boundary(room)];
    let next = offset + shown.chars().count();
    format!("{shown}…\n({} of {} characters; read on with offset {next})", next - offset, text.chars().count())
}

/// What there is to know of a memory beside its text.
fn about(record: &Record, expired: bool, scope: Option<&Scope>) -> String {
    let gone = record.expires_at.filter(|_| expired).map(|at| ("expired", at));
    let head = Line { scope, whole: true, gone, ..Line::default() };
    let mut text = head.without_text(record);
    text.push_str(&format!("; saved {}", moment(record.created_at)));
    if record.version > 1 {
        text.push_str(&format!(", version {} of {}", record.version, moment(record.updated_at)));
    }
    if record.source != "manual" {
        text.push_str(&format!("; source {}", one_line(&record.source)));
    }
    if let Some(context) = &record.context {
        text.push_str(&format!("\n  context: {}", one_line(context)));
    }
    let body = record.body.as_ref().map(|body| body.clone().into_value());
    if let Some(body) =
        body.filter(|body| body.as_object().is_some_and(|fields| fields.keys().any(|k| k != "status" && k != "due")))
    {
        text.push_str(&format!("\n  body: {body}"));
    }
    text
}

fn links(engine: &Engine, id: RecordId, viewer: &Viewer) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for direction in [Direction::Forward, Direction::Backward] {
        let left = LINKS_SHOWN + 1 - lines.len();
        for linked in engine.linked(id, direction, None, viewer, left)? {
            let (other, text) = (linked.record.id, beginning(&linked.record.content));
            lines.push(match direction {
                Direction::Forward => format!("  {} #{other}: {text}", wire::link_phrase(linked.kind, false)),
                _ => format!("  {} #{other}: {text}", wire::link_phrase(linked.kind, true)),
            });
        }
    }
    if lines.len() > LINKS_SHOWN {
        lines.truncate(LINKS_SHOWN);
        lines.push("  more links: memory_chain".to_owned());
    }
    Ok(lines)
}

fn version(version: &Version) -> String {
    let replaced = version.replaced.as_ref();
    let until = replaced.map_or_else(String::new, |replaced| format!(" to {}", moment(replaced.at)));
    let why = replaced.map_or_else(String::new, |replaced| format!(" ({})", one_line(&replaced.reason)));
    format!("  version {}, {}{until}{why}: {}", version.version, moment(version.since), beginning(&version.content))
}

/// `memory_chain`.
pub fn chain(engine: &Engine, context: &Context, params: &ChainParams) -> Result<String> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let query = ops::chain_query(params, &viewer, LISTED)?;
    let chain = engine.chain(&query)?;
    if chain.hops.is_empty() {
        return Err(absent(engine, query.start, &viewer, Error::NotFound(query.start))?);
    }
    let scope = context.defaults.scope(params.project.clone(), params.agent.clone()).ok();
    let mut page = Page::new(max_tokens(params.max_tokens)?);
    for hop in &chain.hops {
        let mut at = query.start;
        let steps = hop.path.iter().map(|link| {
            let phrase = wire::link_phrase(link.kind, link.from != at);
            at = link.other_end(at);
            format!("{phrase} #{at}")
        });
        let path = steps.collect::<Vec<_>>().join(", which ");
        let line = Line { scope: scope.as_ref(), ..Line::default() };
        let path = if path.is_empty() { String::new() } else { format!("#{} {path}\n  ", query.start) };
        if !page.add(chars(params.detail), |most| format!("{path}{}", line.of(&hop.record, most))) {
            break;
        }
    }
    let more = chain.truncated || page.lines() < chain.hops.len();
    let (shown, start) = (page.lines(), query.start);
    let notes = more.then(|| format!("There are more; {shown} are shown: follow from one of them, or raise limit."));
    let alone = (shown == 1 && !more).then(|| format!("Nothing is linked with memory {start}."));
    Ok(page.finish(notes.into_iter().chain(alone)))
}
