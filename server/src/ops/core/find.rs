//! Searching, getting, listing, following links.

use std::collections::BTreeMap;

use memorist_engine::body::Body;
use memorist_engine::types::{
    Direction, Gone, Hit, MAX_LIMIT, Mark, Millis, Record, RecordId, Scope, Tier, Version, Viewer,
};
use memorist_engine::{Engine, Error, Result};

use super::answers::{absent, max_tokens, other_projects, unfollowed, unknown_project};
use super::changes::Fields;
use crate::ops;
use crate::ops::Context;
use crate::wire::core::{CoreGetParams, MemoryLine, Page, beginning, one_line};
use crate::wire::{self, Caller, ChainParams, Detail, Int, ListParams, SearchParams, moment};
use crate::wording::{Remarks, Worded as _, nearest, why};

/// Default characters of a text in a search or list: a longer text is cut to the passage around the words of the query.
const SNIPPET_CHARS: usize = 700;
/// Characters of a text where only ids were requested.
const ID_CHARS: usize = 60;
/// Note on a query whose cosines say little.
const UNREAD: &str = "Note: the embedding model hardly knows the language of this query, so keyword search decides: \
     use exact words or names. `memorist reembed --model multilingual` sets up a model of a hundred languages.";
/// Default number of memories of a list or chain.
const LISTED: usize = 20;
/// Most memories at once.
const MAX_IDS: usize = 100;
/// Most links that are shown with a memory.
const LINKS_SHOWN: usize = 20;
/// Bytes that an answer may always have.
const LEAST_BYTES: usize = 400;
/// Bytes for the heading of the text of a memory.
const TEXT_FOLLOWS: usize = 100;
/// Most versions that are shown with a memory.
const VERSIONS_SHOWN: usize = 20;
/// Characters of the other memory in a mark.
const MARK_CHARS: usize = 160;

pub fn search(engine: &Engine, context: &Context, params: SearchParams) -> Result<String> {
    search_with_records(engine, context, params).map(|(text, _)| text)
}

/// The answer to a search, and the records that it shows.
pub fn search_with_records(engine: &Engine, context: &Context, params: SearchParams) -> Result<(String, Vec<Record>)> {
    let params = &params.without_weak();
    let Caller { viewer, scope } = context.defaults.caller(&params.project, &params.agent)?;
    let query = context.query(params, viewer)?;
    query.validate()?;
    let reply = ops::reply(engine, params, &query)?;
    let ids: Vec<RecordId> = reply.hits.iter().map(|hit| hit.record.id).collect();
    let marks = engine.viewed_by(&query.filter.viewer).status_links(&ids, MARK_CHARS)?;
    let mut page = Page::new(max_tokens(params.max_tokens)?);
    for hit in &reply.hits {
        let why = why(hit, &reply.missing);
        let line = MemoryLine {
            relevance: Some(hit.relevance).filter(|_| reply.tier != Tier::Substring),
            why: why.as_deref(),
            marks: marks_of(&marks, hit.record.id),
            scope: Some(&scope),
            query: &params.query,
            passage: hit.passage.as_ref(),
            unlabelled: params.detail != Some(Detail::Full),
            changed: params.updated_after.is_some() || params.updated_before.is_some(),
            ..MemoryLine::default()
        };
        let explained = if params.explain == Some(true) { explained(hit) } else { String::new() };
        let around = neighbors(hit);
        if !page.add(chars(params.detail), |most| line.of(&hit.record, most) + &around + &explained) {
            break;
        }
    }
    let shown = page.lines();
    let remarks = Remarks {
        relevances: reply.hits.iter().map(|hit| hit.relevance).collect(),
        no_answer: reply.no_answer && query.offset == 0,
        nearest: nearest(&reply),
        missing: &reply.missing,
        weaker: reply.weaker,
    };
    let mut notes: Vec<_> = remarks.lines("minRelevance: 0").into_iter().map(|line| format!("Note: {line}")).collect();
    let result = wire::search_page(&reply, params, &query, shown, shown < reply.hits.len());
    notes.extend(result.next_cursor.map(|cursor| format!("More: cursor {cursor}")));
    notes.extend(unknown_project(engine, context, &params.project)?);
    notes.extend(result.warnings.into_iter().map(|warning| format!("Note: {warning}")));
    if reply.hits.len() < query.limit {
        notes.extend(other_projects(engine, context, &query.filter.viewer)?);
    }
    notes.extend(reply.is_foreign.then(|| UNREAD.to_owned()));
    if params.explain.unwrap_or(false) {
        let times = serde_json::to_string(&reply.explain).unwrap_or_default();
        notes.push(format!("Explain: {times}"));
    }
    let records = reply.hits.into_iter().take(shown).map(|hit| hit.record);
    Ok((page.finish(notes), records.collect()))
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
    let mut text = format!("\n  cosine {}, BM25 {}", number(hit.vector_score), number(hit.keyword_score));
    if !hit.boosted_by.is_empty() {
        let lenders: Vec<String> = hit.boosted_by.iter().map(|id| format!("#{id}")).collect();
        text.push_str(&format!(", also by the words of {}", lenders.join(", ")));
    }
    text
}

