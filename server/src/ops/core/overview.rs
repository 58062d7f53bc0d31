//! The digest and the statistics.

use std::cmp::Reverse;

use memorist_engine::types::{
    DigestQuery, Filter, Kind, ListOnly, ListOrder, ListQuery, MAX_LIMIT, Mark, Millis, OutdatedQuery, Reach, Record,
    RecordId, Scope, Viewer,
};
use memorist_engine::{Engine, Result};

use super::answers::{other_projects, unfollowed, unknown_project};
use crate::ops::{self, Context};
use crate::wire::core::{CoreDigestParams, MemoryLine, Page, beginning, one_line};
use crate::wire::{self, Caller, StatsParams, day};

/// Default number of tokens of a digest.
const DIGEST_TOKENS: usize = 1_500;
/// Characters of a memory in a digest.
const CHARS: usize = 240;
/// Memories of a section.
const SECTION: usize = 6;
/// Tokens that a line is assumed to take: the last section has as many lines as there is room for.
const LINE_TOKENS: usize = 25;
/// Importance from which a lasting memory is listed as important.
const IMPORTANT: i64 = 7;
/// How far back a digest looks for changes, by default.
const RECENT: Millis = 7 * 24 * 60 * 60 * 1_000;
/// Most names in each list of the statistics.
const NAMES: usize = 20;

/// Kinds of memories that stay true for long.
const LASTING: [Kind; 5] = [Kind::Fact, Kind::Preference, Kind::Insight, Kind::Background, Kind::Relationship];
/// Kinds in the section of other memories, in a digest about a feature.
const OTHERS: [Kind; 8] = [
    Kind::Fact,
    Kind::Preference,
    Kind::Insight,
    Kind::Background,
    Kind::Relationship,
    Kind::Skill,
    Kind::Project,
    Kind::Profile,
];

pub fn digest(engine: &Engine, context: &Context, params: CoreDigestParams) -> Result<String> {
    let Caller { viewer, scope } = context.defaults.caller(&params.project, &params.agent)?;
    let project = viewer.project.name().map(str::to_owned);
    let query = DigestQuery { project, feature: params.feature, viewer, with_superseded: false };
    let digest = engine.digest(&query)?;
    let most = wire::size("maxTokens", params.max_tokens, DIGEST_TOKENS)?.max(1);
    let mut page = Page::new(most);
    let of = match (query.viewer.project.name(), &query.viewer.project) {
        (Some(name), _) => format!("Project {}", one_line(name)),
        (None, Reach::Every) => "All projects".to_owned(),
        (None, _) => "Global memories".to_owned(),
    };
    let kinds: Vec<String> = digest.by_kind.iter().map(|(kind, number)| format!("{number} {kind}")).collect();
    page.add(usize::MAX, |_| {
        let counts = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
        let outdated = if digest.outdated > 0 { format!("; {} superseded", digest.outdated) } else { String::new() };
        format!("{of}, {}: {}{counts}{outdated}", day(digest.generated_at), memories(digest.total))
    });

    let since = params.since.map_or_else(|| engine.now() - RECENT, |since| since.by_clock(engine.clock_ahead()).at());
    let list = |only, order, after, limit| {
        if query.feature.is_some() {
            return Ok(Vec::new());
        }
        let filter = Filter { updated_after: after, ..Filter::of(query.viewer.clone()) };
        let project = query.project.clone();
        let newest_first = order != ListOrder::Due;
        engine.list(&ListQuery { only, order, newest_first, limit, filter, project, ..ListQuery::default() })
    };
    let mut decisions = digest.key_decisions;
    decisions.extend(newest(engine, &query, &[Kind::Decision], None)?);
    let sections = [
        ("Open tasks", list(Some(ListOnly::Open), ListOrder::Due, None, SECTION)?),
        ("Contradicted", list(Some(ListOnly::Contradicted), ListOrder::Saved, None, SECTION)?),
        ("Decisions", decisions),
        ("Important", newest(engine, &query, &LASTING, Some(IMPORTANT))?),
        ("Patterns", digest.active_patterns),
        ("Bug fixes", digest.recent_bugfixes),
        ("Events", newest(engine, &query, &[Kind::Event], None)?),
        ("Contacts", newest(engine, &query, &[Kind::Contact], None)?),
        ("New or changed", list(None, ListOrder::Updated, Some(since), SECTION)?),
    ];
    // Current memories come first; superseded ones fill the rest.
    let rest = match query.feature {
        Some(_) => newest(engine, &query, &OTHERS, None)?,
        None => list(None, ListOrder::Saved, None, (most / LINE_TOKENS).clamp(SECTION, MAX_LIMIT))?,
    };
    let mut shown = Vec::new();
    for (heading, records) in &sections {
        section(engine, &query.viewer, &mut page, (heading, records), &mut shown, &scope)?;
    }
    section(engine, &query.viewer, &mut page, ("Others", &rest), &mut shown, &scope)?;
    if query.feature.is_none() && digest.outdated > 0 {
        superseded(engine, &query, &mut page, &shown)?;
    }
    let left = digest.total.saturating_sub(shown.len() as u64 + digest.outdated);
    let more = (left > 0).then(|| format!("{left} more: memory_list, memory_search."));
    let unknown = unknown_project(engine, context, &params.project)?;
    let unfollowed = unfollowed(engine, &query.viewer)?;
    let others = other_projects(engine, context, &query.viewer)?;
    Ok(page.finish(more.into_iter().chain(unknown).chain(unfollowed).chain(others)))
}

