//! Tests of `serve --isolate`, and of tokens that are bound: no call may name another project or agent, and none changes memories
//! of others. Covers each tool of each profile, resources, prompts and completions, with the memories of `leaks.rs`.

use clap::ValueEnum;
use memorist_engine::types::{Kind, LinkKind, NewRecord, Record, RecordId, Scope, Viewer};
use rmcp::model::{ArgumentInfo, CompleteRequestParams, CompletionContext, Reference};
use serde_json::{Map, Value, json};

use super::clients::{bound_context, context};
use super::leaks::{AGENTS, PROJECTS, StoreContents, World, calls_of, leak};
use super::profiles::{Profile, SCOPES, ToolDef};
use super::{completions, prompts, resources};
use crate::args::ProfileName;
use crate::ops::Context;
use crate::wire::Defaults;

/// A server with `--isolate`.
fn only_context(world: &World, profile: ProfileName, project: Option<&str>, agent: Option<&str>) -> Context {
    let defaults = Defaults::named(project.map(str::to_owned), agent.map(str::to_owned)).unwrap();
    let exports = world.folder.path().join("exports");
    context(Context { defaults, exports, memory_search: world.files(), ..Context::default() }, profile, true).unwrap()
}

/// Servers of a project, of an agent, and of both; and clients whose tokens are bound to a project, and to both.
fn only_contexts(world: &World, profile: ProfileName) -> [Context; 5] {
    let only = |project, agent| only_context(world, profile, project, agent);
    let bound = |agent: Option<&str>| {
        let exports = world.folder.path().join("exports");
        let settings = Context { exports, memory_search: world.files(), ..Context::default() };
        bound_context(settings, profile, &[PROJECTS[0].into()], agent.map(str::to_owned)).unwrap()
    };
    let (project, agent) = (Some(PROJECTS[0]), Some(AGENTS[0]));
    [only(project, None), only(None, agent), only(project, agent), bound(None), bound(agent)]
}

/// Whether an error says that another name is refused.
fn refuses(why: &str) -> bool {
    why.contains("--isolate") || why.contains("your token is bound to")
}

pub(super) fn run(
    world: &World,
    context: &Context,
    tool: &ToolDef,
    arguments: &Map<String, Value>,
) -> Result<Value, String> {
    let answer = (tool.run)(&world.engine, context, arguments.clone())?;
    Ok(json!({ "structured": answer.structured, "words": answer.words }))
}

/// The memories outside of this scope, and the links between them; without access counts.
pub(super) fn of_others(state: &StoreContents, own: &Scope) -> StoreContents {
    let is_other = |id: &RecordId| state.get(id).is_some_and(|(_, record)| record.scope != *own);
    let others = state.iter().filter(|(id, _)| is_other(id));
    let unread = |record: &Record| Record { access_count: 0, last_accessed_at: None, ..record.clone() };
    others
        .map(|(id, (links, record))| {
            let links = links.iter().filter(|link| is_other(&link.other_end(*id))).copied();
            (*id, (links.collect(), unread(record)))
        })
        .collect()
}

#[test]
fn only_no_tool_shows_or_changes_records_of_others() {
    for name in ProfileName::value_variants() {
        let mut world = World::new();
        let mut state = world.state();
        let mut answered = 0;
        for tool in &Profile::of(*name).tools {
            for context in only_contexts(&world, *name) {
                for _ in 0..calls_of(Profile::of(*name)) {
                    let arguments = world.arguments(tool, &state);
                    let answer = run(&world, &context, tool, &arguments);
                    answered += usize::from(answer.is_ok());
                    let answer = answer.unwrap_or_else(Value::String);
                    let after = world.state();
                    let wrong = leak(&context.defaults.own_viewer(), &state, &after, &arguments, &answer);
                    let (tool, own) = (&tool.definition.name, context.defaults.own_scope());
                    assert_eq!(wrong, "", "{name:?} {tool} {arguments:?} of {own:?}: {answer}");
                    let (before, now) = (of_others(&state, &own), of_others(&after, &own));
                    assert!(before == now, "{name:?} {tool} {arguments:?} of {own:?} changed another's: {answer}");
                    state = after;
                }
            }
            state = world.refilled(state);
        }
        assert!(answered > 20, "{name:?}: {answered}");
    }
}

