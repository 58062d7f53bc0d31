use super::*;
use clap::ValueEnum;
use serde_json::{Value, json};

/// Every profile, with its name.
fn all() -> impl Iterator<Item = (String, &'static Profile)> {
    ProfileName::value_variants().iter().map(|name| (format!("{name:?}").to_lowercase(), Profile::of(*name)))
}

fn definitions(profile: &Profile) -> Value {
    serde_json::to_value(profile.tools.iter().map(|tool| &tool.definition).collect::<Vec<_>>()).unwrap()
}

/// The names in a schema's `properties`.
fn names(schema: &Value) -> Vec<&str> {
    schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

fn visit(value: &Value, look: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            look(key, value);
            visit(value, look);
        }),
        Value::Array(items) => items.iter().for_each(|item| visit(item, look)),
        _ => {}
    }
}

#[test]
fn the_lists_are_those_that_were_agreed() {
    for (name, profile) in all() {
        let file = format!("{}/src/mcp/profiles/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let listed = serde_json::to_string_pretty(&definitions(profile)).unwrap() + "\n";
        if std::env::var_os("MEMORIST_UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&file, &listed).unwrap();
        }
        let agreed = std::fs::read_to_string(&file).unwrap_or_default();
        let first = listed.lines().zip(agreed.lines()).find(|(listed, agreed)| listed != agreed);
        assert!(
            listed == agreed,
            "{name}: {first:?}: if this is meant, run again with MEMORIST_UPDATE_SNAPSHOTS=1 and review {file}"
        );
    }
}

#[test]
fn strict_clients_have_nothing_to_warn_about() {
    for (_, profile) in all() {
        visit(&definitions(profile), &mut |key, value| {
            assert!(!(key == "format" && value.is_string()), "format: {value}");
            assert!(!(key == "type" && value.is_array()), "types: {value}");
            assert!(!["$schema", "$ref", "$defs", "nullable"].contains(&key), "{key}");
            assert!(value.as_object().is_none_or(|schema| !schema.is_empty() || key == "properties"), "{key}: {value}");
        });
    }
}

#[test]
fn every_tool_says_what_a_client_needs() {
    for (profile, tools) in all() {
        for tool in definitions(tools).as_array().unwrap() {
            let name = &tool["name"];
            for field in ["title", "description"] {
                assert!(tool[field].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {field}");
            }
            assert_eq!(tool["annotations"]["openWorldHint"], json!(false), "{name}");
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(tool[schema]["type"], "object", "{name} {schema}");
            }
            // Its own tools refuse a parameter that they do not know; those of other systems pass it over.
            let strict = ["core", "full"].contains(&profile.as_str()).then_some(json!(false));
            assert_eq!(tool["inputSchema"].get("additionalProperties"), strict.as_ref(), "{name}");
        }
    }
}

#[test]
fn the_full_profile_begins_with_the_core() {
    let (core, full) = (Profile::of(ProfileName::Core), Profile::of(ProfileName::Full));
    assert!(core.tools.len() <= 8 && core.tools.len() < full.tools.len());
    for (few, all) in core.tools.iter().zip(&full.tools) {
        assert_eq!(few.definition.name, all.definition.name);
    }
}

#[test]
fn names_are_those_of_the_specification() {
    let all = definitions(Profile::of(ProfileName::Full));
    let tool = |name: &str| all.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
    let add = tool("memory_add");
    assert_eq!(
        names(&add["inputSchema"])[..8],
        ["content", "entryType", "source", "context", "confidence", "importance", "tags", "expiresAt"]
    );
    assert_eq!(add["inputSchema"]["required"], json!(["content"]));
    let wanted = ["id", "created", "duplicate", "embedding", "warnings", "suggestions"];
    assert_eq!(names(&add["outputSchema"]), wanted);
    let search = tool("memory_search");
    let wanted = ["query", "mode", "limit", "entryTypes", "minImportance", "minConfidence", "tags"];
    assert_eq!(names(&search["inputSchema"])[..7], wanted);
    assert_eq!(search["inputSchema"]["required"], json!(["query"]));
    let hit = &search["outputSchema"]["properties"]["results"]["items"];
    let wanted = ["id", "content", "entryType", "source", "context", "confidence", "importance", "tags"];
    assert_eq!(names(hit)[..8], wanted);
    assert_eq!(names(hit)[8..11], ["score", "matchedBy", "createdAt"]);
    assert_eq!(names(&tool("memory_get")["inputSchema"]), ["id", "project", "agent"]);
    let entry = &tool("memory_get")["outputSchema"]["properties"]["entry"];
    let wanted = ["id", "content", "contentHash", "entryType", "source", "context", "confidence", "importance"];
    assert_eq!(names(entry)[..8], wanted);
    let wanted = ["tags", "createdAt", "updatedAt", "expiresAt", "accessCount", "lastAccessedAt"];
    assert_eq!(names(entry)[8..14], wanted);
    let stats = tool("memory_stats");
    let wanted = ["totalEntries", "byType", "avgImportance", "avgConfidence", "totalAccesses"];
    assert_eq!(names(&stats["outputSchema"])[..5], wanted);
    assert_eq!(names(&stats["outputSchema"])[5..7], ["oldestEntry", "newestEntry"]);
    assert_eq!(names(&stats["inputSchema"]), ["project", "agent"]);
    assert_eq!(names(&tool("memory_delete")["outputSchema"]), ["success", "deleted"]);
}

#[test]
fn the_tools_cost_little() {
    // At 3.5 characters a token below 4,000 tokens. The tokenizers o200k, cl100k and Claude's of 2023 count one for
    // each 4.1 to 4.3 characters of this JSON, so that it is nearer to 3,400.
    let size = serde_json::to_string(&definitions(Profile::of(ProfileName::Core))).unwrap().len();
    assert!(size < 14_000, "{size} characters");
}
