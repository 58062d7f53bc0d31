//! Applying a plan, and undoing a run. What was changed meanwhile is left alone, and named.

use std::collections::BTreeSet;

use memorist_engine::progress::Progress;
use memorist_engine::types::{Expect, Link, LinkKind, Merge, RecordId, RecordUpdate, Version, Viewer};
use memorist_engine::{Engine, Error, ErrorKind};

use super::journal::{Change, Journal, JournalLine};
use crate::exit::{Failure, Kind};
use crate::wire::tidy::{Do, LeftAlone, Proposal, TidyPlan, TidyResult};
use crate::wording::Worded as _;

/// The reason of the version that a merge replaces, as the engine writes it.
const MERGED: &str = "merge";
const CLOSED: &str = "tidy";
const UNDONE: &str = "undo of tidy";

/// Applies the proposals with these numbers, or those that the plan says; each in one transaction.
///
/// # Errors
/// If the plan is of another store, or has no such number; errors of the store and of the journal, and if it is stopped: applied
/// proposals stay, and can be undone.
pub fn apply(
    engine: &Engine,
    viewer: &Viewer,
    plan: &TidyPlan,
    only: Option<&BTreeSet<u32>>,
    progress: &dyn Progress,
) -> Result<TidyResult, Failure> {
    let chosen = chosen(engine, plan, only)?;
    let mut result = TidyResult::default();
    let mut journal: Option<Journal> = None;
    progress.start("tidying up", Some(chosen.len() as u64));
    let ended = chosen.into_iter().try_for_each(|proposal| {
        if progress.cancelled() {
            return Err(Failure::new(Kind::Cancelled, "interrupted"));
        }
        match apply_one(engine, viewer, proposal, &mut journal)? {
            Ok(()) => result.done += 1,
            Err(why) => result.left.push(LeftAlone { n: proposal.n, why }),
        }
        progress.advance(1);
        Ok(())
    });
    progress.finish();
    match journal {
        Some(journal) if result.done == 0 => journal.discard(),
        Some(journal) => result.run = Some(journal.run),
        None => {}
    }
    ended.map(|()| result.clone()).map_err(|failure| with_way_out(failure, &result))
}

/// The proposals that are applied.
///
/// # Errors
/// If the plan is of another store, or has no such number.
pub fn chosen<'a>(
    engine: &Engine,
    plan: &'a TidyPlan,
    only: Option<&BTreeSet<u32>>,
) -> Result<Vec<&'a Proposal>, Failure> {
    if plan.store != engine.lineage() {
        return Err(Failure::input(
            "the plan is of another store, or of this one before it was restored; make a new one",
        ));
    }
    let Some(only) = only else { return Ok(plan.proposals.iter().filter(|proposal| proposal.apply).collect()) };
    let has = |n: &u32| plan.proposals.iter().any(|proposal| proposal.n == *n);
    if let Some(n) = only.iter().find(|n| !has(n)) {
        return Err(Failure::input(format!("--only: the plan has no proposal {n}")));
    }
    Ok(plan.proposals.iter().filter(|proposal| only.contains(&proposal.n)).collect())
}

fn with_way_out(failure: Failure, result: &TidyResult) -> Failure {
    match (failure, &result.run) {
        (Failure::Error { kind, message }, Some(run)) => {
            let message =
                format!("{message}; {} applied before, `memorist tidy --undo {run}` takes them back", result.done);
            Failure::Error { kind, message }
        }
        (Failure::Error { kind, message }, None) => Failure::Error { kind, message: message + "; nothing was changed" },
        (failure, _) => failure,
    }
}

