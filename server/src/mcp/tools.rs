//! The tools: what a model reads of them, and what they call.

use std::sync::LazyLock;

use memorist_engine::Engine;
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::ops::{self, Context};
use crate::wire::{
    self, AddParams, AddResult, DeleteParams, DeleteResult, GetParams, GetResult, SearchParams, SearchResult,
    StatsParams, StatsResult, UpdateParams, UpdateResult,
};

/// Arguments in, structured result out. An error is text for the model.
type Call = fn(&Engine, &Context, Map<String, Value>) -> Result<Value, String>;

/// A tool: its definition, and the function behind it.
pub struct Served {
    /// What `tools/list` says of it.
    pub definition: Tool,
    /// What it does.
    pub run: Call,
}

/// All tools, in the order in which they are listed.
pub static ALL: LazyLock<Vec<Served>> = LazyLock::new(|| {
    vec![
        Served {
            definition: define::<AddParams, AddResult>(
                "memory_add",
                "Save a memory",
                "Save something worth knowing in later sessions: a fact, preference, decision, fix. The same text is saved \
                 once; to change its fields, use memory_update.",
                Hints { read_only: false, destructive: false, idempotent: true },
            ),
            run: |engine, context, arguments| answer(arguments, |params| ops::add(engine, context, params)),
        },
        Served {
            definition: define::<SearchParams, SearchResult>(
                "memory_search",
                "Search memories",
                "Find memories by meaning and by word. Ask before you answer from memory, and before you save.",
                Hints { read_only: true, destructive: false, idempotent: true },
            ),
            run: |engine, context, arguments| {
                answer(arguments, |params: SearchParams| ops::search(engine, context, &params))
            },
        },
        Served {
            definition: define::<GetParams, GetResult>(
                "memory_get",
                "Get a memory",
                "Get one memory whole, with its history of use.",
                // It counts the access, which changes nothing that a caller could break.
                Hints { read_only: true, destructive: false, idempotent: true },
            ),
            run: |engine, _, arguments| answer(arguments, |params: GetParams| ops::get(engine, &params)),
        },
        Served {
            definition: define::<StatsParams, StatsResult>(
                "memory_stats",
                "Memory statistics",
                "How many memories there are, of which types and ages, and whether all are indexed.",
                Hints { read_only: true, destructive: false, idempotent: true },
            ),
            run: |engine, _, arguments| answer(arguments, |_: StatsParams| ops::stats(engine)),
        },
        Served {
            definition: define::<DeleteParams, DeleteResult>(
                "memory_delete",
                "Delete a memory",
                "Delete a memory that is wrong or unwanted. To correct one, use memory_update.",
                Hints { read_only: false, destructive: true, idempotent: true },
            ),
            run: |engine, _, arguments| answer(arguments, |params: DeleteParams| ops::delete(engine, &params)),
        },
        Served {
            definition: define::<UpdateParams, UpdateResult>(
                "memory_update",
                "Update a memory",
                "Change fields of a memory; those left out stay. The version before is kept.",
                Hints { read_only: false, destructive: true, idempotent: true },
            ),
            run: |engine, _, arguments| answer(arguments, |params| ops::update(engine, params)),
        },
    ]
});

/// The tool of this name.
pub fn find(name: &str) -> Option<&'static Served> {
    ALL.iter().find(|tool| tool.definition.name == name)
}

struct Hints {
    read_only: bool,
    destructive: bool,
    idempotent: bool,
}

fn define<P: JsonSchema, R: JsonSchema>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    hints: Hints,
) -> Tool {
    let annotations = ToolAnnotations::with_title(title)
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(false);
    Tool::new(name, description, wire::input_schema::<P>())
        .with_title(title)
        .with_raw_output_schema(wire::output_schema::<R>())
        .with_annotations(annotations)
}

