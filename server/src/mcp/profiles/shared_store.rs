//! One store shared by all profiles: what one saves, each of the others shows, as far as its tools can.

use memorist_engine::types::{Kind, NewRecord, NewSource, PassedOver, Reach, Scope, SourceKind};
use serde_json::{Value, json};

use super::testing::{Server, ids};
use crate::args::ProfileName;
use crate::mcp::resources;

/// A memory of every kind, of no agent. Returns the ids, in the order of the kinds.
fn one_of_each(server: &Server) -> Vec<i64> {
    Kind::ALL.iter().map(|kind| server.add(*kind, &format!("Lamp of the {kind}"), None)).collect()
}

/// The ids of these kinds in what [`one_of_each`] returned.
fn of(ids: &[i64], kinds: &[Kind]) -> Vec<i64> {
    kinds.iter().map(|kind| ids[*kind as usize]).collect()
}

fn sorted(mut ids: Vec<i64>) -> Vec<i64> {
    ids.sort_unstable();
    ids
}

/// T3, T16, T22, T27: each kind is shown as the nearest of Mudpuppy's types, and a filter by type finds all of its
/// kinds.
#[test]
fn mudpuppy_shows_every_kind_as_one_of_its_types() {
    let server = Server::of(ProfileName::Mudpuppy);
    let all = one_of_each(&server);
    let types = ["fact", "preference", "event", "insight", "task", "relationship"];
    for id in &all {
        let entry = server.call("memory_get", json!({ "id": id }))["entry"].clone();
        assert!(types.contains(&entry["entryType"].as_str().unwrap()), "{entry}");
    }
    let found = |types: Option<Value>| {
        let found = server.call("memory_search", json!({ "query": "lamp", "limit": 50, "entryTypes": types }));
        sorted(ids(&found["results"]))
    };
    assert_eq!(found(None), all);
    assert_eq!(found(Some(json!(types))), all);
    let insights = [Kind::Insight, Kind::Decision, Kind::Pattern, Kind::Bugfix];
    assert_eq!(found(Some(json!(["insight"]))), of(&all, &insights));
    let stats = server.call("memory_stats", json!({}));
    assert_eq!(stats["totalEntries"], 16);
    let counts = stats["byType"].as_object().unwrap();
    assert!(counts.keys().all(|name| types.contains(&name.as_str())), "{stats}");
    assert_eq!(counts.values().map(|number| number.as_i64().unwrap()).sum::<i64>(), 16);
    assert_eq!(counts["insight"], insights.len());
    assert_eq!(server.call("memory_delete", json!({ "id": all[6] })), json!({ "success": true, "deleted": true }));
}

/// T31, T34, T36, R8: facts are of every kind except conversations, which have separate tools.
#[test]
fn memorizer_shows_every_kind_in_one_of_its_categories() {
    let server = Server::memorizer();
    let all = one_of_each(&server);
    let conversation = all[Kind::Conversation as usize];
    let facts: Vec<i64> = all.iter().copied().filter(|id| *id != conversation).collect();
    let listed = |category: Option<&str>| {
        let listed = server.call("list_facts", json!({ "category": category }));
        assert_eq!(listed["total_count"], listed["facts"].as_array().unwrap().len());
        sorted(ids(&listed["facts"]))
    };
    assert_eq!(listed(None), facts);
    let patterns = of(&all, &[Kind::Insight, Kind::Pattern, Kind::Bugfix, Kind::Skill]);
    assert_eq!(listed(Some("pattern")), patterns);
    let found = server.call("retrieve_memories", json!({ "query": "lamp", "limit": 50 }));
    assert_eq!(sorted(ids(&found["facts"])), facts);
    assert_eq!(ids(&found["conversations"]), [conversation]);
    let categories = ["preference", "background", "pattern", "project", "contact", "decision"];
    for fact in found["facts"].as_array().unwrap() {
        assert!(categories.contains(&fact["category"].as_str().unwrap()), "{fact}");
    }
    // A fact of its own can be changed, also if its kind cannot be saved.
    let task = server.add(Kind::Task, "Trim the wick", Some(Reach::MAIN));
    let updated = server.call("update_fact", json!({ "fact_id": task, "fact": "Trim the wicks" }));
    assert_eq!((&updated["old_fact"], &updated["category"]), (&json!("Trim the wick"), &json!("project")));
    assert_eq!(server.record(task).kind, Kind::Task, "only how it is shown is another");
}

/// T39, T43, T47.
#[test]
fn krolik_shows_every_kind_as_one_of_its_types() {
    let server = Server::krolik(None);
    let all = one_of_each(&server);
    let types = ["decision", "pattern", "bugfix", "fact", "preference", "event", "insight", "task", "relationship"];
    let knows = |name: &str| types.contains(&name) || name == "background";
    let found = server.call("krolik_mem_semantic_search", json!({ "query": "lamp", "limit": 50 }));
    let memories = found["results"].as_array().unwrap();
    assert_eq!(memories.len(), all.len());
    for one in memories {
        assert!(knows(one["memory"]["type"].as_str().unwrap()), "{one}");
    }
    let digest = server.call("krolik_mem_digest", json!({}));
    let counts = digest["summary"]["byType"].as_object().unwrap();
    assert!(counts.keys().all(|name| knows(name)), "{digest}");
    assert_eq!(counts.values().map(|number| number.as_i64().unwrap()).sum::<i64>(), 16);
    for (name, list) in [("decision", "keyDecisions"), ("pattern", "activePatterns"), ("bugfix", "recentBugfixes")] {
        assert_eq!(counts[name], 1, "what is counted as a {name} is what {list} has");
    }
}

