//! Additional results of the tools of other systems: access counts, scores, totals, and warnings.

use clap::ValueEnum;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Kind, Link, LinkKind, Reach, Viewer};
use serde_json::{Map, Value, json};

use super::testing::{Server, ids};
use crate::args::ProfileName;

fn saved(server: &Server, title: &str, description: &str) -> Value {
    server.call("krolik_mem_save", json!({ "type": "decision", "title": title, "description": description }))
}

/// R15, T47: what a search returns and what a chain shows counts as used; a list does not.
#[test]
fn krolik_searches_and_chains_count_as_use() {
    let server = Server::krolik(None);
    for (title, description) in [("Lamps", "All are green"), ("Sails", "We sail by wind"), ("Nets", "Of hemp")] {
        assert_eq!(saved(&server, title, description)["memory"]["usageCount"], 0);
    }
    server
        .engine
        .viewed_by(&Viewer::OWNER)
        .link(Link { from: 2.into(), kind: LinkKind::Related, to: 3.into() })
        .unwrap();
    let before = memorist_engine::now();
    let found = server.call("krolik_mem_semantic_search", json!({ "query": "lamps" }));
    assert_eq!(found["results"][0]["memory"]["usageCount"], 0, "its own use comes after it");
    assert!(server.used(1, 1).last_accessed_at.unwrap() >= before);
    server.call("krolik_mem_chain", json!({ "memoryId": 2 }));
    assert_eq!((server.used(2, 1).version, server.used(3, 1).access_count), (1, 1));
    server.call("krolik_mem_digest", json!({}));
    server.call("krolik_mem_outdated", json!({}));
    let again = server.call("krolik_mem_semantic_search", json!({ "query": "lamps" }));
    assert_eq!(again["results"][0]["memory"]["usageCount"], 1);
    server.used(1, 2);
    assert_eq!((server.record(2).access_count, server.record(3).access_count), (1, 1));
}

/// T49.
#[test]
fn krolik_suggests_links_for_what_is_saved() {
    let server = Server::krolik(None);
    let why = "The deploy script needs the VPN to be up before it starts";
    let first = saved(&server, "Deploy script", why);
    assert_eq!((first.get("suggestions"), first.get("warnings")), (None, None));
    let second = saved(&server, "Deploy script of ours", why);
    let suggestion = &second["suggestions"][0];
    assert_eq!((&suggestion["id"], &suggestion["linkType"]), (&first["memory"]["id"], &json!("supersedes")));
    assert!(second["warnings"][0].as_str().unwrap().contains("memory 1 "), "{second}");
    let again = saved(&server, "Deploy script of ours", why);
    assert_eq!((&again["created"], again.get("suggestions")), (&json!(false), None));
}

/// T39, Q7, Z16: a search that finds nothing near enough names the nearest, and how to get it.
#[test]
fn a_search_below_the_least_similarity_names_the_best_there_was() {
    let server = Server::with_model(ProfileName::Krolik);
    saved(&server, "Green lamps", "along the harbour wall at night");
    saved(&server, "Sails of hemp", "are heavy");
    server.engine.embed_pending(&NoProgress).unwrap();
    let ask = |least: f64| {
        let asked = json!({ "query": "wall of stone", "minSimilarity": least, "hybrid": false });
        server.call("krolik_mem_semantic_search", asked)
    };
    let none = ask(0.9);
    assert_eq!(none["count"], 0);
    let warning = none["warnings"][0].as_str().unwrap();
    let nearest = ask(-1.0)["results"][0].clone();
    assert!(warning.contains(&format!("the nearest, memory {}, has 0.", nearest["memory"]["id"])), "{warning}");
    assert!(warning.contains(nearest["memory"]["title"].as_str().unwrap()), "{warning}");
    let reached: f64 = warning.rsplit(' ').next().unwrap().parse().unwrap();
    let found = ask(reached);
    assert_eq!(found["results"][0]["memory"]["id"], nearest["memory"]["id"], "{found}");
    assert_eq!(found.get("warnings"), None, "{found}");
}