fn memories(number: u64) -> String {
    if number == 1 { "1 memory".to_owned() } else { format!("{number} memories") }
}

/// The newest memories of these kinds.
fn newest(engine: &Engine, query: &DigestQuery, kinds: &[Kind], least: Option<i64>) -> Result<Vec<Record>> {
    let mut all = Vec::new();
    for &kind in kinds {
        all.extend(engine.newest_of_kind(query, kind, least, SECTION)?);
    }
    all.sort_by_key(|record| Reverse((record.created_at, record.id)));
    all.truncate(SECTION);
    Ok(all)
}

/// Adds the memories that were not shown before, and that nothing supersedes.
fn section(
    engine: &Engine,
    viewer: &Viewer,
    page: &mut Page,
    (heading, records): (&str, &[Record]),
    shown: &mut Vec<RecordId>,
    scope: &Scope,
) -> Result<()> {
    let ids: Vec<_> = records.iter().map(|record| record.id).collect();
    let marks = engine.viewed_by(viewer).status_links(&ids, CHARS)?;
    let mut title = format!("\n{heading}\n");
    for record in records {
        let marks = marks.get(&record.id).map(Vec::as_slice).unwrap_or_default();
        if shown.contains(&record.id) || marks.iter().any(Mark::is_of_successor) {
            continue;
        }
        let line = MemoryLine { marks, scope: Some(scope), changed: true, ..MemoryLine::default() };
        if page.add(CHARS, |most| format!("{title}{}", line.of(record, most))) {
            shown.push(record.id);
            title.clear();
        }
    }
    Ok(())
}

/// Adds the last superseded memories, each with those that supersede it; with their texts, if these are not `shown`.
fn superseded(engine: &Engine, query: &DigestQuery, page: &mut Page, shown: &[RecordId]) -> Result<()> {
    let viewer = &query.viewer;
    let project = query.project.clone();
    let outdated = engine.outdated(&OutdatedQuery { project, before: None, limit: SECTION, viewer: viewer.clone() })?;
    let mut title = "\nSuperseded\n";
    for one in &outdated {
        let mut by = Vec::new();
        for id in &one.superseded_by {
            let text = if shown.contains(id) { None } else { engine.viewed_by(viewer).get(*id)? };
            by.push(text.map_or_else(|| format!("#{id}"), |record| format!("#{id} {}", beginning(&record.content))));
        }
        let text = beginning(&one.record.content);
        if page.add(CHARS, |_| format!("{title}#{} {text}: by {}", one.record.id, by.join(", "))) {
            title = "";
        }
    }
    Ok(())
}

pub fn stats(engine: &Engine, context: &Context, params: StatsParams) -> Result<String> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let stats = ops::stats_in_view(engine, context, viewer.clone())?;
    let mut names = engine.viewed_by(&viewer).names()?;
    // Projects that a call can name.
    if !context.defaults.is_only() {
        names.projects = engine.viewed_by(&Viewer::OWNER).project_sizes()?;
    } else if !context.defaults.others().is_empty() {
        let sizes = context.defaults.own_viewers().map(|viewer| engine.viewed_by(&viewer).project_sizes());
        names.projects = sizes.collect::<Result<Vec<_>>>()?.concat();
    }
    let types: Vec<String> = stats.by_type.iter().map(|(name, number)| format!("{number} {name}")).collect();
    let mut lines = vec![match types.is_empty() {
        true => "No memories.".to_owned(),
        false => format!("{}: {}", memories(stats.total_entries.unsigned_abs()), types.join(", ")),
    }];
    if let (Some(oldest), Some(newest)) = (stats.oldest_entry, stats.newest_entry) {
        lines.push(format!("saved from {} to {}", day(oldest), day(newest)));
    }
    for (what, names) in [("all projects", names.projects), ("agents", names.agents), ("tags of late", names.tags)] {
        if !names.is_empty() {
            let shown = names.iter().take(NAMES).map(|(name, number)| format!("{} {number}", one_line(name)));
            let more = names.len().saturating_sub(NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            lines.push(format!("{what}: {}{more}", shown.collect::<Vec<_>>().join(", ")));
        }
    }
    if stats.pending_embeddings > 0 {
        let waiting = stats.pending_embeddings;
        lines.push(format!("{waiting} not embedded yet (keyword search only)"));
    }
    let unapplied = stats.indexes.map_or(0, |indexes| indexes.unapplied);
    if unapplied > 0 {
        lines.push(format!("{unapplied} changes are not indexed yet (searched without the index)"));
    }
    lines.extend(stats.unread.map(|unread| format!("files not read: {}", one_line(&unread.text()))));
    lines.extend(stats.model.map(|model| format!("model: {model}")));
    lines.extend(unknown_project(engine, context, &params.project)?);
    lines.extend(unfollowed(engine, &viewer)?);
    Ok(lines.join("\n"))
}
