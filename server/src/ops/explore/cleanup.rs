//! Memories to clean up, and the merge of several into one.

use std::collections::BTreeSet;

use memorist_engine::types::{
    DAY, Duplicates, Filter, ListOnly, ListOrder, ListQuery, Merge, Millis, OutdatedQuery, Record, RecordId, Viewer,
};
use memorist_engine::{Engine, Error, Result};

use super::super::{Context, superseded};
use crate::wire;
use crate::wire::explore::{
    CleanupGroup, CleanupKind, CleanupParams, CleanupResult, Member, MergeParams, MergeResult, SeenVersion,
};

/// Default number of groups.
const GROUPS: usize = 20;
/// Most memories on the other side of a group.
const OTHERS: usize = 10;
/// Memories that expire within this time are listed.
const SOON: Millis = 30 * DAY;
/// Memories that nobody has found for this time are listed.
const LONG: Millis = 90 * DAY;

/// A page of memories to clean up.
pub fn cleanup(engine: &Engine, context: &Context, params: CleanupParams) -> Result<CleanupResult> {
    let viewer = context.defaults.own_viewer();
    let limit = wire::size("limit", params.limit, GROUPS)?;
    let wrong = || Error::invalid("cursor", "is not the cursor of a page; omit it");
    let number = |text: &str| text.parse::<i64>().map_err(|_| wrong());
    let pair = |text: &str| {
        let (at, id) = text.split_once('.').ok_or_else(wrong)?;
        Ok::<_, Error>((number(at)?, number(id)?))
    };
    let given = params.cursor.as_deref();
    let cursor = || given.map(number).transpose();
    match params.kind {
        CleanupKind::Duplicates => duplicates(engine, &viewer, cursor()?, limit),
        CleanupKind::Contradictions => contradictions(engine, &viewer, cursor()?, limit),
        CleanupKind::Superseded => outdated(engine, &viewer, cursor()?, limit),
        CleanupKind::Expiring => expiring(engine, &viewer, given.map(pair).transpose()?, limit),
        CleanupKind::NeverFound => never_found(engine, &viewer, cursor()?, limit),
    }
}

fn duplicates(engine: &Engine, viewer: &Viewer, cursor: Option<i64>, limit: usize) -> Result<CleanupResult> {
    let page = engine.viewed_by(viewer).duplicates(cursor.map(RecordId::from), limit)?;
    let group = |group: Duplicates| CleanupGroup {
        why: match (group.words, group.cosine) {
            (Some(share), _) => format!("{:.0} % of the words are the same", share * 100.0),
            (None, cosine) => format!("similar (cosine {:.2})", cosine.unwrap_or_default()),
        },
        similarity: Some(group.words.unwrap_or(0.0).max(group.cosine.unwrap_or(0.0))),
        members: members(group.records, &BTreeSet::new()),
    };
    Ok(CleanupResult {
        groups: page.groups.into_iter().map(group).collect(),
        next: page.next.map(|id| id.to_string()),
        total: None,
    })
}

/// Memories, each with those that it contradicts.
fn contradictions(engine: &Engine, viewer: &Viewer, cursor: Option<i64>, limit: usize) -> Result<CleanupResult> {
    let after = cursor.map_or(RecordId::START, RecordId::from);
    let found = engine.viewed_by(viewer).contradictions(after, limit)?;
    let next = found.last().map(|(id, _)| id.to_string()).filter(|_| found.len() == limit);
    let mut groups = Vec::with_capacity(found.len());
    for (id, mut others) in found {
        others.truncate(OTHERS);
        let why = format!("memory {id} contradicts {}", list(&others));
        groups.push(group_of(engine, viewer, why, [&[id], &others[..]].concat(), &BTreeSet::new())?);
    }
    Ok(CleanupResult { groups, next, total: None })
}

/// Superseded memories, each with those that supersede it.
fn outdated(engine: &Engine, viewer: &Viewer, cursor: Option<i64>, limit: usize) -> Result<CleanupResult> {
    let before = cursor.map(RecordId::from);
    let page = engine.outdated(&OutdatedQuery { project: None, before, limit, viewer: viewer.clone() })?;
    let next = page.last().map(|one| one.record.id.to_string()).filter(|_| page.len() == limit);
    let mut groups = Vec::with_capacity(page.len());
    for one in page {
        let by: Vec<RecordId> = one.superseded_by.into_iter().take(OTHERS).collect();
        let why = match by.is_empty() {
            true => format!("memory {} is superseded by one that has expired", one.record.id),
            false => format!("memory {} is superseded by {}", one.record.id, list(&by)),
        };
        let mut settled = superseded(engine, &by, viewer)?;
        settled.insert(one.record.id);
        groups.push(group_of(engine, viewer, why, [&by[..], &[one.record.id]].concat(), &settled)?);
    }
    Ok(CleanupResult { groups, next, total: None })
}

