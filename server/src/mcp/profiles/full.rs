//! Everything that memorist can do.

use memorist_engine::progress::NoProgress;

use super::core::{self, INSTRUCTIONS, RECALL, REMEMBER};
use super::tool::Effect::{Change, Read};
use super::{Profile, ToolDef};
use crate::ops;
use crate::wire::{ExportParams, HistoryParams, ImportParams, LinkParams, ListParams, OutdatedParams, RollbackParams};

/// The profile.
pub fn profile() -> Profile {
    Profile { instructions: INSTRUCTIONS, recall: RECALL, remember: REMEMBER, tools: tools() }
}

fn tools() -> Vec<ToolDef> {
    vec![
        core::add(),
        core::search(),
        core::get(),
        core::update(),
        core::delete(),
        core::link(),
        core::chain(),
        core::digest(),
        core::stats(),
        unlink(),
        outdated(),
        history(),
        roll_back(),
        list(),
        export(),
        import(),
        purge(),
    ]
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
