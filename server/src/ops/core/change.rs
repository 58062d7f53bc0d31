//! Saving, changing, deleting, linking, undoing.

use memorist_engine::types::{Link, LinkKind, RecordId, UpdateOutcome, Viewer};
use memorist_engine::{Engine, Error, Result, Undone};
use serde_json::{Map, Value};

use super::answers::{absent, delete_one, updated};
use super::many;
use crate::ops;
use crate::ops::Context;
use crate::wire::core::{DeleteParams, SaveParams, UndoParams, UpdateParams, beginning};
use crate::wire::{self, AddParams, AddResult, Int, LinkParams, Patch};
use crate::wording::Worded as _;

/// Most memories that are saved at once.
const MAX_ITEMS: usize = 100;

/// `memory_add`: one memory, or several with an answer for each.
pub fn add(engine: &Engine, context: &Context, params: SaveParams) -> Result<String> {
    let (items, shared) = match params {
        SaveParams::One(one) => return Ok(saved(&ops::add(engine, context, *one)?)),
        SaveParams::Several(items, shared) => (items, shared),
    };
    if items.is_empty() || items.len() > MAX_ITEMS {
        return Err(Error::invalid("items", format!("must be 1 to {MAX_ITEMS}, not {}", items.len())));
    }
    context.defaults.viewer(&named(&shared, "project"), &named(&shared, "agent"))?;
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
            crate::wire::lenient::<AddParams>(&mut whole);
            wire::parse::<AddParams>(whole)
        });
        let saved = item.and_then(|item| {
            context.defaults.viewer(&item.project, &item.agent).map_err(|error| error.worded())?;
            ops::add(engine, context, item).map_err(|error| error.worded())
        });
        match saved {
            Ok(result) => format!("{number}. {}", self::saved(&result)),
            Err(why) => format!("{number}. not saved: {why}"),
        }
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// A name that the parameters of all items have.
fn named(shared: &Map<String, Value>, name: &str) -> Patch<String> {
    match shared.get(name) {
        Some(Value::String(name)) => Patch::Value(name.clone()),
        Some(Value::Null) => Patch::Null,
        _ => Patch::Absent,
    }
}

/// What saving did.
fn saved(result: &AddResult) -> String {
    let mut text = if result.created {
        format!("Saved as #{}.", result.id)
    } else {
        format!("#{} has this text already.", result.id)
    };
    for note in &result.notes {
        text.push_str(&format!("\n  {note}"));
    }
    for like in &result.suggestions {
        let how = match like.link_type {
            LinkKind::Supersedes => "much like",
            LinkKind::Contradicts => "may replace or contradict",
            _ => "related to",
        };
        text.push_str(&format!("\n  {how} #{}: {}", like.id, beginning(&like.content)));
    }
    let may_replace = result.suggestions.iter().any(|like| like.link_type != LinkKind::Related);
    if may_replace {
        text.push_str("\n  If it replaces or contradicts one of them, say so with memory_link.");
    }
    text
}

/// `memory_update`.
pub fn update(engine: &Engine, context: &Context, params: UpdateParams) -> Result<String> {
    if params.query.is_some() || params.confirm.is_some() {
        return many::update(engine, context, params);
    }
    let id = RecordId::from(params.update.id.0);
    let viewer = context.defaults.viewer(&params.update.project, &params.update.agent)?;
    let update = wire::record_update(params.update)?;
    update.validate()?;
    ops::check_expiry(update.expires_at.flatten())?;
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
            let lines = ids.into_iter().map(|Int(id)| {
                delete_one(engine, id.into(), expect.as_ref(), &viewer).unwrap_or_else(|error| error.worded())
            });
            Ok(lines.collect::<Vec<_>>().join("\n"))
        }
        (None, Some(ids)) => Err(Error::invalid("ids", format!("must be 1 to {MAX_ITEMS}, not {}", ids.len()))),
        (Some(_), Some(_)) => Err(Error::invalid("ids", "give either id or ids")),
        (None, None) => Err(Error::invalid("id", "is missing")),
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

/// `memory_undo`.
pub fn undo(engine: &Engine, context: &Context, params: &UndoParams) -> Result<String> {
    let id = RecordId::from(params.id.0);
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let undone = match (params.version, params.linked_id) {
        (Some(_), Some(_)) => return Err(Error::invalid("version", "give either version or linkedId")),
        (Some(Int(version)), None) => engine.roll_back(id, version, Some("undo"), &viewer).map(Undone::Change),
        (None, Some(Int(other))) => return unlink(engine, id, other.into(), params.link_type, &viewer),
        (None, None) => engine.undo(id, &viewer),
    };
    let back = |outcome: &UpdateOutcome, how: &str| format!("#{id} {how}: {}", beginning(&outcome.record.content));
    match undone {
        Ok(Undone::Deletion(outcome)) => Ok(back(&outcome, "was deleted and is back")),
        Ok(Undone::Expiry(outcome)) => Ok(back(&outcome, "had expired and is back, without an expiry")),
        Ok(Undone::Change(outcome)) => {
            Ok(back(&outcome, &format!("is what it was before (version {} now)", outcome.record.version)))
        }
        Ok(Undone::Link(link)) => Ok(unlinked(link)),
        Ok(_) => Ok(format!("#{id} is what it was before.")),
        Err(error @ Error::NotFound(_)) => Err(absent(engine, id, &viewer, error)?),
        Err(error) => Err(error),
    }
}

/// Removes the links between two memories.
fn unlink(engine: &Engine, id: RecordId, other: RecordId, kind: Option<LinkKind>, viewer: &Viewer) -> Result<String> {
    let all = engine.links(id, viewer, memorist_engine::types::MAX_LIMIT)?;
    let of_kind = |link: &&Link| link.other_end(id) == other && kind.is_none_or(|kind| kind == link.kind);
    let mut removed = Vec::new();
    for link in all.iter().filter(of_kind) {
        if engine.unlink(*link, viewer)? {
            removed.push(unlinked(*link));
        }
    }
    if removed.is_empty() {
        let why = format!("memory {id} has no such link with memory {other}; memory_get shows its links");
        return Err(Error::invalid("linkedId", why));
    }
    Ok(removed.join("\n"))
}

fn unlinked(link: Link) -> String {
    let phrase = wire::link_phrase(link.kind, false);
    format!("Removed the link: #{} {phrase} #{}.", link.from, link.to)
}
