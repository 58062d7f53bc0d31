//! A search with the reasons for each result, and the reason why a memory is not among them.

use std::collections::HashMap;

use memorist_engine::types::{KeptOut, Parts, Query, RecordId, SearchReply, Threshold, Tier, Why};
use memorist_engine::words::matching_spans;
use memorist_engine::{Engine, Result};

use super::super::{Context, records};
use crate::wire::explore::{ExplainParams, ExplainResult, FindHit, FindParams, FindResult};
use crate::wire::{self, SearchParams, SearchResult};

/// `memory_search` that is not logged and counts no access.
pub fn search(engine: &Engine, context: &Context, params: FindParams) -> Result<FindResult> {
    let (query, params) = asked(context, params)?;
    let params = SearchParams { explain: Some(true), ..params };
    let reply = match records::no_reply(&params, &query) {
        Some(reply) => reply,
        None => engine.search_unlogged(&query)?,
    };
    let parts: HashMap<i64, Parts> = reply.hits.iter().map(|hit| (hit.record.id.get(), hit.parts)).collect();
    let marks = Marks::of(&reply);
    let SearchResult { results, total, no_answer, near_miss, missing, weaker, next_cursor, tier, warnings, explain } =
        wire::search_result(reply, &params, &query);
    let hit = |hit: wire::SearchHit| FindHit {
        words: hit.content.as_deref().map_or_else(Vec::new, |text| marks.of_text(text)),
        vector_part: parts.get(&hit.id).map_or(0.0, |parts| parts.vector),
        keyword_part: parts.get(&hit.id).map_or(0.0, |parts| parts.keyword),
        hit,
    };
    let results = results.into_iter().map(hit).collect();
    Ok(FindResult { results, total, no_answer, near_miss, missing, weaker, next_cursor, tier, warnings, explain })
}

/// The search of these parameters, without weak results.
fn asked(context: &Context, FindParams { search, prefix }: FindParams) -> Result<(Query, SearchParams)> {
    // Somebody is typing: that cannot wait for a reranker.
    let params = SearchParams { prefix, rerank: Some(false), ..search.without_weak() };
    let query = context.query(&params, context.defaults.viewer(&params.project, &params.agent)?)?;
    query.validate()?;
    Ok((query, params))
}

/// Words to mark in the texts of results.
enum Marks {
    /// Terms of the keyword index.
    Terms(Vec<String>),
    /// Parts of words, found in upper or lower case.
    Pieces(Vec<String>),
}

impl Marks {
    fn of(reply: &SearchReply) -> Self {
        match reply.tier {
            Tier::Substring => Marks::Pieces(reply.terms.iter().map(|piece| piece.to_lowercase()).collect()),
            _ => Marks::Terms(reply.terms.clone()),
        }
    }

    fn of_text(&self, text: &str) -> Vec<String> {
        match self {
            Marks::Terms(terms) => matching_spans(text, terms),
            Marks::Pieces(pieces) => {
                // Where lower case has other lengths, nothing is marked rather than the wrong bytes.
                let lower = text.to_lowercase();
                let spans = pieces.iter().filter_map(|wanted| {
                    let at = lower.find(wanted.as_str())?;
                    text.get(at..at + wanted.len()).filter(|span| span.to_lowercase() == *wanted)
                });
                spans.map(str::to_owned).collect()
            }
        }
    }
}

/// Explains why a search does not find a memory, or at which rank it does.
pub fn explain(engine: &Engine, context: &Context, params: ExplainParams) -> Result<ExplainResult> {
    let id = RecordId::from(params.id.0);
    let (query, params) = asked(context, params.search)?;
    let viewer = context.defaults.own_viewer();
    let mut why = engine.viewed_by(&viewer).why(id, &query)?;
    let named_sources = params.sources.as_ref().is_some_and(|sources| !sources.is_empty());
    let reachable = !matches!(why.kept_out, Some(KeptOut::Unknown | KeptOut::Deleted(_) | KeptOut::Expired(_)));
    if reachable && records::no_reply(&params, &query).is_some() {
        (why.found, why.kept_out) = (false, Some(KeptOut::Filter("kinds")));
    }
    let text = if reachable { engine.viewed_by(&viewer).get(id)?.map(|record| record.content) } else { None };
    let (rule, field) = rule(&why, named_sources);
    let scores = why.scores.as_ref();
    let place = |rank: Option<usize>| rank.map(|rank| wire::count(rank as u64));
    let weights = query.weights.unwrap_or(context.weights);
    Ok(ExplainResult {
        id: id.get(),
        found: why.found,
        rank: place(why.rank),
        limit: wire::count(query.limit as u64),
        score: scores.map(|scores| scores.score),
        vector_score: scores.and_then(|scores| scores.vector),
        keyword_score: scores.and_then(|scores| scores.keyword),
        vector_part: scores.map(|scores| scores.parts.vector),
        keyword_part: scores.map(|scores| scores.parts.keyword),
        relevance: scores.map(|scores| scores.relevance),
        vector_rank: scores.and_then(|scores| place(scores.vector_rank)),
        keyword_rank: scores.and_then(|scores| place(scores.keyword_rank)),
        weights: scores.map_or(weights, |scores| scores.weights),
        words: text.map_or_else(Vec::new, |text| matching_spans(&text, &why.terms)),
        message: message(&why, &query, field),
        rule,
        field,
    })
}

