//! Tests of tokens for several projects: each call is as by a token for the one that it names. Covers each tool of each profile,
//! resources and completions, with the memories of `leaks.rs`.

use clap::ValueEnum;
use memorist_engine::types::Scope;
use rmcp::model::{ArgumentInfo, CompleteRequestParams, CompletionContext, Reference};
use serde_json::{Map, Value, json};

use super::clients::bound_context;
use super::leaks::{AGENTS, PROJECTS, World, calls_of, leak};
use super::only::{of_others, run};
use super::profiles::{Profile, SCOPES};
use super::{completions, resources};
use crate::args::ProfileName;
use crate::ops::Context;

/// A client whose token is for these projects.
fn context(world: &World, profile: ProfileName, projects: &[&str]) -> Context {
    let exports = world.folder.path().join("exports");
    let settings = Context { exports, memory_search: world.files(), ..Context::default() };
    let projects: Vec<String> = projects.iter().map(|name| (*name).to_owned()).collect();
    bound_context(settings, profile, &projects, None).unwrap()
}

/// A project that the token has not.
fn add_hermes(world: &mut World) {
    world.add(Scope { agent: None, project: Some("hermes".into()) });
}

#[test]
fn each_call_acts_as_a_token_of_the_project_that_it_names() {
    let [first, second] = PROJECTS;
    for name in ProfileName::value_variants() {
        let mut world = World::new();
        add_hermes(&mut world);
        let mut state = world.state();
        let several = context(&world, *name, &PROJECTS);
        let mut answered = [0; 3];
        for tool in &Profile::of(*name).tools {
            for (at, (named, project)) in
                [(None, first), (Some(first), first), (Some(second), second)].into_iter().enumerate()
            {
                let own = context(&world, *name, &[project]).defaults;
                for _ in 0..calls_of(Profile::of(*name)) {
                    let mut arguments = world.arguments(tool, &state);
                    arguments.extend(named.map(|project| ("project".to_owned(), project.into())));
                    let answer = run(&world, &several, tool, &arguments);
                    answered[at] += usize::from(answer.is_ok());
                    let answer = answer.unwrap_or_else(Value::String);
                    let after = world.state();
                    let tool = &tool.definition.name;
                    let wrong = leak(&own.own_viewer(), &state, &after, &arguments, &answer);
                    assert_eq!(wrong, "", "{name:?} {tool} {arguments:?} of {project}: {answer}");
                    let (before, now) = (of_others(&state, &own.own_scope()), of_others(&after, &own.own_scope()));
                    assert!(before == now, "{name:?} {tool} {arguments:?} of {project} changed another's: {answer}");
                    state = after;
                }
            }
            state = world.refilled(state);
        }
        assert!(answered.iter().all(|answered| *answered > 4), "{name:?}: {answered:?}");
    }
}

#[test]
fn several_every_tool_refuses_any_other_name() {
    for name in ProfileName::value_variants() {
        let mut world = World::new();
        add_hermes(&mut world);
        let state = world.state();
        let several = context(&world, *name, &PROJECTS);
        for tool in &Profile::of(*name).tools {
            for parameter in SCOPES {
                let other = if parameter == "project" { "hermes" } else { AGENTS[1] };
                for other in [other, "*"] {
                    let mut arguments = world.arguments(tool, &state);
                    arguments.insert(parameter.into(), other.into());
                    let why = run(&world, &several, tool, &arguments).expect_err("it is refused");
                    let said = match parameter {
                        "project" => "bound to project \"apollo\" or \"gemini\"; name one of them",
                        _ => "omit agent",
                    };
                    assert!(why.contains(said), "{name:?} {} {arguments:?}: {why}", tool.definition.name);
                    assert!(world.state() == state, "{name:?} {} {arguments:?}", tool.definition.name);
                }
            }
        }
    }
}

#[test]
fn list_items_may_name_only_the_projects_of_the_token() {
    let world = World::new();
    let several = context(&world, ProfileName::Core, &PROJECTS);
    let add = Profile::of_projects(ProfileName::Core).tool("memory_add").unwrap();
    let list = |last: &str| json!({ "project": "gemini", "items": ["masts", { "content": "keels", "project": last }] });
    let before = world.state();
    let why = run(&world, &several, add, list("hermes").as_object().unwrap()).unwrap_err();
    assert!(why.contains("your token is bound to") && world.state() == before, "{why}");
    let saved = run(&world, &several, add, list("apollo").as_object().unwrap()).unwrap().to_string();
    assert!(saved.contains("in project gemini") && saved.contains("in project apollo"), "{saved}");
    let undo = Profile::of_projects(ProfileName::Core).tool("memory_undo").unwrap();
    let before = world.state();
    for (tool, global) in
        [(add, json!({ "project": "", "items": ["masts of oak"] })), (undo, json!({ "project": "", "ids": [1, 2] }))]
    {
        let why = run(&world, &several, tool, global.as_object().unwrap()).unwrap_err();
        assert!(why.contains("your token is bound to") && world.state() == before, "{why}");
    }
}

