//! Which memories are files: those whose metadata have the path of one.

use std::collections::HashSet;

use memorist_engine::body::METADATA;
use memorist_engine::types::{
    Comparison, Expect, Filter, ListQuery, MAX_LIMIT, MetadataFilter, Record, RecordId, RecordUpdate, Scalar, Scope,
    Viewer,
};
use memorist_engine::{Engine, Error, Memories, Result};
use serde_json::{Map, Value, json};

use super::path::MemoryPath;
use crate::wire::Defaults;

/// The key of the metadata that a path is at.
const KEY: &str = "memory_file";

/// The files of a scope. Those of another one are not seen, even where its memories are.
pub struct MemoryFiles<'a> {
    pub engine: &'a Engine,
    /// Sees the memories of the scope, and what is shared.
    pub viewer: Viewer,
    /// Sees what searches find.
    pub searched: Viewer,
    scope: Scope,
}

pub struct MemoryFile {
    pub path: String,
    pub record: Record,
}

impl<'a> MemoryFiles<'a> {
    pub fn new(engine: &'a Engine, defaults: &Defaults) -> Self {
        let scope = defaults.own_scope();
        MemoryFiles { engine, viewer: Viewer::of(&scope), searched: defaults.own_viewer(), scope }
    }

    pub fn find(&self, path: &MemoryPath) -> Result<Option<MemoryFile>> {
        let file = |record| MemoryFile { path: path.as_str().to_owned(), record };
        if let Some(first) = self.at(path.as_str())?.into_iter().next() {
            return Ok(Some(file(first)));
        }
        let Some((of, id)) = path.as_str().rsplit_once('.') else { return Ok(None) };
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        Ok(self.at(of)?.into_iter().skip(1).find(|record| record.id.get() == id).map(file))
    }

    /// The memories with this path, the oldest first.
    pub fn at(&self, path: &str) -> Result<Vec<Record>> {
        let mut records = self.list(compares(Comparison::Equal, path))?;
        records.retain(|record| path_of(record) == Some(path));
        Ok(records)
    }

    /// The files below a folder, by path. Two machines may have made files of one path, which both are kept: the id of the later
    /// one is behind its path.
    pub fn below(&self, folder: &MemoryPath) -> Result<Vec<MemoryFile>> {
        let (from, to) = (format!("{}/", folder.as_str()), format!("{}0", folder.as_str()));
        let within = [compares(Comparison::AtLeast, &from), compares(Comparison::Less, &to)];
        let mut known = HashSet::new();
        let mut files: Vec<_> = Vec::new();
        for record in self.list(MetadataFilter::All(within.into()))? {
            let Some(path) = path_of(&record).map(str::to_owned) else { continue };
            let path = if known.insert(path.clone()) { path } else { format!("{path}.{}", record.id) };
            files.push(MemoryFile { path, record });
        }
        files.sort_by(|one, other| one.path.split('/').cmp(other.path.split('/')));
        Ok(files)
    }

    /// Whether there is a file or a folder of this path.
    pub fn is_taken(&self, path: &MemoryPath) -> Result<bool> {
        Ok(self.find(path)?.is_some() || !self.below(path)?.is_empty())
    }

    /// Whether a memory is of the scope.
    pub fn has(&self, record: &Record) -> bool {
        let Scope { project, agent } = &record.scope;
        let is_shared = (project.is_none(), agent.is_none());
        is_shared == (self.scope.project.is_none(), self.scope.agent.is_none()) && self.viewer.sees(&record.scope)
    }

    /// The memories that the viewer of the files sees.
    pub fn memories(&self) -> Memories<'_> {
        self.engine.viewed_by(&self.viewer)
    }

    /// A memory of the scope.
    pub fn record(&self, id: RecordId) -> Result<Record> {
        self.memories().get(id)?.ok_or(Error::NotFound(id))
    }

    /// The memories of the scope whose metadata pass, the oldest first.
    fn list(&self, metadata: MetadataFilter) -> Result<Vec<Record>> {
        let filter = Filter { metadata: Some(metadata), ..Filter::of(self.viewer.clone()) };
        let (mut records, mut after) = (Vec::new(), RecordId::START);
        loop {
            let query = ListQuery { after, limit: MAX_LIMIT, filter: filter.clone(), ..ListQuery::default() };
            let page = self.engine.list(&query)?;
            let is_last = page.len() < MAX_LIMIT;
            after = page.last().map_or(after, |record| record.id);
            records.extend(page.into_iter().filter(|record| self.has(record)));
            if is_last {
                return Ok(records);
            }
        }
    }
}

/// The update that makes a memory the file of this path. A context that is not the words of its path stays.
pub fn moved_to(record: &Record, path: &MemoryPath) -> RecordUpdate {
    let metadata = record.body.as_ref().and_then(|body| body.get(METADATA)).and_then(Value::as_object);
    let mut metadata = metadata.cloned().unwrap_or_default();
    metadata.extend(metadata_of(path));
    let words = path_of(record).and_then(|path| MemoryPath::parse(path).ok()).map(|path| path.words());
    let has_words = record.context.is_none() || record.context == words;
    RecordUpdate {
        context: has_words.then(|| Some(path.words())),
        body_fields: Map::from_iter([(METADATA.to_owned(), metadata.into())]),
        reason: Some("renamed".to_owned()),
        expect: Some(Expect::Version(record.version)),
        ..RecordUpdate::default()
    }
}

pub fn metadata_of(path: &MemoryPath) -> Map<String, Value> {
    Map::from_iter([(KEY.to_owned(), json!(path.as_str()))])
}

/// The path of a memory that is a file. Metadata can have any value there: what is no path of a file makes none.
pub fn path_of(record: &Record) -> Option<&str> {
    let path = record.body.as_ref()?.get(METADATA)?.get(KEY)?.as_str()?;
    MemoryPath::parse(path).is_ok_and(|parsed| parsed.is_of_a_file() && parsed.as_str() == path).then_some(path)
}

fn compares(comparison: Comparison, with: &str) -> MetadataFilter {
    MetadataFilter::Compares(KEY.to_owned(), comparison, Scalar::Text(with.to_owned()))
}
