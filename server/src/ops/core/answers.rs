//! What several tools say.

use memorist_engine::types::{Expect, Reach, RecordId, UpdateOutcome, Viewer};
use memorist_engine::{Engine, Error, Result};

use crate::ops::Context;
use crate::wire::core::beginning;
use crate::wire::{Int, Patch, moment};

/// Default number of tokens of an answer.
pub const MAX_TOKENS: usize = 4_000;

/// The most tokens of an answer.
pub fn max_tokens(given: Option<Int>) -> Result<usize> {
    match given {
        None => Ok(MAX_TOKENS),
        Some(Int(most @ 1..)) => Ok(usize::try_from(most).unwrap_or(usize::MAX)),
        Some(Int(most)) => Err(Error::invalid("maxTokens", format!("{most} is less than 1"))),
    }
}

/// A note about a project that has no memories, with the nearest name.
pub fn unknown_project(engine: &Engine, context: &Context, project: &Patch<String>) -> Result<Option<String>> {
    let Patch::Value(name) = project else { return Ok(None) };
    if name == Reach::EVERY || context.defaults.is_only() {
        return Ok(None);
    }
    let projects = engine.names(&Viewer::OWNER)?.projects;
    if projects.iter().any(|(known, _)| known == name) {
        return Ok(None);
    }
    let likeness = |known: &str| strsim::jaro_winkler(&known.to_lowercase(), &name.to_lowercase());
    let nearest = projects.iter().map(|(known, _)| (likeness(known), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match nearest {
        Some((likeness, known)) if likeness > 0.8 => format!("did you mean {known:?}?"),
        _ => "memory_stats names the projects".to_owned(),
    };
    Ok(Some(format!("No memory belongs to a project {name:?}: {hint} Global memories are shown.")))
}

/// Why there is no memory with this id: it may have been deleted.
pub fn absent(engine: &Engine, id: RecordId, viewer: &Viewer, error: Error) -> Result<Error> {
    let Some(gone) = engine.gone(id, viewer)? else { return Ok(error) };
    let how = match (gone.deleted_at, gone.record.expires_at) {
        (Some(at), _) => format!("was deleted {}", moment(at)),
        (None, Some(at)) => format!("has expired {}", moment(at)),
        (None, None) => return Ok(error),
    };
    let text = beginning(&gone.record.content);
    Ok(Error::invalid("id", format!("memory {id} {how}; memory_undo with this id brings it back. It was: {text}")))
}

/// What an update did.
pub fn updated(outcome: &UpdateOutcome) -> String {
    let record = &outcome.record;
    let Some(before) = outcome.before.as_ref().filter(|before| before.version != record.version) else {
        return format!("#{} is so already; nothing was changed.", record.id);
    };
    let mut text =
        format!("#{} updated (version {}). It was: {}", record.id, record.version, beginning(&before.content));
    if outcome.nothing_in_common {
        text.push_str("\n  The new text has nothing in common with that. Wrong id? memory_undo puts it back.");
    }
    text
}

/// Deletes a memory, and says what it was.
pub fn delete_one(engine: &Engine, id: RecordId, expect: Option<&Expect>, viewer: &Viewer) -> Result<String> {
    match engine.delete_expected(id, expect, viewer)? {
        Some(record) => {
            let was = beginning(&record.content);
            Ok(format!("#{id} deleted; memory_undo brings it back for 30 days. It was: {was}"))
        }
        None => Err(absent(engine, id, viewer, Error::NotFound(id))?),
    }
}
