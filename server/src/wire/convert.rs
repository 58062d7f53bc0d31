//! Conversions between the wire types and the engine's types.

use std::mem;

use jiff::Zoned;
use memorist_engine::body::{Body, METADATA, NO_METADATA};
use memorist_engine::snippet;
use memorist_engine::types::{
    Expect, Explain, Filter, Hit, Kind, LinkKind, MAX_LIMIT, MAX_POOL, NewRecord, Query, Record, RecordId,
    RecordUpdate, Scope, SearchReply, Similar, Span, Viewer, Weights,
};
use memorist_engine::{Error, Result};
use serde::Serialize;
use serde_json::{Map, Value};

use super::cursor::Cursor;
use super::params::{AddParams, Detail, SearchParams, UpdateParams};
use super::place::PlaceInfo;
use super::results::{Brief, Entry, NearMissInfo, Neighbor, SearchHit, SearchResult, Suggestion};
use super::source_names::kinds_of;
use super::times::{Future, Past};
use super::values::{Importance, Int, Where};
use super::{Defaults, periods};
use crate::wording;

/// The record of `params`, in the scope that [`Defaults::caller`] has resolved. Bounds are checked by the engine.
///
/// # Errors
/// [`Error::Invalid`] for metadata, or fields of a task, of a memory that has none.
pub fn new_record(params: AddParams, scope: Scope) -> Result<NewRecord> {
    let mut record = NewRecord::new(params.content);
    record.scope = scope;
    if let Some(kind) = params.entry_type {
        record.kind = kind;
    }
    if let Some(source) = params.source {
        record.source = source;
    }
    record.context = params.context.filter(|context| !context.trim().is_empty());
    if let Some(confidence) = params.confidence {
        record.confidence = confidence;
    }
    if let Some(Importance(importance)) = params.importance {
        record.importance = importance;
    }
    record.tags = params.tags.unwrap_or_default();
    record.expires_at = params.expires_at.map(Future::at);
    record.valid = Span { from: params.valid_from.map(Past::at), to: params.valid_to.map(Past::at) };
    record.body = params.body;
    if let Some(Value::Object(fields)) = &mut record.body
        && fields.contains_key("title")
        && !fields.contains_key("description")
    {
        fields.insert("description".to_owned(), record.content.clone().into());
    }
    if let Some(metadata) = params.metadata {
        if record.kind == Kind::Profile {
            return Err(Error::invalid("metadata", NO_METADATA));
        }
        add_fields(&mut record.body, [(METADATA.to_owned(), metadata)]);
    }
    record.session = params.session;
    record.turn = params.turn.map(|Int(turn)| turn);
    let task = task_fields(params.status, params.due.map(Some));
    if let Some((field, _)) = task.iter().next() {
        match params.entry_type {
            None => record.kind = Kind::Task,
            Some(Kind::Task) => {}
            Some(kind) => {
                let field = if field == "due" { "due" } else { "status" };
                return Err(Error::invalid(field, format!("is for a task, not for a {kind}")));
            }
        }
        add_fields(&mut record.body, task);
    }
    Ok(record)
}

/// Adds fields to a body, and creates it if it is missing.
fn add_fields(body: &mut Option<Value>, fields: impl IntoIterator<Item = (String, Value)>) {
    if let Value::Object(members) = body.get_or_insert_with(|| Value::Object(Map::new())) {
        members.extend(fields);
    }
}

/// The fields of the body of a task; null removes one.
fn task_fields(status: Option<String>, due: Option<Option<Future>>) -> Map<String, Value> {
    let due = due.map(|due| ("due".to_owned(), due.map_or(Value::Null, |due| due.at().into())));
    let status = status.map(|status| ("status".to_owned(), status.into()));
    status.into_iter().chain(due).collect()
}

