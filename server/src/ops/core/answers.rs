//! Answers and notes that several tools share.

use memorist_engine::types::{Expect, LinkKind, Mark, Reach, RecordId, UpdateOutcome, Viewer};
use memorist_engine::{Engine, Error, Result};

use super::changes::Fields;
use crate::ops::Context;
use crate::wire::core::{beginning, one_line};
use crate::wire::{Int, Patch, moment};

/// Default number of tokens of an answer.
pub const MAX_TOKENS: usize = 4_000;
/// Projects that a note names.
const PROJECTS_NAMED: usize = 5;
/// Similarity above which the name of a project is suggested.
const LIKE: f64 = 0.8;

/// The most tokens of an answer.
pub fn max_tokens(given: Option<Int>) -> Result<usize> {
    match given {
        None => Ok(MAX_TOKENS),
        Some(Int(most @ 1..)) => Ok(usize::try_from(most).unwrap_or(usize::MAX)),
        Some(Int(most)) => Err(Error::invalid("maxTokens", format!("{most} is less than 1"))),
    }
}

/// A note about a project that has no memories here, with the nearest name.
pub fn unknown_project(engine: &Engine, context: &Context, project: &Patch<String>) -> Result<Option<String>> {
    let Patch::Value(name) = project else { return Ok(None) };
    if name == Reach::EVERY || context.defaults.is_only() {
        return Ok(None);
    }
    let missing = missing_project(engine, name, "memory_stats names the projects.")?;
    Ok(missing.map(|what| format!("No memory belongs to a {what}")))
}

/// Text about a project without memories, with the name that was probably meant, or with `list`, which says where the names are.
pub fn missing_project(engine: &Engine, name: &str, list: &str) -> Result<Option<String>> {
    let Some(projects) = projects_if_unknown(engine, name)? else { return Ok(None) };
    let hint = match nearest(&projects, name) {
        Some((likeness, known)) if likeness > LIKE => format!("did you mean {known:?}?"),
        _ => list.to_owned(),
    };
    Ok(Some(format!("project {name:?}: {hint}")))
}

/// The projects in use, if none of them has this name, and none on a team's server may have it.
pub fn projects_if_unknown(engine: &Engine, name: &str) -> Result<Option<Vec<(String, u64)>>> {
    let all = engine.viewed_by(&Viewer::OWNER);
    if engine.unfollowed(name)?.is_some() || all.has_project(name)? {
        return Ok(None);
    }
    all.project_sizes().map(Some)
}

/// A note that some memories are only on a team's server.
pub fn unfollowed(engine: &Engine, viewer: &Viewer) -> Result<Option<String>> {
    Ok(engine.viewed_by(viewer).unfollowed()?.map(|why| format!("Note: {why}")))
}

/// A note that there are memories of projects, for a call that looks at global ones alone and shows little.
pub fn other_projects(engine: &Engine, context: &Context, viewer: &Viewer) -> Result<Option<String>> {
    if viewer.project != Reach::Shared || context.defaults.is_only() {
        return Ok(None);
    }
    let projects = engine.viewed_by(&Viewer::OWNER).project_sizes()?;
    let shown = projects.iter().take(PROJECTS_NAMED).map(|(name, number)| format!("{} {number}", one_line(name)));
    let more = projects.len().saturating_sub(PROJECTS_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names = shown.collect::<Vec<_>>().join(", ");
    Ok((!projects.is_empty()).then(|| {
        format!("Only global memories were searched. Projects: {names}{more}. Pass project, or \"*\" for all.")
    }))
}

/// The name that is most similar to this one, and the similarity; of two equally similar, the one with more memories.
pub fn nearest<'a>(names: &'a [(String, u64)], name: &str) -> Option<(f64, &'a str)> {
    let likeness = |known: &str| strsim::jaro_winkler(&known.to_lowercase(), &name.to_lowercase());
    let all = names.iter().map(|(known, number)| (likeness(known), *number, known.as_str()));
    let best = all.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    best.map(|(likeness, _, known)| (likeness, known))
}

/// The error for an id without a memory, which may have been deleted, have expired, or be only on a team's server. The text of
/// a deleted memory is not repeated: it may have been deleted because of that text.
pub fn absent(engine: &Engine, id: RecordId, viewer: &Viewer, error: Error) -> Result<Error> {
    let Some(gone) = engine.viewed_by(viewer).get_gone(id)? else {
        let unfollowed = engine.viewed_by(viewer).unfollowed()?;
        return Ok(unfollowed.map_or(error, |why| Error::invalid("id", format!("memory {id} is not found; {why}"))));
    };
    let (how, read) = match (gone.deleted_at, gone.record.expires_at) {
        (Some(at), _) => (format!("was deleted {}", moment(at)), "memory_get with includeDeleted"),
        (None, Some(at)) => (format!("has expired {}", moment(at)), "memory_get"),
        (None, None) => return Ok(error),
    };
    Ok(Error::invalid("id", format!("memory {id} {how}; memory_undo restores it, {read} shows it")))
}

/// Describes the outcome of an update.
pub fn updated(outcome: &UpdateOutcome) -> String {
    let record = &outcome.record;
    let Some(before) = outcome.before.as_ref().filter(|before| before.version != record.version) else {
        return format!("#{} is unchanged: it has these values already.", record.id);
    };
    let changes = Fields::from(before).changes(&record.into());
    let mut text = format!("#{} updated (version {}): {}.", record.id, record.version, changes.join("; "));
    text.push_str(&format!(" It was: {}", beginning(&before.content)));
    if outcome.nothing_in_common {
        text.push_str(
            "\n  Warning: the new text shares no words with the old one. If the id was wrong, call memory_undo.",
        );
    }
    text
}

/// Deletes a memory, and repeats its beginning.
pub fn delete_one(engine: &Engine, id: RecordId, expect: Option<&Expect>, viewer: &Viewer) -> Result<String> {
    let marks = engine.viewed_by(viewer).status_links(&[id], 1)?.remove(&id).unwrap_or_default();
    match engine.viewed_by(viewer).delete_expected(id, expect)? {
        Some(record) => {
            let was = beginning(&record.content);
            let older = marks.iter().filter(|mark| mark.kind == LinkKind::Supersedes && !mark.by_other);
            let older: Vec<RecordId> = older.map(|mark| mark.other).collect();
            let still = engine.viewed_by(viewer).status_links(&older, 1)?;
            let is_hidden = |id: &&RecordId| still.get(id).is_some_and(|marks| marks.iter().any(Mark::is_of_successor));
            let found: Vec<String> = older.iter().filter(|id| !is_hidden(id)).map(|id| format!("#{id}")).collect();
            let found = match found.is_empty() {
                true => String::new(),
                false => format!("\n  Searches find these again, which it superseded: {}", found.join(", ")),
            };
            Ok(format!(
                "#{id} deleted; memory_undo restores it for 30 days. To erase it permanently: `memorist purge {id}`. \
                 It was: {was}{found}"
            ))
        }
        None => Err(absent(engine, id, viewer, Error::NotFound(id))?),
    }
}
