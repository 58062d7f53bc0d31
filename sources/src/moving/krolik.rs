//! Krolik: `memories`, `memory_links`.

use super::System;
use super::body::titled;
use super::database::StoreDatabase;
use super::files::StoreFiles;
use super::out::{Out, Outcome};
use super::places;
use super::table::Row;
use super::types::{Link, Memory, Report};

const MEMORIES: &str = "memories";
const LINKS: &str = "memory_links";

/// The columns of a memory.
const COLUMNS: [&str; 13] = [
    "id", "type", "title", "description", "importance", "project", "feature", "tags", "source", "usage_count",
    "created_at", "created_at_epoch", "updated_at",
];

/// Reads the store.
///
/// # Errors
/// If it is none.
pub fn read<E>(files: &StoreFiles, out: &mut Out<'_, E>) -> Outcome<E> {
    let file = places::database(files, &[], &[MEMORIES])?;
    let database = StoreDatabase::open(files, &file)?;
    let memories = database.needed_table(System::Krolik, MEMORIES)?;
    if !memories.has("title") {
        let why = "its table memories has no titles, so it is of another program";
        return Err(super::StoreError::unexpected(System::Krolik, &file, why).into());
    }
    memories.each(&["id"], |row| {
        let memory = memory(row, &mut out.report);
        out.memory(memory)
    })?;
    if let Some(links) = database.table(LINKS)? {
        links.each(&["id"], |row| {
            let link = Link {
                from: row.key("from_id"),
                to: row.key("to_id"),
                kind: out.report.link_kind(row.get("link_type")),
                created_at: out.report.time(row.get("created_at")),
            };
            out.link(link)
        })?;
    }
    memories.count_unknown_columns(&COLUMNS, &mut out.report)?;
    database.count_embeddings("memory_embeddings", &mut out.report)?;
    database.count_unknown_tables(&[MEMORIES, LINKS], &mut out.report)?;
    Ok(())
}

fn memory(row: &Row<'_>, report: &mut Report) -> Memory {
    let mut tags = report.tags(row.get("tags"));
    let kind = report.kind(row.get("type"), &mut tags);
    let memory = Memory::new(row.key("id"), "");
    let mut memory = Memory {
        kind,
        tags,
        source: report.label(row.get("source")).unwrap_or(memory.source),
        importance: report.importance(row.get("importance")),
        project: report.owner(row.get("project")),
        created_at: report.time(row.first(&["created_at_epoch", "created_at"])),
        updated_at: report.time(row.get("updated_at")),
        access_count: report.uses(row.get("usage_count")),
        ..memory
    };
    let title = report.content(row.get("title"));
    let description = report.content(row.get("description"));
    let feature = report.label(row.get("feature"));
    titled(report, &mut memory, &title, &description, feature.as_deref());
    memory
}
