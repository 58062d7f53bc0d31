//! Saving, changing, deleting, linking, undoing.

use std::collections::BTreeSet;

use memorist_engine::types::{LinkKind, RecordId, Save, UpdateOutcome, Viewer};
use memorist_engine::{Engine, Error, Result, Undone};
use serde_json::{Map, Value};

use super::answers::{absent, delete_one, nearest, projects_if_unknown, updated};
use super::many;
use crate::ops;
use crate::ops::Context;
use crate::wire::core::{
    CoreDeleteParams, CoreUpdateParams, MemoryLine, SaveParams, UndoMany, UndoParams, beginning, one_line,
};
use crate::wire::{self, AddParams, AddResult, Caller, Int, LinkParams};
use crate::wording::Worded as _;

/// Most memories that are saved at once.
const MAX_ITEMS: usize = 100;

/// `memory_add`: one memory, or several in one transaction, with an answer for each.
pub fn add(engine: &Engine, context: &Context, params: SaveParams) -> Result<String> {
    let mut projects = BTreeSet::new();
    let (items, shared) = match params {
        SaveParams::One(one) => {
            let caller = context.defaults.caller(&one.project, &one.agent)?;
            let (save, parts) = to_save(engine, context, caller, *one, &mut projects)?;
            let result = ops::add_all(engine, context, vec![save])?.swap_remove(0)?;
            return parts.answer(engine, &result, true);
        }
        SaveParams::Several(items, shared) => (items, shared),
    };
    if items.is_empty() || items.len() > MAX_ITEMS {
        return Err(Error::invalid("items", format!("must be 1 to {MAX_ITEMS}, not {}", items.len())));
    }
    let resolve = |params: AddParams| -> Result<(Caller, AddParams)> {
        Ok((context.defaults.caller(&params.project, &params.agent)?, params))
    };
    let items = items.into_iter().map(|item| match item_params(item, &shared) {
        Ok(params) => resolve(params).map(Ok),
        Err(why) => Ok(Err(why)),
    });
    // One for a project or an agent that the call may not name refuses all of them.
    let items = items.collect::<Result<Vec<Result<_, String>>>>()?;
    let mut saves = Vec::new();
    let items = items.into_iter().map(|item| {
        let (caller, params) = item?;
        let save = to_save(engine, context, caller, params, &mut projects);
        let (save, parts) = save.map_err(|error| error.worded())?;
        saves.push(save);
        Ok(parts)
    });
    let items: Vec<Result<AnswerParts, String>> = items.collect();
    let mut results = ops::add_all(engine, context, saves)?.into_iter();
    let mut answer =
        |parts: AnswerParts| parts.answer(engine, &results.next().expect("one for each that is saved")?, false);
    let lines = (1..).zip(items).map(|(number, parts)| {
        match parts.and_then(|parts| answer(parts).map_err(|error| error.worded())) {
            Ok(text) => format!("{number}. {text}"),
            Err(why) => format!("{number}. not saved: {why}"),
        }
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// The save for these parameters, and the parts of them that the answer repeats. `projects` are those of the memories before it
/// in the list: a new project is noted once.
fn to_save(
    engine: &Engine,
    context: &Context,
    caller: Caller,
    params: AddParams,
    projects: &mut BTreeSet<String>,
) -> Result<(Save, AnswerParts)> {
    let is_dated =
        params.valid_from.is_some() || params.valid_to.is_some() || params.due.is_some() || params.expires_at.is_some();
    let save = ops::to_save(engine, caller, params)?;
    let project = save.record.scope.project.clone();
    let new_project = match &project {
        Some(name) if !context.defaults.is_only() && projects.insert(name.clone()) => new_project(engine, name)?,
        _ => None,
    };
    Ok((save, AnswerParts { project, is_dated, new_project }))
}

/// The parameters of an item, with the shared ones.
fn item_params(item: Value, shared: &Map<String, Value>) -> Result<AddParams, String> {
    let mut whole = shared.clone();
    match item {
        Value::String(content) => drop(whole.insert("content".to_owned(), content.into())),
        Value::Object(item) => whole.extend(item),
        _ => return Err("must be an object with content".to_owned()),
    }
    wire::lenient::<AddParams>(&mut whole);
    wire::check_names::<AddParams>(&whole)?;
    wire::parse_exactly(whole)
}

/// Parts of the parameters of a save that its answer repeats.
struct AnswerParts {
    project: Option<String>,
    is_dated: bool,
    /// A note about a project that is new.
    new_project: Option<String>,
}

impl AnswerParts {
    /// Describes what a save did; if it is `alone`, with every memory that the new one may replace.
    fn answer(&self, engine: &Engine, result: &AddResult, alone: bool) -> Result<String> {
        let what = if self.is_dated { described(engine, result.id.into())? } else { String::new() };
        let of = self.project.as_deref().map_or_else(String::new, |name| format!(" in project {}", one_line(name)));
        let linked =
            result.linked.iter().map(|(kind, other)| format!(", {} #{other}", wire::link_phrase(*kind, false)));
        let linked: String = linked.collect();
        let mut text = match result.created {
            true => format!("Saved as #{}{of}{what}{linked}.", result.id),
            false => format!("#{} already has this text{what}{linked}.", result.id),
        };
        for note in result.notes.iter().chain(&self.new_project) {
            text.push_str(&format!("\n  {note}"));
        }
        for like in result.suggestions.iter().take(if alone { usize::MAX } else { 1 }) {
            let how = match (like.link_type, like.is_change) {
                (_, true) => "may replace or contradict",
                (LinkKind::Supersedes, _) => "much like",
                _ => "near",
            };
            text.push_str(&format!("\n  {how} #{}: {}", like.id, beginning(&like.content)));
        }
        if alone && result.suggestions.iter().any(|like| like.link_type == LinkKind::Supersedes) {
            text.push_str(
                "\n  If it replaces or contradicts one, link them: memory_link from this one, supersedes or \
                 contradicts.",
            );
        }
        Ok(text)
    }
}

/// The dates of a memory, as they were understood.
fn described(engine: &Engine, id: RecordId) -> Result<String> {
    let record = engine.viewed_by(&Viewer::OWNER).get(id)?;
    let line = MemoryLine { undated: true, ..MemoryLine::default() };
    Ok(record.map_or_else(String::new, |record| format!(": {}", line.dates(&record))))
}

/// A note about a project that has no memories yet, if another has nearly its name.
fn new_project(engine: &Engine, name: &str) -> Result<Option<String>> {
    let Some(projects) = projects_if_unknown(engine, name)? else { return Ok(None) };
    let like = nearest(&projects, name).filter(|(likeness, _)| *likeness > 0.9);
    Ok(like.map(|(_, known)| format!("project {name:?} is new; did you mean {known:?}?")))
}

/// `memory_update`.
pub fn update(engine: &Engine, context: &Context, params: CoreUpdateParams) -> Result<String> {
    if params.query.is_some() || params.confirm.is_some() {
        return many::update(engine, context, params);
    }
    let id = RecordId::from(params.update.id.0);
    let viewer = context.defaults.viewer(&params.update.project, &params.update.agent)?;
    if params.only_moves {
        let why = "only selects the memory, and there is nothing to change. A memory cannot be moved: save it in the \
             other project, and delete this one";
        return Err(Error::invalid("project", why));
    }
    let update = ops::to_update(engine, params.update)?;
    match engine.viewed_by(&viewer).update(id, &update) {
        Ok(outcome) => Ok(updated(&outcome)),
        Err(error @ Error::NotFound(_)) => Err(absent(engine, id, &viewer, error)?),
        Err(error) => Err(error),
    }
}

/// `memory_delete`.
pub fn delete(engine: &Engine, context: &Context, params: CoreDeleteParams) -> Result<String> {
    if params.query.is_some() || params.confirm.is_some() {
        return many::delete(engine, context, params);
    }
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let expect = params.expect.map(wire::expect).transpose()?;
    match (params.id, params.ids) {
        (Some(Int(id)), None) => delete_one(engine, id.into(), expect.as_ref(), &viewer),
        (None, Some(ids)) if !ids.is_empty() && ids.len() <= MAX_ITEMS => {
            let mut lines = Vec::new();
            let mut failed = Vec::new();
            for Int(id) in ids {
                match delete_one(engine, id.into(), expect.as_ref(), &viewer) {
                    Ok(line) => lines.push(line),
                    Err(error) => failed.push(error),
                }
            }
            match (lines.is_empty(), failed.is_empty()) {
                (true, false) => Err(failed.swap_remove(0)),
                _ => Ok(lines.into_iter().chain(failed.iter().map(Error::worded)).collect::<Vec<_>>().join("\n")),
            }
        }
        (None, Some(ids)) => Err(Error::invalid("ids", format!("must be 1 to {MAX_ITEMS}, not {}", ids.len()))),
        (Some(_), Some(_)) => Err(Error::invalid("ids", "give either id or ids")),
        (None, None) => Err(Error::invalid("id", "is missing; pass id, ids or query")),
    }
}

/// `memory_link`.
pub fn link(engine: &Engine, context: &Context, params: LinkParams) -> Result<String> {
    let (from, to, kind) = (params.from_id.0, params.to_id.0, params.link_type);
    let created = ops::link(engine, context, params)?.created;
    let phrase = wire::link_phrase(kind, false);
    let hides = if kind == LinkKind::Supersedes { "; searches leave that one out now" } else { "" };
    Ok(match created {
        true => format!("#{from} {phrase} #{to}{hides}."),
        false => format!("unchanged: #{from} {phrase} #{to} already."),
    })
}

/// `memory_undo`: of one memory, or of each of several.
pub fn undo(engine: &Engine, context: &Context, UndoMany(each): UndoMany) -> Result<String> {
    if each.len() > MAX_ITEMS {
        return Err(Error::invalid("ids", format!("must be 1 to {MAX_ITEMS}, not {}", each.len())));
    }
    // They differ by their ids alone.
    let Some(first) = each.first() else { return Ok(String::new()) };
    let viewer = context.defaults.viewer(&first.project, &first.agent)?;
    if let [one] = each.as_slice() {
        return undo_one(engine, &viewer, one);
    }
    let lines = each.iter().map(|one| undo_one(engine, &viewer, one).unwrap_or_else(|error| error.worded()));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn undo_one(engine: &Engine, viewer: &Viewer, params: &UndoParams) -> Result<String> {
    let id = RecordId::from(params.id.0);
    let undone = match ops::undo_each(engine, params, viewer) {
        Ok(undone) => undone,
        Err(error @ Error::NotFound(_)) => return Err(absent(engine, id, viewer, error)?),
        Err(error) => return Err(error),
    };
    let back = |outcome: &UpdateOutcome, how: &str| format!("#{id} {how}: {}", beginning(&outcome.record.content));
    let is_same = |outcome: &UpdateOutcome| {
        outcome.before.as_ref().is_some_and(|before| before.version == outcome.record.version)
    };
    let lines = undone.iter().map(|undone| match undone {
        Undone::Deletion(outcome) => back(outcome, "was deleted and is restored"),
        Undone::Expiry(outcome) => back(outcome, "had expired and is restored, without an expiry"),
        Undone::Change(outcome) if is_same(outcome) => back(outcome, "is so already"),
        Undone::Change(outcome) => {
            back(outcome, &format!("has its previous content (now version {})", outcome.record.version))
        }
        Undone::Link(link) => {
            let phrase = wire::link_phrase(link.kind, false);
            let found = if link.kind == LinkKind::Supersedes { found_again(link.to) } else { String::new() };
            format!("Removed the link: #{} {phrase} #{}{found}.", link.from, link.to)
        }
        Undone::CurrentAgain(by) if by.is_empty() => format!("#{id} has the content it had before it was saved again."),
        Undone::CurrentAgain(by) => {
            let by: Vec<String> = by.iter().map(|by| format!("#{by}")).collect();
            format!("#{id} is superseded again, by {}.", by.join(", "))
        }
        _ => format!("#{id} has its previous content."),
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn found_again(id: RecordId) -> String {
    format!("; if nothing else supersedes #{id}, searches find it again")
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use memorist_engine::config::Config;
    use memorist_engine::embed::HashEmbedder;
    use memorist_engine::progress::NoProgress;
    use memorist_engine::types::{Merge, RecordUpdate};
    use serde_json::json;

    use super::*;

    /// A store whose model is in memory, and to which nothing else writes.
    fn store(folder: &Path) -> Engine {
        let mut config = Config::without_model();
        config.index_writer = false;
        Engine::open_with_embedder(folder, config, Arc::new(HashEmbedder::new(64))).unwrap()
    }

    /// How many transactions the write-ahead log has: the last page of each has the size of the database beside it.
    fn commits(folder: &Path) -> usize {
        let log = std::fs::read(folder.join("memory.db-wal")).unwrap();
        let page_size = log[8..12].iter().fold(0, |size, byte| size << 8 | usize::from(*byte));
        log[32..].chunks(24 + page_size).filter(|page| page[4..8] != [0; 4]).count()
    }

    fn save(engine: &Engine, params: Value) -> String {
        add(engine, &Context::default(), serde_json::from_value(params).unwrap()).unwrap()
    }

    /// 41.1: whatever is saved with a memory, it waits for the disk once.
    #[test]
    fn a_save_is_one_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let engine = store(folder.path());
        save(&engine, json!({ "content": "the mast is oak" }));
        // Binds the store to its model, and measures that.
        engine.embed_pending(&NoProgress).unwrap();
        for (params, answer) in [
            (json!({ "content": "the hull is larch" }), "Saved as #2."),
            (json!({ "content": "the keel is iron", "related": [1] }), "Saved as #3, related to #1."),
            (
                json!({ "content": "the deck is teak", "related": [1, 2], "supersedes": [3] }),
                "Saved as #4, supersedes #3, related to #1, related to #2.",
            ),
            (json!({ "content": "the hull is larch" }), "#2 already has this text."),
            (
                json!({ "content": "the hull is larch", "context": "of the new boat", "contradicts": [4] }),
                "#2 already has this text, contradicts #4.\n  taken over: context (version 2 now)",
            ),
            (
                json!({ "items": ["one", { "content": "two", "related": [1, 2] }, { "content": "" }], "tags": ["a"] }),
                "1. Saved as #5.\n2. Saved as #6, related to #1, related to #2.\n3. not saved: content: is empty; give \
                 the text to remember",
            ),
        ] {
            let before = commits(folder.path());
            let lines = save(&engine, params);
            let lines: Vec<_> = lines.lines().filter(|line| !line.starts_with("  near ")).collect();
            assert_eq!((lines.join("\n").as_str(), commits(folder.path()) - before), (answer, 1));
        }
        assert_eq!(engine.embed_pending(&NoProgress).unwrap(), 0, "all were embedded with their saves");
    }

    /// 41.1: so does a change, also of several memories, of a long text, and one that another change precedes.
    #[test]
    fn an_update_is_one_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let engine = store(folder.path());
        save(&engine, json!({ "items": ["the mast is oak", "the hull is larch", "the keel is iron"] }));
        engine.embed_pending(&NoProgress).unwrap();
        let update = |params: Value| {
            let before = commits(folder.path());
            super::update(&engine, &Context::default(), serde_json::from_value(params).unwrap()).unwrap();
            commits(folder.path()) - before
        };
        assert_eq!(update(json!({ "id": 1, "content": "the mast is spruce", "expect": 1 })), 1);
        assert_eq!(update(json!({ "id": 1, "context": "of the new boat" })), 1);
        assert_eq!(update(json!({ "id": 1, "tags": ["rigging"] })), 1);
        assert_eq!(update(json!({ "id": 1, "content": "the mast is spruce" })), 0, "nothing is new");
        let content = |text: &str| RecordUpdate { content: Some(text.to_owned()), ..RecordUpdate::default() };
        let updates = [(2, "the hull is oak"), (3, "the keel is lead"), (1, "the mast is pine")];
        let updates = updates.map(|(id, text)| (RecordId::from(id), content(text)));
        let before = commits(folder.path());
        let changed = engine.viewed_by(&Viewer::OWNER).update_all(&updates).unwrap();
        assert_eq!((changed.len(), commits(folder.path()) - before), (3, 1));
        let merge = Merge { keep: (2.into(), 2), replaced: vec![(3.into(), 2)], content: Some("all is oak".into()) };
        let before = commits(folder.path());
        engine.viewed_by(&Viewer::OWNER).merge(&merge).unwrap();
        assert_eq!(commits(folder.path()) - before, 1);
        assert_eq!(engine.embed_pending(&NoProgress).unwrap(), 0, "all were embedded with their changes");
        let long = "The long voyage of the oak hull. ".repeat(200);
        assert_eq!(update(json!({ "id": 1, "content": long })), 1);
        assert!(engine.embed_pending(&NoProgress).unwrap() > 0, "its further passages wait");
    }

    #[test]
    fn an_update_out_of_bounds_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let engine = store(folder.path());
        save(&engine, json!({ "content": "the mast is oak" }));
        let before = commits(folder.path());
        let importance = RecordUpdate { importance: Some(0), ..RecordUpdate::default() };
        for update in [importance, RecordUpdate::default()] {
            let refused = |done: Result<()>| assert!(matches!(done, Err(Error::Invalid { .. })), "{done:?}");
            refused(engine.viewed_by(&Viewer::OWNER).update(1.into(), &update).map(drop));
            refused(engine.viewed_by(&Viewer::OWNER).update_all(&[(1.into(), update.clone())]).map(drop));
            refused(engine.viewed_by(&Viewer::OWNER).check_update(1.into(), &update));
        }
        assert_eq!(commits(folder.path()), before);
    }

    /// 39.15: each has its answer, whatever becomes of the others.
    #[test]
    fn each_of_a_list_is_answered() {
        let folder = tempfile::tempdir().unwrap();
        let embedder = Arc::new(HashEmbedder::new(64));
        let engine = Engine::open_with_embedder(folder.path(), Config::without_model(), embedder).unwrap();
        let save = |params: Value| add(&engine, &Context::default(), serde_json::from_value(params).unwrap());
        assert_eq!(save(json!({ "content": "the mast is oak" })).unwrap(), "Saved as #1.");
        let items = json!([
            "the hull is larch",
            { "content": "the keel is iron", "supersedes": [1] },
            { "content": "" },
            { "content": "gone", "related": [99] },
            7,
            { "content": "the mast is oak", "tags": ["wood"] },
            { "content": "the hull is larch", "project": "ship" },
            { "content": "the hull is larch", "importance": 99 },
        ]);
        let answer = save(json!({ "items": items, "project": "boat" })).unwrap();
        let lines: Vec<_> = answer.lines().filter(|line| !line.starts_with("  near ")).collect();
        let expected = [
            "1. Saved as #2 in project boat.",
            "2. Saved as #3 in project boat, supersedes #1.",
            "3. not saved: content: is empty; give the text to remember",
            "4. not saved: Memory entry not found: 99",
            "5. not saved: must be an object with content",
            "6. Saved as #4 in project boat.",
            "7. Saved as #5 in project ship.",
            "8. not saved: importance: 99 is outside 1 to 10",
        ];
        assert_eq!(lines, expected);
        assert!(save(json!({ "items": [] })).unwrap_err().to_string().contains("1 to 100"));
    }
}
