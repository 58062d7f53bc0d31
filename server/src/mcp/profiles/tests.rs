use super::*;
use clap::ValueEnum;
use rmcp::model::Tool;
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

/// 43.4: the keywords that Anthropic, OpenAI in strict mode, Gemini and Vertex all take, with one type each and no null.
#[test]
fn every_schema_of_parameters_is_taken_by_strict_gateways() {
    const KEYWORDS: [&str; 13] = [
        "additionalProperties", "default", "description", "enum", "items", "maxItems", "maximum", "minItems",
        "minLength", "minimum", "properties", "required", "type",
    ];
    fn check(schema: &Value, place: &str) {
        let schema = schema.as_object().unwrap_or_else(|| panic!("{place}: {schema}"));
        let unknown: Vec<_> = schema.keys().filter(|key| !KEYWORDS.contains(&key.as_str())).collect();
        assert!(unknown.is_empty(), "{place}: {unknown:?}");
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or_else(|| panic!("{place} has no type"));
        assert_ne!(kind, "null", "{place}");
        assert!(
            schema
                .get("enum")
                .is_none_or(|names| kind == "string" && names.as_array().unwrap().iter().all(Value::is_string))
        );
        match kind {
            "array" => check(schema.get("items").unwrap_or_else(|| panic!("{place} has no items")), place),
            "object" => {
                for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    check(schema, &format!("{place}.{name}"));
                }
            }
            _ => {}
        }
    }
    for (profile, tools) in all() {
        for tool in &tools.tools {
            let name = &tool.definition.name;
            check(&Value::Object((*tool.definition.input_schema).clone()), &format!("{profile} {name}"));
        }
    }
}

/// 43.10: Claude Code loads what every session needs, finds the rest by its hint, and has a person confirm a purge.
#[test]
fn claude_code_loads_search_and_save_and_finds_the_rest() {
    for (profile, tools) in all() {
        let mut loaded = 0;
        for tool in definitions(tools).as_array().unwrap() {
            let (name, meta) = (tool["name"].as_str().unwrap(), tool.get("_meta"));
            assert!(meta.is_none_or(|meta| meta.as_object().is_some_and(|meta| !meta.is_empty())), "{name}");
            let is_loaded = meta.is_some_and(|meta| meta["anthropic/alwaysLoad"] == true);
            loaded += if is_loaded { tool.to_string().len() } else { 0 };
            let asks = meta.is_some_and(|meta| meta["anthropic/requiresUserInteraction"] == true);
            assert_eq!(asks, name == "memory_purge", "{name}");
            if ["core", "full"].contains(&profile.as_str()) {
                assert_eq!(is_loaded, ["memory_add", "memory_search"].contains(&name), "{name}");
                let hint = meta.and_then(|meta| meta["anthropic/searchHint"].as_str());
                assert_eq!(hint.is_none(), is_loaded, "{name}");
                assert!(hint.is_none_or(|hint| (1..=60).contains(&hint.len()) && !hint.contains('\n')), "{name}");
            }
        }
        // 1,600 tokens of 4.1 characters.
        assert!(profile != "core" || (1..6_560).contains(&loaded), "{profile}: {loaded}");
        assert!(loaded > 0, "{profile}");
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
            assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
            // The answers of the core are text, and those of Claude's memory tool.
            let structured = (!["core", "files"].contains(&profile.as_str())).then_some(json!("object"));
            assert_eq!(tool.pointer("/outputSchema/type"), structured.as_ref(), "{name}");
            // Our own tools refuse unknown parameters; those of other systems ignore them.
            let strict = ["core", "full", "files"].contains(&profile.as_str()).then_some(json!(false));
            assert_eq!(tool["inputSchema"].get("additionalProperties"), strict.as_ref(), "{name}");
        }
    }
}

/// Memories are data: their readers learn that, before and with each of them.
#[test]
fn every_tool_that_reads_says_that_it_gives_stored_data() {
    let counts = ["memory_stats"];
    for (profile, tools) in all() {
        for tool in &tools.tools {
            let Tool { name, description, annotations, .. } = &tool.definition;
            let reads = annotations.as_ref().and_then(|hints| hints.read_only_hint) == Some(true);
            let says = description.as_ref().is_some_and(|text| text.ends_with(&format!(".{}", tool::IS_DATA)));
            assert_eq!(says, reads && !counts.contains(&&**name), "{profile}: {name}: {description:?}");
        }
    }
    let own = definitions(Profile::of(ProfileName::Full));
    for (tool, results) in [
        ("memory_search", "/properties/results/items"),
        ("memory_get", "/properties/entry"),
        ("memory_chain", "/properties/results/items"),
        ("memory_outdated", "/properties/results/items"),
        ("memory_list", "/properties/results/items"),
        ("memory_history", "/properties/versions/items"),
    ] {
        let tool = own.as_array().unwrap().iter().find(|listed| listed["name"] == tool).unwrap();
        let result = tool["outputSchema"].pointer(results).unwrap_or_else(|| panic!("{tool}"));
        assert!(names(result).contains(&"source"), "{tool}");
    }
}

#[test]
fn the_full_profile_begins_with_the_core() {
    let (core, full) = (Profile::of(ProfileName::Core), Profile::of(ProfileName::Full));
    assert!(core.tools.len() <= 11 && core.tools.len() < full.tools.len());
    // The five tools of the specification.
    for name in ["memory_add", "memory_search", "memory_get", "memory_stats", "memory_delete"] {
        assert!(core.tool(name).is_some(), "{name}");
    }
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
fn the_core_costs_less_than_4_500_tokens() {
    // Less than 4,500 tokens: the tokenizers o200k, cl100k and Claude's of 2023 count one for each 4.1 to 4.3
    // characters of this JSON.
    let size = serde_json::to_string(&definitions(Profile::of(ProfileName::Core))).unwrap().len();
    eprintln!("{size} characters, {} tokens at 4.1 characters each", size * 10 / 41);
    assert!(size * 10 / 41 < 4_500, "{size} characters");
}
