//! Versions, rollback and permanent removal.

use std::collections::BTreeSet;
use std::path::PathBuf;

use memorist_engine::progress::Progress;
use memorist_engine::types::{Link, LinkKind, Purge, RecordId, Viewer};
use memorist_engine::{Engine, Error, Result, Undone};
use memorist_ingest::log_purge::LogPurge;

use super::Context;
use crate::wire::core::UndoParams;
use crate::wire::{
    self, HistoryParams, HistoryResult, Int, PurgeParams, PurgeResult, RollbackParams, UndoResult, UpdateResult,
};
use crate::wording::Worded as _;

/// Default number of versions of a history.
const SHOWN: usize = 20;

/// `memory_history`. An unknown id is an answer, not an error.
pub fn history(engine: &Engine, context: &Context, params: HistoryParams) -> Result<HistoryResult> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let limit = wire::size("limit", params.limit, SHOWN)?;
    match engine.viewed_by(&viewer).history(params.id.0.into(), params.before.map(|Int(version)| version), limit) {
        Ok(versions) => {
            let next = versions.last().map(|version| version.version).filter(|_| versions.len() == limit);
            Ok(HistoryResult { versions: versions.into_iter().map(wire::version).collect(), next, error: None })
        }
        Err(error @ Error::NotFound(_)) => {
            Ok(HistoryResult { error: Some(error.worded()), ..HistoryResult::default() })
        }
        Err(error) => Err(error),
    }
}

/// `memory_rollback`. An unknown id is an answer, not an error.
pub fn roll_back(engine: &Engine, context: &Context, params: RollbackParams) -> Result<UpdateResult> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    match engine.viewed_by(&viewer).roll_back(params.id.0.into(), params.version.0, params.reason.as_deref(), None) {
        Ok(outcome) => Ok(UpdateResult::of(&outcome)),
        Err(error @ Error::NotFound(_)) => Ok(UpdateResult::none(&error)),
        Err(error) => Err(error),
    }
}

pub fn undo(engine: &Engine, context: &Context, params: UndoParams) -> Result<UndoResult> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let undone = undo_each(engine, &params, &viewer)?;
    Ok(UndoResult::of(params.id.0.into(), &undone))
}

/// Undoes what the parameters name: one thing, or every link with another memory.
pub fn undo_each(engine: &Engine, params: &UndoParams, viewer: &Viewer) -> Result<Vec<Undone>> {
    let id = params.id.0.into();
    let other = match (params.version, params.linked_id) {
        (Some(_), Some(_)) => return Err(Error::invalid("version", "give either version or linkedId")),
        (Some(Int(version)), None) => {
            return Ok(vec![Undone::Change(engine.viewed_by(viewer).roll_back(id, version, Some("undo"), None)?)]);
        }
        (None, None) => return Ok(vec![engine.viewed_by(viewer).undo(id)?]),
        (None, Some(Int(other))) => RecordId::from(other),
    };
    let mut undone = Vec::new();
    for kind in LinkKind::ALL.into_iter().filter(|kind| params.link_type.is_none_or(|wanted| wanted == *kind)) {
        for (from, to) in [(id, other), (other, id)] {
            let link = Link { from, to, kind };
            if engine.viewed_by(viewer).unlink(link)? {
                undone.push(Undone::Link(link));
            }
        }
    }
    if undone.is_empty() {
        let why = format!("memory {id} has no such link with memory {other}; memory_get shows its links");
        return Err(Error::invalid("linkedId", why));
    }
    Ok(undone)
}

pub fn purge(engine: &Engine, context: &Context, params: PurgeParams, progress: &dyn Progress) -> Result<PurgeResult> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let purge = match (params.ids, params.text) {
        (Some(ids), None) => Purge::Ids(ids.into_iter().map(|Int(id)| id.into()).collect()),
        (None, Some(text)) => Purge::Text(text),
        _ => return Err(Error::invalid("ids", "give either ids or text")),
    };
    if !params.confirm {
        return Err(Error::invalid("confirm", "must be true: a purge cannot be undone"));
    }
    let mut purged = engine.viewed_by(&viewer).purge(&purge, progress)?;
    purged.remaining_files.extend(purge_log(context, &purge, &viewer, &purged.beginnings));
    if context.defaults.is_only() {
        // Their names may reveal other projects or agents.
        purged.remaining_files.clear();
        purged.stays.clear();
    }
    Ok(wire::purged(purged))
}

/// Removes what was purged from the daily log. Returns the files that may have it still. Who does not see every memory removes
/// the lines of its own alone.
fn purge_log(context: &Context, purge: &Purge, viewer: &Viewer, beginnings: &BTreeSet<String>) -> Vec<PathBuf> {
    let text = match purge {
        Purge::Text(text) if *viewer == Viewer::OWNER => Some(text.as_str()),
        _ => None,
    };
    context.daily_log.as_ref().map_or_else(Vec::new, |log| log.purge(&LogPurge { beginnings, text }))
}
