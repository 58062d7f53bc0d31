//! basic-memory: a folder of notes. A note is a memory; its observations are memories of the same thread, and its relations
//! links to other notes.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use ignore::WalkBuilder;
use serde_json::Value;

use super::System;
use super::error::StoreError;
use super::files::StoreFiles;
use super::mend::{is_plain, link_kind};
use super::note::{BasicMemoryNote, Observation, Relation, parse};
use super::out::{Out, Outcome};
use super::types::{Link, Memory, Report};
use crate::notes::has_too_many_marks;
use crate::walk::filter;

/// A larger note is not read, in bytes.
const MAX_NOTE: u64 = 16 << 20;

/// The fields of front matter that are read, or are of no use elsewhere.
const FIELDS: [&str; 6] = ["title", "type", "permalink", "tags", "created", "modified"];
/// Types of relations that say no more than that there is one.
const VAGUE: [&str; 4] = ["relates_to", "related_to", "links_to", "link"];

/// Reads the notes.
///
/// # Errors
/// If there are none.
pub fn read<E>(store: &StoreFiles, out: &mut Out<'_, E>) -> Outcome<E> {
    let path = store.path();
    let files = notes(path);
    if files.is_empty() {
        return Err(StoreError::unexpected(System::BasicMemory, path, "has no Markdown notes").into());
    }
    let mut names = Names::default();
    let mut relations = Vec::new();
    for file in files {
        let opened = store.file(&file, MAX_NOTE).ok();
        let changed = opened.as_ref().and_then(|opened| changed(&opened.metadata().ok()?));
        let Some(bytes) = opened.and_then(|mut opened| opened.read_all().ok()) else {
            out.report.count("notes that cannot be read");
            continue;
        };
        let inside = file.strip_prefix(path).ok().filter(|inside| !inside.as_os_str().is_empty());
        let inside = inside.or(file.file_name().map(Path::new)).unwrap_or(&file);
        let text = String::from_utf8_lossy(&bytes).replace('\0', "");
        if has_too_many_marks(&text) {
            out.report.count("notes with too many marks of Markdown");
            continue;
        }
        let note = parse(&text);
        let memory = memory(&note, &file, inside, changed, &mut out.report);
        names.add(&memory, &note, inside);
        relations.extend(note.relations.into_iter().map(|relation| (memory.key.clone(), relation)));
        let observations: Vec<_> =
            note.observations.iter().map(|one| observation(one, &memory, &mut out.report)).collect();
        out.memory(memory)?;
        observations.into_iter().try_for_each(|observation| out.memory(observation))?;
    }
    relations.into_iter().try_for_each(|(from, relation)| link(from, &relation, &names, out))
}

/// The Markdown files at a path, by name.
fn notes(path: &Path) -> Vec<PathBuf> {
    let mut walk = WalkBuilder::new(path);
    walk.standard_filters(false).hidden(true).git_global(true).require_git(false).sort_by_file_name(|a, b| a.cmp(b));
    walk.filter_entry(filter(path, &[".ignore", ".gitignore", ".git/info/exclude"]));
    walk.build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md")))
        .collect()
}

/// The keys of notes by the names that relations use, in lower case.
#[derive(Default)]
struct Names {
    /// By title, permalink or path. The first note of a name has it.
    full: HashMap<String, String>,
    /// By the name of the file alone.
    files: HashMap<String, String>,
}

impl Names {
    fn add(&mut self, memory: &Memory, note: &BasicMemoryNote, inside: &Path) {
        let stem = inside.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
        let path = slashed(&inside.with_extension(""));
        let texts =
            ["title", "permalink"].map(|name| note.fields.get(name).and_then(Value::as_str).unwrap_or_default());
        for name in [texts[0], texts[1], &path] {
            self.full.entry(name.to_lowercase()).or_insert_with(|| memory.key.clone());
        }
        self.files.entry(stem.to_lowercase()).or_insert_with(|| memory.key.clone());
    }

