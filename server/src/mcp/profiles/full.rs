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

/// The profile.
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
        recall(ops::recall),
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
    run: fn(&Engine, &Context, P) -> Result<RecallResult>,
) -> ToolDef {
    ToolDef::with_text(
        Read,
        "memory_recall",
        "Recall for a turn",
        "What is known that the user's message needs, as a block for the context: mostly nothing.",
        run,
        |recall| Some(recall.context.clone().unwrap_or_else(|| "No relevant memories.".into())),
    )
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
        "Superseded memories, and what supersedes them.",
        |engine, context, params: OutdatedParams| ops::outdated(engine, context, &params),
    )
}

fn history() -> ToolDef {
    ToolDef::new(
        Read,
        "memory_history",
        "History of a memory",
        "Every version of a memory, and why it was replaced.",
        |engine, context, params: HistoryParams| ops::history(engine, context, &params),
    )
}

fn roll_back() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_rollback",
        "Go back to a version",
        "Make an earlier version of a memory the newest again.",
        |engine, context, params: RollbackParams| ops::roll_back(engine, context, &params),
    )
}

fn list() -> ToolDef {
    ToolDef::new(
        Read,
        "memory_list",
        "List memories",
        "Memories in the order in which they were saved, page by page.",
        |engine, context, params: ListParams| ops::list(engine, context, &params),
    )
}

fn export() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_export",
        "Export memories",
        "Write what is seen, with versions and links, as JSON lines into a file of the export folder.",
        |engine, context, params: ExportParams| ops::export(engine, context, &params),
    )
}

fn import() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_import",
        "Import memories",
        "Merge a file of the export folder, from memory_export or the reference memory server, into the memories. The \
         same file again changes nothing.",
        |engine, context, params: ImportParams| ops::import(engine, context, &params),
    )
}

fn purge() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_purge",
        "Purge memories",
        "Remove memories, or everything with a text, from every version, index, log and file, permanently. Only when \
         asked to.",
        |engine, context, params| ops::purge(engine, context, params, &NoProgress),
    )
}

fn undo() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_undo",
        "Undo",
        "Undo the last thing done to a memory: a change, a deletion, an expiry or a link.",
        |engine, context, params: UndoParams| ops::undo(engine, context, &params),
    )
}

fn add() -> ToolDef {
    ToolDef::new(
        Add,
        "memory_add",
        "Save a memory",
        "Save something worth knowing in later sessions: a fact, preference, decision, fix. The same text is saved \
         once; to change its fields, use memory_update.",
        ops::add,
    )
}

fn search() -> ToolDef {
    ToolDef::new(
        Read,
        "memory_search",
        "Search memories",
        "Find memories by meaning and by word. Ask before you answer from memory, and before you save.",
        |engine, context, params: SearchParams| ops::search(engine, context, &params),
    )
}

fn get() -> ToolDef {
    // It counts the access, which changes nothing that a caller could break.
    ToolDef::new(
        Read,
        "memory_get",
        "Get a memory",
        "Get one memory whole, with its history of use.",
        |engine, context, params: GetParams| ops::get(engine, context, &params),
    )
}

fn update() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_update",
        "Update a memory",
        "Change fields of a memory; those left out stay. The version before is kept.",
        ops::update,
    )
}

fn delete() -> ToolDef {
    ToolDef::new(
        Change,
        "memory_delete",
        "Delete a memory",
        "Delete a memory that is wrong or unwanted. To correct one, use memory_update.",
        |engine, context, params: DeleteParams| ops::delete(engine, context, &params),
    )
}

fn link() -> ToolDef {
    ToolDef::new(
        Add,
        "memory_link",
        "Link two memories",
        "Record how two memories relate. A superseded one is left out of searches.",
        |engine, context, params: LinkParams| ops::link(engine, context, &params),
    )
}

fn chain() -> ToolDef {
    ToolDef::new(
        Read,
        "memory_chain",
        "Follow links",
        "Follow links from a memory, and on from there: each memory reached, with its path.",
        |engine, context, params: ChainParams| ops::chain(engine, context, &params),
    )
}

fn stats() -> ToolDef {
    ToolDef::new(
        Count,
        "memory_stats",
        "Memory statistics",
        "How many memories there are, of which types and ages, and whether all are indexed.",
        |engine, context, params: StatsParams| ops::stats(engine, context, &params),
    )
}

fn digest() -> ToolDef {
    ToolDef::with_text(
        Read,
        "memory_digest",
        "Digest of a project",
        "What is known, on a page: counts, key decisions, patterns, recent fixes.",
        ops::digest,
        |digest| Some(wire::markdown(digest)),
    )
}