/// The search of `params` among what `viewer` sees. `weights` are those of the settings, for a call that gives only one of the
/// two.
pub fn query(params: &SearchParams, viewer: Viewer, defaults: &Defaults, weights: Weights) -> Result<Query> {
    let mut query = Query::new(params.query.clone());
    query.mode = params.mode.unwrap_or_default();
    if let Some(limit) = params.limit {
        query.limit =
            usize::try_from(limit.0).map_err(|_| Error::invalid("limit", format!("{} is negative", limit.0)))?;
        defaults.check_limit(query.limit)?;
    }
    query.filter = Filter {
        kinds: kinds_of(params.entry_types.as_deref(), params.sources.as_deref()).unwrap_or_default(),
        tags: params.tags.clone().unwrap_or_default(),
        min_importance: params.min_importance.map(|Importance(least)| least),
        min_confidence: params.min_confidence,
        viewer,
        created_after: params.created_after.map(Past::at),
        created_before: params.created_before.map(|end| end.after(params.created_after)),
        updated_after: params.updated_after.map(Past::at),
        updated_before: params.updated_before.map(|end| end.after(params.updated_after)),
        happens_after: params.happens_after.map(Future::at),
        happens_before: params.happens_before.map(|end| end.after(params.happens_after)),
        metadata: params.with_metadata.clone().map(|Where(metadata)| metadata),
    };
    if params.vector_weight.is_some() || params.keyword_weight.is_some() {
        query.weights = Some(Weights {
            vector: params.vector_weight.unwrap_or(weights.vector),
            keyword: params.keyword_weight.unwrap_or(weights.keyword),
        });
    }
    query.min_similarity = params.min_similarity;
    query.min_score = params.min_score;
    query.min_relevance = params.min_relevance;
    query.scale = params.scale;
    query.period = periods::period(&params.query, &Zoned::now());
    if let Some(Int(neighbors)) = params.neighbors {
        query.neighbors =
            usize::try_from(neighbors).map_err(|_| Error::invalid("neighbors", format!("{neighbors} is negative")))?;
    }
    query.include_superseded = params.include_superseded.unwrap_or(false);
    query.rerank = params.rerank.unwrap_or(false);
    query.prefix = params.prefix;
    if let Some(cursor) = &params.cursor {
        // Before its limit is reduced to the rest. Whoever searches checks the text, which a search by a vector lacks.
        query.validate_with_vector()?;
        query = Cursor::read(cursor, &query)?.page_of(query);
    }
    if let Some(Int(most)) = params.max_tokens.filter(|Int(most)| *most < 1) {
        return Err(Error::invalid("maxTokens", format!("{most} is less than 1")));
    }
    Ok(query)
}

/// Bytes that count as a token.
pub const BYTES_PER_TOKEN: usize = 4;

/// A result whose text can be cut.
pub trait Cut: Serialize {
    /// Cuts its text to so many characters.
    fn cut(&mut self, most: usize);
}

impl Cut for SearchHit {
    fn cut(&mut self, most: usize) {
        self.truncated = Some(true);
        self.content = self.content.take().map(|text| cut_text(text, most));
        self.context = self.context.take().map(|context| context.map(|text| cut_text(text, most)));
        if most <= LEAST_CHARS {
            self.neighbors.clear();
        }
        for neighbor in &mut self.neighbors {
            neighbor.content = neighbor.content.take().map(|text| cut_text(text, most));
        }
    }
}

impl Cut for Brief {
    fn cut(&mut self, most: usize) {
        self.truncated = Some(true);
        self.content = self.content.take().map(|text| cut_text(text, most));
    }
}

fn cut_text(text: String, most: usize) -> String {
    snippet::cut_to(&text, "", most).unwrap_or(text)
}

/// Characters of a text that is cut in any case: the budget is less than a result without its text.
const LEAST_CHARS: usize = 40;