/// The lines of the turns around one.
fn neighbors(hit: &Hit) -> String {
    let place = |record: &Record| (record.turn, record.id);
    let line = |record: &Record| {
        let where_ = if place(record) < place(&hit.record) { "before" } else { "after" };
        format!("\n  {where_} it #{}: {}", record.id, beginning(&record.content))
    };
    hit.neighbors.iter().map(line).collect()
}

fn marks_of(marks: &BTreeMap<RecordId, Vec<Mark>>, id: RecordId) -> &[Mark] {
    marks.get(&id).map(Vec::as_slice).unwrap_or_default()
}

pub fn list(engine: &Engine, context: &Context, params: ListParams) -> Result<String> {
    let Caller { viewer, scope } = context.defaults.caller(&params.project, &params.agent)?;
    let limit = wire::size("limit", params.limit, LISTED)?;
    // One more tells whether there are more.
    if !(1..MAX_LIMIT).contains(&limit) {
        return Err(Error::invalid("limit", format!("{limit} is outside 1 to {}", MAX_LIMIT - 1)));
    }
    let mut records = ops::listed(engine, ops::list_filter(&params, viewer.clone()), &params, limit + 1)?;
    let mut more = records.len() > limit;
    records.truncate(limit);
    let ids: Vec<RecordId> = records.iter().map(|listed| listed.record.id).collect();
    let marks = engine.viewed_by(&viewer).status_links(&ids, MARK_CHARS)?;
    let mut page = Page::new(max_tokens(params.max_tokens)?);
    for ops::Listed { record, gone } in &records {
        let line = MemoryLine {
            marks: marks_of(&marks, record.id),
            scope: Some(&scope),
            changed: true,
            gone: *gone,
            ..MemoryLine::default()
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
    if more {
        notes.push(format!("More: offset {}", wire::size("offset", params.offset, 0)? + shown));
    } else {
        notes.extend(other_projects(engine, context, &viewer)?);
    }
    notes.extend(unknown_project(engine, context, &params.project)?);
    notes.extend(unfollowed(engine, &viewer)?);
    if records.iter().any(|listed| listed.gone.is_some()) {
        notes.push("Restore one with memory_undo.".to_owned());
    }
    Ok(page.finish(notes))
}

pub fn get(engine: &Engine, context: &Context, params: CoreGetParams) -> Result<String> {
    let caller = context.defaults.caller(&params.project, &params.agent)?;
    let most = max_tokens(params.max_tokens)?;
    let ids: Vec<RecordId> = match (&params.id, &params.ids) {
        (Some(Int(id)), None) => return one(engine, &params, (*id).into(), &caller, most),
        (None, Some(ids)) if ids.len() == 1 => {
            return one(engine, &params, ids[0].0.into(), &caller, most);
        }
        (None, Some(ids)) if !ids.is_empty() => ids.iter().map(|Int(id)| (*id).into()).collect(),
        (Some(_), Some(_)) => return Err(Error::invalid("ids", "give either id or ids")),
        _ => return Err(Error::invalid("id", "is missing")),
    };
    if params.offset.is_some() || params.history.is_some() {
        return Err(Error::invalid("ids", "offset and history are for one memory; give id"));
    }
    if ids.len() > MAX_IDS {
        return Err(Error::invalid("ids", format!("must be 1 to {MAX_IDS}, not {}", ids.len())));
    }
    let Caller { viewer, scope } = caller;
    let marks = engine.viewed_by(&viewer).status_links(&ids, MARK_CHARS)?;
    let mut page = Page::new(most);
    let (mut left, mut missing) = (Vec::new(), Vec::new());
    for (at, id) in ids.iter().enumerate().filter(|(at, id)| !ids[..*at].contains(id)) {
        if page.is_full() {
            left.push(format!("#{id}"));
            continue;
        }
        let added = match engine.viewed_by(&viewer).access(*id) {
            Ok(record) => {
                let query = params.passage.as_deref().unwrap_or_default();
                let marks = marks_of(&marks, *id);
                let line = MemoryLine { marks, scope: Some(&scope), query, changed: true, ..MemoryLine::default() };
                // The texts share the room.
                let share = most.saturating_mul(wire::BYTES_PER_TOKEN) / (ids.len() - at).max(1);
                let body = body(&record);
                page.add(share.max(SNIPPET_CHARS), |most| line.of(&record, most) + &body)
            }
            Err(error @ Error::NotFound(_)) => {
                let why = absent(engine, *id, &viewer, error)?;
                let added = page.add(usize::MAX, |_| why.worded());
                missing.push(why);
                added
            }
            Err(error) => return Err(error),
        };
        if !added {
            left.push(format!("#{id}"));
        }
    }
    if missing.len() == page.lines()
        && let Some(why) = missing.into_iter().next()
    {
        return Err(why);
    }
    Ok(page.finish((!left.is_empty()).then(|| format!("Omitted (over maxTokens): {}", left.join(", ")))))
}

/// A memory whole, with everything that belongs to it.
fn one(
    engine: &Engine,
    params: &CoreGetParams,
    id: RecordId,
    Caller { viewer, scope }: &Caller,
    most: usize,
) -> Result<String> {
    let (record, gone) = match engine.viewed_by(viewer).access(id) {
        Ok(record) => (record, None),
        Err(error @ Error::NotFound(_)) => match engine.viewed_by(viewer).get_gone(id)? {
            // An expired memory can be read until it is removed.
            Some(Gone { record, deleted_at: None }) => {
                let expired = record.expires_at.map(|at| ("expired", at));
                (record, expired)
            }
            Some(Gone { record, deleted_at: Some(at) }) if params.include_deleted == Some(true) => {
                (record, Some(("deleted", at)))
            }
            _ => return Err(absent(engine, id, viewer, error)?),
        },
        Err(error) => return Err(error),
    };
    let room = most.saturating_mul(wire::BYTES_PER_TOKEN).max(LEAST_BYTES);
    let mut head = about(&record, gone, scope);
    if head.len() > room / 2 {
        head.truncate(head.floor_char_boundary(room / 2));
        head.push_str("… (cut for maxTokens)");
    }
    let mut lines = if gone.is_none() { links(engine, id, viewer)? } else { Vec::new() };
    if params.history.unwrap_or(false) && gone.is_none() {
        let versions = engine.viewed_by(viewer).history(id, None, VERSIONS_SHOWN + 1)?;
        lines.extend(versions.windows(2).map(|pair| version(&pair[1], &pair[0])));
    }
    // The text comes first: links and versions get what it leaves, and a third of the room in any case.
    let mut left = (room / 3).max(room.saturating_sub(head.len() + record.content.len() + TEXT_FOLLOWS));
    let all = lines.len();
    let fitting = lines.iter().take_while(|line| {
        left = left.saturating_sub(line.len() + 1);
        left > 0
    });
    let fitting = fitting.count();
    lines.truncate(fitting);
    if fitting < all {
        lines.push(format!("  {} more links or versions", all - fitting));
    }
    for line in lines {
        head.push('\n');
        head.push_str(&line);
    }
    let room = room.saturating_sub(head.len() + TEXT_FOLLOWS).max(40);
    let (what, text) = match &params.passage {
        Some(words) => passage(&record.content, words, room),
        None => part(&record.content, wire::size("offset", params.offset, 0)?, room),
    };
    Ok(format!("{head}\n\n{what}:\n{text}"))
}

/// The heading and the part of a text that has these words, of at most `room` bytes.
fn passage(text: &str, words: &str, room: usize) -> (String, String) {
    let all = text.chars().count();
    if !wire::has_word_of(text, words) {
        let beginning: String = text.chars().take(room.min(MARK_CHARS)).collect();
        return (format!("None of these words is in its {all} characters; its beginning, to the end"), beginning);
    }
    let mut most = room;
    loop {
        match wire::cut_to(text, words, most) {
            None if text.len() <= room => return (WHOLE.to_owned(), text.to_owned()),
            Some(cut) if cut.len() <= room || most <= 8 => {
                return (format!("A part of its {all} characters, to the end"), cut);
            }
            _ => most = most * 2 / 3,
        }
    }
}

/// Heading of a text that is shown whole: whatever the text says, nothing else follows.
const WHOLE: &str = "Full text, to the end";

/// The heading and the part of a text from a character on, of at most `room` bytes.
fn part(text: &str, offset: usize, room: usize) -> (String, String) {
    let all = text.chars().count();
    let Some((start, _)) = text.char_indices().nth(offset) else {
        return (format!("Its {all} characters end before offset {offset}"), String::new());
    };
    let rest = &text[start..];
    if rest.len() <= room {
        let what = if start == 0 { WHOLE.to_owned() } else { format!("Text from character {offset}, to the end") };
        return (what, rest.to_owned());
    }
    let shown = &rest[..rest.floor_char_boundary(room)];
    let next = offset + shown.chars().count();
    let what = format!("Characters {offset} to {next} of {all}, to the end (read on with offset {next})");
    (what, format!("{shown}…"))
}

/// The lines before the text of a memory: type, dates, version, session, source, context, body.
fn about(record: &Record, gone: Option<(&'static str, Millis)>, scope: &Scope) -> String {
    let head = MemoryLine { scope: Some(scope), undated: true, gone, ..MemoryLine::default() };
    let mut text = head.without_text(record);
    text.push_str(&format!("; saved {}", moment(record.created_at)));
    if record.version > 1 {
        text.push_str(&format!(", version {} of {}", record.version, moment(record.updated_at)));
    }
    if let (Some(session), Some(turn)) = (&record.session, record.turn) {
        text.push_str(&format!("; turn {turn} of session {}", one_line(session)));
    }
    if record.source != "manual" {
        text.push_str(&format!("; source {}", one_line(&record.source)));
    }
    if let Some(context) = &record.context {
        text.push_str(&format!("\n  context: {}", one_line(context)));
    }
    text + &body(record)
}

/// The line with the body of a memory, if that has fields other than status and due date.
fn body(record: &Record) -> String {
    let shows_less = |body: &&Body| body.as_map().keys().any(|name| name != "status" && name != "due");
    let body = record.body.as_ref().filter(shows_less);
    body.map_or_else(String::new, |body| format!("\n  body: {}", body.clone().into_value()))
}

fn links(engine: &Engine, id: RecordId, viewer: &Viewer) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for direction in [Direction::Forward, Direction::Backward] {
        let left = LINKS_SHOWN + 1 - lines.len();
        for linked in engine.viewed_by(viewer).linked(id, direction, None, left)? {
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

/// An earlier version, and what the next one changed.
fn version(version: &Version, next: &Version) -> String {
    let replaced = version.replaced.as_ref();
    let until = replaced.map_or_else(String::new, |replaced| format!(" to {}", moment(replaced.at)));
    let why = replaced.map_or_else(String::new, |replaced| format!(" ({})", one_line(&replaced.reason)));
    let changes = Fields::from(version).changes(&next.into());
    format!(
        "  version {}, {}{until}: {}; then{why} {}",
        version.version,
        moment(version.since),
        beginning(&version.content),
        if changes.is_empty() { "the same".to_owned() } else { changes.join("; ") }
    )
}

pub fn chain(engine: &Engine, context: &Context, params: ChainParams) -> Result<String> {
    let Caller { viewer, scope } = context.defaults.caller(&params.project, &params.agent)?;
    let query = ops::chain_query(&params, &viewer, LISTED)?;
    let chain = engine.chain(&query)?;
    if chain.hops.is_empty() {
        return Err(absent(engine, query.start, &viewer, Error::NotFound(query.start))?);
    }
    let mut page = Page::new(max_tokens(params.max_tokens)?);
    for hop in &chain.hops {
        let mut at = query.start;
        let steps = hop.path.iter().map(|link| {
            let phrase = wire::link_phrase(link.kind, link.from != at);
            // "supersedes", but "is superseded by", "is related to".
            let is = if phrase.contains(' ') { "is " } else { "" };
            at = link.other_end(at);
            format!("{is}{phrase} #{at}")
        });
        let path = steps.collect::<Vec<_>>().join(", which ");
        let line = MemoryLine { scope: Some(&scope), ..MemoryLine::default() };
        let path = if path.is_empty() { String::new() } else { format!("#{} {path}\n  ", query.start) };
        if !page.add(chars(params.detail), |most| format!("{path}{}", line.of(&hop.record, most))) {
            break;
        }
    }
    let (shown, start) = (page.lines(), query.start);
    let cut = shown < chain.hops.len();
    let more = match (cut, chain.truncated) {
        (true, _) => Some(format!("{} more omitted (over maxTokens).", chain.hops.len() - shown)),
        (false, true) => Some("There are more: follow from one of these, or raise limit.".to_owned()),
        (false, false) => None,
    };
    let alone = chain.hops.len() == 1 && !chain.truncated && query.max_depth > 0;
    let alone = alone.then(|| format!("Memory {start} has no links in this direction."));
    Ok(page.finish(more.into_iter().chain(alone)))
}