/// T20, T34, T36, T40: absolute scores are returned beside the score that is relative to the other candidates.
#[test]
fn raw_scores_stand_beside_the_relevance() {
    let check = |hit: &Value, cosine: &str, bm25: &str| {
        let near = |name: &str| hit[name].as_f64().unwrap_or_else(|| panic!("no {name} in {hit}"));
        assert!((-1.0..=1.0).contains(&near(cosine)) && near(bm25) > 0.0, "{hit}");
    };
    let both = |profile| {
        let server = Server::with_model(profile);
        for (kind, text) in [(Kind::Background, "Green lamps at night"), (Kind::Conversation, "Where are the lamps?")] {
            server.add(kind, text, (profile == ProfileName::Memorizer).then_some(Reach::MAIN));
        }
        server.engine.embed_pending(&NoProgress).unwrap();
        server
    };
    let found = both(ProfileName::Krolik).call("krolik_mem_semantic_search", json!({ "query": "green lamps" }));
    check(&found["results"][0], "vectorScore", "keywordScore");
    assert_eq!(found["results"][0]["relevance"], 100.0);
    let found = both(ProfileName::Mudpuppy).call("memory_search", json!({ "query": "green lamps" }));
    check(&found["results"][0], "vectorScore", "keywordScore");
    let memorizer = both(ProfileName::Memorizer);
    let found = memorizer.call("retrieve_memories", json!({ "query": "green lamps" }));
    check(&found["facts"][0], "vector_score", "keyword_score");
    assert_eq!(found["facts"][0]["relevance"], 100.0);
    check(&found["conversations"][0], "vector_score", "keyword_score");
    let found = memorizer.call("search_conversations", json!({ "query": "green lamps" }));
    check(&found["conversations"][0], "vector_score", "keyword_score");
}

/// R7, R27: retrieval is timestamped, and shown from then on.
#[test]
fn memorizer_retrieval_is_timestamped() {
    let server = Server::memorizer();
    let fact = server.add(Kind::Background, "Green lamps", Some(Reach::MAIN));
    let other = server.add(Kind::Background, "Sails of hemp", Some(Reach::MAIN));
    let before = memorist_engine::now();
    let first = server.call("retrieve_memories", json!({ "query": "lamps" }));
    assert_eq!((ids(&first["facts"]), &first["facts"][0]["last_accessed_at"]), (vec![fact], &Value::Null));
    assert!(server.used(fact, 1).last_accessed_at.unwrap() >= before);
    let listed = server.call("list_facts", json!({}));
    let stamps: Vec<_> =
        listed["facts"].as_array().unwrap().iter().map(|one| one["last_accessed_at"].is_string()).collect();
    assert_eq!((ids(&listed["facts"]), stamps), (vec![other, fact], vec![false, true]));
    let again = server.call("retrieve_memories", json!({ "query": "lamps" }));
    assert!(again["facts"][0]["last_accessed_at"].is_string(), "{again}");
}

/// T36: the total is of all matches, not of the shown ones.
#[test]
fn total_count_is_of_all_that_is_found() {
    let turns = |server: &Server| {
        for number in 0..130 {
            let user = format!("When does ferry {number} leave?");
            let turn = json!({ "user_message": user, "agent_response": "At nine." });
            let stored = server.call("store_conversation", turn);
            assert_eq!(stored.get("facts_extracted"), None, "nothing is extracted");
        }
        server.call("store_conversation", json!({ "user_message": "Is it open?", "agent_response": "Until six" }));
        let theirs = json!({ "user_message": "ferry", "agent_response": "no", "agent_id": "scout" });
        server.call("store_conversation", theirs);
        server.engine.flush(&NoProgress).unwrap();
    };
    let total = |server: &Server, query: &str, limit: i64| {
        let found = server.call("search_conversations", json!({ "query": query, "limit": limit }));
        (found["conversations"].as_array().unwrap().len(), found["total_count"].as_i64().unwrap())
    };
    let by_words = Server::memorizer();
    turns(&by_words);
    assert_eq!(total(&by_words, "ferry", 5), (5, 130));
    assert_eq!(total(&by_words, "six", 5), (1, 1));
    assert_eq!(total(&by_words, "ferr", 5), (5, 130), "by parts of words");
    assert_eq!(total(&by_words, "ferry", 500), (130, 130));

    let by_meaning = Server::with_model(ProfileName::Memorizer);
    turns(&by_meaning);
    by_meaning.engine.embed_pending(&NoProgress).unwrap();
    assert_eq!(total(&by_meaning, "ferry", 5), (5, 131), "by meaning each is found, more or less near");
    assert_eq!(total(&by_meaning, "ferry", 500).1, 131);
    let none = by_meaning.call("search_conversations", json!({ "query": "ferry", "date_to": "2020-01-01" }));
    assert_eq!(none["total_count"], 0);
}