/// The name of the rule that kept a memory out, and of its parameter.
fn rule(why: &Why, named_sources: bool) -> (Option<&'static str>, Option<&'static str>) {
    let Some(kept_out) = &why.kept_out else { return (None, None) };
    let (rule, field) = match kept_out {
        KeptOut::Deleted(_) => ("deleted", None),
        KeptOut::Expired(_) => ("expired", None),
        KeptOut::Scope => ("scope", None),
        KeptOut::Filter(field) => ("filter", Some(parameter(field, named_sources))),
        KeptOut::Superseded(_) => ("superseded", None),
        KeptOut::NotEmbedded => ("notEmbedded", None),
        KeptOut::NoMatch => ("noMatch", None),
        KeptOut::Threshold(threshold, _) => ("threshold", Some(threshold_name(*threshold))),
        KeptOut::Pool { .. } => ("pool", None),
        KeptOut::Limit => ("limit", None),
        _ => ("unknown", None),
    };
    (Some(rule), field)
}

/// The name of the parameter for a field of the filter.
fn parameter(field: &str, named_sources: bool) -> &'static str {
    match field {
        "kinds" if named_sources => "sources",
        "kinds" => "entryTypes",
        "min_importance" => "minImportance",
        "min_confidence" => "minConfidence",
        "created_after" => "createdAfter",
        "created_before" => "createdBefore",
        "updated_after" => "updatedAfter",
        "updated_before" => "updatedBefore",
        "happens_after" => "happensAfter",
        "happens_before" => "happensBefore",
        _ => "tags",
    }
}

fn threshold_name(threshold: Threshold) -> &'static str {
    match threshold {
        Threshold::Similarity => "minSimilarity",
        Threshold::Score => "minScore",
        Threshold::Relevance => "minRelevance",
    }
}

/// The explanation in one sentence.
fn message(why: &Why, query: &Query, field: Option<&str>) -> String {
    let id = why.id;
    let limit = query.limit;
    let Some(kept_out) = &why.kept_out else {
        let rank = why.rank.unwrap_or_default();
        return format!("Memory {id} is found: it is result {rank}.");
    };
    let day = |at: i64| wire::day(at);
    match kept_out {
        KeptOut::Deleted(at) => format!("Memory {id} was deleted on {}; undo restores it.", day(*at)),
        KeptOut::Expired(at) => format!("Memory {id} expired on {}.", day(*at)),
        KeptOut::Scope => format!("Memory {id} belongs to another project or agent than this search."),
        KeptOut::Filter(_) => {
            format!("Memory {id} does not pass the filter {}.", field.unwrap_or_default())
        }
        KeptOut::Superseded(by) => {
            let by: Vec<String> = by.iter().map(|by| format!("memory {by}")).collect();
            match by.is_empty() {
                true => format!("Memory {id} is superseded by one that has expired."),
                false => format!("Memory {id} is superseded by {}.", by.join(" and ")),
            }
        }
        KeptOut::NotEmbedded => {
            format!("Memory {id} is not embedded yet: keyword search only.")
        }
        KeptOut::NoMatch => format!("Memory {id} contains no term of the query, and was not compared by vector."),
        KeptOut::Threshold(threshold, least) => {
            let reached = why.scores.as_ref().map(|scores| match threshold {
                Threshold::Similarity => scores.vector.unwrap_or_default(),
                Threshold::Score => scores.score,
                Threshold::Relevance => scores.relevance,
            });
            let reached = reached.unwrap_or_default();
            format!("Memory {id} reaches {reached:.2}, below the {} of {least}.", threshold_name(*threshold))
        }
        KeptOut::Limit => match why.rank {
            Some(rank) => format!("Memory {id} has rank {rank}, and the search shows {limit}."),
            None => format!("Memory {id} ranks below the {limit} that the search shows."),
        },
        KeptOut::Pool { size, deeper } => {
            let place = |rank: Option<usize>, side: &str| match rank {
                Some(rank) => format!("number {rank} {side}"),
                None => format!("beyond the best {deeper} {side}"),
            };
            let scores = why.scores.as_ref();
            let by_meaning = scores.filter(|scores| scores.vector.is_some());
            let by_words = scores.filter(|scores| scores.keyword.is_some_and(|score| score > 0.0));
            let sides: Vec<String> = [
                by_meaning.map(|scores| place(scores.vector_rank, "by meaning")),
                by_words.map(|scores| place(scores.keyword_rank, "by words")),
            ]
            .into_iter()
            .flatten()
            .collect();
            let ranks =
                [by_meaning.and_then(|scores| scores.vector_rank), by_words.and_then(|scores| scores.keyword_rank)];
            let sides = sides.join(" and ");
            match ranks.into_iter().flatten().any(|rank| rank <= *size) {
                true => format!("Memory {id} is {sides}: the approximate search (top {size}) passed it over."),
                false => format!("Memory {id} is {sides}, and this search looks at the best {size} of each."),
            }
        }
        _ => format!("No memory {id}."),
    }
}

#[cfg(test)]
mod tests {
    use memorist_engine::types::{NewRecord, Viewer};

    use super::super::testing::store;
    use super::*;

    #[test]
    fn explain_tells_an_approximate_miss_from_a_rank_past_the_pool() {
        let (_folder, engine) = store();
        let id = engine.add(&NewRecord::new("the heron")).unwrap().id;
        let query = Query::new("heron");
        let mut why = engine.viewed_by(&Viewer::OWNER).why(id, &query).unwrap();
        why.kept_out = Some(KeptOut::Pool { size: 50, deeper: 1_000 });
        for (rank, part) in [(40, "passed it over"), (51, "looks at the best 50")] {
            let scores = why.scores.as_mut().unwrap();
            (scores.vector_rank, scores.keyword_rank) = (None, Some(rank));
            let message = message(&why, &query, None);
            assert!(message.contains(part), "{message}");
        }
    }
}
