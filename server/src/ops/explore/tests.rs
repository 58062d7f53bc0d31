//! Tests of the explorer's requests: with little stores, and against naive models.

use std::collections::BTreeSet;

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    Filter, KeptOut, Kind, Link, LinkKind, ListQuery, Mode, NewRecord, Period, Query, RecordId, RecordUpdate, Scope,
    SearchesQuery, Viewer,
};
use memorist_engine::{Engine, Error, Result};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::Context;
use super::testing::{of_project, params, store};
use super::*;

fn all() -> Context {
    Context::default()
}

fn add(engine: &Engine, text: &str) -> RecordId {
    engine.add(&NewRecord::new(text)).unwrap().id
}

fn add_to(engine: &Engine, text: &str, project: &str) -> RecordId {
    let scope = Scope { agent: None, project: Some(project.into()) };
    engine.add(&NewRecord { scope, ..NewRecord::new(text) }).unwrap().id
}

fn link(engine: &Engine, from: RecordId, kind: LinkKind, to: RecordId) {
    assert!(engine.viewed_by(&Viewer::OWNER).link(Link { from, to, kind }).unwrap());
}

/// The searches that are kept, once there are so many: the newest first.
fn kept(engine: &Engine, count: usize) -> Vec<String> {
    for _ in 0..500 {
        let kept = engine.searches(&SearchesQuery::new(Viewer::OWNER)).unwrap();
        if kept.len() >= count {
            return kept.into_iter().map(|search| search.trace.query).collect();
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the searches are not kept");
}

fn json_of(result: Result<impl Serialize>) -> Value {
    serde_json::to_value(result.unwrap()).unwrap()
}

fn asked(engine: &Engine, arguments: Value) -> Value {
    json_of(search(engine, &all(), params(arguments)))
}

/// The explorer does not wait for the reranker, whatever the settings say.
#[test]
fn a_search_goes_on_where_its_page_ended() {
    let (_folder, engine) = store();
    (0..5).for_each(|at| drop(engine.add(&NewRecord::new(format!("The harbour gate {at} opens"))).unwrap()));
    for (rerank, prefix) in [(false, false), (true, false), (true, true)] {
        let context = Context { rerank, ..all() };
        let (mut found, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let asked = json!({ "query": "harbour ga", "limit": 2, "prefix": prefix, "cursor": cursor });
            let page = json_of(search(&engine, &context, params(asked)));
            found.extend(page["results"].as_array().unwrap().iter().map(|hit| hit["id"].as_i64().unwrap()));
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3, 4, 5], "{rerank} {prefix}");
    }
}

#[test]
fn each_result_says_which_words_match_and_what_each_side_adds() {
    let (_folder, engine) = store();
    add(&engine, "She runs along the river; running is her joy");
    add(&engine, "The bakery opens at nine");
    let found = asked(&engine, json!({ "query": "running river" }));
    let first = &found["results"][0];
    assert_eq!(first["words"], json!(["runs", "river", "running"]));
    for hit in found["results"].as_array().unwrap() {
        let parts = hit["vectorPart"].as_f64().unwrap() + hit["keywordPart"].as_f64().unwrap();
        assert!((parts - hit["score"].as_f64().unwrap()).abs() < 1e-9, "{hit}");
    }
    assert!(found["explain"]["weights"]["vector"].is_number());
    let typo = asked(&engine, json!({ "query": "bakerry", "mode": "keyword" }));
    assert_eq!(typo["results"][0]["words"], json!(["bakery"]), "a word with a typo");
    let part = asked(&engine, json!({ "query": "AKER", "mode": "keyword" }));
    assert_eq!((&part["tier"], &part["results"][0]["words"]), (&json!("substring"), &json!(["aker"])));
}

#[test]
fn the_last_word_is_a_beginning_while_somebody_types() {
    let (_folder, engine) = store();
    let run = add(&engine, "We deploy the gateway on Tuesdays").get();
    let organ = add(&engine, "The organization of the harbour").get();
    let ids = |query: &str, prefix: bool| -> Vec<i64> {
        let found = asked(&engine, json!({ "query": query, "mode": "keyword", "prefix": prefix }));
        let hits =
            found["results"].as_array().unwrap().iter().filter(|hit| !hit["matchedBy"].as_array().unwrap().is_empty());
        hits.map(|hit| hit["id"].as_i64().unwrap()).collect()
    };
    for (typed, id) in [("dep", run), ("deploy the ga", run), ("deployin", run), ("organizat", organ), ("Organ", organ)]
    {
        assert_eq!(ids(typed, true), [id], "{typed}");
    }
    assert_eq!((ids("g", true), ids("organization g", true)), (vec![run], vec![organ]), "one letter, if it is alone");
    assert!(ids("dep", false).is_empty() && ids("dep ", true).is_empty(), "the word is over");
    let found = asked(&engine, json!({ "query": "tue", "mode": "keyword", "prefix": true }));
    assert_eq!(found["results"][0]["words"], json!(["Tuesdays"]));
    engine.flush(&NoProgress).unwrap();
    assert_eq!(ids("gat", true), [run], "in the index as in its tail");
}

#[test]
fn looking_counts_nothing_and_keeps_nothing() {
    let (_folder, engine) = store();
    let id = add(&engine, "the lighthouse keeper").get();
    let page = all();
    asked(&engine, json!({ "query": "lighthouse", "prefix": true }));
    explain(&engine, &page, params(json!({ "id": id, "query": "lighthouse" }))).unwrap();
    memory(&engine, &page, params(json!({ "id": id }))).unwrap();
    graph(&engine, &page, params(json!({ "id": id }))).unwrap();
    similar(&engine, &page, params(json!({ "id": id }))).unwrap();
    overview(&engine, &page, params(json!({}))).unwrap();
    timeline(&engine, &page, params(json!({}))).unwrap();
    for kind in ["duplicates", "contradictions", "superseded", "expiring", "neverFound"] {
        cleanup(&engine, &page, params(json!({ "kind": kind }))).unwrap();
    }
    engine.search(&Query::new("the last one")).unwrap();
    assert_eq!(kept(&engine, 1), ["the last one"]);
    let record = engine.viewed_by(&Viewer::OWNER).get(id.into()).unwrap().unwrap();
    assert_eq!((record.access_count, record.last_accessed_at), (0, None));
}

#[test]
fn a_memory_says_what_found_it_and_what_replaces_it() {
    let (_folder, engine) = store();
    let old = add(&engine, "the ferry leaves at eight");
    let new = add(&engine, "the ferry leaves at nine");
    link(&engine, new, LinkKind::Supersedes, old);
    let rival = add(&engine, "no ferry leaves at all");
    link(&engine, rival, LinkKind::Contradicts, new);
    engine.search(&Query { tool: "recall".into(), ..Query::new("ferry nine") }).unwrap();
    kept(&engine, 1);
    let of = |id: RecordId| json_of(memory(&engine, &all(), params(json!({ "id": id }))));
    assert_eq!(of(old)["supersededBy"], json!([new]));
    let new = of(new);
    assert_eq!(new["contradictedBy"], json!([rival]));
    assert_eq!((&new["foundBy"][0]["query"], &new["foundBy"][0]["tool"]), (&json!("ferry nine"), &json!("recall")));
    assert!(new["foundBy"][0]["score"].as_f64().unwrap() > 0.0);
    assert_eq!(new["recoverable"], Value::Null);
    engine.viewed_by(&Viewer::OWNER).delete(rival).unwrap();
    assert_eq!(of(rival)["recoverable"]["why"], "deleted");
    let unknown = memory(&engine, &all(), params(json!({ "id": 99 }))).unwrap_err();
    assert!(matches!(unknown, Error::NotFound(_)));
}

#[test]
fn a_graph_has_all_links_between_its_memories() {
    let (_folder, engine) = store();
    let [a, b, c, d] = ["one", "two", "three", "four"].map(|text| add(&engine, text));
    for (from, kind, to) in
        [(a, LinkKind::Caused, b), (a, LinkKind::Related, c), (c, LinkKind::Supersedes, b), (c, LinkKind::Related, d)]
    {
        link(&engine, from, kind, to);
    }
    let near = json_of(graph(&engine, &all(), params(json!({ "id": a }))));
    let ids = |graph: &Value| -> Vec<i64> {
        graph["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_i64().unwrap()).collect()
    };
    assert_eq!(ids(&near), [1, 2, 3]);
    assert_eq!(near["edges"].as_array().unwrap().len(), 3, "also the one between b and c: {near}");
    assert_eq!((&near["nodes"][1]["isCurrent"], &near["nodes"][2]["isCurrent"]), (&json!(false), &json!(true)));
    assert_eq!(ids(&json_of(graph(&engine, &all(), params(json!({ "id": a, "depth": 2 }))))), [1, 2, 3, 4]);
    let cut = json_of(graph(&engine, &all(), params(json!({ "id": a, "limit": 2 }))));
    assert_eq!((ids(&cut).len(), &cut["truncated"]), (2, &json!(true)));
    for wrong in [json!({ "id": a, "depth": 4 }), json!({ "id": a, "limit": 151 }), json!({ "id": a, "depth": 0 })] {
        assert!(matches!(graph(&engine, &all(), params(wrong)), Err(Error::Invalid { .. })));
    }
    assert!(matches!(graph(&engine, &all(), params(json!({ "id": 99 }))), Err(Error::NotFound(_))));
}

#[test]
fn searches_are_listed_by_what_was_wrong_with_them() {
    let (_folder, engine) = store();
    let id = add(&engine, "the walnut cupboard");
    engine.search(&Query::new("walnut cupboard")).unwrap();
    kept(&engine, 1);
    engine.viewed_by(&Viewer::OWNER).access(id).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2));
    engine.search(&Query::new("the walnut")).unwrap();
    kept(&engine, 2);
    let listed = |only: Value| -> Vec<String> {
        let found = json_of(searches(&engine, &all(), params(json!({ "only": only }))));
        found["results"].as_array().unwrap().iter().map(|one| one["query"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed(Value::Null), ["the walnut", "walnut cupboard"]);
    assert_eq!(listed(json!("neverOpened")), ["the walnut"], "the other was opened after it");
    assert!(listed(json!("noAnswer")).is_empty());
    assert!(listed(json!("nothing")).is_empty(), "the earlier name");
}

/// The rule that keeps a memory out, for each rule.
#[test]
fn explain_names_the_rule_that_kept_a_memory_out() {
    let (_folder, engine) = store();
    let [plain, old, new] =
        ["the red harbour crane", "the red crane is old", "the red crane is new"].map(|text| add(&engine, text));
    link(&engine, new, LinkKind::Supersedes, old);
    let theirs = add_to(&engine, "the red crane of apollo", "apollo");
    let deleted = add(&engine, "the red crane that was sold");
    engine.viewed_by(&Viewer::OWNER).delete(deleted).unwrap();
    engine.embed_pending(&NoProgress).unwrap();
    let ask = |id: RecordId, more: Value| {
        let mut arguments = json!({ "id": id, "query": "red crane" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json_of(explain(&engine, &all(), params(arguments)))
    };
    let rule = |id, more| {
        let answer = ask(id, more);
        assert_eq!(answer["found"], answer["rule"].is_null());
        assert!(!answer["message"].as_str().unwrap().is_empty());
        (answer["rule"].as_str().unwrap_or("found").to_owned(), answer["field"].as_str().unwrap_or_default().to_owned())
    };
    let is = |rule: &str, field: &str| (rule.to_owned(), field.to_owned());
    assert_eq!(rule(plain, json!({})), is("found", ""));
    assert_eq!(rule(old, json!({})), is("superseded", ""));
    assert_eq!(rule(old, json!({ "includeSuperseded": true })), is("found", ""));
    assert_eq!(rule(theirs, json!({ "project": null })), is("scope", ""));
    assert_eq!(rule(deleted, json!({})), is("deleted", ""));
    let at = memorist_engine::now() + 1;
    let brief =
        engine.add(&NewRecord { expires_at: Some(at), ..NewRecord::new("a red crane for a moment") }).unwrap().id;
    std::thread::sleep(std::time::Duration::from_millis(3));
    assert_eq!(rule(brief, json!({})), is("expired", ""));
    assert_eq!(rule(99.into(), json!({})), is("unknown", ""));
    let filters = [
        ("entryTypes", json!({ "entryTypes": ["task"] })),
        ("sources", json!({ "sources": ["notes"] })),
        ("sources", json!({ "sources": ["notes"], "entryTypes": ["task"] })),
        ("tags", json!({ "tags": ["none"] })),
        ("minImportance", json!({ "minImportance": 9 })),
        ("createdBefore", json!({ "createdBefore": 0 })),
        ("createdAfter", json!({ "createdAfter": 4_102_444_800_000_i64 })),
        ("updatedBefore", json!({ "updatedBefore": 0 })),
        ("updatedAfter", json!({ "updatedAfter": 4_102_444_800_000_i64 })),
        ("happensAfter", json!({ "happensAfter": 0 })),
        ("happensBefore", json!({ "happensBefore": "2100-01-01" })),
    ];
    for (field, more) in filters {
        assert_eq!(rule(plain, more), is("filter", field));
    }
    let low = NewRecord { confidence: 0.2, ..NewRecord::new("a red crane, perhaps") };
    let low = engine.add(&low).unwrap().id;
    assert_eq!(rule(low, json!({ "minConfidence": 0.5 })), is("filter", "minConfidence"));
    assert_eq!(rule(plain, json!({ "query": "opera", "minRelevance": 1.0 })), is("threshold", "minRelevance"));
    assert_eq!(rule(plain, json!({ "query": "opera", "minSimilarity": 0.99 })), is("threshold", "minSimilarity"));
    assert_eq!(rule(plain, json!({ "query": "opera", "mode": "keyword" })), is("noMatch", ""));
    let last = ask(plain, json!({ "limit": 1, "query": "red crane new" }));
    assert_eq!((&last["rule"], last["rank"].as_i64() > Some(1)), (&json!("limit"), true), "{last}");
    assert!(last["score"].is_number() && last["vectorRank"].is_number() && last["keywordRank"].is_number());
    assert_eq!(last["words"], json!(["red", "crane"]));
}

/// Against the search itself: in a ranking of all, each has the rank, the scores and the parts that the search shows.
#[test]
fn explain_agrees_with_the_search_about_every_memory() {
    let (_folder, engine) = store();
    let words = ["amber", "boat", "cedar", "dune", "ember", "fjord", "grove"];
    for at in 0..120usize {
        // With words of its own, as of two that say nearly the same the newer is shown first.
        let own = format!("left{at} right{at} top{at} bottom{at}");
        add(&engine, &format!("{} {} {} note {own}", words[at % 7], words[at / 7 % 7], words[at % 5]));
    }
    // A busy machine leaves some of them for later.
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    let whole = asked(&engine, json!({ "query": "amber dune", "limit": 200, "minRelevance": 0, "detail": "ids" }));
    let hits = whole["results"].as_array().unwrap();
    assert_eq!(hits.len(), 120);
    for (at, hit) in hits.iter().enumerate() {
        let ask = |limit: usize| {
            json_of(explain(
                &engine,
                &all(),
                params(json!({ "id": hit["id"], "query": "amber dune", "limit": limit, "minRelevance": 0 })),
            ))
        };
        let answer = ask(200);
        assert_eq!((answer["found"].as_bool(), answer["rank"].as_u64()), (Some(true), Some(at as u64 + 1)));
        for field in ["score", "vectorScore", "keywordScore", "vectorPart", "keywordPart", "relevance"] {
            let difference = answer[field].as_f64().unwrap_or(0.0) - hit[field].as_f64().unwrap_or(0.0);
            assert!(difference.abs() < 1e-9, "{field} of {hit}: {answer}");
        }
        let narrow = ask(5);
        assert_eq!(narrow["found"].as_bool(), Some(at < 5), "{narrow}");
        assert_eq!(narrow["rank"].as_u64(), Some(at as u64 + 1), "{narrow}");
    }
}

#[test]
fn explain_says_that_a_search_did_not_look_so_deep() {
    let (_folder, engine) = store();
    // The shorter ones are better by words: the last is best.
    for at in (0..80usize).rev() {
        add(&engine, &format!("crane number{at} {}", "and a long tail of words ".repeat(at)));
    }
    engine.flush(&NoProgress).unwrap();
    let ask = |id: i64, limit: usize, mode: &str| {
        let asked = json!({ "id": id, "query": "crane", "limit": limit, "minRelevance": 0, "mode": mode });
        json_of(explain(&engine, &all(), params(asked)))
    };
    let far = ask(1, 5, "keyword");
    assert_eq!((&far["rule"], &far["keywordRank"], &far["limit"]), (&json!("pool"), &json!(80), &json!(5)), "{far}");
    assert_eq!(far["message"], "Memory 1 is number 80 by words, and this search looks at the best 50 of each.");
    let near = ask(60, 5, "keyword");
    assert_eq!((&near["rule"], &near["rank"]), (&json!("limit"), &json!(21)), "{near}");
    assert_eq!(ask(1, 30, "keyword")["rule"], "limit", "a search for 30 looks at 120");
    assert!(ask(1, 5, "vector")["message"].as_str().unwrap().contains("by meaning"));
}

/// A search for a period looks at more than others do.
#[test]
fn explain_looks_at_least_as_deep_as_the_search() {
    let (_folder, engine) = store();
    let texts = (0..1_300).map(|at| NewRecord::new(format!("crane number{at} {}", "tail ".repeat(1 + at / 10))));
    engine.add_batch(&texts.collect::<Vec<_>>()).unwrap();
    engine.flush(&NoProgress).unwrap();
    let period = Some(Period { from: 0, until: 1 });
    let query = Query { limit: 100, mode: Mode::Keyword, period, ..Query::new("crane") };
    let why = engine.viewed_by(&Viewer::OWNER).why(1_250.into(), &query).unwrap();
    assert_eq!(why.kept_out, Some(KeptOut::Limit));
    assert!(why.rank.is_some_and(|rank| rank > 1_000), "{:?}", why.rank);
}

#[test]
fn explain_reports_a_pending_embedding() {
    let folder = tempfile::tempdir().unwrap();
    let engine = super::testing::open(folder.path());
    let first = add(&engine, "an embedded one");
    engine.embed_pending(&NoProgress).unwrap();
    engine.add_batch(&[NewRecord::new("a new note about opera")]).unwrap();
    let waits = engine.list(&ListQuery { limit: 9, ..ListQuery::default() }).unwrap().pop().unwrap().id;
    assert_ne!(waits, first);
    let answer = json_of(explain(&engine, &all(), params(json!({ "id": waits, "query": "zebra", "mode": "vector" }))));
    // The worker may have embedded it meanwhile.
    assert!(answer["rule"] == "notEmbedded" || answer["found"] == true, "{answer}");
}

/// The lines of an export without what an undo moves on: versions, times of changes, and the history.
fn lines(engine: &Engine) -> Vec<String> {
    let query = ListQuery { limit: 1_000, ..ListQuery::default() };
    let records = engine.list(&query).unwrap().into_iter().map(|mut record| {
        (record.version, record.updated_at) = (0, 0);
        let links = engine.viewed_by(&Viewer::OWNER).links(record.id, 100).unwrap();
        format!("{record:?} {links:?}")
    });
    records.collect()
}

#[test]
fn a_merge_is_taken_back_by_undoing_what_it_names() {
    let (_folder, engine) = store();
    let [keep, one, other, extra] =
        ["tea at four", "tea is at 4", "four o'clock: tea", "cake"].map(|text| add(&engine, text));
    link(&engine, extra, LinkKind::Related, keep);
    link(&engine, one, LinkKind::Related, extra);
    let before = lines(&engine);
    let arguments = json!({ "keep": keep, "expect": 1, "content": "Tea is at four o'clock",
        "replaced": [{ "id": one, "expect": 1 }, { "id": other, "expect": 1 }] });
    let merged = merge(&engine, &all(), params(arguments.clone())).unwrap();
    assert_eq!(
        (merged.id, merged.version, merged.undo.clone()),
        (keep.get(), 2, vec![one.get(), other.get(), keep.get()])
    );
    let found = asked(&engine, json!({ "query": "tea four" }));
    let ids: BTreeSet<i64> =
        found["results"].as_array().unwrap().iter().map(|hit| hit["id"].as_i64().unwrap()).collect();
    assert!(ids.contains(&keep.get()) && !ids.contains(&one.get()) && !ids.contains(&other.get()));
    for id in merged.undo {
        super::super::undo_each(&engine, &params(json!({ "id": id })), &Viewer::OWNER).unwrap();
    }
    assert_eq!(lines(&engine), before);
    // Somebody changed one meanwhile: nothing is done.
    let refused = merge(&engine, &all(), params(arguments)).unwrap_err();
    assert!(matches!(refused, Error::Invalid { field: "expect", .. }), "{refused}");
    assert_eq!(lines(&engine), before);
}

#[test]
fn a_merge_changes_all_or_nothing() {
    let (_folder, engine) = store();
    let [keep, one, other] = ["tea at four", "tea is at 4", "four o'clock: tea"].map(|text| add(&engine, text));
    let before = lines(&engine);
    let seen = |id: RecordId, expect: i64| json!({ "id": id, "expect": expect });
    let refused = |arguments: Value| merge(&engine, &all(), params(arguments)).unwrap_err().to_string();
    let stale = json!({ "keep": keep, "expect": 1, "content": "new", "replaced": [seen(one, 1), seen(other, 2)] });
    assert!(refused(stale).contains("version 1, not 2"));
    let twin = json!({ "keep": keep, "expect": 1, "content": "tea is at 4", "replaced": [seen(one, 1)] });
    assert!(refused(twin).contains("keep that one instead"));
    for replaced in [json!([]), json!([seen(keep, 1)]), json!([seen(one, 1), seen(one, 1)])] {
        assert!(refused(json!({ "keep": keep, "expect": 1, "replaced": replaced })).starts_with("replaced: "));
    }
    let gone = json!({ "keep": keep, "expect": 1, "replaced": [seen(one, 1), seen(99.into(), 1)] });
    assert!(refused(gone).contains("not found"));
    assert_eq!(lines(&engine), before);
    let same = json!({ "keep": keep, "expect": 1, "replaced": [seen(one, 1)] });
    let merged = merge(&engine, &all(), params(same)).unwrap();
    assert_eq!((merged.version, merged.undo), (1, vec![one.get()]), "without a text it only supersedes");
}

fn group_ids(page: &Value) -> Vec<Vec<i64>> {
    let ids =
        |group: &Value| group["members"].as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect();
    page["groups"].as_array().unwrap().iter().map(ids).collect()
}

/// All groups of a kind, over pages of this size.
fn pages(engine: &Engine, page: &Context, kind: &str, limit: usize) -> Vec<Vec<i64>> {
    let (mut groups, mut cursor) = (Vec::new(), Value::Null);
    for _ in 0..200 {
        let found = json_of(cleanup(engine, page, params(json!({ "kind": kind, "cursor": cursor, "limit": limit }))));
        assert!(found["groups"].as_array().unwrap().len() <= limit);
        groups.extend(group_ids(&found));
        cursor = found["next"].clone();
        if cursor.is_null() {
            return groups;
        }
    }
    panic!("there is no end to {kind}");
}

/// Against a naive search: every pair of the same owner and kind that shares three in five words.
#[test]
fn duplicates_are_those_that_a_comparison_of_all_finds() {
    let (_folder, engine) = store();
    let texts = [
        "the gateway restarts every night at two",
        "user prefers dark mode in the editor",
        "every night at two the gateway restarts itself",
        "lunch is at noon in the canteen",
        "the user prefers a dark mode in the editor window",
        "at two every night our gateway restarts",
        "an unrelated remark about walnut furniture",
    ];
    for text in texts {
        add(&engine, text);
    }
    let apart = add_to(&engine, "lunch is at noon in the canteen, too", "apollo");
    let read = NewRecord { kind: Kind::Chunk, ..NewRecord::new("an unrelated remark about walnut furniture here") };
    engine.add(&read).unwrap();
    engine.embed_pending(&NoProgress).unwrap();
    for limit in [1, 20] {
        assert_eq!(pages(&engine, &all(), "duplicates", limit), [vec![6, 3, 1], vec![5, 2]]);
    }
    assert_eq!(apart, 8.into(), "another owner's does not count");
    link(&engine, 5.into(), LinkKind::Supersedes, 2.into());
    assert_eq!(pages(&engine, &all(), "duplicates", 20), [vec![6, 3, 1]], "it is settled");
    engine.flush(&NoProgress).unwrap();
    assert_eq!(pages(&engine, &all(), "duplicates", 20), [vec![6, 3, 1]], "in the index as in its tail");
    link(&engine, 3.into(), LinkKind::Related, 6.into());
    assert_eq!(pages(&engine, &all(), "duplicates", 20), [vec![6, 3, 1]], "one of them is linked with none");
    link(&engine, 3.into(), LinkKind::Related, 1.into());
    assert!(pages(&engine, &all(), "duplicates", 20).is_empty(), "all were seen and kept");
    add(&engine, "every night at two our gateway restarts");
    assert_eq!(pages(&engine, &all(), "duplicates", 20), [vec![10, 6, 3, 1]], "with a new one they are shown again");
}

#[test]
fn copies_of_other_owners_hide_no_duplicate() {
    let (_folder, engine) = store();
    let text = "the gateway restarts every night at two";
    let older = add_to(&engine, "every night at two our gateway restarts itself", "atlas").get();
    // More than the nearest that are looked at.
    for at in 0..40 {
        add_to(&engine, text, &format!("copy{at}"));
    }
    let shared = add(&engine, text).get();
    let newer = add_to(&engine, text, "atlas").get();
    let shared_twin = add(&engine, "the gateway restarts every night at two, as before").get();
    for _ in 0..2 {
        let found = pages(&engine, &all(), "duplicates", 20);
        assert_eq!(found, [vec![shared_twin, shared], vec![newer, older]]);
        engine.embed_pending(&NoProgress).unwrap();
        engine.flush(&NoProgress).unwrap();
    }
}

/// The memories nearest to the newest are of another kind, and duplicates by meaning; the oldest is one by its words.
#[test]
fn a_duplicate_is_found_from_either_side() {
    let (_folder, engine) = store();
    let words = "amber boat cedar dune ember fjord grove harbour island";
    let oldest = add(&engine, &format!("{words} opal quartz")).get();
    for at in 0..20 {
        let nearer = format!("{words} jetty number{at}");
        engine.add(&NewRecord { kind: Kind::Decision, ..NewRecord::new(nearer) }).unwrap();
    }
    let newest = add(&engine, &format!("{words} jetty")).get();
    let found = pages(&engine, &all(), "duplicates", 20);
    assert!(found[0].contains(&newest) && !found[0].contains(&oldest), "{found:?}");
    assert!(found.contains(&vec![newest, oldest]), "{found:?}");
}

/// The oldest but one is like the newest, which has many nearer ones and does not list it.
#[test]
fn a_newer_one_that_lists_only_others_hides_no_group() {
    let (_folder, engine) = store();
    let words = "amber boat cedar dune ember fjord grove harbour island";
    let older = add(&engine, &format!("{words} opal quartz")).get();
    let twin = add(&engine, "amber boat cedar dune ember opal quartz").get();
    for at in 0..20 {
        let nearer = format!("{words} jetty number{at} letter{at}");
        engine.add(&NewRecord { kind: Kind::Decision, ..NewRecord::new(nearer) }).unwrap();
    }
    let newest = add(&engine, &format!("{words} jetty")).get();
    let found = pages(&engine, &all(), "duplicates", 20);
    assert!(found[0].contains(&newest) && !found[0].contains(&older), "{found:?}");
    assert!(found.contains(&vec![twin, older]), "{found:?}");
}

#[test]
fn linked_duplicates_of_a_large_group_do_not_hide_the_rest() {
    let (_folder, engine) = store();
    let mut left: BTreeSet<i64> =
        (0..30).map(|at| add(&engine, &format!("the gateway restarts every night at two, note{at}")).get()).collect();
    let mut sizes = Vec::new();
    loop {
        let found = pages(&engine, &all(), "duplicates", 20);
        let Some(group) = found.first() else { break };
        sizes.push(group.len());
        assert!(group.len() > 1 && sizes.len() < 30, "{sizes:?}");
        for id in &group[1..] {
            link(&engine, group[0].into(), LinkKind::Related, (*id).into());
        }
        left.retain(|id| !group.contains(id));
    }
    assert!(left.is_empty() && sizes[0] == 12, "{left:?} {sizes:?}");
}

#[test]
fn duplicates_are_found_by_words_without_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path(), memorist_engine::config::Config::without_model()).unwrap();
    for text in ["the gateway restarts every night", "lunch is at noon", "every night the gateway restarts"] {
        add(&engine, text);
    }
    assert_eq!(pages(&engine, &all(), "duplicates", 20), [[3, 1]]);
}

#[test]
fn cleanup_pages_contradicted_superseded_and_expiring_groups() {
    let (_folder, engine) = store();
    let [a, b, c, d] = ["east", "west", "old rule", "new rule"].map(|text| add(&engine, text));
    link(&engine, b, LinkKind::Contradicts, a);
    link(&engine, d, LinkKind::Supersedes, c);
    let day = 24 * 60 * 60 * 1_000;
    let soon = |days: i64| NewRecord {
        expires_at: Some(memorist_engine::now() + days * day),
        ..NewRecord::new(format!("for {days} days"))
    };
    let [late, early, far] = [20, 3, 40].map(|days| engine.add(&soon(days)).unwrap().id);
    for limit in [1, 9] {
        assert_eq!(pages(&engine, &all(), "contradictions", limit), [[b.get(), a.get()]]);
        assert_eq!(pages(&engine, &all(), "superseded", limit), [[d.get(), c.get()]]);
        assert_eq!(pages(&engine, &all(), "expiring", limit), [[early.get()], [late.get()]]);
    }
    assert!(far > early);
    // The first of a page is kept for longer meanwhile: the next page goes on all the same, also within one moment.
    let at = memorist_engine::now() + day;
    let brief = |text: &str| engine.add(&NewRecord { expires_at: Some(at), ..NewRecord::new(text) }).unwrap().id;
    let [one, two, three] = ["first", "second", "third"].map(brief);
    let page = |cursor: &Value| {
        json_of(cleanup(&engine, &all(), params(json!({ "kind": "expiring", "cursor": cursor, "limit": 2 }))))
    };
    let first = page(&Value::Null);
    engine
        .viewed_by(&Viewer::OWNER)
        .update(one, &RecordUpdate { expires_at: Some(None), ..RecordUpdate::default() })
        .unwrap();
    let second = page(&first["next"]);
    assert_eq!(group_ids(&first), [[one.get()], [two.get()]]);
    assert_eq!(group_ids(&second), [[three.get()], [early.get()]]);
    assert_eq!(group_ids(&page(&second["next"])), [[late.get()]]);
    let refused = cleanup(&engine, &all(), params(json!({ "kind": "expiring", "cursor": "2" }))).unwrap_err();
    assert!(matches!(refused, Error::Invalid { field: "cursor", .. }));
    let settled = json_of(cleanup(&engine, &all(), params(json!({ "kind": "superseded" }))));
    let current: Vec<_> =
        settled["groups"][0]["members"].as_array().unwrap().iter().map(|one| one["isCurrent"].clone()).collect();
    assert_eq!(current, [json!(true), json!(false)]);
    link(&engine, b, LinkKind::Supersedes, a);
    assert!(pages(&engine, &all(), "contradictions", 9).is_empty(), "what is settled is no contradiction");
    let refused = cleanup(&engine, &all(), params(json!({ "kind": "superseded", "cursor": "x" }))).unwrap_err();
    assert!(matches!(refused, Error::Invalid { field: "cursor", .. }));
}

/// A viewer of one project gets nothing of another's: no word, no id, no count, and "unknown" as for what does not exist.
#[test]
fn a_project_viewer_sees_nothing_of_another_project() {
    let (_folder, engine) = store();
    let own = add_to(&engine, "the apollo crane is red", "apollo");
    let hidden = add_to(&engine, "the gemini crane is red secretword", "gemini");
    let twin = add_to(&engine, "the gemini crane is red, secretword again", "gemini");
    let shared = add(&engine, "the crane is red");
    link(&engine, hidden, LinkKind::Contradicts, own);
    link(&engine, hidden, LinkKind::Supersedes, shared);
    link(&engine, own, LinkKind::Related, hidden);
    let gone = add_to(&engine, "a crane with a secretword that was sold", "gemini");
    engine.viewed_by(&Viewer::OWNER).delete(gone).unwrap();
    engine.embed_pending(&NoProgress).unwrap();
    let theirs = Query { filter: Filter::of(Viewer::in_project("gemini")), ..Query::new("crane secretquery") };
    engine.search(&theirs).unwrap();
    kept(&engine, 1);
    let page = of_project("apollo");
    let mut answers = vec![
        json_of(search(&engine, &page, params(json!({ "query": "crane secretw", "prefix": true, "limit": 50 })))),
        json_of(overview(&engine, &page, params(json!({})))),
        json_of(searches(&engine, &page, params(json!({})))),
        json_of(timeline(&engine, &page, params(json!({})))),
    ];
    for id in [own, shared] {
        answers.push(json_of(memory(&engine, &page, params(json!({ "id": id })))));
        answers.push(json_of(graph(&engine, &page, params(json!({ "id": id, "depth": 3 })))));
        answers.push(json_of(similar(&engine, &page, params(json!({ "id": id })))));
        answers.push(json_of(explain(&engine, &page, params(json!({ "id": id, "query": "crane" })))));
    }
    for kind in ["duplicates", "contradictions", "superseded", "expiring", "neverFound"] {
        answers.push(json_of(cleanup(&engine, &page, params(json!({ "kind": kind })))));
    }
    for answer in &answers {
        let text = answer.to_string();
        // The words of its own query are no secret.
        assert!(!text.contains("secretword") && !text.contains("secretquery") && !text.contains("gemini"), "{text}");
        for id in [hidden, twin, gone] {
            assert!(!ids_in(answer).contains(&id.get()), "{id}: {text}");
        }
    }
    assert_eq!(answers[1]["total"], 2);
    assert_eq!(answers[3]["buckets"][0]["saved"], json!({ "fact": 2 }));
    let absent = |id: i64| {
        let mut answer = json_of(explain(&engine, &page, params(json!({ "id": id, "query": "crane" }))));
        answer["message"] = answer["message"].as_str().unwrap().replace(&id.to_string(), "N").into();
        answer["id"] = Value::Null;
        answer
    };
    for id in [hidden, twin, gone] {
        assert_eq!(absent(id.get()), absent(999_999), "hidden as if it was absent");
        let error = |id: i64| {
            memory(&engine, &page, params(json!({ "id": id }))).unwrap_err().to_string().replace(&id.to_string(), "N")
        };
        assert_eq!(error(id.get()), error(999_999));
        let refused = |id: i64| {
            let arguments = json!({ "keep": own, "expect": 1, "replaced": [{ "id": id, "expect": 1 }] });
            merge(&engine, &page, params(arguments)).unwrap_err().to_string().replace(&id.to_string(), "N")
        };
        assert_eq!(refused(id.get()), refused(999_999));
    }
}

/// Every number below a key that names memories.
fn ids_in(value: &Value) -> BTreeSet<i64> {
    fn walk(value: &Value, named: bool, found: &mut BTreeSet<i64>) {
        match value {
            Value::Object(object) => object.iter().for_each(|(key, value)| {
                let named = ["id", "By", "from", "to", "undo"].iter().any(|end| key.ends_with(end));
                walk(value, named, found);
            }),
            Value::Array(items) => items.iter().for_each(|item| walk(item, named, found)),
            Value::Number(number) if named => found.extend(number.as_i64()),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    walk(value, false, &mut found);
    found
}
