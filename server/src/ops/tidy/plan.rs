//! Proposals. Making them changes nothing.

use std::collections::{BTreeMap, HashSet};

use memorist_engine::progress::Progress;
use memorist_engine::types::{
    DAY, Duplicates, Filter, ListOnly, ListOrder, ListQuery, Millis, Record, RecordId, Viewer,
};
use memorist_engine::{Engine, Error, Result};

use crate::wire::tidy::{Do, PlannedMemory, Proposal, TidyPlan};

/// A task is proposed for closing if it was due before this time, and neither changed nor fetched since.
const OVERDUE: Millis = 60 * DAY;
/// A memory that nobody found for this time is counted.
const NEVER_FOUND: Millis = 90 * DAY;
/// Memories that are read at once.
const PAGE: usize = 500;

/// Proposes what to tidy up among the memories that `viewer` sees: every copy, and at most `most` proposals that somebody has to
/// judge.
///
/// # Errors
/// Errors of the store, and if it is stopped.
pub fn plan(engine: &Engine, viewer: &Viewer, most: usize, progress: &dyn Progress) -> Result<TidyPlan> {
    let mut plan = TidyPlan::new(engine.lineage().to_owned(), engine.now());
    let mut gone = HashSet::new();
    for copies in engine.copies(viewer, progress)? {
        gone.extend(copies.others.iter().map(|record| record.id));
        let keep = Some(copies.keep.id);
        let records: Vec<Record> = [copies.keep].into_iter().chain(copies.others).collect();
        add(&mut plan, Do::Supersede, keep, "the same words".into(), &records);
        if let Some(proposal) = plan.proposals.last_mut() {
            proposal.apply = true;
        }
    }
    let full = plan.proposals.len() + most;
    contradictions(engine, viewer, full, &mut plan)?;
    tasks(engine, viewer, full, &mut plan)?;
    duplicates(engine, viewer, full, gone, &mut plan, progress)?;
    plan.never_found = never_found(engine, viewer, progress)?;
    Ok(plan)
}

fn add(plan: &mut TidyPlan, r#do: Do, keep: Option<RecordId>, why: String, records: &[Record]) {
    let n = u32::try_from(plan.proposals.len() + 1).unwrap_or(u32::MAX);
    let memories = records.iter().map(PlannedMemory::of).collect();
    plan.proposals.push(Proposal {
        n,
        apply: false,
        r#do,
        keep: keep.map(RecordId::get),
        content: None,
        why,
        memories,
    });
}

/// Groups of near-duplicates, each memory in one of them; without copies that are `gone`, and memories that a program keeps.
fn duplicates(
    engine: &Engine,
    viewer: &Viewer,
    full: usize,
    mut gone: HashSet<RecordId>,
    plan: &mut TidyPlan,
    progress: &dyn Progress,
) -> Result<()> {
    progress.start("looking for duplicates", None);
    let mut before = None;
    loop {
        if progress.cancelled() {
            return Err(Error::Cancelled);
        }
        let page = engine.duplicates(viewer, before, PAGE)?;
        for Duplicates { mut records, words, cosine, same_numbers } in page.groups {
            records.retain(|record| {
                let is_kept = record.body.as_ref().is_some_and(|body| body.get("metadata").is_some());
                viewer.changes(&record.scope) && !gone.contains(&record.id) && !is_kept
            });
            let Some(newest) = records.first().filter(|_| records.len() > 1).map(|record| record.id) else { continue };
            if plan.proposals.len() == full {
                plan.more = true;
                break;
            }
            let why = match (words, cosine) {
                (Some(share), _) => format!("{:.0} % of the words are the same", share * 100.0),
                (None, cosine) => format!("nearly the same meaning (cosine {:.2})", cosine.unwrap_or_default()),
            };
            progress.advance(1);
            gone.extend(records.iter().map(|record| record.id));
            match same_numbers {
                true => add(plan, Do::Supersede, Some(newest), why, &records),
                false => add(plan, Do::Ask, None, format!("{why}, with other numbers"), &records),
            }
        }
        match page.next {
            Some(next) if !plan.more => before = Some(next),
            _ => break,
        }
    }
    progress.finish();
    Ok(())
}

fn contradictions(engine: &Engine, viewer: &Viewer, full: usize, plan: &mut TidyPlan) -> Result<()> {
    let mut after = RecordId::START;
    loop {
        let page = engine.contradictions(viewer, after, PAGE)?;
        for (id, others) in &page {
            if plan.proposals.len() == full {
                plan.more = true;
                return Ok(());
            }
            after = *id;
            let mut records = Vec::with_capacity(others.len() + 1);
            for id in [id].into_iter().chain(others) {
                records.extend(engine.peek(*id, viewer)?);
            }
            let named: Vec<String> = others.iter().map(|id| format!("memory {id}")).collect();
            add(plan, Do::Ask, None, format!("memory {id} contradicts {}", named.join(" and ")), &records);
        }
        if page.len() < PAGE {
            return Ok(());
        }
    }
}

/// Open tasks that were due long ago.
fn tasks(engine: &Engine, viewer: &Viewer, full: usize, plan: &mut TidyPlan) -> Result<()> {
    let long_ago = engine.now().saturating_sub(OVERDUE);
    let mut page = ListQuery {
        only: Some(ListOnly::Overdue),
        order: ListOrder::Due,
        limit: PAGE,
        filter: Filter { updated_before: Some(long_ago), ..Filter::of(viewer.clone()) },
        ..ListQuery::default()
    };
    loop {
        let records = engine.list(&page)?;
        for record in &records {
            let Some(due) = record.due().filter(|due| *due < long_ago) else { continue };
            let is_fetched = record.last_accessed_at.is_some_and(|at| at >= long_ago);
            if is_fetched || !viewer.changes(&record.scope) {
                continue;
            }
            if plan.proposals.len() == full {
                plan.more = true;
                return Ok(());
            }
            let why = format!("a task that was due on {}", crate::wire::day(due));
            add(plan, Do::Close, None, why, std::slice::from_ref(record));
        }
        page.offset += records.len();
        if records.len() < PAGE {
            return Ok(());
        }
    }
}

fn never_found(engine: &Engine, viewer: &Viewer, progress: &dyn Progress) -> Result<BTreeMap<String, u64>> {
    let since = engine.now().saturating_sub(NEVER_FOUND);
    let (mut counts, mut after) = (BTreeMap::new(), RecordId::START);
    loop {
        if progress.cancelled() {
            return Err(Error::Cancelled);
        }
        let (records, next) = engine.unused(viewer, since, after, PAGE)?;
        for record in records {
            *counts.entry(record.kind.to_string()).or_default() += 1;
        }
        match next {
            Some(next) => after = next,
            None => return Ok(counts),
        }
    }
}