/// Drops results that exceed the budget of tokens, but never the first, whose text is cut instead. Returns a warning if it
/// did.
pub fn fit<T: Cut>(results: &mut Vec<T>, max_tokens: usize) -> Option<String> {
    let room = max_tokens.saturating_mul(BYTES_PER_TOKEN);
    let size = |hit: &T| serde_json::to_vec(hit).map_or(0, |json| json.len());
    if let Some(first) = results.first_mut() {
        let mut most = room;
        while size(first) > room {
            most = (most / 2).max(LEAST_CHARS);
            first.cut(most);
            if most == LEAST_CHARS {
                break;
            }
        }
    }
    let mut used = 0;
    let fitting = results.iter().take_while(|hit| {
        used += size(hit);
        used <= room
    });
    let (fitting, found) = (fitting.count().max(1), results.len());
    results.truncate(fitting);
    (fitting < found).then(|| format!("{fitting} of {found} results fit into maxTokens {max_tokens}"))
}

/// The reply to `query` in the form that `params` request.
pub fn search_result(mut reply: SearchReply, params: &SearchParams, query: &Query) -> SearchResult {
    let detail = params.detail.unwrap_or_default();
    let hits = mem::take(&mut reply.hits).into_iter();
    let mut results: Vec<_> = hits.map(|hit| search_hit(hit, &reply.missing, detail, params)).collect();
    let most = params.max_tokens.map(|Int(most)| usize::try_from(most).unwrap_or_default());
    let cut = most.and_then(|most| fit(&mut results, most));
    let SearchPage { mut warnings, next_cursor } = search_page(&reply, params, query, results.len(), cut.is_some());
    warnings.extend(cut);
    SearchResult {
        total: count(results.len() as u64),
        results,
        next_cursor,
        no_answer: reply.no_answer,
        near_miss: reply.near_miss.map(NearMissInfo::from),
        missing: reply.missing,
        weaker: count(reply.weaker as u64),
        tier: reply.tier,
        warnings,
        explain: params.explain.unwrap_or(false).then(|| {
            serde_json::to_value(&reply.explain).unwrap_or_else(|error| serde_json::Value::String(error.to_string()))
        }),
    }
}

/// Warnings and the cursor of a page of results.
pub struct SearchPage {
    pub warnings: Vec<String>,
    /// The cursor of the next page, if there are more results.
    pub next_cursor: Option<String>,
}

/// Warnings and the cursor for the first `shown` results of a reply; `cut`: not all of them are shown.
pub fn search_page(reply: &SearchReply, params: &SearchParams, query: &Query, shown: usize, cut: bool) -> SearchPage {
    let mut warnings = wording::warnings(reply);
    let before = params.cursor.as_ref().and_then(|cursor| Cursor::read(cursor, query).ok());
    if before.is_some_and(|before| before.tier != reply.tier) {
        warnings.push("the ranking changed since the previous page; search again without a cursor".into());
    }
    let offset = query.offset + shown.saturating_sub(reply.reserved);
    let goes_on = reply.more || cut;
    let next = Cursor { offset, pool: reply.explain.pool, tier: reply.tier };
    let next_cursor = (goes_on && offset < MAX_LIMIT).then(|| next.to_text(query));
    if next_cursor.is_none() {
        warnings.extend(end_of_pages(goes_on, query, &reply.explain));
    }
    SearchPage { warnings, next_cursor }
}

/// A warning on the last page if there may be further results.
fn end_of_pages(goes_on: bool, query: &Query, explain: &Explain) -> Option<String> {
    let is_full = explain.vector_candidates.max(explain.keyword_candidates) >= explain.pool;
    if goes_on {
        let most = query.limit.max(MAX_LIMIT);
        Some(format!("a search shows {most} results at most; ask for something narrower"))
    } else if query.offset > 0 && is_full && explain.pool < MAX_POOL {
        Some(format!("these pages rank the best {} vector and keyword hits; a larger limit ranks more", explain.pool))
    } else {
        None
    }
}

