//! Gimli and OpenClaw: an index of chunks of notes and transcripts for each agent. OpenClaw's newest versions keep it in
//! the agent's database, under longer names.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::MoveError;
use super::database::{EMBEDDINGS, StoreDatabase};
use super::error::StoreError;
use super::files::StoreFiles;
use super::out::{Out, Outcome};
use super::places::{databases, entries};
use super::table::Row;
use super::types::{FileSpan, Memory, Report};

/// The tables, newest name first.
const CHUNKS: [&str; 2] = ["memory_index_chunks", "chunks"];
const FILES: [&str; 3] = ["memory_index_sources", "memory_index_files", "files"];
const CACHES: [&str; 2] = ["memory_embedding_cache", "embedding_cache"];
/// The source of chunks of transcripts.
const SESSIONS: &str = "sessions";
/// OpenClaw's metadata of chunks.
const METADATA: &str = "memory_index_chunk_recall_metadata";
/// OpenClaw's database of an agent, in the folder `agent` of a folder with the agent's name.
const AGENT_FILE: &str = "openclaw-agent.sqlite";

/// Reads the indexes of all agents.
///
/// # Errors
/// If there is no index.
pub fn read<E>(files: &StoreFiles, out: &mut Out<'_, E>) -> Outcome<E> {
    let found = databases_of(files)?;
    if found.is_empty() {
        return Err(StoreError::unexpected(files.system(), files.path(), "has none").into());
    }
    found.iter().try_for_each(|file| index(files, file, out))
}

/// The indexes in a folder: of agents, or in the folders where the systems keep them.
fn databases_of(files: &StoreFiles) -> Result<Vec<PathBuf>, StoreError> {
    let path = files.path();
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    let mut found = Vec::new();
    for folder in [path.to_owned(), path.join("agents")] {
        if folder.is_dir() {
            let agents = entries(&folder)?.into_iter().map(|agent| agent.join("agent").join(AGENT_FILE));
            found.extend(agents.filter(|file| files.is_file(file)));
        }
    }
    for folder in [path.to_owned(), path.join("memory"), path.join("state/memory")] {
        if folder.is_dir() {
            found.extend(databases(files, &folder, &CHUNKS)?);
        }
    }
    Ok(found)
}

/// The agent whose index a file is.
fn agent(file: &Path) -> Option<&str> {
    let name = match file.file_name()?.to_str()? {
        AGENT_FILE => file.parent()?.parent()?.file_name()?,
        _ => file.file_stem()?,
    };
    name.to_str()
}

fn index<E>(files: &StoreFiles, file: &Path, out: &mut Out<'_, E>) -> Outcome<E> {
    let database = StoreDatabase::open(files, file)?;
    let Some(name) = first_table(&database, &CHUNKS)? else {
        return Err(StoreError::unexpected(files.system(), file, "has no table chunks").into());
    };
    let chunks = database.needed_table(files.system(), name)?;
    out.report.count_many(EMBEDDINGS, if chunks.has("embedding") { chunks.count()? } else { 0 });
    // They are most of a row.
    let chunks = chunks.without("embedding");
    let agent = agent(file).map(Value::from).unwrap_or_default();
    let agent = out.report.owner(&agent);
    let changed = changed(&database, &mut out.report)?;
    let metadata = metadata(&database)?;
    // Of a chunk, all but its id and its model.
    let hasher = RandomState::new();
    let mut seen = HashSet::new();
    chunks.each(&["path", "start_line", "end_line", "id"], |row| {
        let mut memory = chunk(row, agent.as_deref(), &mut out.report);
        let columns = ["path", "source", "start_line", "end_line", "text"];
        if !seen.insert(hasher.hash_one(columns.map(|column| row.key(column)))) {
            out.report.count("chunks that the store has for more than one model");
            return Ok(());
        }
        if let Some((importance, project)) = metadata.get(&row.key("id")) {
            memory.importance = out.report.importance(importance);
            memory.project = out.report.owner(project);
        }
        let file = changed.get(&(row.key("path"), row.key("source")));
        memory.created_at = file.copied().into_iter().chain(memory.updated_at).min();
        out.memory(memory)
    })?;
    if let Some(cache) = first_table(&database, &CACHES)? {
        let rows = database.table(cache)?.map(|cache| cache.count()).transpose()?;
        out.report.count_many("entries of the cache of embeddings", rows.unwrap_or_default());
    }
    Ok(())
}

fn first_table(database: &StoreDatabase, names: &[&'static str]) -> Result<Option<&'static str>, StoreError> {
    for name in names {
        if database.table(name)?.is_some() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// When each file last changed, by its path and source.
fn changed<E>(database: &StoreDatabase, report: &mut Report) -> Result<HashMap<(String, String), i64>, MoveError<E>> {
    let mut changed = HashMap::new();
    if let Some(name) = first_table(database, &FILES)?
        && let Some(files) = database.table(name)?
    {
        files.each(&[], |row| {
            let at = report.time(row.get("mtime"));
            changed.extend(at.map(|at| ((row.key("path"), row.key("source")), at)));
            Ok(())
        })?;
    }
    Ok(changed)
}

/// The importance and the project of each chunk that has any.
fn metadata<E>(database: &StoreDatabase) -> Result<HashMap<String, (Value, Value)>, MoveError<E>> {
    let mut found = HashMap::new();
    if let Some(table) = database.table(METADATA)? {
        table.each(&[], |row| {
            found.insert(row.key("chunk_id"), (row.get("importance").clone(), row.get("project_key").clone()));
            Ok(())
        })?;
    }
    Ok(found)
}

/// Returns the memory of a chunk. The chunks of a file are a thread, at the positions of their first lines.
fn chunk(row: &Row<'_>, agent: Option<&str>, report: &mut Report) -> Memory {
    let key = format!("{}:{}", agent.unwrap_or_default(), row.key("id"));
    let line = |column| row.get(column).as_i64().filter(|line| *line > 0);
    let first = line("start_line").unwrap_or(1);
    let path = report.label(row.get("path"));
    let memory = Memory::new(key, report.content(row.get("text")));
    let source = report.label(row.get("source")).unwrap_or_else(|| "memory".into());
    Memory {
        kind: if source == SESSIONS { "conversation" } else { "chunk" }.into(),
        source,
        agent: agent.map(str::to_owned),
        updated_at: report.time(row.get("updated_at")),
        session: path.clone(),
        turn: path.is_some().then_some(first),
        place: path.map(|path| FileSpan { path, first, last: line("end_line").unwrap_or(first).max(first) }),
        ..memory
    }
}
