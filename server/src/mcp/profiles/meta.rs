//! `_meta` of tools, which Claude Code reads: it shows a model only the names of most tools, and loads a definition when the model
//! looks for it. Other clients ignore this.

use rmcp::model::MetaObject;
use serde_json::{Map, json};

use crate::tools;

/// Their definitions are in the context from the start.
const LOADED: [&str; 7] = [
    "memory", "memory_add", "memory_search", "store_fact", "retrieve_memories", "krolik_mem_save",
    "krolik_mem_semantic_search",
];

/// A person is asked at each call: it cannot be undone.
const ASKING: [&str; 1] = ["memory_purge"];

/// The metadata of a tool; `None` if it has none. A tool of another profile has the hint of the tool of this name.
pub fn of(tool: &str) -> Option<MetaObject> {
    let mut meta = Map::new();
    if LOADED.contains(&tool) {
        meta.insert("anthropic/alwaysLoad".to_owned(), json!(true));
    }
    if ASKING.contains(&tool) {
        meta.insert("anthropic/requiresUserInteraction".to_owned(), json!(true));
    }
    // It may stand in for the description.
    let hint = tools::TOOLS.iter().find(|known| known.name == tool).and_then(|known| known.hint);
    meta.extend(hint.map(|hint| ("anthropic/searchHint".to_owned(), json!(hint))));
    (!meta.is_empty()).then(|| MetaObject(meta))
}