fn search_hit(hit: Hit, missing: &[String], detail: Detail, params: &SearchParams) -> SearchHit {
    let why = wording::why(&hit, missing);
    let record = hit.record;
    let with_text = detail != Detail::Ids;
    let place = record.place.filter(|_| with_text);
    let place = place.map(|place| PlaceInfo::found(place, &record.content, &params.query));
    let cut = |text: &str| if detail == Detail::Snippet { snippet::cut(text, &params.query) } else { None };
    let near = |text: &str| snippet::cut_near(text, hit.passage.as_ref(), &params.query, snippet::MAX_CHARS);
    let snippet = if detail == Detail::Snippet { near(&record.content) } else { None };
    let context_snippet = record.context.as_deref().and_then(cut);
    let truncated = snippet.is_some() || context_snippet.is_some();
    let context = context_snippet.or(record.context);
    SearchHit {
        id: record.id.get(),
        content: with_text.then(|| snippet.unwrap_or(record.content)),
        entry_type: record.kind,
        source: with_text.then_some(record.source),
        context: with_text.then_some(context),
        confidence: with_text.then_some(record.confidence),
        importance: with_text.then_some(record.importance),
        tags: with_text.then_some(record.tags),
        score: hit.score,
        relevance: hit.relevance,
        why,
        matched_by: hit.matched_by,
        created_at: record.created_at,
        vector_score: hit.vector_score,
        keyword_score: hit.keyword_score,
        logit: hit.logit.filter(|_| params.explain == Some(true)),
        project: record.scope.project.filter(|_| with_text),
        agent: record.scope.agent.filter(|_| with_text),
        session: record.session.filter(|_| with_text),
        turn: record.turn,
        place,
        boosted_by: hit.boosted_by.into_iter().filter(|_| params.explain == Some(true)).map(RecordId::get).collect(),
        neighbors: hit.neighbors.into_iter().map(|record| neighbor(record, detail)).collect(),
        contradicted_by: hit.contradicted_by.into_iter().map(RecordId::get).collect(),
        truncated: truncated.then_some(true),
    }
}

/// A record that stands before or after a result.
fn neighbor(record: Record, detail: Detail) -> Neighbor {
    let content = match detail {
        Detail::Ids => None,
        Detail::Snippet => Some(snippet::cut(&record.content, "").unwrap_or(record.content)),
        Detail::Full => Some(record.content),
    };
    Neighbor { id: record.id.get(), turn: record.turn, content }
}

/// A record as lists show it.
pub fn brief(record: Record, detail: Detail) -> Brief {
    let cut = if detail == Detail::Snippet { snippet::cut(&record.content, "") } else { None };
    Brief {
        id: record.id.get(),
        entry_type: record.kind,
        source: (detail != Detail::Ids).then_some(record.source),
        importance: record.importance,
        created_at: record.created_at,
        truncated: cut.is_some().then_some(true),
        content: (detail != Detail::Ids).then(|| cut.unwrap_or(record.content)),
        tags: record.tags,
        project: record.scope.project,
        agent: record.scope.agent,
    }
}

/// A size in a call: at least 0, or the default. The engine checks its bounds.
pub fn size(field: &'static str, given: Option<Int>, otherwise: usize) -> Result<usize> {
    let Some(Int(number)) = given else { return Ok(otherwise) };
    usize::try_from(number).map_err(|_| Error::invalid(field, format!("{number} is negative")))
}

/// A size in a call of a tool without a bound: larger values become `most`.
pub fn size_up_to(field: &'static str, given: Int, most: usize) -> Result<usize> {
    Ok(size(field, Some(given), most)?.min(most))
}

/// The limit of a search, for tools without a bound.
pub fn search_limit(given: Int) -> Result<usize> {
    let limit = size_up_to("limit", given, MAX_LIMIT)?;
    Defaults::default().check_limit(limit)?;
    Ok(limit)
}