/// T16: the types are a filter within the search, not one of its results.
#[test]
fn a_filter_by_type_loses_no_result_to_other_types() {
    let server = Server::of(ProfileName::Mudpuppy);
    let facts: Vec<NewRecord> = (0..400).map(|number| NewRecord::new(format!("lamp lamp {number}"))).collect();
    server.engine.add_batch(&facts).unwrap();
    let filler = "which burns all night by the door of the old house on the hill above the town";
    let decisions: Vec<i64> =
        (0..3).map(|number| server.add(Kind::Decision, &format!("lamp {number} {filler}"), None)).collect();
    let found = server.call("memory_search", json!({ "query": "lamp", "entryTypes": ["insight"], "limit": 3 }));
    assert_eq!(sorted(ids(&found["results"])), decisions);
}

/// T10, T11, T30, D1, D2, R15: a text that another profile saved is a duplicate, not an error.
#[test]
fn a_text_that_another_profile_saved_is_a_duplicate() {
    let mudpuppy = Server::of(ProfileName::Mudpuppy);
    let decision = mudpuppy.add(Kind::Decision, "We use OAuth", None);
    let again = mudpuppy.call("memory_add", json!({ "content": "We use OAuth" }));
    assert_eq!(again, json!({ "id": decision, "created": false, "duplicate": true }));
    assert_eq!(mudpuppy.call("memory_get", json!({ "id": decision }))["entry"]["content"], "We use OAuth");

    let memorizer = Server::memorizer();
    let fact = |text: &str| json!({ "fact": text, "category": "contact" });
    let task = memorizer.add(Kind::Task, "Call Ben Baker", Some(Reach::MAIN));
    let again = memorizer.call("store_fact", fact("Call Ben Baker"));
    assert_eq!(
        (&again["fact_id"], &again["message"]),
        (&json!(task), &json!("Fact already exists, updated timestamp"))
    );
    let row = memorizer.add_contact("Ben Baker");
    let again = memorizer.call("store_fact", fact(&memorizer.record(row).content));
    let expected = format!("Already there as memory {row}, a contact");
    assert_eq!((&again["fact_id"], &again["message"]), (&json!(row), &json!(expected)));

    let krolik = Server::krolik(None);
    let contact = krolik.add(Kind::Contact, "Ben Baker cook", None);
    let again = json!({ "type": "fact", "title": "Ben Baker", "description": "cook" });
    let again = krolik.call("krolik_mem_save", again);
    assert_eq!((&again["memory"]["id"], &again["created"]), (&json!(contact), &json!(false)));
}

/// R23: what an agent of Memorizer has saved without naming itself is no secret of that agent.
#[test]
fn the_default_agents_facts_are_found_through_every_profile() {
    for (profile, tool, list) in [
        (ProfileName::Full, "memory_search", "results"),
        (ProfileName::Mudpuppy, "memory_search", "results"),
        (ProfileName::Krolik, "krolik_mem_semantic_search", "results"),
        (ProfileName::Memorizer, "retrieve_memories", "facts"),
    ] {
        let server = Server::of(profile);
        server.add(Kind::Fact, "The ferry leaves at nine", Some(Reach::MAIN));
        server.add(Kind::Fact, "The ferry leaves at ten", Some("scout"));
        let found = server.call(tool, json!({ "query": "ferry" }));
        let shown = found.to_string();
        assert_eq!(found[list].as_array().map(Vec::len), Some(1), "{profile:?}: {found}");
        assert!(shown.contains("at nine"), "{profile:?}: {found}");
    }
    let core = Server::of(ProfileName::Core);
    let fact = core.add(Kind::Fact, "The ferry leaves at nine", Some(Reach::MAIN));
    assert!(core.said("memory_search", json!({ "query": "ferry" })).contains("at nine"));
    core.said("memory_update", json!({ "id": fact, "content": "The ferry leaves at eight" }));
    assert_eq!(core.record(fact).scope.agent.as_deref(), Some(Reach::MAIN), "it stays with its agent");
}

/// D3: similar facts are named whatever tool saved them, if they are shown in the same category.
#[test]
fn a_similar_fact_of_another_profile_is_named() {
    let server = Server::memorizer();
    let fact = server.add(Kind::Fact, "Ben Baker sells bread at the market in Gdynia", Some(Reach::MAIN));
    let asked = json!({ "fact": "Ben Baker sells bread at the harbour in Gdynia", "category": "background" });
    assert_eq!(ids(&server.call("store_fact", asked)["similar_existing"]), [fact]);
}

