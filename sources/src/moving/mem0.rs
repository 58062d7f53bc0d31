//! mem0. By default it keeps memories in a local Qdrant (a folder of databases whose rows are Python's pickles), and their
//! changes in a `history.db`. An export of `get_all` has the same memories. Memories that mem0 keeps in other vector stores and
//! in graphs can only be moved by such an export.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::database::{EMBEDDINGS, StoreDatabase};
use super::error::StoreError;
use super::files::StoreFiles;
use super::mem0_history::{self, MemoryHistory};
use super::mend::{is_blank, list};
use super::out::{Out, Outcome};
use super::pickle;
use super::places::entries;
use super::reader::is_database;
use super::types::{Memory, Report};
use super::{MoveError, System, times};

const POINTS: &str = "points";
const QDRANT_FILE: &str = "storage.sqlite";
/// Collections of mem0 that have no memories.
const TELEMETRY: &str = "mem0migrations";
const ENTITIES: &str = "entities";
/// The largest point that is read, in bytes. Its values take a hundred times as many.
const MAX_POINT: usize = 1 << 20;
/// Fields of a memory that memorist has fields for, or makes again.
const KNOWN: [&str; 16] = [
    "id", "memory", "data", "hash", "score", "created_at", "updated_at", "expiration_date", "user_id", "agent_id",
    "run_id", "actor_id", "categories", "category", "metadata", "text_lemmatized",
];

/// The files of a store.
#[derive(Default)]
struct Files {
    exports: Vec<PathBuf>,
    collections: Vec<PathBuf>,
    history: Option<PathBuf>,
}

/// Reads the store.
///
/// # Errors
/// If there is none.
pub fn read<E>(store: &StoreFiles, out: &mut Out<'_, E>) -> Outcome<E> {
    let path = store.path();
    let files = files(store)?;
    let mut histories = match &files.history {
        Some(file) => mem0_history::read(store, file, &mut out.report)?,
        None => Default::default(),
    };
    let mut items = Vec::new();
    for file in &files.exports {
        match export(store, file, &mut out.report)? {
            Some(found) => items.extend(found),
            // A folder has other files too.
            None if path.is_dir() => {}
            None => return Err(StoreError::unexpected(System::Mem0, file, "is no list of memories").into()),
        }
    }
    for file in &files.collections {
        items.extend(collection(store, file, &mut out.report)?);
    }
    if items.is_empty() && files.history.is_none() && files.collections.is_empty() {
        return Err(StoreError::unexpected(System::Mem0, path, "has none").into());
    }
    let has_owners = !items.is_empty();
    for item in items {
        let id = out.report.text(item.get("id").unwrap_or(&Value::Null));
        let mut memory = memory(&id, &item, &mut out.report);
        if let Some(history) = histories.remove(&id) {
            memory.earlier = history.earlier;
            memory.created_at = memory.created_at.or(history.created_at);
            memory.updated_at = memory.updated_at.or(history.updated_at);
        }
        out.memory(memory)?;
    }
    for (id, history) in histories {
        if history.deleted {
            out.report.count("memories that were deleted");
        } else if has_owners {
            out.report.count("memories of the history that are no more");
        } else {
            out.report
                .count("owners and metadata, which are not in the history (put the folder of the vector store, or an export, beside it)");
            out.memory(of_history(&id, history))?;
        }
    }
    Ok(())
}

fn of_history(id: &str, history: MemoryHistory) -> Memory {
    Memory {
        source: "mem0".into(),
        created_at: history.created_at,
        updated_at: history.updated_at,
        earlier: history.earlier,
        ..Memory::new(id, history.text)
    }
}

/// The files of the store at a path: one of them, or a folder with some.
fn files(store: &StoreFiles) -> Result<Files, StoreError> {
    let path = store.path();
    let mut files = Files::default();
    if path.is_dir() {
        for file in entries(path)?.into_iter().filter(|file| store.is_file(file)) {
            sort_file(store, file, &mut files)?;
        }
        for folder in ["collection", "qdrant/collection"].map(|folder| path.join(folder)) {
            if folder.is_dir() {
                let collections = entries(&folder)?.into_iter().filter(|folder| !is_aside(folder));
                let databases = collections.map(|folder| folder.join(QDRANT_FILE)).filter(|file| store.is_file(file));
                files.collections.extend(databases);
            }
        }
        return Ok(files);
    }
    if is_database(store, path) {
        sort_file(store, path.into(), &mut files)?;
        if files.history.is_none() && files.collections.is_empty() {
            return Err(StoreError::unexpected(System::Mem0, path, "has neither a table history nor a table points"));
        }
    } else {
        files.exports.push(path.into());
    }
    Ok(files)
}

fn sort_file(store: &StoreFiles, file: PathBuf, files: &mut Files) -> Result<(), StoreError> {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if matches!(extension, "json" | "jsonl") {
        files.exports.push(file);
    } else if is_database(store, &file) {
        let database = StoreDatabase::open(store, &file)?;
        if database.table("history")?.is_some_and(|table| table.has("memory_id")) {
            files.history.get_or_insert(file);
        } else if database.table(POINTS)?.is_some() {
            files.collections.push(file);
        }
    }
    Ok(())
}

