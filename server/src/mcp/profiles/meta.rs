//! `_meta` of tools, which Claude Code reads: it shows a model only the names of most tools, and loads a definition when the model
//! looks for it. Other clients ignore this.

use rmcp::model::MetaObject;
use serde_json::{Map, json};

/// Their definitions are in the context from the start.
const LOADED: [&str; 7] = [
    "memory", "memory_add", "memory_search", "store_fact", "retrieve_memories", "krolik_mem_save",
    "krolik_mem_semantic_search",
];

/// A person is asked at each call: it cannot be undone.
const ASKING: [&str; 1] = ["memory_purge"];

/// Hints by which a model finds the other tools; a hint may stand in for the description.
const HINTS: [(&str, &str); 17] = [
    ("memory_get", "read a whole memory, its history and links by id"),
    ("memory_update", "correct a memory, keep the version before"),
    ("memory_delete", "forget a memory; can be undone for 30 days"),
    ("memory_link", "a memory supersedes, contradicts or causes another"),
    ("memory_chain", "follow links of a memory"),
    ("memory_digest", "catch up on a project: open tasks, decisions"),
    ("memory_stats", "count memories, projects and tags"),
    ("memory_list", "list memories by date, type, tag, open tasks"),
    ("memory_undo", "undo the last change of a memory"),
    ("memory_recall", "what a message needs from memory"),
    ("memory_unlink", "remove a link between two memories"),
    ("memory_outdated", "list memories that others supersede"),
    ("memory_history", "earlier versions of a memory"),
    ("memory_rollback", "bring back an earlier version of a memory"),
    ("memory_export", "write memories to a file"),
    ("memory_import", "read memories from a file"),
    ("memory_purge", "remove a memory or a text permanently"),
];

/// The metadata of a tool; `None` if it has none.
pub fn of(tool: &str) -> Option<MetaObject> {
    let hint = HINTS.iter().find(|(name, _)| *name == tool).map(|(_, hint)| *hint);
    let mut meta = Map::new();
    if LOADED.contains(&tool) {
        meta.insert("anthropic/alwaysLoad".to_owned(), json!(true));
    }
    if ASKING.contains(&tool) {
        meta.insert("anthropic/requiresUserInteraction".to_owned(), json!(true));
    }
    meta.extend(hint.map(|hint| ("anthropic/searchHint".to_owned(), json!(hint))));
    (!meta.is_empty()).then(|| MetaObject(meta))
}
