//! The registry: every tool of memorist, once.
//!
//! The profile `full` of MCP has all of them. The library for other languages calls them by name, and so does the
//! explorer's page with a few (`explorer/own.rs`). The profile `core` (`mcp/profiles/core.rs`) has most of them with
//! other texts and with answers as text. A command of the command line calls the same function of `ops`.

use std::sync::LazyLock;

use memorist_engine::progress::NoProgress;
use memorist_engine::{Engine, Result};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::tool::Tool;
use super::tool::ToolEffect::{Add, Change, Count, Read};
use crate::ops::{self, Context};
use crate::wire::{self, RecallResult};

/// The tools, in the order of MCP's `tools/list`: first those of the profile `core`.
pub static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    vec![
        Tool::new(Add, "memory_add", ops::add).describe(
            "Save a memory",
            "Save what later sessions should know: a fact, preference, decision, fix. A duplicate text is saved once; \
             to change its fields, use memory_update.",
        ),
        Tool::new(Read, "memory_search", ops::search).describe(
            "Search memories",
            "Search memories by meaning and keyword. Call it before answering from memory and before saving.",
        ),
        // It counts the access, which changes nothing that a caller could break.
        Tool::new(Read, "memory_get", ops::get)
            .describe("Get a memory", "Return one full memory with its links and access counts.")
            .hint("read a whole memory, its history and links by id"),
        Tool::new(Change, "memory_update", ops::update)
            .describe("Update a memory", "Update a memory. Omitted fields keep their value; the old version is kept.")
            .hint("correct a memory, keep the version before"),
        Tool::new(Change, "memory_delete", ops::delete)
            .describe("Delete a memory", "Delete a wrong or unwanted memory. To correct one, use memory_update.")
            .hint("forget a memory; can be undone for 30 days"),
        Tool::new(Add, "memory_link", ops::link)
            .describe("Link two memories", "Record how two memories relate. Searches omit superseded memories.")
            .hint("a memory supersedes, contradicts or causes another"),
        Tool::new(Read, "memory_chain", ops::chain)
            .describe("Follow links", "Traverse links from a memory. Returns each memory reached and the path to it.")
            .hint("follow links of a memory"),
        Tool::with_text(Read, "memory_digest", ops::digest, |digest| Some(wire::markdown(digest)))
            .describe(
                "Digest of a project",
                "Summarize memories on a page: counts, key decisions, patterns, recent fixes.",
            )
            .hint("catch up on a project: open tasks, decisions"),
        Tool::new(Count, "memory_stats", ops::stats)
            .describe("Memory statistics", "Count memories by type and age, and report whether all are indexed.")
            .hint("count memories, projects and tags"),
        Tool::new(Read, "memory_list", ops::list)
            .describe("List memories", "List memories without a query, newest first by default, paginated.")
            .hint("list memories by date, type, tag, open tasks"),
        Tool::new(Change, "memory_undo", ops::undo)
            .describe("Undo", "Undo the last update, delete, expiry or link of a memory, or restore the given version.")
            .hint("undo the last change of a memory"),
        recall(ops::recall, "Return the memories relevant to a user message as a context block; usually none.")
            .hint("what a message needs from memory"),
        Tool::new(Change, "memory_unlink", ops::unlink)
            .describe("Remove a link", "Remove a link between two memories.")
            .hint("remove a link between two memories"),
        Tool::new(Read, "memory_outdated", ops::outdated)
            .describe("Outdated memories", "List superseded memories and those that supersede them.")
            .hint("list memories that others supersede"),
        Tool::new(Read, "memory_history", ops::history)
            .describe("History of a memory", "List the versions of a memory and why each was replaced.")
            .hint("earlier versions of a memory"),
        Tool::new(Change, "memory_rollback", ops::roll_back)
            .describe("Restore a version", "Restore an earlier version of a memory.")
            .hint("bring back an earlier version of a memory"),
        Tool::new(Change, "memory_export", ops::export)
            .describe(
                "Export memories",
                "Export visible memories with versions and links as JSONL to a file in the export folder.",
            )
            .hint("write memories to a file"),
        Tool::new(Change, "memory_import", ops::import)
            .describe(
                "Import memories",
                "Merge a file of the export folder, from memory_export or the reference memory server, into the \
                 memories. Repeating it changes nothing.",
            )
            .hint("read memories from a file"),
        Tool::new(Change, "memory_purge", |engine, context, params| ops::purge(engine, context, params, &NoProgress))
            .describe(
                "Purge memories",
                "Erase memories, or everything that contains a text, from every version, index, log and file, \
                 permanently. Call it only when asked to.",
            )
            .hint("remove a memory or a text permanently"),
    ]
});

/// The tool with this name, without the prefix `memory_`.
pub fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name.strip_prefix("memory_") == Some(name))
}

/// Automatic recall, in each profile that has it.
pub fn recall<P: DeserializeOwned + JsonSchema + 'static>(
    run: fn(&Engine, &Context, P) -> Result<RecallResult>,
    description: &'static str,
) -> Tool {
    let words = |recall: &RecallResult| Some(recall.context.clone().unwrap_or_else(|| "No relevant memories.".into()));
    Tool::with_text(Read, "memory_recall", run, words).describe("Recall for a turn", description)
}