/// Applies a proposal. The inner error says why it is left alone.
fn apply_one(
    engine: &Engine,
    viewer: &Viewer,
    proposal: &Proposal,
    journal: &mut Option<Journal>,
) -> Result<Result<(), String>, Failure> {
    let change = match prepare(engine, viewer, proposal) {
        Ok(Ok(change)) => change,
        Ok(Err(why)) => return Ok(Err(why)),
        Err(error) => return left(error).map(Err),
    };
    let journal = match journal {
        Some(journal) => journal,
        None => journal.insert(Journal::begin(engine)?),
    };
    journal.write(&JournalLine::Change(change.clone()))?;
    memorist_durable::crash::point("tidy noted");
    let applied = change_one(engine, viewer, proposal, &change);
    memorist_durable::crash::point("tidy applied");
    match applied {
        Ok(()) => Ok(Ok(())),
        Err(error) => {
            let why = left(error)?;
            journal.write(&JournalLine::Refused(proposal.n))?;
            Ok(Err(why))
        }
    }
}

/// Why a proposal is left alone, if the error is about its memories alone.
fn left(error: Error) -> Result<String, Failure> {
    match error.kind() {
        ErrorKind::Input | ErrorKind::NotFound => Ok(error.worded()),
        _ => Err(error.into()),
    }
}

/// Checks a proposal against the memories as they are, and says what it will change.
fn prepare(engine: &Engine, viewer: &Viewer, proposal: &Proposal) -> memorist_engine::Result<Result<Change, String>> {
    let ids: Vec<RecordId> = proposal.memories.iter().map(|memory| memory.id.into()).collect();
    for memory in &proposal.memories {
        let record = engine.viewed_by(viewer).get(memory.id.into())?.ok_or(Error::NotFound(memory.id.into()))?;
        if record.version != memory.version {
            return Ok(Err(format!(
                "memory {} was changed since the plan was made: it has version {} instead of {}",
                memory.id, record.version, memory.version
            )));
        }
        viewer.check_change(record.id, &record.scope)?;
    }
    let mut change = Change { n: proposal.n, links: Vec::new(), changes: None };
    let links = engine.viewed_by(viewer).links_among(&ids)?;
    let is_new = |from, kind, to| !links.contains(&Link { from, to, kind });
    if proposal.content.is_some() && proposal.r#do != Do::Supersede {
        return Ok(Err("content: only `supersede` takes a new text".into()));
    }
    match (proposal.r#do, proposal.keep) {
        (Do::Ask, _) => return Ok(Err("needs a decision: say `supersede` with `keep`, or `link`".into())),
        (Do::Close, _) if ids.len() == 1 => {
            change.changes = proposal.memories.first().map(|one| (one.id.into(), one.version))
        }
        (Do::Close, _) => return Ok(Err("close: give one memory".into())),
        (Do::Supersede | Do::Link, _) if ids.len() < 2 => return Ok(Err("give two memories or more".into())),
        (Do::Link, _) => {
            let pairs = ids.iter().skip(1).map(|id| (ids[0], LinkKind::Related, *id));
            change.links = pairs.filter(|(from, kind, to)| is_new(*from, *kind, *to)).collect();
        }
        (Do::Supersede, keep) => {
            let Some(kept) = proposal.memories.iter().find(|memory| Some(memory.id) == keep) else {
                return Ok(Err("keep: name the memory that stays, one of `memories`".into()));
            };
            let keep = RecordId::from(kept.id);
            let pairs = ids.iter().filter(|id| **id != keep).map(|id| (keep, LinkKind::Supersedes, *id));
            change.links = pairs.filter(|(from, kind, to)| is_new(*from, *kind, *to)).collect();
            change.changes = proposal.content.as_ref().map(|_| (keep, kept.version));
        }
    }
    Ok(Ok(change))
}