    fn get(&self, target: &str) -> Option<&String> {
        let target = target.trim_start_matches("memory://").to_lowercase();
        let target = target.strip_suffix(".md").unwrap_or(&target);
        self.full.get(target).or_else(|| self.files.get(target))
    }
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

fn memory(note: &BasicMemoryNote, file: &Path, inside: &Path, changed: Option<i64>, report: &mut Report) -> Memory {
    let field = |name: &str| note.fields.get(name).unwrap_or(&Value::Null);
    let unknown = note.fields.iter().filter(|(name, value)| !FIELDS.contains(&name.as_str()) && !value.is_null());
    report.count_many("fields of front matter that memorist does not know", unknown.count() as u64);
    let stem = file.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let title = report.label(field("title")).unwrap_or_else(|| stem.into_owned());
    let identity = report.label(field("permalink")).unwrap_or_else(|| slashed(inside));
    let mut tags = report.tags(field("tags"));
    for tag in &mut tags {
        *tag = tag.trim_start_matches('#').to_owned();
    }
    tags.retain(|tag| !tag.is_empty());
    let kind = match report.label(field("type")) {
        Some(kind) if is_plain(&kind) => kind,
        Some(kind) if kind != "note" => {
            report.tag(&mut tags, &kind);
            "fact".into()
        }
        _ => "fact".into(),
    };
    let has_title = note.text.lines().next().and_then(|line| line.strip_prefix("# ")) == Some(title.as_str());
    let text = match note.text.as_str() {
        "" => title,
        text if has_title => text.to_owned(),
        text => format!("{title}\n\n{text}"),
    };
    let content = report.content(&text.into());
    Memory {
        kind,
        tags,
        source: "basic-memory".into(),
        created_at: report.time(field("created")).or(changed),
        updated_at: report.time(field("modified")).or(changed),
        turn: Some(0),
        session: report.label(&identity.as_str().into()),
        ..Memory::new(Value::from(vec!["note", &identity]).to_string(), content)
    }
}

fn changed(file: &Metadata) -> Option<i64> {
    let at = file.modified().ok()?;
    super::times::millis(&u64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()?.into())
}

/// A category that is no kind is a tag. The title of the note is the context, so that it is found by it.
fn observation(one: &Observation, note: &Memory, report: &mut Report) -> Memory {
    let mut tags = Vec::new();
    let category = one.category.as_deref().unwrap_or_default();
    let kind = if is_plain(&category.to_lowercase()) { category.to_lowercase() } else { "fact".into() };
    let labels = note.tags.iter().chain(&one.tags).map(String::as_str);
    for label in std::iter::once(category).filter(|label| *label != kind).chain(labels) {
        if let Some(label) = report.label(&label.into()) {
            report.tag(&mut tags, &label);
        }
    }
    let title = note.content.lines().next().unwrap_or_default().trim_start_matches("# ");
    let context = match &one.context {
        Some(context) => format!("{title}: {context}"),
        None => title.to_owned(),
    };
    let identity = note.session.as_deref().unwrap_or_default();
    let key = Value::from(vec!["observation", identity, category, &one.text]).to_string();
    let content = report.content(&one.text.as_str().into());
    Memory {
        kind,
        tags,
        source: note.source.clone(),
        context: report.context(&context.into()),
        created_at: note.created_at,
        updated_at: note.updated_at,
        session: note.session.clone(),
        turn: Some(one.line),
        ..Memory::new(key, content)
    }
}

fn link<E>(from: String, relation: &Relation, names: &Names, out: &mut Out<'_, E>) -> Outcome<E> {
    let Some(to) = names.get(&relation.target) else {
        out.report.count("links to notes that do not exist");
        return Ok(());
    };
    let kind = match relation.kind.as_deref().map(str::to_lowercase) {
        None => "related",
        Some(vague) if VAGUE.contains(&vague.as_str()) => "related",
        Some(kind) => link_kind(&kind).unwrap_or_else(|| out.report.link_kind(&kind.into())),
    };
    out.link(Link { from, to: to.clone(), kind, created_at: None })
}
