//! Saving, changing, deleting, linking, undoing.

use memorist_engine::types::{LinkKind, RecordId, UpdateOutcome, Viewer};
use memorist_engine::{Engine, Error, Result, Undone};
use serde_json::Value;

use super::answers::{absent, delete_one, nearest, updated};
use super::many;
use crate::ops;
use crate::ops::Context;
use crate::wire::core::{DeleteParams, Line, SaveParams, UndoMany, UndoParams, UpdateParams, beginning, one_line};
use crate::wire::{self, AddParams, Int, LinkParams};
use crate::wording::Worded as _;

/// Most memories that are saved at once.
const MAX_ITEMS: usize = 100;

/// `memory_add`: one memory, or several with an answer for each.
pub fn add(engine: &Engine, context: &Context, params: SaveParams) -> Result<String> {
    let (items, shared) = match params {
        SaveParams::One(one) => return save(engine, context, *one, true),
        SaveParams::Several(items, shared) => (items, shared),
    };
    if items.is_empty() || items.len() > MAX_ITEMS {
        return Err(Error::invalid("items", format!("must be 1 to {MAX_ITEMS}, not {}", items.len())));
    }
    for item in items.iter().filter_map(Value::as_object) {
        context.defaults.check_arguments(item)?;
    }
    let lines = (1..).zip(items).map(|(number, item)| {
        let item = match item {
            Value::String(content) => Ok([("content".to_owned(), content.into())].into_iter().collect()),
            Value::Object(item) => Ok(item),
            _ => Err("must be an object with content".to_owned()),
        };
        let item = item.and_then(|item| {
            let mut whole = shared.clone();
            whole.extend(item);
            wire::lenient::<AddParams>(&mut whole)?;
            wire::parse::<AddParams>(whole)
        });
        let saved = item.and_then(|item| save(engine, context, item, false).map_err(|error| error.worded()));
        match saved {
            Ok(text) => format!("{number}. {text}"),
            Err(why) => format!("{number}. not saved: {why}"),
        }
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// Saves a memory, and says what that did: with all that it may replace, if it is `alone`.
fn save(engine: &Engine, context: &Context, params: AddParams, alone: bool) -> Result<String> {
    let scope = context.defaults.scope(params.project.clone(), params.agent.clone())?;
    let dated =
        params.valid_from.is_some() || params.valid_to.is_some() || params.due.is_some() || params.expires_at.is_some();
    let is_new_project = match &scope.project {
        Some(name) if !context.defaults.is_only() => new_project(engine, name)?,
        _ => None,
    };
    let result = ops::add(engine, context, params)?;
    let what = if dated { described(engine, result.id.into())? } else { String::new() };
    let of = scope.project.as_deref().map_or_else(String::new, |name| format!(" in project {}", one_line(name)));
    let linked = result.linked.iter().map(|(kind, other)| format!(", {} #{other}", wire::link_phrase(*kind, false)));
    let linked: String = linked.collect();
    let mut text = match result.created {
        true => format!("Saved as #{}{of}{what}{linked}.", result.id),
        false => format!("#{} has this text already{what}{linked}.", result.id),
    };
    for note in result.notes.iter().chain(&is_new_project) {
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
        text.push_str("\n  If it does, say so: memory_link from this one, supersedes or contradicts.");
    }
    Ok(text)
}

/// What was understood of the dates of a memory.
fn described(engine: &Engine, id: RecordId) -> Result<String> {
    let record = engine.peek(id, &Viewer::OWNER)?;
    let line = Line { undated: true, ..Line::default() };
    Ok(record.map_or_else(String::new, |record| format!(": {}", line.dates(&record))))
}

/// A note about a project that has no memories yet, if another has nearly its name.
fn new_project(engine: &Engine, name: &str) -> Result<Option<String>> {
    if engine.has_project(name, &Viewer::OWNER)? {
        return Ok(None);
    }
    let projects = engine.project_sizes(&Viewer::OWNER)?;
    let like = nearest(&projects, name).filter(|(likeness, _)| *likeness > 0.9);
    Ok(like.map(|(_, known)| format!("project {name:?} is new; there is {known:?} already")))
}

/// `memory_update`.
pub fn update(engine: &Engine, context: &Context, params: UpdateParams) -> Result<String> {
    if params.query.is_some() || params.confirm.is_some() {
        return many::update(engine, context, params);
    }
    let id = RecordId::from(params.update.id.0);
    let viewer = context.defaults.viewer(&params.update.project, &params.update.agent)?;
    if params.only_moves {
        let why = "only says where the memory is, and nothing to change is given; a memory cannot be moved: save it \
                   in the other project, and delete this one";
        return Err(Error::invalid("project", why));
    }
    let update = ops::checked_update(params.update)?;
    match engine.update(id, &update, &viewer) {
        Ok(outcome) => Ok(updated(&outcome)),
        Err(error @ Error::NotFound(_)) => Err(absent(engine, id, &viewer, error)?),
        Err(error) => Err(error),
    }
}

/// `memory_delete`.
pub fn delete(engine: &Engine, context: &Context, params: DeleteParams) -> Result<String> {
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
        (None, None) => Err(Error::invalid("id", "is missing; give id, ids or query")),
    }
}

/// `memory_link`.
pub fn link(engine: &Engine, context: &Context, params: &LinkParams) -> Result<String> {
    let created = ops::link(engine, context, params)?.created;
    let (from, to) = (params.from_id.0, params.to_id.0);
    let phrase = wire::link_phrase(params.link_type, false);
    let hides = if params.link_type == LinkKind::Supersedes { "; searches leave that one out now" } else { "" };
    Ok(match created {
        true => format!("#{from} {phrase} #{to}{hides}."),
        false => format!("#{from} {phrase} #{to} already; nothing was changed."),
    })
}

/// `memory_undo`: of one memory, or of each of several.
pub fn undo(engine: &Engine, context: &Context, params: &UndoMany) -> Result<String> {
    let UndoMany(each) = params;
    if each.len() > MAX_ITEMS {
        return Err(Error::invalid("ids", format!("must be 1 to {MAX_ITEMS}, not {}", each.len())));
    }
    if let [one] = each.as_slice() {
        return undo_one(engine, context, one);
    }
    let lines = each.iter().map(|one| undo_one(engine, context, one).unwrap_or_else(|error| error.worded()));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn undo_one(engine: &Engine, context: &Context, params: &UndoParams) -> Result<String> {
    let id = RecordId::from(params.id.0);
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let undone = match ops::undo_each(engine, params, &viewer) {
        Ok(undone) => undone,
        Err(error @ Error::NotFound(_)) => return Err(absent(engine, id, &viewer, error)?),
        Err(error) => return Err(error),
    };
    let back = |outcome: &UpdateOutcome, how: &str| format!("#{id} {how}: {}", beginning(&outcome.record.content));
    let is_same = |outcome: &UpdateOutcome| {
        outcome.before.as_ref().is_some_and(|before| before.version == outcome.record.version)
    };
    let lines = undone.iter().map(|undone| match undone {
        Undone::Deletion(outcome) => back(outcome, "was deleted and is back"),
        Undone::Expiry(outcome) => back(outcome, "had expired and is back, without an expiry"),
        Undone::Change(outcome) if is_same(outcome) => back(outcome, "is so already"),
        Undone::Change(outcome) => {
            back(outcome, &format!("is what it was before (version {} now)", outcome.record.version))
        }
        Undone::Link(link) => {
            let phrase = wire::link_phrase(link.kind, false);
            let found = if link.kind == LinkKind::Supersedes { found_again(link.to) } else { String::new() };
            format!("Removed the link: #{} {phrase} #{}{found}.", link.from, link.to)
        }
        Undone::CurrentAgain(by) if by.is_empty() => format!("#{id} is what it was before it was saved again."),
        Undone::CurrentAgain(by) => {
            let by: Vec<String> = by.iter().map(|by| format!("#{by}")).collect();
            format!("#{id} is superseded again, by {}.", by.join(", "))
        }
        _ => format!("#{id} is what it was before."),
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn found_again(id: RecordId) -> String {
    format!("; if nothing else supersedes #{id}, searches find it again")
}
