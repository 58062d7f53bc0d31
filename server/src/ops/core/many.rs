//! Changing and deleting the memories that have all words of a query, or the codes in it. The first call answers with a preview
//! and a token; the second, with the token, changes exactly the memories of the preview, if they are still as they were.

use memorist_engine::text::content_hash;
use memorist_engine::types::{Expect, Hit, Query, Record, RecordId, RecordUpdate, ThreadRules, Viewer};
use memorist_engine::words::{codes, has_code};
use memorist_engine::{Engine, Error, Result};

use super::answers::{MAX_TOKENS, delete_one, updated};
use crate::ops;
use crate::ops::Context;
use crate::wire::core::{CoreDeleteParams, CoreUpdateParams, MemoryLine, Page};
use crate::wire::{self, SearchParams};
use crate::wording::Worded as _;

/// Most memories that a query may change.
const MOST: i64 = 50;
/// Characters of each in the preview.
const PREVIEW_CHARS: usize = 120;
/// Hex digits of the hash in a token.
const PROOF: usize = 10;
/// Share of the words of a query above which all of them count as found.
const ALL: f64 = 1.0 - 1e-6;

/// `memory_delete` with a query; with the token of its preview it does it.
pub fn delete(engine: &Engine, context: &Context, params: CoreDeleteParams) -> Result<String> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    if params.id.is_some() || params.ids.is_some() {
        return Err(Error::invalid("query", "give either ids or a query"));
    }
    let expect = params.expect.map(wire::expect).transpose()?;
    let query = query_of(params.query)?;
    let change = format!("delete {query} {expect:?}");
    let Some(token) = params.confirm else {
        let found = found(engine, context, query, expect.as_ref(), &viewer)?;
        let why_not = |record: &Record| viewer.check_change(record.id, &record.scope);
        let some = "To delete some of them: memory_delete with their ids and without query.";
        return Ok(preview(&found, &change, "memory_delete", why_not, some));
    };
    let lines = chosen(engine, &token, &change, &viewer)?.into_iter().map(|record| {
        let expect = Expect::Version(record.version);
        delete_one(engine, record.id, Some(&expect), &viewer).unwrap_or_else(|error| error.worded())
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// `memory_update` with a query; with the token of its preview it does it.
pub fn update(engine: &Engine, context: &Context, params: CoreUpdateParams) -> Result<String> {
    let viewer = context.defaults.viewer(&params.update.project, &params.update.agent)?;
    let update = ops::to_update(engine, params.update)?;
    // Also where no memory matches, so that the engine would see no update.
    update.validate()?;
    if update.content.is_some() {
        return Err(Error::invalid("content", "several memories cannot get one text; name one by its id"));
    }
    let query = query_of(params.query)?;
    let change = format!("update {query} {}", params.given);
    let Some(token) = params.confirm else {
        let found = found(engine, context, query, update.expect.as_ref(), &viewer)?;
        let why_not = |record: &Record| engine.viewed_by(&viewer).check_update(record.id, &update);
        let some = "To change one of them: memory_update with its id and without query.";
        return Ok(preview(&found, &change, "memory_update", why_not, some));
    };
    let lines = chosen(engine, &token, &change, &viewer)?.into_iter().map(|record| {
        let update = RecordUpdate { expect: Some(Expect::Version(record.version)), ..update.clone() };
        match engine.viewed_by(&viewer).update(record.id, &update) {
            Ok(outcome) => updated(&outcome),
            Err(error) => error.worded(),
        }
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn query_of(query: Option<String>) -> Result<String> {
    query.ok_or_else(|| Error::invalid("query", "is missing: give it again with the token of its preview"))
}

/// The memories that have the codes of the query, or all its words if it has none, and that meet `expect`.
fn found(
    engine: &Engine,
    context: &Context,
    query: String,
    expect: Option<&Expect>,
    viewer: &Viewer,
) -> Result<Vec<Record>> {
    let limit = Some(wire::Int(MOST));
    let params = SearchParams { query, limit, rerank: Some(false), ..SearchParams::default() };
    let query = context.query(&params, viewer.clone())?;
    let query = Query { min_relevance: Some(0.0), threads: ThreadRules::NONE, ..query };
    query.validate()?;
    let codes = codes(&query.text);
    // A memory that has only some of the words, or only resembles the query, is not meant to be changed.
    let is_meant = |hit: &Hit| match codes.is_empty() {
        true => hit.word_share.is_some_and(|share| share > ALL),
        false => codes.iter().all(|code| has_code(&hit.record.content, code)),
    };
    let hits = engine.search(&query)?.hits.into_iter().filter(is_meant);
    let is_expected = |record: &Record| expect.is_none_or(|expect| expect.check(record).is_ok());
    Ok(hits.map(|hit| hit.record).filter(is_expected).collect())
}

/// The preview of a change. `why_not` says why a memory would not be changed, and `some` how to change only some of them.
fn preview(found: &[Record], change: &str, tool: &str, why_not: impl Fn(&Record) -> Result<()>, some: &str) -> String {
    if found.is_empty() {
        return "No memory matches; nothing would change.".to_owned();
    }
    let mut page = Page::new(MAX_TOKENS);
    for record in found {
        if !page.add(PREVIEW_CHARS, |most| MemoryLine::default().of(record, most)) {
            break;
        }
    }
    let shown = &found[..page.lines()];
    let failing = shown.iter().filter_map(|record| Some((record.id, why_not(record).err()?)));
    let mut notes: Vec<_> =
        failing.map(|(id, why)| format!("Note: #{id} would be skipped: {}", why.worded())).collect();
    notes.push(format!("Not changed yet. To change these: {tool} with the same parameters, and"));
    notes.push(format!("confirm: {}", token(shown, change)));
    notes.extend((shown.len() > 1).then(|| some.to_owned()));
    page.finish(notes)
}

/// The ids of the memories, with a hash of their versions and of the change.
fn token(records: &[Record], change: &str) -> String {
    let ids = records.iter().map(|record| record.id.to_string()).collect::<Vec<_>>().join("-");
    let versions: Vec<_> = records.iter().map(|record| (record.id.get(), record.version)).collect();
    format!("{ids}.{}", &content_hash(&format!("{versions:?} {change}"))[..PROOF])
}

/// The memories of a token, if they are still what the preview showed.
fn chosen(engine: &Engine, given: &str, change: &str, viewer: &Viewer) -> Result<Vec<Record>> {
    let unknown = || {
        Error::invalid(
            "confirm",
            "is not a confirmation token of this change; call again without confirm for a new preview",
        )
    };
    let (ids, _) = given.trim().split_once('.').ok_or_else(unknown)?;
    let ids = ids.split('-').map(|id| id.parse::<i64>().map(RecordId::from)).collect::<Result<Vec<_>, _>>();
    let mut records = Vec::new();
    for id in ids.map_err(|_| unknown())? {
        records.extend(engine.viewed_by(viewer).get(id)?);
    }
    if token(&records, change) != given.trim() {
        let why = "has expired: the memories or the change differ from the preview; call again without confirm";
        return Err(Error::invalid("confirm", why));
    }
    Ok(records)
}