/// Memories that expire within a month, the earliest first, after the one with this expiry and id.
fn expiring(engine: &Engine, viewer: &Viewer, after: Option<(Millis, i64)>, limit: usize) -> Result<CleanupResult> {
    let query = ListQuery {
        order: ListOrder::Expiry,
        only: Some(ListOnly::Expiring),
        expires_after: after.map(|(at, _)| at),
        after: after.map_or(RecordId::START, |(_, id)| id.into()),
        limit,
        filter: Filter::of(viewer.clone()),
        ..ListQuery::default()
    };
    let mut records = engine.list(&query)?;
    let until = engine.now().saturating_add(SOON);
    records.retain(|record| record.expires_at.is_some_and(|at| at <= until));
    let last = records.last().filter(|_| records.len() == limit);
    let next = last.and_then(|last| Some(format!("{}.{}", last.expires_at?, last.id)));
    let why =
        |record: &Record| record.expires_at.map_or_else(String::new, |at| format!("expires on {}", wire::day(at)));
    singles(engine, viewer, records, next, why)
}

fn never_found(engine: &Engine, viewer: &Viewer, cursor: Option<i64>, limit: usize) -> Result<CleanupResult> {
    let since = engine.now().saturating_sub(LONG);
    let after = cursor.map_or(RecordId::START, RecordId::from);
    let (records, next) = engine.viewed_by(viewer).unused(since, after, limit)?;
    let why = |record: &Record| match record.last_accessed_at {
        Some(at) => format!("last found on {}", wire::day(at)),
        None => "not found since it was saved".to_owned(),
    };
    singles(engine, viewer, records, next.map(|id| id.to_string()), why)
}

/// Groups of one memory each.
fn singles(
    engine: &Engine,
    viewer: &Viewer,
    records: Vec<Record>,
    next: Option<String>,
    why: impl Fn(&Record) -> String,
) -> Result<CleanupResult> {
    let ids: Vec<RecordId> = records.iter().map(|record| record.id).collect();
    let superseded = superseded(engine, &ids, viewer)?;
    let group = |record: Record| CleanupGroup {
        why: why(&record),
        similarity: None,
        members: members(vec![record], &superseded),
    };
    Ok(CleanupResult { groups: records.into_iter().map(group).collect(), next, total: None })
}

fn group_of(
    engine: &Engine,
    viewer: &Viewer,
    why: String,
    ids: Vec<RecordId>,
    superseded: &BTreeSet<RecordId>,
) -> Result<CleanupGroup> {
    let mut records = Vec::with_capacity(ids.len());
    for id in ids {
        records.extend(engine.viewed_by(viewer).get(id)?);
    }
    Ok(CleanupGroup { why, similarity: None, members: members(records, superseded) })
}

fn members(records: Vec<Record>, superseded: &BTreeSet<RecordId>) -> Vec<Member> {
    let member = |record: Record| Member {
        id: record.id.get(),
        is_current: !superseded.contains(&record.id),
        content: record.content,
        entry_type: record.kind,
        version: record.version,
        importance: record.importance,
        created_at: record.created_at,
        updated_at: record.updated_at,
        access_count: record.access_count,
        project: record.scope.project,
        agent: record.scope.agent,
        expires_at: record.expires_at,
    };
    records.into_iter().map(member).collect()
}

fn list(ids: &[RecordId]) -> String {
    ids.iter().map(|id| format!("memory {id}")).collect::<Vec<_>>().join(" and ")
}

/// Merges several memories into one.
pub fn merge(engine: &Engine, context: &Context, params: MergeParams) -> Result<MergeResult> {
    let replaced = params.replaced.into_iter().map(|SeenVersion { id, expect }| (id.0.into(), expect.0));
    let merge =
        Merge { keep: (params.keep.0.into(), params.expect.0), replaced: replaced.collect(), content: params.content };
    let merged = engine.viewed_by(&context.defaults.own_viewer()).merge(&merge)?;
    Ok(MergeResult {
        id: merged.kept.record.id.get(),
        version: merged.kept.record.version,
        undo: merged.undo.into_iter().map(RecordId::get).collect(),
    })
}