/// X1, T14: every tool that searches reports a failed model, and keyword results do not look like vector results.
#[test]
fn a_failed_model_is_reported_in_every_profile() {
    let by_words = |answer: &Value| {
        let warnings = answer["warnings"].as_array().unwrap_or_else(|| panic!("no warning in {answer}"));
        let said = warnings.iter().filter(|one| one.as_str().unwrap().starts_with("keyword search only: "));
        assert_eq!(said.count(), 1, "{answer}");
    };
    for profile in [ProfileName::Mudpuppy, ProfileName::Full] {
        let server = Server::of(profile);
        let [best, other] =
            ["Green lamps", "A lamp among many other things on a shelf"].map(|text| server.add(Kind::Fact, text, None));
        let search = |mode: &str| server.call("memory_search", json!({ "query": "lamp", "mode": mode }));
        let found = search("vector");
        by_words(&found);
        assert_eq!(ids(&found["results"]), [best, other], "the best words first");
        for hit in found["results"].as_array().unwrap() {
            assert_eq!((&hit["score"], &hit["matchedBy"]), (&json!(0.0), &json!(["keyword"])));
        }
        let found = search("hybrid");
        by_words(&found);
        assert_eq!(found["results"][0]["score"], 1.0, "keywords are a part of what was requested");
        assert_eq!(search("keyword").get("warnings"), None);
    }
    let core = Server::of(ProfileName::Core);
    core.add(Kind::Fact, "Green lamps", None);
    let found = core.said("memory_search", json!({ "query": "lamp" }));
    assert_eq!(found.matches("Note: keyword search only: ").count(), 1, "{found}");
    let krolik = Server::krolik(None);
    saved(&krolik, "Lamps", "are green");
    let found = krolik.call("krolik_mem_semantic_search", json!({ "query": "lamp", "hybrid": false }));
    by_words(&found);
    assert_eq!(found["results"][0]["relevance"], 0.0);
    let memorizer = Server::memorizer();
    by_words(&memorizer.call("retrieve_memories", json!({ "query": "lamp" })));
    by_words(&memorizer.call("search_conversations", json!({ "query": "lamp" })));
}

/// A value for a required parameter.
fn any(name: &str, shape: &Value) -> Value {
    match (shape.get("enum"), shape["type"].as_str()) {
        (Some(values), _) => values[0].clone(),
        (None, Some("string")) => "memories.jsonl".into(),
        (None, Some("number" | "integer")) => 1.into(),
        (None, Some("boolean")) => true.into(),
        (None, Some("array")) => json!([]),
        other => panic!("say here how to fill in {name}: {other:?}"),
    }
}

/// Clients send null for omitted parameters: it counts as absent if optional, and is refused by name if required.
#[test]
fn null_is_absent_in_every_tool_of_every_profile() {
    let mut tried = 0;
    for profile in ProfileName::value_variants() {
        let server = Server::of(*profile);
        for tool in &server.profile.tools {
            let schema = Value::Object((*tool.definition.input_schema).clone());
            let properties = schema["properties"].as_object().unwrap();
            let required: Vec<_> =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let given: Map<String, Value> =
                required.iter().map(|name| ((*name).to_owned(), any(name, &properties[*name]))).collect();
            let name = &tool.definition.name;
            let run = |arguments: Map<String, Value>| server.asked(name, arguments.into());
            let bare = run(given.clone());
            for null in properties.keys() {
                let mut arguments = given.clone();
                arguments.insert(null.clone(), Value::Null);
                let why = run(arguments).err();
                if required.contains(&null.as_str()) {
                    assert_eq!(why.unwrap(), format!("missing field `{null}`"), "{name}");
                } else if bare.is_ok() {
                    assert_eq!(why.filter(|why| why.contains("null")), None, "{profile:?} {name} {null}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 80, "{tried}");
    let mudpuppy = Server::of(ProfileName::Mudpuppy);
    let nulls = json!({ "query": "x", "mode": null, "limit": null, "entryTypes": null, "minConfidence": "high" });
    let refused = mudpuppy.refused("memory_search", nulls);
    assert!(refused.starts_with("minConfidence: invalid type"), "{refused}");
}