#[test]
fn several_the_schema_offers_projects_and_no_agents() {
    for name in ProfileName::value_variants() {
        let takes_project = matches!(name, ProfileName::Core | ProfileName::Full | ProfileName::Krolik);
        assert_eq!(Profile::of_projects(*name).takes("project"), takes_project, "{name:?}");
        for (tool, whole) in Profile::of_projects(*name).tools.iter().zip(&Profile::of(*name).tools) {
            let has = |parameter: &&str, of: &Value| of["properties"].get(parameter).is_some();
            let [own, whole] = [tool, whole].map(|tool| json!(*tool.definition.input_schema));
            assert_eq!(has(&"project", &own), has(&"project", &whole), "{}", tool.definition.name);
            assert!(!SCOPES[1..].iter().any(|parameter| has(parameter, &own)), "{}", tool.definition.name);
        }
    }
}

#[test]
fn several_the_projects_of_the_token_are_counted() {
    let mut world = World::new();
    add_hermes(&mut world);
    let several = context(&world, ProfileName::Core, &PROJECTS);
    let stats = Profile::of_projects(ProfileName::Core).tool("memory_stats").unwrap();
    for call in [json!({}), json!({ "project": "gemini" })] {
        let counted = run(&world, &several, stats, call.as_object().unwrap()).unwrap().to_string();
        let line = counted.split("\\n").find(|line| line.starts_with("all projects: ")).unwrap();
        assert!(PROJECTS.iter().all(|name| line.contains(name)) && !line.contains("hermes"), "{line}");
    }
}

#[test]
fn resources_are_of_the_first_project_and_digests_of_each() {
    let mut world = World::new();
    add_hermes(&mut world);
    let state = world.state();
    let several = context(&world, ProfileName::Core, &PROJECTS);
    let viewers = PROJECTS.map(|project| context(&world, ProfileName::Core, &[project]).defaults.own_viewer());
    for (id, (_, record)) in &state {
        let read = resources::read(&world.engine, &several, &format!("memory://{id}")).unwrap();
        assert_eq!(read.is_some(), viewers[0].sees(&record.scope), "{id}");
    }
    let digest = |of: &str| resources::read(&world.engine, &several, &format!("memory://digest{of}"));
    for (of, viewer) in [("", &viewers[0]), ("/apollo", &viewers[0]), ("/gemini", &viewers[1])] {
        let page = serde_json::to_value(digest(of).unwrap().unwrap()).unwrap();
        assert_eq!(leak(viewer, &state, &state, &Map::new(), &page), "", "{of}");
    }
    for of in ["/hermes", "/*"] {
        assert!(digest(of).unwrap_err().to_string().contains("your token is bound to"), "{of}");
    }
}

#[test]
fn several_completions_are_the_projects_and_the_tags_of_each() {
    let mut world = World::new();
    add_hermes(&mut world);
    let state = world.state();
    for name in [ProfileName::Core, ProfileName::Full] {
        let several = context(&world, name, &PROJECTS);
        let complete = |reference: Reference, argument: &str, project: Option<&str>| {
            let mut request = CompleteRequestParams::new(reference, ArgumentInfo::new(argument, ""));
            let filled = |name: &str| [("project".to_owned(), name.to_owned())].into_iter().collect();
            request.context = project.map(|name| CompletionContext::with_arguments(filled(name)));
            completions::complete(&world.engine, &several, Profile::of_projects(name), &request)
        };
        let recall = || Reference::for_prompt("recall");
        for reference in [Reference::for_resource(resources::DIGESTS), recall()] {
            assert_eq!(complete(reference, "project", None).unwrap().values, PROJECTS);
        }
        for (named, project) in
            [(None, PROJECTS[0]), (Some(PROJECTS[0]), PROJECTS[0]), (Some(PROJECTS[1]), PROJECTS[1])]
        {
            let values = complete(recall(), "topic", named).unwrap().values;
            let viewer = context(&world, name, &[project]).defaults.own_viewer();
            let wrong = leak(&viewer, &state, &state, &Map::new(), &json!(values));
            assert!(!values.is_empty() && wrong.is_empty(), "{named:?}: {wrong}");
        }
        let why = complete(recall(), "topic", Some("hermes")).unwrap_err();
        assert!(why.message.contains("your token is bound to"), "{why:?}");
    }
}

#[test]
fn several_exports_are_files_of_clients_with_the_same_projects() {
    let world = World::new();
    let tool = |name: &str| Profile::of(ProfileName::Full).tool(name).unwrap();
    let several = context(&world, ProfileName::Full, &PROJECTS);
    let export = json!({ "project": "gemini", "file": "ours.jsonl" });
    let file = run(&world, &several, tool("memory_export"), export.as_object().unwrap()).unwrap();
    let written = std::fs::read_to_string(file["structured"]["file"].as_str().unwrap()).unwrap();
    assert!(written.contains("gemini") && !written.contains("apollo"), "{written}");
    let import = json!({ "file": "ours.jsonl" });
    for project in PROJECTS {
        let one = context(&world, ProfileName::Full, &[project]);
        assert_ne!(one.exports, several.exports);
        run(&world, &one, tool("memory_import"), import.as_object().unwrap()).unwrap_err();
    }
    let turned = context(&world, ProfileName::Full, &[PROJECTS[1], PROJECTS[0]]);
    assert_ne!(turned.exports, several.exports);
}
