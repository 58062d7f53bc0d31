//! The tools of other systems, over a store that is also used by other tools.

use memorist_engine::types::{Kind, Link, LinkKind, MAX_LIMIT, NewRecord, Query, Reach, RecordId, Viewer};
use serde_json::{Value, json};

use super::testing::{Server, ids};
use crate::args::ProfileName;
use crate::wire::size_up_to;

fn decision(title: &str, project: &str) -> Value {
    json!({ "type": "decision", "title": title, "description": format!("{title} it is"), "project": project })
}

/// T39, T41, T43, T45, R24: without a project, all projects are visible.
#[test]
fn a_krolik_without_a_project_sees_all_projects() {
    let server = Server::krolik(None);
    for (title, project) in [("Lamps", "atlas"), ("Sails", "atlas"), ("Nets", "borealis")] {
        server.call("krolik_mem_save", decision(title, project));
    }
    let link = |to: i64| json!({ "fromId": 1, "toId": to, "linkType": "supersedes" });
    assert_eq!(server.call("krolik_mem_link", link(2))["created"], true);
    assert_eq!(server.call("krolik_mem_link", link(3))["created"], true);
    assert_eq!(ids(&server.call("krolik_mem_chain", json!({ "memoryId": 3 }))["memories"]), [3, 1, 2]);
    assert_eq!(ids(&server.call("krolik_mem_outdated", json!({}))["memories"]), [3, 2]);
    assert_eq!(ids(&server.call("krolik_mem_outdated", json!({ "project": "atlas" }))["memories"]), [2]);
    let found = server.call("krolik_mem_semantic_search", json!({ "query": "lamps" }));
    assert_eq!(found["results"][0]["memory"]["id"], 1);
    // An agent's memories stay its own.
    let scribe = server.add(Kind::Fact, "Lamps of the scribe", Some("scribe"));
    assert_eq!(server.refused("krolik_mem_link", link(scribe)), format!("Memory entry not found: {scribe}"));
}

/// T41, T44, R24: a caller in another project learns how to name it.
#[test]
fn krolik_says_how_another_project_is_reached() {
    let server = Server::krolik(Some("atlas"));
    server.call("krolik_mem_save", decision("Lamps", "atlas"));
    server.call("krolik_mem_save", decision("Nets", "borealis"));
    let mut link = json!({ "fromId": 1, "toId": 2, "linkType": "related" });
    let expected = "Memory entry not found: 2; if it is of another project, give that as project, or \"*\" for any";
    assert_eq!(server.refused("krolik_mem_link", link.clone()), expected);
    let chain = server.call("krolik_mem_chain", json!({ "memoryId": 2 }));
    assert_eq!(chain, json!({ "memories": [], "count": 0, "warnings": [expected] }));
    link["project"] = "*".into();
    assert_eq!(server.call("krolik_mem_link", link)["created"], true);
    let chain = server.call("krolik_mem_chain", json!({ "memoryId": 2, "project": "borealis" }));
    assert_eq!(ids(&chain["memories"]), [2]);
    let chain = server.call("krolik_mem_chain", json!({ "memoryId": 2, "project": "*" }));
    assert_eq!((ids(&chain["memories"]), chain.get("warnings")), (vec![2, 1], None));
}

/// R15: an existing memory is not reported as a new one.
#[test]
fn krolik_says_that_a_memory_was_there() {
    let server = Server::krolik(None);
    let mut asked = decision("Lamps", "atlas");
    assert_eq!(server.call("krolik_mem_save", asked.clone())["created"], true);
    asked["type"] = "pattern".into();
    let again = server.call("krolik_mem_save", asked);
    assert_eq!((&again["created"], &again["memory"]["type"]), (&json!(false), &json!("decision")));
}

/// T31, T34, R8: contacts with a body do not displace facts.
#[test]
fn facts_are_found_behind_contacts() {
    let server = Server::memorizer();
    for number in 0..90 {
        server.add_contact(&format!("Harbour cook {number}"));
    }
    let fact = server.add(
        Kind::Background,
        "Long ago there was a lighthouse at the end of the old harbour",
        Some(Reach::MAIN),
    );
    let first = &server.engine.search(&Query::new("harbour cook")).unwrap().hits;
    assert!(first.iter().all(|hit| hit.record.id.get() != fact), "{first:?}");
    for limit in [1, 5] {
        let found = server.call("retrieve_memories", json!({ "query": "harbour cook", "limit": limit }));
        assert_eq!(ids(&found["facts"]), [fact], "{limit}");
    }
    let listed = server.call("list_facts", json!({}));
    assert_eq!((ids(&listed["facts"]), &listed["total_count"]), (vec![fact], &json!(1)));
}