/// T22, T25: a profile's tools show a memory exactly if it is readable as a resource.
#[test]
fn tools_and_resources_show_the_same_memories() {
    let servers = [
        (Server::of(ProfileName::Full), "memory_get", "id", "/entry"),
        (Server::of(ProfileName::Mudpuppy), "memory_get", "id", "/entry"),
        (Server::krolik(None), "krolik_mem_chain", "memoryId", "/memories/0"),
        (Server::krolik(Some("atlas")), "krolik_mem_chain", "memoryId", "/memories/0"),
    ];
    for (server, tool, parameter, shown) in servers {
        let mut saw = [0, 0];
        for kind in Kind::ALL {
            for (agent, project) in [(None, None), (None, Some("atlas")), (None, Some("borealis")), (Some("ann"), None)]
            {
                let scope = Scope { agent: agent.map(str::to_owned), project: project.map(str::to_owned) };
                let new = NewRecord { kind, scope: scope.clone(), ..NewRecord::new(format!("Lamp of the {kind}")) };
                let id = server.engine.add(&new).unwrap().id;
                let got = server.call(tool, json!({ parameter: id }));
                let read = resources::read(&server.engine, &server.context, &format!("memory://{id}")).unwrap();
                assert_eq!(got.pointer(shown).is_some(), read.is_some(), "{tool} of a {kind} of {scope:?}: {got}");
                saw[usize::from(read.is_some())] += 1;
            }
        }
        assert!(saw[0] > 0 && saw[1] > 0, "{tool}: {saw:?}");
    }
}

/// R23: an agent sees memories that belong to no agent, and changes only its own.
#[test]
fn a_memorizer_agent_changes_nothing_that_belongs_to_no_agent() {
    let server = Server::memorizer();
    let shared = server.add(Kind::Background, "The lamp is red", None);
    let scouts = server.add(Kind::Background, "The lamp is blue", Some("scout"));
    let own = server.add(Kind::Background, "The lamp is green", Some(Reach::MAIN));
    assert_eq!(ids(&server.call("list_facts", json!({}))["facts"]), [own, shared]);
    let before = server.record(shared);
    for agent in [Value::Null, json!(Reach::MAIN), json!("scout"), json!("nobody")] {
        for (tool, arguments) in [
            ("update_fact", json!({ "fact_id": shared, "fact": "The lamp is out", "agent_id": agent })),
            ("delete_fact", json!({ "fact_id": shared, "agent_id": agent })),
        ] {
            let refused = server.refused(tool, arguments);
            assert!(refused.starts_with(&format!("Fact with ID {shared} belongs to no agent")), "{refused}");
        }
    }
    let refused = server.refused("delete_fact", json!({ "fact_id": scouts }));
    assert_eq!(refused, format!("Fact with ID {scouts} not found"));

    // Nor by a file: a newer version replaces it only if its owner imports it.
    server.call("export_memory", json!({}));
    let file = server.context.exports.join("memories.jsonl");
    let newer = std::fs::read_to_string(&file).unwrap().replace("The lamp is", "The lamp was");
    let newer = newer.replace("\"version\":1", "\"version\":2");
    std::fs::write(&file, newer).unwrap();
    let imported = server.call("import_memory", json!({ "file": "memories.jsonl" }));
    assert_eq!((&imported["replaced"], &imported["refused"]), (&json!(1), &json!(1)), "{imported}");
    assert_eq!(server.record(own).content, "The lamp was green");
    assert_eq!(server.record(shared), before);
    assert_eq!(server.call("delete_fact", json!({ "fact_id": own })), json!({ "deleted_fact": "The lamp was green" }));
}

/// 45.8: files that could not be read are named where memories are counted.
#[test]
fn statistics_name_the_files_that_were_not_read() {
    let source = |server: &Server, files: u64| {
        let scope = Scope::default();
        let new = NewSource { kind: SourceKind::Notes, path: "/notes".into(), format: None, globs: Vec::new(), scope };
        let (id, _) = server.engine.add_source(&new).unwrap();
        let named = (0..files.min(20)).map(|number| (format!("/notes/{number}\n.md"), "too large".to_owned()));
        let passed_over = PassedOver { files: named.collect(), all_files: files, ..PassedOver::default() };
        server.engine.finish_sync(id, &passed_over).unwrap();
    };
    let core = Server::of(ProfileName::Core);
    source(&core, 0);
    assert!(!core.said("memory_stats", json!({})).contains("not read"));
    source(&core, 7);
    let said = core.said("memory_stats", json!({}));
    let line = said.lines().find(|line| line.starts_with("files not read: ")).unwrap_or_else(|| panic!("{said}"));
    assert!(
        line.starts_with("files not read: 7 (/notes/0 .md: too large; ") && line.ends_with("; and 2 more)"),
        "{line}"
    );
    let full = Server::of(ProfileName::Full);
    assert_eq!(full.call("memory_stats", json!({})).get("unread"), None);
    source(&full, 7);
    let unread = full.call("memory_stats", json!({}))["unread"].clone();
    assert_eq!((&unread["count"], unread["files"].as_array().unwrap().len()), (&json!(7), 5));
    assert_eq!(unread["files"][1], json!({ "path": "/notes/1\n.md", "why": "too large" }));
}
