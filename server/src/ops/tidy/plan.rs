//! Proposals. Making them changes nothing.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use memorist_engine::progress::Progress;
use memorist_engine::types::{
    DAY, Duplicates, Filter, ListOnly, ListOrder, ListQuery, Millis, Record, RecordId, Viewer,
};
use memorist_engine::{Engine, Error, Result};

use crate::wire;
use crate::wire::tidy::{Do, PlannedMemory, Proposal, TidyPlan};

/// A task is proposed for closing if it was due before this time, and neither changed nor fetched since.
const OVERDUE: Millis = 60 * DAY;
/// A memory that nobody found for this time is counted.
const NEVER_FOUND: Millis = 90 * DAY;
/// Memories that are read at once.
const PAGE: usize = 500;
/// Memories of a proposal at most, beside the one that stays: those of a merge.
const MOST_COPIES: usize = 900;
/// Memories that one contradicts, in a proposal at most.
const MOST_CONTRADICTED: usize = 10;
/// Words that negate, in English, German, French, Spanish, Portuguese, Italian and Russian.
const NEGATIONS: [&str; 31] = [
    "no", "not", "never", "none", "nor", "without", "cannot", "nicht", "kein", "keine", "keinen", "nie", "ohne", "pas",
    "jamais", "sans", "non", "nunca", "sin", "ni", "ya", "não", "nem", "sem", "mai", "senza", "не", "нет", "ни",
    "никогда", "без",
];

/// Proposes what to tidy up among the memories that `viewer` sees: every copy, and at most `most` proposals that somebody has to
/// decide.
///
/// # Errors
/// Errors of the store, and if it is stopped.
pub fn plan(engine: &Engine, viewer: &Viewer, most: usize, progress: &dyn Progress) -> Result<TidyPlan> {
    let mut plan = copies(engine, viewer, progress)?;
    decisions(engine, viewer, most, None, &mut plan, progress)?;
    plan.never_found = never_found(engine, viewer, progress)?;
    Ok(plan)
}

/// Proposes to hide every copy.
///
/// # Errors
/// Errors of the store, and if it is stopped.
pub fn copies(engine: &Engine, viewer: &Viewer, progress: &dyn Progress) -> Result<TidyPlan> {
    let mut plan = TidyPlan::new(engine.lineage().to_owned(), engine.now());
    for copies in engine.viewed_by(viewer).copies(progress)? {
        for others in copies.others.chunks(MOST_COPIES) {
            let records: Vec<Record> = [&copies.keep].into_iter().chain(others).cloned().collect();
            let proposal = next(&plan, Do::Supersede, Some(copies.keep.id), "the same text".into(), &records);
            plan.proposals.push(Proposal { apply: true, ..proposal });
        }
    }
    Ok(plan)
}

/// Adds at most `most` proposals that somebody has to decide: contradictions, old tasks, near-duplicates. After `time`, the search
/// for near-duplicates ends.
///
/// # Errors
/// Errors of the store, and if it is stopped.
pub fn decisions(
    engine: &Engine,
    viewer: &Viewer,
    most: usize,
    time: Option<Duration>,
    plan: &mut TidyPlan,
    progress: &dyn Progress,
) -> Result<()> {
    let until = time.map(|time| Instant::now() + time);
    let full = plan.proposals.len().saturating_add(most);
    contradictions(engine, viewer, full, plan)?;
    tasks(engine, viewer, full, plan)?;
    duplicates(engine, viewer, full, until, plan, progress)
}

