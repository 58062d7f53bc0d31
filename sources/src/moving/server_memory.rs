//! The reference memory server: lines of entities and relations. They become the same memories as when such a file is
//! imported as it is: each observation a fact that names its entity, each relation a sentence.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::System;
use super::error::StoreError;
use super::files::StoreFiles;
use super::mend::is_blank;
use super::out::{Out, Outcome};
use super::types::{Link, Memory, Report};

const SOURCE: &str = "knowledge graph";
/// A relation is linked to the memories of an entity if these are at most so many.
const FEW: usize = 8;

/// Reads the file.
///
/// # Errors
/// If it has neither entities nor relations, and is not empty.
pub fn read<E>(files: &StoreFiles, out: &mut Out<'_, E>) -> Outcome<E> {
    let path = files.path();
    let usual = ["memory.jsonl", "memory.json"].map(|name| path.join(name));
    let file = usual.into_iter().find(|file| files.is_file(file)).unwrap_or_else(|| path.into());
    if file.is_dir() {
        return Err(StoreError::unexpected(System::ServerMemory, path, "has none").into());
    }
    let bytes = files.json_lines(&file)?;
    let text = String::from_utf8_lossy(&bytes);
    let graph = Graph::of(&text);
    if !graph.has_any(&mut out.report) && !text.trim().is_empty() {
        let why = "has neither an entity nor a relation";
        return Err(StoreError::unexpected(System::ServerMemory, &file, why).into());
    }
    let mut names: HashMap<String, Vec<String>> = HashMap::new();
    for entity in graph.each("entity") {
        let name = out.report.text(entity.get("name").unwrap_or(&Value::Null));
        for memory in entity_memories(&name, &entity, &mut out.report) {
            let key = memory.key.clone();
            if out.has(&key) {
                continue;
            }
            out.memory(memory)?;
            names.entry(name.clone()).or_default().push(key);
        }
    }
    let mut links = Vec::new();
    for relation in graph.each("relation") {
        let [from, to, kind] =
            ["from", "to", "relationType"].map(|field| out.report.text(relation.get(field).unwrap_or(&Value::Null)));
        if [&from, &to, &kind].iter().any(|part| part.trim().is_empty()) {
            out.report.count("relations without both ends and a type");
            continue;
        }
        let memory = Memory {
            kind: "relationship".into(),
            ..of_graph(&["relation", &from, &kind, &to], &format!("{from} {kind} {to}"), &[&from, &to], &mut out.report)
        };
        for end in [&from, &to] {
            match names.get(end) {
                Some(keys) if keys.len() <= FEW => {
                    links.extend(keys.iter().map(|key| (memory.key.clone(), key.clone())))
                }
                Some(_) => out.report.count("relations of entities with more than 8 observations (not linked)"),
                None => out.report.count("relations of entities that are gone (not linked)"),
            }
        }
        out.memory(memory)?;
    }
    links.into_iter().try_for_each(|(from, to)| out.link(Link { from, to, kind: "related", created_at: None }))
}

/// The entities and relations of the file.
enum Graph<'t> {
    /// As the tool `read_graph` gives them.
    Whole(Map<String, Value>),
    /// A line each. They take much more memory than their text, so they are read one at a time, and again for each use.
    Lines(&'t str),
}

impl<'t> Graph<'t> {
    fn of(text: &'t str) -> Self {
        match serde_json::from_str(text) {
            Ok(Value::Object(graph)) if graph.contains_key("entities") => Graph::Whole(graph),
            _ => Graph::Lines(text),
        }
    }

    /// Whether it has any entities or relations. Other lines are counted.
    fn has_any(&self, report: &mut Report) -> bool {
        let Graph::Lines(text) = self else {
            return self.each("entity").chain(self.each("relation")).next().is_some();
        };
        let mut has_any = false;
        for line in lines(text) {
            match line {
                Ok(Value::Object(line)) if is_known(&line) => has_any = true,
                Ok(_) => report.count("lines that are neither an entity nor a relation"),
                Err(_) => report.count("lines that are no JSON"),
            }
        }
        has_any
    }

    /// The objects of a type.
    fn each<'g>(&'g self, kind: &'static str) -> Box<dyn Iterator<Item = Map<String, Value>> + 'g> {
        let object = |item| if let Value::Object(object) = item { Some(object) } else { None };
        match self {
            Graph::Whole(graph) => {
                let part = if kind == "entity" { "entities" } else { "relations" };
                let items = graph.get(part).and_then(Value::as_array).into_iter().flatten();
                Box::new(items.cloned().filter_map(object))
            }
            Graph::Lines(text) => {
                let is_kind = move |line: &Map<String, Value>| kind_of(line) == Some(kind);
                Box::new(lines(text).filter_map(move |line| line.ok().and_then(object)).filter(is_kind))
            }
        }
    }
}

fn lines(text: &str) -> impl Iterator<Item = serde_json::Result<Value>> {
    let has_text = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    text.lines().filter(has_text).map(serde_json::from_str)
}

fn is_known(line: &Map<String, Value>) -> bool {
    kind_of(line).is_some()
}

/// The type of a line. Forks leave its type out.
fn kind_of(line: &Map<String, Value>) -> Option<&'static str> {
    match line.get("type").and_then(Value::as_str) {
        Some("entity") => Some("entity"),
        Some("relation") => Some("relation"),
        Some(_) => None,
        None if ["from", "to", "relationType"].iter().all(|field| line.contains_key(*field)) => Some("relation"),
        None if line.contains_key("name")
            && ["entityType", "observations"].iter().any(|field| line.contains_key(*field)) =>
        {
            Some("entity")
        }
        None => None,
    }
}

fn entity_memories(name: &str, entity: &Map<String, Value>, report: &mut Report) -> Vec<Memory> {
    if name.trim().is_empty() {
        report.count("entities without a name");
        return Vec::new();
    }
    let kind = report.text(entity.get("entityType").unwrap_or(&Value::Null)).trim().to_owned();
    let observations = match entity.get("observations") {
        Some(Value::Array(items)) => {
            items.iter().filter(|item| !is_blank(item)).map(|item| report.text(item)).collect()
        }
        _ => Vec::new(),
    };
    if observations.is_empty() {
        let text = if kind.is_empty() { name.to_owned() } else { format!("{name} ({kind})") };
        return vec![of_graph(&["entity", name], &text, &[name, &kind], report)];
    }
    let memory =
        |said: &String| of_graph(&["observation", name, said], &format!("{name}: {said}"), &[name, &kind], report);
    observations.iter().map(memory).collect()
}

/// A memory with the names as its tags.
fn of_graph(key: &[&str], text: &str, names: &[&str], report: &mut Report) -> Memory {
    let mut tags = Vec::new();
    for name in names {
        if let Some(name) = report.label(&(*name).into()) {
            report.tag(&mut tags, &name);
        }
    }
    let content = report.content(&text.into());
    Memory { tags, source: SOURCE.into(), ..Memory::new(Value::from(key.to_vec()).to_string(), content) }
}