/// 47.3: metadata makes no row of a plain text.
#[test]
fn a_text_with_metadata_is_a_fact() {
    let server = Server::memorizer();
    let body = Some(json!({ "metadata": { "year": 2024 } }));
    let text = |kind, text: &str| NewRecord { kind, body: body.clone(), ..NewRecord::new(text) };
    let contact = server.engine.add(&text(Kind::Contact, "Ben Baker cooks in Gdynia")).unwrap().id.get();
    // All keys of a profile are its own.
    server.engine.add(&text(Kind::Profile, "Ben")).unwrap();
    let listed = server.call("list_facts", json!({}));
    assert_eq!((ids(&listed["facts"]), &listed["total_count"]), (vec![contact], &json!(1)));
    server.engine.add(&text(Kind::Conversation, "Where does Ben cook?")).unwrap();
    let said = server.call("search_conversations", json!({ "query": "cook" }));
    assert_eq!(said["conversations"][0]["user_message"], "Where does Ben cook?", "{said}");
}

/// D3: other memories do not displace a fact that is nearly the same.
#[test]
fn a_similar_fact_is_named_behind_contacts() {
    let server = Server::memorizer();
    for number in ["one", "two", "three", "four", "five", "six"] {
        server.add_contact(&format!("Ben Baker cook harbour Gdynia {number}"));
    }
    let fact = server.add(Kind::Contact, "Ben Baker cook market Gdynia", Some(Reach::MAIN));
    let asked = json!({ "fact": "Ben Baker cook harbour Gdynia", "category": "contact" });
    assert_eq!(ids(&server.call("store_fact", asked)["similar_existing"]), [fact]);
}

/// T15, T34, T39, T43: a document without a maximum accepts any size; an invalid size is refused by name.
#[test]
fn a_size_above_the_maximum_is_the_maximum() {
    let server = Server::krolik(None);
    server.call("krolik_mem_save", decision("Lamps", "atlas"));
    let chain = server.call("krolik_mem_chain", json!({ "memoryId": 1, "maxDepth": 20 }));
    assert_eq!(chain["count"], 1);
    let refused = server.refused("krolik_mem_chain", json!({ "memoryId": 1, "maxDepth": -1 }));
    assert_eq!(refused, "maxDepth: -1 is negative");

    let others = [
        (Server::krolik(None), "krolik_mem_semantic_search"),
        (Server::memorizer(), "retrieve_memories"),
        (Server::memorizer(), "search_conversations"),
        (Server::memorizer(), "list_facts"),
        (Server::of(ProfileName::Mudpuppy), "memory_search"),
    ];
    for (server, tool) in others {
        let of = |limit: i64| json!({ "query": "lamps", "limit": limit });
        server.call(tool, of(2000));
        assert_eq!(server.refused(tool, of(-5)), "limit: -5 is negative", "{tool}");
        assert_eq!(server.refused(tool, of(0)), "limit: 0 is outside 1 to 1000", "{tool}");
    }
    assert_eq!(size_up_to("limit", crate::wire::Int(7), 5).unwrap(), 5);
}

/// T44: a chain that is cut says so.
#[test]
fn a_chain_that_is_cut_says_so() {
    let server = Server::krolik(None);
    let records: Vec<NewRecord> = (0..=MAX_LIMIT).map(|number| NewRecord::new(format!("Lamp {number}"))).collect();
    let ids: Vec<RecordId> =
        server.engine.add_batch(&records).unwrap().into_iter().map(|one| one.unwrap().id).collect();
    let links: Vec<Link> = ids[1..].iter().map(|to| Link { from: ids[0], to: *to, kind: LinkKind::Related }).collect();
    server.engine.viewed_by(&Viewer::OWNER).link_batch(&links).unwrap();
    let chain = server.call("krolik_mem_chain", json!({ "memoryId": ids[0] }));
    assert_eq!(chain["count"], MAX_LIMIT);
    assert!(chain["warnings"][0].as_str().unwrap().starts_with("there are more than 1000"), "{}", chain["warnings"]);
    server.engine.viewed_by(&Viewer::OWNER).unlink(links[0]).unwrap();
    assert_eq!(server.call("krolik_mem_chain", json!({ "memoryId": ids[0] })).get("warnings"), None);
}
