//! Everything that memorist can do.

use memorist_engine::progress::NoProgress;
use memorist_engine::{Engine, Result};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::core::{INSTRUCTIONS, RECALL, REMEMBER};
use super::tool::ToolEffect::{Add, Change, Count, Read};
use super::{Profile, ToolDef};
use crate::ops::{self, Context};
use crate::wire::core::UndoParams;
use crate::wire::{
    self, ChainParams, DeleteParams, ExportParams, GetParams, HistoryParams, ImportParams, LinkParams, ListParams,
    OutdatedParams, RecallResult, RollbackParams, SearchParams, StatsParams,
};

pub fn profile() -> Profile {
    Profile { instructions: INSTRUCTIONS, recall: RECALL, remember: REMEMBER, tools: tools() }
}

fn tools() -> Vec<ToolDef> {
    vec![
        add(),
        search(),
        get(),
        update(),
        delete(),
        link(),
        chain(),
        digest(),
        stats(),
        list(),
        undo(),
        recall("Return the memories relevant to a user message as a context block; usually none.", ops::recall),
        unlink(),
        outdated(),
        history(),
        roll_back(),
        export(),
        import(),
        purge(),
    ]
}

/// Recall, in each profile that has it.
pub fn recall<P: DeserializeOwned + JsonSchema + 'static>(
    description: &'static str,
    run: fn(&Engine, &Context, P) -> Result<RecallResult>,
) -> ToolDef {
    ToolDef::with_text(Read, "memory_recall", "Recall for a turn", description, run, |recall| {
        Some(recall.context.clone().unwrap_or_else(|| "No relevant memories.".into()))
    })
}

fn unlink() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_unlink",
        "Remove a link",
        "Remove a link between two memories.",
        |engine, context, params: LinkParams| ops::unlink(engine, context, &params),
    )
}

fn outdated() -> ToolDef {
    ToolDef::new(
        Read,
        "memory_outdated",
        "Outdated memories",
        "List superseded memories and those that supersede them.",
        |engine, context, params: OutdatedParams| ops::outdated(engine, context, &params),
    )
}

fn history() -> ToolDef {
    ToolDef::new(
        Read,
        "memory_history",
        "History of a memory",
        "List the versions of a memory and why each was replaced.",
        |engine, context, params: HistoryParams| ops::history(engine, context, &params),
    )
}

fn roll_back() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_rollback",
        "Restore a version",
        "Restore an earlier version of a memory.",
        |engine, context, params: RollbackParams| ops::roll_back(engine, context, &params),
    )
}

fn list() -> ToolDef {
    ToolDef::new(
        Read,
        "memory_list",
        "List memories",
        "List memories without a query, newest first by default, paginated.",
        |engine, context, params: ListParams| ops::list(engine, context, &params),
    )
}

fn export() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_export",
        "Export memories",
        "Export visible memories with versions and links as JSONL to a file in the export folder.",
        |engine, context, params: ExportParams| ops::export(engine, context, &params),
    )
}

fn import() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_import",
        "Import memories",
        "Merge a file of the export folder, from memory_export or the reference memory server, into the memories. \
         Repeating it changes nothing.",
        |engine, context, params: ImportParams| ops::import(engine, context, &params),
    )
}

fn purge() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_purge",
        "Purge memories",
        "Erase memories, or everything that contains a text, from every version, index, log and file, permanently. \
         Call it only when asked to.",
        |engine, context, params| ops::purge(engine, context, params, &NoProgress),
    )
}

fn undo() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_undo",
        "Undo",
        "Undo the last update, delete, expiry or link of a memory, or restore the given version.",
        |engine, context, params: UndoParams| ops::undo(engine, context, &params),
    )
}

fn add() -> ToolDef {
    ToolDef::new(
        Add,
        "memory_add",
        "Save a memory",
        "Save what later sessions should know: a fact, preference, decision, fix. A duplicate text is saved once; to \
         change its fields, use memory_update.",
        ops::add,
    )
}

fn search() -> ToolDef {
    ToolDef::new(
        Read,
        "memory_search",
        "Search memories",
        "Search memories by meaning and keyword. Call it before answering from memory and before saving.",
        |engine, context, params: SearchParams| ops::search(engine, context, &params),
    )
}

fn get() -> ToolDef {
    // It counts the access, which changes nothing that a caller could break.
    ToolDef::new(
        Read,
        "memory_get",
        "Get a memory",
        "Return one full memory with its links and access counts.",
        |engine, context, params: GetParams| ops::get(engine, context, &params),
    )
}

fn update() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_update",
        "Update a memory",
        "Update a memory. Omitted fields keep their value; the old version is kept.",
        ops::update,
    )
}

fn delete() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_delete",
        "Delete a memory",
        "Delete a wrong or unwanted memory. To correct one, use memory_update.",
        |engine, context, params: DeleteParams| ops::delete(engine, context, &params),
    )
}

fn link() -> ToolDef {
    ToolDef::new(
        Add,
        "memory_link",
        "Link two memories",
        "Record how two memories relate. Searches omit superseded memories.",
        |engine, context, params: LinkParams| ops::link(engine, context, &params),
    )
}

fn chain() -> ToolDef {
    ToolDef::new(
        Read,
        "memory_chain",
        "Follow links",
        "Traverse links from a memory. Returns each memory reached and the path to it.",
        |engine, context, params: ChainParams| ops::chain(engine, context, &params),
    )
}

fn stats() -> ToolDef {
    ToolDef::new(
        Count,
        "memory_stats",
        "Memory statistics",
        "Count memories by type and age, and report whether all are indexed.",
        |engine, context, params: StatsParams| ops::stats(engine, context, &params),
    )
}

fn digest() -> ToolDef {
    ToolDef::with_text(
        Read,
        "memory_digest",
        "Digest of a project",
        "Summarize memories on a page: counts, key decisions, patterns, recent fixes.",
        ops::digest,
        |digest| Some(wire::markdown(digest)),
    )
}