fn change_one(engine: &Engine, viewer: &Viewer, proposal: &Proposal, change: &Change) -> memorist_engine::Result<()> {
    let seen = |memory: &crate::wire::tidy::PlannedMemory| (RecordId::from(memory.id), memory.version);
    match proposal.r#do {
        Do::Supersede => {
            let (kept, replaced): (Vec<_>, Vec<_>) =
                proposal.memories.iter().map(seen).partition(|(id, _)| Some(id.get()) == proposal.keep);
            let Some(&keep) = kept.first() else { return Ok(()) };
            engine.viewed_by(viewer).merge(&Merge { keep, replaced, content: proposal.content.clone() }).map(drop)
        }
        Do::Link => {
            let links = change.links.iter().map(|(from, kind, to)| Link { from: *from, to: *to, kind: *kind });
            engine
                .viewed_by(viewer)
                .link_batch(&links.collect::<Vec<_>>())?
                .into_iter()
                .try_for_each(|made| made.map(drop))
        }
        Do::Close => {
            let Some((id, version)) = change.changes else { return Ok(()) };
            let update = RecordUpdate {
                body_fields: [("status".to_owned(), "dropped".into())].into_iter().collect(),
                reason: Some(CLOSED.into()),
                expect: Some(Expect::Version(version)),
                ..RecordUpdate::default()
            };
            engine.viewed_by(viewer).update(id, &update).map(drop)
        }
        Do::Ask => Ok(()),
    }
}

/// Undoes a run: the last one that has something to undo, or the one of this name. The last change is taken back first.
///
/// # Errors
/// If there is no such run, or another process is at work on it; errors of the store and of the journal.
pub fn undo(engine: &Engine, viewer: &Viewer, run: &str, progress: &dyn Progress) -> Result<TidyResult, Failure> {
    let (mut journal, changes) = Journal::open(engine, run)?;
    let mut result = TidyResult { run: Some(journal.run.clone()), ..TidyResult::default() };
    progress.start("undoing", Some(changes.len() as u64));
    for change in changes.iter().rev() {
        if progress.cancelled() {
            let why = format!("interrupted: `memorist tidy --undo {}` continues", journal.run);
            return Err(Failure::new(Kind::Cancelled, why));
        }
        match undo_one(engine, viewer, change).or_else(|error| left(error).map(Some))? {
            None => {
                journal.write(&JournalLine::Undone(change.n))?;
                result.done += 1;
            }
            Some(why) => result.left.push(LeftAlone { n: change.n, why }),
        }
        progress.advance(1);
    }
    progress.finish();
    Ok(result)
}

/// Undoes a change. Returns why it is left alone; it can be undone later, then.
fn undo_one(engine: &Engine, viewer: &Viewer, change: &Change) -> memorist_engine::Result<Option<String>> {
    let linked = change.links.iter().flat_map(|&(from, _, to)| [from, to]);
    for id in linked.chain(change.changes.map(|(id, _)| id)) {
        if engine.viewed_by(viewer).get(id)?.is_none() {
            return Ok(Some(format!("memory {id} is deleted, or belongs to another project")));
        }
    }
    if let Some((id, version)) = change.changes
        && !take_back(engine, viewer, id, version)?
    {
        return Ok(Some(format!("memory {id} was changed since")));
    }
    for &(from, kind, to) in &change.links {
        // Where it is gone, somebody has removed it, or an undo was interrupted.
        engine.viewed_by(viewer).unlink(Link { from, to, kind })?;
    }
    Ok(None)
}

/// Goes back to the version before, if the one after it is still the newest and came from here. Returns whether that version is
/// the newest now.
fn take_back(engine: &Engine, viewer: &Viewer, id: RecordId, version: i64) -> memorist_engine::Result<bool> {
    let versions = engine.viewed_by(viewer).history(id, None, 3)?;
    let reason = |one: &Version| one.replaced.as_ref().map(|replaced| replaced.reason.clone());
    match &*versions {
        // The new text was the same, or the change was not made.
        [newest, ..] if newest.version == version => Ok(true),
        [newest, before, ..] if newest.version == version + 1 => {
            let is_ours = [MERGED, CLOSED].map(Some).contains(&reason(before).as_deref());
            if is_ours {
                let expect = Expect::Version(newest.version);
                engine.viewed_by(viewer).roll_back(id, version, Some(UNDONE), Some(&expect))?;
            }
            Ok(is_ours)
        }
        // An undo was interrupted.
        [newest, replaced, ..] => Ok(newest.version == version + 2 && reason(replaced).as_deref() == Some(UNDONE)),
        _ => Ok(false),
    }
}