fn answer<P: DeserializeOwned, R: Serialize>(
    arguments: Map<String, Value>,
    call: impl FnOnce(P) -> memorist_engine::Result<R>,
) -> Result<Value, String> {
    let result = call(wire::parse(arguments)?).map_err(|error| error.to_string())?;
    serde_json::to_value(result).map_err(|error| format!("internal error: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn definitions() -> Value {
        serde_json::to_value(ALL.iter().map(|tool| &tool.definition).collect::<Vec<_>>()).unwrap()
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
    fn the_list_is_the_one_that_was_agreed() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/mcp/tools.json");
        let listed = serde_json::to_string_pretty(&definitions()).unwrap() + "\n";
        if std::env::var_os("MEMORIST_UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(file, &listed).unwrap();
        }
        let agreed = std::fs::read_to_string(file).unwrap();
        let first = listed.lines().zip(agreed.lines()).find(|(listed, agreed)| listed != agreed);
        assert!(
            listed == agreed,
            "{first:?}: if this is meant, run again with MEMORIST_UPDATE_SNAPSHOTS=1 and review the file"
        );
    }

    #[test]
    fn strict_clients_have_nothing_to_warn_about() {
        visit(&definitions(), &mut |key, value| {
            assert!(!(key == "format" && value.is_string()), "format: {value}");
            assert!(!(key == "type" && value.is_array()), "types: {value}");
            assert!(!["$schema", "$ref", "$defs", "nullable"].contains(&key), "{key}");
        });
    }

    #[test]
    fn every_tool_says_what_a_client_needs() {
        for tool in definitions().as_array().unwrap() {
            let name = &tool["name"];
            for field in ["title", "description"] {
                assert!(tool[field].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {field}");
            }
            assert_eq!(tool["annotations"]["openWorldHint"], json!(false), "{name}");
            assert_eq!(tool["inputSchema"]["additionalProperties"], json!(false), "{name}");
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(tool[schema]["type"], "object", "{name} {schema}");
            }
        }
    }

    #[test]
    fn names_are_those_of_the_specification() {
        let all = definitions();
        let tool = |name: &str| all.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
        let add = tool("memory_add");
        assert_eq!(
            names(&add["inputSchema"])[..8],
            ["content", "entryType", "source", "context", "confidence", "importance", "tags", "expiresAt"]
        );
        assert_eq!(add["inputSchema"]["required"], json!(["content"]));
        assert_eq!(names(&add["outputSchema"]), ["id", "created", "duplicate", "embedding"]);
        let search = tool("memory_search");
        let wanted = ["query", "mode", "limit", "entryTypes", "minImportance", "minConfidence", "tags"];
        assert_eq!(names(&search["inputSchema"])[..7], wanted);
        assert_eq!(search["inputSchema"]["required"], json!(["query"]));
        let hit = &search["outputSchema"]["properties"]["results"]["items"];
        let wanted = ["id", "content", "entryType", "source", "context", "confidence", "importance", "tags"];
        assert_eq!(names(hit)[..8], wanted);
        assert_eq!(names(hit)[8..11], ["score", "matchedBy", "createdAt"]);
        assert_eq!(names(&tool("memory_get")["inputSchema"]), ["id"]);
        let entry = &tool("memory_get")["outputSchema"]["properties"]["entry"];
        let wanted = ["id", "content", "contentHash", "entryType", "source", "context", "confidence", "importance"];
        assert_eq!(names(entry)[..8], wanted);
        let wanted = ["tags", "createdAt", "updatedAt", "expiresAt", "accessCount", "lastAccessedAt"];
        assert_eq!(names(entry)[8..14], wanted);
        let stats = tool("memory_stats");
        let wanted = ["totalEntries", "byType", "avgImportance", "avgConfidence", "totalAccesses"];
        assert_eq!(names(&stats["outputSchema"])[..5], wanted);
        assert_eq!(names(&stats["outputSchema"])[5..7], ["oldestEntry", "newestEntry"]);
        assert_eq!(names(&stats["inputSchema"]), Vec::<&str>::new());
        assert_eq!(names(&tool("memory_delete")["outputSchema"]), ["success", "deleted"]);
    }

    #[test]
    fn the_tools_cost_little() {
        // About four characters a token: well under 4,000 tokens for every session.
        let size = serde_json::to_string(&definitions()).unwrap().len();
        assert!(size < 12_000, "{size} characters");
    }
}