/// Whether a collection is one of those that mem0 makes besides that of the memories.
fn is_aside(folder: &Path) -> bool {
    let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name == TELEMETRY || name.ends_with(&format!("_{ENTITIES}")) || name.ends_with(&format!("-{ENTITIES}"))
}

/// The memories of an export: a list, a list under one of a few names, or lines; `None` if it is something else.
fn export<E>(
    store: &StoreFiles,
    file: &Path,
    report: &mut Report,
) -> Result<Option<Vec<Map<String, Value>>>, MoveError<E>> {
    let bytes = store.json(file)?;
    let text = String::from_utf8_lossy(&bytes);
    let items = match serde_json::from_str(&text) {
        Ok(Value::Array(items)) => items,
        Ok(Value::Object(mut whole)) => {
            let relations = whole.get("relations").and_then(Value::as_array).map_or(0, Vec::len);
            report.count_many("relations of mem0's graph", relations as u64);
            match ["results", "memories", "data"].iter().find_map(|name| whole.remove(*name)) {
                Some(Value::Array(items)) => items,
                _ => vec![Value::Object(whole)],
            }
        }
        Ok(_) => return Ok(None),
        Err(_) => match text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect() {
            Ok(lines) => lines,
            Err(_) => return Ok(None),
        },
    };
    let is_empty = items.is_empty();
    let memories: Vec<_> = items.into_iter().filter_map(as_memory).collect();
    Ok((is_empty || !memories.is_empty()).then_some(memories))
}

fn as_memory(item: Value) -> Option<Map<String, Value>> {
    let Value::Object(item) = item else { return None };
    (item.contains_key("id") && (item.contains_key("memory") || item.contains_key("data"))).then_some(item)
}

/// The memories of a collection of a local Qdrant: the payloads of its points. A point that was saved again has a newer
/// row.
fn collection<E>(
    store: &StoreFiles,
    file: &Path,
    report: &mut Report,
) -> Result<Vec<Map<String, Value>>, MoveError<E>> {
    let database = StoreDatabase::open(store, file)?;
    if database.table(POINTS)?.is_none() {
        return Ok(Vec::new());
    }
    let failed = |error| MoveError::Store(database.reader().failed(error));
    let mut statement = database
        .reader()
        .connection()
        .prepare(&format!(
            "SELECT CASE WHEN octet_length(point) <= {MAX_POINT} THEN CAST(point AS BLOB) END FROM points ORDER BY rowid DESC"
        ))
        .map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let point = row.get_ref(0).map_err(failed)?.as_blob_or_null().ok().flatten().and_then(pickle::parse);
        match point.and_then(payload) {
            // An older row of it.
            Some(payload) if !seen.insert(payload.get("id").map(Value::to_string)) => {}
            Some(payload) => {
                report.count(EMBEDDINGS);
                found.push(payload);
            }
            None => report.count("points of the vector store that cannot be read"),
        }
    }
    found.reverse();
    Ok(found)
}

/// The payload of a point, with its id.
fn payload(mut point: Value) -> Option<Map<String, Value>> {
    if let Some(inner) = point.get_mut("__dict__") {
        point = inner.take();
    }
    let id = point.get("id")?.clone();
    let Value::Object(mut payload) = point.get_mut("payload")?.take() else { return None };
    payload.insert("id".into(), id);
    as_memory(payload.into())
}

fn memory(id: &str, item: &Map<String, Value>, report: &mut Report) -> Memory {
    let field = |name: &str| item.get(name).unwrap_or(&Value::Null);
    let metadata = match field("metadata") {
        Value::Object(members) => members.clone(),
        _ => Map::new(),
    };
    let others = item.iter().chain(&metadata);
    let mut tags = Vec::new();
    let of_metadata = ["categories", "category"].map(|name| metadata.get(name).unwrap_or(&Value::Null));
    for value in [field("categories"), field("category")].into_iter().chain(of_metadata) {
        for tag in report.tags(&Value::Array(list(value))) {
            report.tag(&mut tags, &tag);
        }
    }
    // memorist has no owner of this sort: a tag can be searched by.
    for (name, field) in [("user", field("user_id")), ("actor", field("actor_id"))] {
        if let Some(owner) = report.label(field) {
            report.tag(&mut tags, &format!("{name}:{owner}"));
        }
    }
    let mut parts = Vec::new();
    for (name, value) in others.filter(|(name, value)| !is_blank(value) && !KNOWN.contains(&name.as_str())) {
        parts.push(format!("{name}: {}", report.text(value)));
    }
    let expires = field("expiration_date");
    let text = [field("memory"), field("data")].into_iter().find(|text| !is_blank(text)).unwrap_or(&Value::Null);
    let memory = Memory::new(id, report.content(text));
    Memory {
        tags,
        source: "mem0".into(),
        context: report.context(&parts.join("; ").into()),
        agent: report.owner(field("agent_id")),
        session: report.label(field("run_id")),
        created_at: report.time(field("created_at")),
        updated_at: report.time(field("updated_at")),
        expires_at: times::end_of_day(expires).or_else(|| report.time(expires)),
        ..memory
    }
}