#[test]
fn only_every_tool_refuses_another_name() {
    for name in ProfileName::value_variants() {
        let mut world = World::new();
        let state = world.state();
        let mut refused = 0;
        for tool in &Profile::of(*name).tools {
            let parameters = &tool.definition.input_schema["properties"];
            for context in only_contexts(&world, *name) {
                // Also if the tool has no such parameter.
                for parameter in SCOPES {
                    let (own, other) = match parameter {
                        "project" => (context.defaults.project(), PROJECTS[1]),
                        _ => (context.defaults.agent(), AGENTS[1]),
                    };
                    let mut others = vec![json!(other), json!("*")];
                    // Where null is the default of another system, it means the server's own.
                    let takes_null =
                        matches!(name, ProfileName::Core | ProfileName::Full) && parameters.get(parameter).is_some();
                    others.extend((takes_null && own.is_some()).then_some(Value::Null));
                    for other in others {
                        let mut arguments = world.arguments(tool, &state);
                        arguments.insert(parameter.into(), other.clone());
                        let why = run(&world, &context, tool, &arguments).expect_err("it is refused");
                        let tool = &tool.definition.name;
                        assert!(refuses(&why), "{name:?} {tool} {arguments:?}: {why}");
                        assert!(world.state() == state, "{name:?} {tool} {arguments:?}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused > 0, "{name:?}");
    }
}

#[test]
fn only_nothing_offers_a_name() {
    for name in ProfileName::value_variants() {
        let profile = Profile::of_only(*name);
        assert_eq!(profile.tools.len(), Profile::of(*name).tools.len());
        for tool in &profile.tools {
            let parameters = &tool.definition.input_schema["properties"];
            assert!(SCOPES.iter().all(|scope| parameters.get(scope).is_none()), "{}", tool.definition.name);
        }
        let arguments = prompts::all(profile).into_iter().flat_map(|prompt| prompt.arguments.unwrap_or_default());
        assert_eq!(arguments.map(|argument| argument.name).find(|name| name == "project"), None);
    }
}

#[test]
fn only_resources_are_those_in_view() {
    let world = World::new();
    let state = world.state();
    for context in only_contexts(&world, ProfileName::Core) {
        let viewer = context.defaults.own_viewer();
        for (id, (_, record)) in &state {
            let read = resources::read(&world.engine, &context, &format!("memory://{id}")).unwrap();
            assert_eq!(read.is_some(), viewer.sees(&record.scope), "{id} by {viewer:?}");
        }
        let digest = |uri: &str| resources::read(&world.engine, &context, uri);
        let own = serde_json::to_value(digest("memory://digest").unwrap()).unwrap();
        assert_eq!(leak(&viewer, &state, &state, &Map::new(), &own), "");
        let own = context.defaults.project();
        for project in PROJECTS.into_iter().chain(["*"]) {
            let read = digest(&format!("memory://digest/{project}"));
            match read {
                Ok(read) => assert!(read.is_some() && own == Some(project), "{project}"),
                Err(why) => assert!(own != Some(project) && refuses(&why.to_string()), "{why}"),
            }
        }
    }
}

#[test]
fn only_completions_are_those_in_view() {
    let world = World::new();
    let state = world.state();
    for name in ProfileName::value_variants() {
        let profile = Profile::of_only(*name);
        for context in only_contexts(&world, *name) {
            let complete = |reference: Reference, argument: &str, typed: &str, project: Option<&str>| {
                let mut request = CompleteRequestParams::new(reference, ArgumentInfo::new(argument, typed));
                let filled = |name: &str| [("project".to_owned(), name.to_owned())].into_iter().collect();
                request.context = project.map(|name| CompletionContext::with_arguments(filled(name)));
                completions::complete(&world.engine, &context, profile, &request)
            };
            let digests = || Reference::for_resource(resources::DIGESTS);
            let own: Vec<String> = context.defaults.project().into_iter().map(str::to_owned).collect();
            assert_eq!(complete(digests(), "project", "", None).unwrap().values, own);
            let recall = || Reference::for_prompt("recall");
            for typed in ["", "own", "harb", "a"] {
                let values = complete(recall(), "topic", typed, None).unwrap().values;
                let wrong = leak(&context.defaults.own_viewer(), &state, &state, &Map::new(), &json!(values));
                assert_eq!(wrong, "", "{typed}: {values:?}");
            }
            let why = complete(recall(), "topic", "", Some(PROJECTS[1])).unwrap_err();
            assert!(refuses(&why.message), "{why:?}");
        }
    }
}

/// A memory of its own and a shared one, with `--isolate` for the project `apollo`, or the agent `main`.
fn own_and_shared(profile: ProfileName) -> (World, Context, [RecordId; 2]) {
    let world = World::new();
    let context = match profile {
        ProfileName::Memorizer => only_context(&world, profile, None, None),
        _ => only_context(&world, profile, Some("apollo"), None),
    };
    let ids = [context.defaults.own_scope(), Scope::default()].map(|scope| {
        let text = format!("lanterns of {scope:?}");
        world.engine.add(&NewRecord { kind: Kind::Pattern, scope, ..NewRecord::new(text) }).unwrap().id
    });
    (world, context, ids)
}

#[test]
fn only_what_is_shared_is_read_and_not_changed() {
    let (world, context, [own, shared]) = own_and_shared(ProfileName::Full);
    let profile = Profile::of_only(ProfileName::Full);
    let call = |tool: &str, arguments: Value| {
        run(&world, &context, profile.tool(tool).unwrap(), arguments.as_object().unwrap())
    };
    let read = call("memory_get", json!({ "id": shared })).unwrap();
    assert_eq!(read["structured"]["entry"]["id"], shared.get());
    call("memory_update", json!({ "id": own, "importance": 7 })).unwrap();
    call("memory_link", json!({ "fromId": own, "toId": shared, "linkType": "supersedes" })).unwrap();
    let other = world.engine.add(&NewRecord::new("another shared memory")).unwrap().id;
    let link = |kind: LinkKind| json!({ "fromId": shared, "toId": other, "linkType": kind });
    let linked = memorist_engine::types::Link { from: shared, kind: LinkKind::Related, to: other };
    world.engine.viewed_by(&Viewer::OWNER).link(linked).unwrap();
    for (tool, arguments) in [
        ("memory_update", json!({ "id": shared, "importance": 7 })),
        ("memory_rollback", json!({ "id": shared, "version": 1 })),
        ("memory_delete", json!({ "id": shared })),
        ("memory_purge", json!({ "ids": [own, shared], "confirm": true })),
        ("memory_purge", json!({ "text": "lanterns", "confirm": true })),
        ("memory_link", link(LinkKind::Supersedes)),
        ("memory_unlink", link(LinkKind::Related)),
    ] {
        let why = call(tool, arguments).unwrap_err();
        assert!(why.contains("belongs to no project") && why.contains("\"apollo\""), "{tool}: {why}");
    }
    let state = world.state();
    assert!(state.contains_key(&own) && state[&shared].1.version == 1 && state[&other].0 == [linked]);
    let added = call("memory_add", json!({ "content": "lanterns at noon" })).unwrap();
    let added = RecordId::from(added["structured"]["id"].as_i64().unwrap());
    assert_eq!(world.state()[&added].1.scope, context.defaults.own_scope());
    call("memory_purge", json!({ "ids": [own, added], "confirm": true })).unwrap();
    // The sizes of the indexes are about everyone's memories, as are the files beside the store.
    assert_eq!(call("memory_stats", json!({})).unwrap()["structured"].get("indexes"), None);
}

#[test]
fn only_a_fact_of_no_agent_stays() {
    let (world, context, [own, shared]) = own_and_shared(ProfileName::Memorizer);
    let profile = Profile::of_only(ProfileName::Memorizer);
    let call = |tool: &str, id: RecordId| {
        let arguments = json!({ "fact_id": id, "fact": "lanterns go out" });
        run(&world, &context, profile.tool(tool).unwrap(), arguments.as_object().unwrap())
    };
    for tool in ["update_fact", "delete_fact"] {
        call(tool, shared).unwrap_err();
        call(tool, own).unwrap();
    }
    assert_eq!(world.state()[&shared].1.version, 1);
}

#[test]
fn only_exports_are_files_of_its_own() {
    let (world, context, [own, _]) = own_and_shared(ProfileName::Full);
    let exports = world.folder.path().join("exports");
    std::fs::create_dir_all(&exports).unwrap();
    let line = json!({ "content": "whose lanterns are these" }).to_string();
    std::fs::write(exports.join("memories.jsonl"), &line).unwrap();
    let call = |tool: &str, arguments: Value| {
        run(&world, &context, Profile::of(ProfileName::Full).tool(tool).unwrap(), arguments.as_object().unwrap())
    };
    call("memory_import", json!({ "file": "memories.jsonl" })).unwrap_err();
    let export = call("memory_export", json!({})).unwrap();
    assert_eq!(std::fs::read_to_string(exports.join("memories.jsonl")).unwrap(), line, "another's file");
    let file = export["structured"]["file"].as_str().unwrap();
    let written = std::fs::read_to_string(file).unwrap();
    let foreign = |line: &&str| line.contains("gemini") || line.contains("\"ann\"");
    assert!(written.contains("lanterns") && !written.lines().any(|line| foreign(&line)), "{written}");
    // Lines of another scope are imported into one's own, or not at all.
    let state = world.state();
    std::fs::write(file, written.replace("apollo", "gemini") + &line).unwrap();
    let import = call("memory_import", json!({ "file": "memories.jsonl" })).unwrap();
    assert_eq!(import["structured"]["created"], 1, "{import}");
    let after = world.state();
    let new: Vec<_> = after.iter().filter(|(id, _)| !state.contains_key(id)).collect();
    assert_eq!(new.iter().map(|(_, (_, record))| &record.scope).collect::<Vec<_>>(), [&context.defaults.own_scope()]);
    assert!(after.contains_key(&own));
}