/// The next proposal of a plan, which somebody has to decide.
fn next(plan: &TidyPlan, r#do: Do, keep: Option<RecordId>, why: String, records: &[Record]) -> Proposal {
    let n = u32::try_from(plan.proposals.len() + 1).unwrap_or(u32::MAX);
    let memories = records.iter().map(PlannedMemory::of).collect();
    Proposal { n, apply: false, r#do, keep: keep.map(RecordId::get), content: None, why, memories }
}

/// Groups of near-duplicates, each memory in one of them; without copies that will be hidden, and memories that a program keeps.
fn duplicates(
    engine: &Engine,
    viewer: &Viewer,
    full: usize,
    until: Option<Instant>,
    plan: &mut TidyPlan,
    progress: &dyn Progress,
) -> Result<()> {
    let hidden = plan.proposals.iter().filter(|proposal| proposal.apply).flat_map(|proposal| &proposal.memories[1..]);
    let mut named: HashSet<RecordId> = hidden.map(|memory| memory.id.into()).collect();
    progress.start("looking for duplicates", None);
    let mut before = None;
    while plan.proposals.len() < full {
        if progress.cancelled() {
            return Err(Error::Cancelled);
        }
        let page = engine.viewed_by(viewer).duplicates(before, PAGE)?;
        for Duplicates { mut records, words, cosine, same_numbers } in page.groups {
            records.retain(|record| {
                viewer.changes(&record.scope) && !named.contains(&record.id) && !record.has_metadata()
            });
            let Some(newest) = records.first().filter(|_| records.len() > 1).map(|record| record.id) else { continue };
            if plan.proposals.len() == full {
                plan.more = true;
                break;
            }
            progress.advance(1);
            named.extend(records.iter().map(|record| record.id));
            let mut why = match (words, cosine) {
                (Some(_), _) => "most words are the same".to_owned(),
                (None, cosine) => format!("similar (cosine {:.2})", cosine.unwrap_or_default()),
            };
            // "port 5432" and "port 5433", or "we use Redis" and "we do not use Redis", are near each other.
            let negated = records.iter().filter(|record| negates(&record.content)).count();
            let is_negated = (1..records.len()).contains(&negated);
            why += if same_numbers { "" } else { ", with other numbers" };
            why += if is_negated { ", with a negation" } else { "" };
            let (r#do, keep) =
                if same_numbers && !is_negated { (Do::Supersede, Some(newest)) } else { (Do::Ask, None) };
            plan.proposals.push(next(plan, r#do, keep, why, &records));
        }
        match page.next {
            Some(_) if until.is_some_and(|until| Instant::now() >= until) => plan.more = true,
            Some(next) => before = Some(next),
            None => break,
        }
        if plan.more {
            break;
        }
    }
    progress.finish();
    Ok(())
}

fn negates(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'));
    words.any(|word| NEGATIONS.contains(&word) || word.ends_with("n't") || word.ends_with("n’t"))
}

fn contradictions(engine: &Engine, viewer: &Viewer, full: usize, plan: &mut TidyPlan) -> Result<()> {
    let mut after = RecordId::START;
    loop {
        let page = engine.viewed_by(viewer).contradictions(after, PAGE)?;
        for (id, others) in &page {
            if plan.proposals.len() == full {
                plan.more = true;
                return Ok(());
            }
            after = *id;
            let others = &others[..others.len().min(MOST_CONTRADICTED)];
            let mut records = Vec::with_capacity(others.len() + 1);
            for id in [id].into_iter().chain(others) {
                records.extend(engine.viewed_by(viewer).get(*id)?);
            }
            let named: Vec<String> = others.iter().map(|id| format!("memory {id}")).collect();
            let why = format!("memory {id} contradicts {}", named.join(" and "));
            plan.proposals.push(next(plan, Do::Ask, None, why, &records));
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
            let why = format!("a task that was due on {}", wire::day(due));
            plan.proposals.push(next(plan, Do::Close, None, why, std::slice::from_ref(record)));
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
        let (records, next) = engine.viewed_by(viewer).unused(since, after, PAGE)?;
        for record in records {
            *counts.entry(record.kind.to_string()).or_default() += 1;
        }
        match next {
            Some(next) => after = next,
            None => return Ok(counts),
        }
    }
}