/// Characters of a memory in a suggestion.
const SUGGESTION_CHARS: usize = 160;

/// Warnings and suggestions about memories that resemble a new one: duplicates, and possible links.
pub fn suggestions(similar: &[Similar]) -> (Vec<String>, Vec<Suggestion>) {
    let warning = |one: &Similar| {
        let how = match one.words {
            Some(share) => format!("{:.0} % of the words", share * 100.0),
            None => format!("cosine {:.2}", one.cosine.unwrap_or_default()),
        };
        format!("much like memory {} ({how}): {}", one.record.id, beginning(&one.record.content))
    };
    let suggestion = |one: &Similar| Suggestion {
        id: one.record.id.get(),
        link_type: if one.is_duplicate() || one.is_change { LinkKind::Supersedes } else { LinkKind::Related },
        similarity: one.likeness(),
        content: beginning(&one.record.content),
        is_change: one.is_change,
    };
    let warnings = similar.iter().filter(|one| one.is_duplicate()).map(warning);
    (warnings.collect(), similar.iter().map(suggestion).collect())
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(SUGGESTION_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A whole record.
pub fn entry(record: Record) -> Entry {
    Entry {
        id: record.id.get(),
        content: record.content,
        content_hash: record.content_hash,
        entry_type: record.kind,
        source: record.source,
        context: record.context,
        confidence: record.confidence,
        importance: record.importance,
        tags: record.tags,
        created_at: record.created_at,
        updated_at: record.updated_at,
        expires_at: record.expires_at,
        access_count: record.access_count,
        last_accessed_at: record.last_accessed_at,
        project: record.scope.project,
        agent: record.scope.agent,
        version: record.version,
        links: Vec::new(),
        more_links: None,
        ulid: record.ulid,
        body: record.body.map(Body::into_value),
        session: record.session,
        turn: record.turn,
        place: record.place.map(Into::into),
    }
}

/// The update of `params`.
///
/// # Errors
/// If `expect` is neither words nor a version.
pub fn record_update(params: UpdateParams) -> Result<RecordUpdate> {
    let mut body_fields = task_fields(params.status, params.due.into_option());
    if let Some(metadata) = params.metadata.into_option() {
        body_fields.insert(METADATA.to_owned(), metadata.unwrap_or_default());
    }
    Ok(RecordUpdate {
        content: params.content,
        kind: params.entry_type,
        source: params.source,
        context: params.context.into_option().map(|context| context.filter(|context| !context.trim().is_empty())),
        confidence: params.confidence,
        importance: params.importance.map(|Importance(importance)| importance),
        tags: params.tags,
        add_tags: params.add_tags.unwrap_or_default(),
        remove_tags: params.remove_tags.unwrap_or_default(),
        expires_at: params.expires_at.into_option().map(|at| at.map(Future::at)),
        valid_from: params.valid_from.into_option().map(|at| at.map(Past::at)),
        valid_to: params.valid_to.into_option().map(|at| at.map(Past::at)),
        body: params.body.into_option(),
        body_fields,
        reason: params.reason,
        expect: params.expect.map(expect).transpose()?,
    })
}

/// The condition that a memory must meet: its version, or words that it has.
pub fn expect(given: Value) -> Result<Expect> {
    match given {
        Value::String(words) => {
            let version = words.trim().trim_start_matches(['v', 'V']);
            Ok(version.parse().map_or(Expect::Words(words), Expect::Version))
        }
        Value::Number(number) if number.as_i64().is_some() => Ok(Expect::Version(number.as_i64().unwrap_or_default())),
        _ => Err(Error::invalid("expect", "must be words of the memory, or its version")),
    }
}

/// A count on the wire, where every integer is signed.
pub fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A score of 0 to 1 as the 0 to 100 of other systems.
pub fn relevance(score: f64) -> f64 {
    (score * 100.0).clamp(0.0, 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use memorist_engine::types::{Mode, Origin, Place, Tier};
    use serde_json::json;

    fn params(value: Value) -> AddParams {
        serde_json::from_value(value).unwrap()
    }

    fn defaults() -> Defaults {
        Defaults::named(Some("apollo".into()), None).unwrap()
    }

    fn record() -> Record {
        Record {
            id: 7.into(),
            ulid: "01J00000000000000000000000".into(),
            version: 1,
            content: "dark mode".into(),
            content_hash: "00".repeat(32),
            kind: Kind::Preference,
            source: "manual".into(),
            context: None,
            confidence: 0.5,
            importance: 7,
            tags: vec!["ui".into()],
            scope: Scope::default(),
            created_at: 1_738_540_800_000,
            updated_at: 1_738_540_800_000,
            expires_at: None,
            valid: Span::default(),
            access_count: 0,
            last_accessed_at: None,
            body: None,
            session: None,
            turn: None,
            place: None,
        }
    }

    fn reply(content: &str) -> SearchReply {
        let hit = Hit {
            boosted_by: Vec::new(),
            neighbors: Vec::new(),
            contradicted_by: Vec::new(),
            passage: None,
            record: Record { content: content.into(), ..record() },
            relevance: 0.5,
            placed: None,
            word_share: None,
            rarest_word: None,
            logit: None,
            score: 0.85,
            parts: Default::default(),
            matched_by: vec![memorist_engine::types::MatchSource::Vector],
            vector_score: Some(0.6),
            similarity: None,
            keyword_score: None,
        };
        SearchReply {
            hits: vec![hit],
            more: false,
            reserved: 0,
            no_answer: false,
            tier: memorist_engine::types::Tier::Full,
            warnings: Vec::new(),
            near_miss: None,
            remedy: None,
            terms: Vec::new(),
            missing: Vec::new(),
            is_foreign: false,
            weaker: 0,
            explain: Default::default(),
        }
    }

    fn search(value: Value) -> SearchParams {
        serde_json::from_value(value).unwrap()
    }

    fn answer(reply: SearchReply, params: &SearchParams) -> Value {
        let query = query(params, &defaults(), Weights::default()).unwrap();
        serde_json::to_value(search_result(reply, params, &query)).unwrap()
    }

    fn query(params: &SearchParams, defaults: &Defaults, weights: Weights) -> Result<Query> {
        super::query(params, defaults.own_viewer(), defaults, weights)
    }

    #[test]
    fn a_record_has_the_defaults_of_the_specification() {
        let saved = |params: AddParams| {
            let caller = defaults().caller(&params.project, &params.agent).unwrap();
            new_record(params, caller.scope).unwrap()
        };
        let record = saved(params(json!({ "content": "x" })));
        assert_eq!((record.kind, record.source.as_str()), (Kind::Fact, "manual"));
        assert_eq!((record.confidence, record.importance), (1.0, 5));
        assert_eq!(record.scope, Scope { project: Some("apollo".into()), agent: None });
        let global = params(json!({ "content": "x", "project": null, "agent": "scout" }));
        let global = saved(global);
        assert_eq!(global.scope, Scope { project: None, agent: Some("scout".into()) });
    }

    #[test]
    fn setting_one_weight_keeps_the_other() {
        let settings = Weights { vector: 0.6, keyword: 0.4 };
        let asked = query(&search(json!({ "query": "x", "vectorWeight": 0.9 })), &defaults(), settings).unwrap();
        assert_eq!(asked.weights, Some(Weights { vector: 0.9, keyword: 0.4 }));
        assert_eq!((asked.mode, asked.limit), (Mode::Hybrid, 10));
        let plain = query(&search(json!({ "query": "x" })), &defaults(), settings).unwrap();
        assert_eq!(plain.weights, None);
        assert!(query(&search(json!({ "query": "x", "limit": -1 })), &defaults(), settings).is_err());
    }

    #[test]
    fn a_hit_has_the_fields_of_the_specification() {
        let asked = search(json!({ "query": "dark" }));
        let value = answer(reply("dark mode"), &asked);
        assert_eq!(value["total"], 1);
        let hit = &value["results"][0];
        let names = ["id", "content", "entryType", "source", "context", "confidence", "importance", "tags", "score"];
        for name in names.iter().chain(&["matchedBy", "createdAt"]) {
            assert!(hit.get(name).is_some(), "{name} is missing in {hit}");
        }
        assert_eq!(hit["context"], Value::Null);
        assert!(hit.get("truncated").is_none() && value.get("explain").is_none());
    }

    /// Z12.
    #[test]
    fn a_hit_and_an_entry_of_a_file_name_its_lines() {
        let mut of_file = reply("dark mode");
        assert!(answer(of_file.clone(), &search(json!({ "query": "dark" })))["results"][0].get("place").is_none());
        let place = Place { role: Some("user".into()), ..Place::new(Origin::from_bytes([0; 16]), "/a/b.jsonl", 4, 6) };
        of_file.hits[0].record.place = Some(place);
        let wanted = json!({ "path": "/a/b.jsonl", "startLine": 4, "endLine": 6, "role": "user" });
        let hit = answer(of_file.clone(), &search(json!({ "query": "dark" })))["results"][0].clone();
        assert_eq!(hit["place"], wanted);
        let record = of_file.hits[0].record.clone();
        assert_eq!(serde_json::to_value(entry(record.clone())).unwrap()["place"], wanted);
        let line = crate::wire::core::MemoryLine::default().of(&record, 700);
        assert!(line.contains("[/a/b.jsonl:4"), "{line}");
    }

    #[test]
    fn detail_chooses_how_much_text_comes_back() {
        let long = "dark ".repeat(300);
        let result = |detail| {
            let asked = search(json!({ "query": "dark", "detail": detail, "explain": true }));
            answer(reply(&long), &asked)
        };
        let snippet = &result("snippet")["results"][0];
        assert!(snippet["content"].as_str().unwrap().chars().count() <= 700);
        assert_eq!(snippet["truncated"], true);
        assert_eq!(result("full")["results"][0]["content"], long);
        assert!(result("ids")["results"][0].get("content").is_none());
        assert!(result("ids")["explain"]["totalUs"].is_number());
    }

    #[test]
    fn a_passage_of_the_context_is_marked_too() {
        let mut reply = reply("short");
        reply.hits[0].record.context = Some("long ".repeat(300));
        let value = answer(reply, &search(json!({ "query": "dark" })));
        assert_eq!(value["results"][0]["truncated"], true);
        assert_eq!(value["results"][0]["content"], "short");
    }

    #[test]
    fn neighbors_follow_the_detail_level_and_the_token_budget() {
        let mut around = reply("short");
        around.hits[0].record.turn = Some(5);
        around.hits[0].neighbors =
            [4, 6].map(|turn| Record { content: "long ".repeat(400), turn: Some(turn), ..record() }).into();
        let result = |more: Value| {
            let mut params = json!({ "query": "dark", "neighbors": 1 });
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let value = answer(around.clone(), &search(params));
            (value["results"][0].clone(), serde_json::to_vec(&value["results"]).unwrap().len())
        };
        let (hit, _) = result(json!({ "detail": "ids" }));
        assert_eq!((&hit["turn"], &hit["neighbors"][0]["turn"]), (&json!(5), &json!(4)));
        assert!(hit["neighbors"][0].get("content").is_none(), "{hit}");
        let (whole, size) = result(json!({ "detail": "full" }));
        assert!(whole["neighbors"][1]["content"].as_str().unwrap().len() == 2_000 && size > 4_000);
        let (cut, size) = result(json!({ "detail": "full", "maxTokens": 400 }));
        assert!(size <= 1_602 && cut["neighbors"].as_array().unwrap().len() == 2, "{size} {cut}");
        let (none, _) = result(json!({ "detail": "full", "maxTokens": 1 }));
        assert!(none.get("neighbors").is_none() && none["content"] == "short", "{none}");
    }

    #[test]
    fn a_budget_of_tokens_cuts_the_last_results_and_says_so() {
        let results = |most: i64| {
            let mut all = reply("dark mode");
            all.hits = vec![all.hits[0].clone(); 10];
            answer(all, &search(json!({ "query": "dark", "maxTokens": most })))
        };
        let one = serde_json::to_vec(&results(1)["results"][0]).unwrap().len() as i64;
        assert_eq!(results(1)["total"], 1, "the best always comes");
        let three = results((3 * one + 3) / 4);
        assert_eq!((&three["total"], three["results"].as_array().unwrap().len()), (&json!(3), 3));
        assert!(three["nextCursor"].as_str().unwrap().starts_with("3-"), "{three}");
        assert!(results(100_000).get("nextCursor").is_none());
        assert!(three["warnings"][0].as_str().unwrap().starts_with("3 of 10 results fit"), "{three}");
        assert!(results(100_000).get("warnings").is_none());
        let refused = query(&search(json!({ "query": "x", "maxTokens": 0 })), &defaults(), Weights::default());
        assert!(refused.unwrap_err().to_string().contains("maxTokens"));
    }

    #[test]
    fn the_last_page_says_if_it_is_not_the_end() {
        let first = query(&search(json!({ "query": "dark", "limit": 1000 })), &defaults(), Weights::default()).unwrap();
        let page = |offset: usize, more: bool, found: usize| {
            let mut reply = reply("dark mode");
            (reply.more, reply.explain.pool, reply.explain.vector_candidates) = (more, 50, found);
            let before = Cursor { offset, pool: 50, tier: reply.tier };
            let cursor = (offset > 0).then(|| before.to_text(&first));
            answer(reply, &search(json!({ "query": "dark", "cursor": cursor })))
        };
        let mut by_words = reply("dark mode");
        (by_words.tier, by_words.more) = (Tier::Keyword, true);
        let cursor = Cursor { offset: 1, pool: 50, tier: Tier::Full }.to_text(&first);
        let turned = answer(by_words, &search(json!({ "query": "dark", "cursor": cursor })));
        assert!(turned["warnings"][0].as_str().unwrap().starts_with("the ranking changed"), "{turned}");
        let says = |value: &Value, what: &str| value["warnings"][0].as_str().is_some_and(|text| text.contains(what));
        assert!(page(0, true, 50)["nextCursor"].as_str().unwrap().starts_with("1-50-"));
        assert!(page(0, true, 50).get("warnings").is_none());
        let most = page(999, true, 50);
        assert!(says(&most, "narrower") && most.get("nextCursor").is_none(), "{most}");
        let ranked = page(70, false, 50);
        assert!(says(&ranked, "larger limit") && ranked.get("nextCursor").is_none(), "{ranked}");
        assert!(page(70, false, 49).get("warnings").is_none(), "nothing else is like it");
        let other = search(json!({ "query": "dark", "cursor": "1-50-0" }));
        assert!(query(&other, &defaults(), Weights::default()).unwrap_err().to_string().contains("cursor"));
    }

    #[test]
    fn null_empties_a_field_and_silence_keeps_it() {
        let update = |value| record_update(serde_json::from_value(value).unwrap()).unwrap();
        assert!(update(json!({ "id": 1 })).is_empty());
        assert_eq!(update(json!({ "id": 1, "context": null })).context, Some(None));
        assert_eq!(update(json!({ "id": 1, "expiresAt": null })).expires_at, Some(None));
        assert_eq!(
            update(json!({ "id": 1, "expiresAt": "2026-01-01T00:00Z" })).expires_at,
            Some(Some(1_767_225_600_000))
        );
    }
}
