//! Mudpuppy: `memory_entries`, `memory_access_log`.

use super::System;
use super::database::StoreDatabase;
use super::files::StoreFiles;
use super::out::{Out, Outcome};
use super::places;
use super::table::{Row, Table};
use super::types::{Access, Memory, Report};

const ENTRIES: &str = "memory_entries";
const LOG: &str = "memory_access_log";
/// The source of what its indexer has read. The files are there: what is read of them stays true, and a copy does not.
const INDEXER: &str = "file-index";

/// The columns of an entry. Its hash is made again.
const COLUMNS: [&str; 14] = [
    "id", "content", "content_hash", "entry_type", "source", "context", "confidence", "importance", "tags",
    "created_at", "updated_at", "expires_at", "access_count", "last_accessed_at",
];

/// Reads the store.
///
/// # Errors
/// If it is none.
pub fn read<E>(files: &StoreFiles, out: &mut Out<'_, E>) -> Outcome<E> {
    let file = places::database(files, &["memory.db", "data/memory.db"], &[ENTRIES])?;
    let database = StoreDatabase::open(files, &file)?;
    let entries = database.needed_table(System::Mudpuppy, ENTRIES)?;
    let log = database.table(LOG)?;
    entries.each(&["id"], |row| {
        if row.get("source").as_str() == Some(INDEXER) {
            out.report.count("texts of indexed files (add their folder with `memorist source add`)");
            return Ok(());
        }
        let mut memory = entry(row, &mut out.report);
        if let Some(log) = &log {
            memory.accesses = accesses(log, row, &mut out.report)?;
        }
        out.memory(memory)
    })?;
    if let Some(log) = log {
        let gone = log.count_orphans("memory_id", &entries, "id")?;
        out.report.count_many("access log rows of memories that are gone", gone);
    }
    entries.count_unknown_columns(&COLUMNS, &mut out.report)?;
    database.count_embeddings("vec_entries", &mut out.report)?;
    database.count_unknown_tables(&[ENTRIES, LOG], &mut out.report)?;
    Ok(())
}

fn entry(row: &Row<'_>, report: &mut Report) -> Memory {
    let mut tags = report.tags(row.get("tags"));
    let kind = report.kind(row.get("entry_type"), &mut tags);
    let memory = Memory::new(row.key("id"), report.content(row.get("content")));
    Memory {
        kind,
        tags,
        source: report.label(row.get("source")).unwrap_or(memory.source),
        context: report.context(row.get("context")),
        confidence: report.confidence(row.get("confidence")),
        importance: report.importance(row.get("importance")),
        created_at: report.time(row.get("created_at")),
        updated_at: report.time(row.get("updated_at")),
        expires_at: report.time(row.get("expires_at")),
        access_count: report.uses(row.get("access_count")),
        last_accessed_at: report.time(row.get("last_accessed_at")),
        ..memory
    }
}

fn accesses<E>(log: &Table<'_>, entry: &Row<'_>, report: &mut Report) -> Result<Vec<Access>, super::MoveError<E>> {
    let mut accesses = Vec::new();
    let Some(id) = entry.get("id").as_i64() else { return Ok(accesses) };
    log.each_of("memory_id", &id, &["accessed_at"], |row| {
        let Some(at) = report.time(row.get("accessed_at")) else { return Ok(()) };
        let kind = match row.get("access_type").as_str() {
            Some("get") => "get",
            Some("search") => "search",
            _ => {
                report.count("accesses of other types than get and search (kept as search)");
                "search"
            }
        };
        let score = row.get("relevance_score").as_f64();
        accesses.push(Access { at, kind, score, query: report.context(row.get("query_text")) });
        Ok(())
    })?;
    Ok(accesses)
}
