//! The digest and the statistics.

use memorist_engine::types::{
    DigestQuery, Filter, Kind, ListOnly, ListOrder, ListQuery, Millis, OutdatedQuery, Record, Viewer,
};
use memorist_engine::{Engine, Result};

use super::answers::unknown_project;
use crate::ops;
use crate::ops::Context;
use crate::wire::core::{DigestParams, Line, Page, beginning, one_line};
use crate::wire::{self, Past, StatsParams, day};

/// Default number of tokens of a digest.
const DIGEST_TOKENS: usize = 1_500;
/// Characters of a memory in a digest.
const CHARS: usize = 240;
/// Memories of a section.
const SECTION: usize = 6;
/// From here on a fact is important.
const IMPORTANT: i64 = 7;
/// How far back a digest looks for changes, by default.
const RECENT: Millis = 7 * 24 * 60 * 60 * 1_000;
/// Names of a kind in the statistics.
const NAMES: usize = 20;

/// `memory_digest`.
pub fn digest(engine: &Engine, context: &Context, params: DigestParams) -> Result<String> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let project = viewer.project.name().map(str::to_owned);
    let query = DigestQuery { project: project.clone(), feature: params.feature, viewer, with_superseded: false };
    let digest = engine.digest(&query)?;
    let since = params.since.map_or_else(|| memorist_engine::now() - RECENT, |Past(at)| at);
    let mut page = Page::new(wire::size("maxTokens", params.max_tokens, DIGEST_TOKENS)?.max(1));
    let kinds: Vec<String> = digest.by_kind.iter().map(|(kind, number)| format!("{number} {kind}")).collect();
    let of =
        project.as_deref().map_or_else(|| "all that is seen".to_owned(), |name| format!("project {}", one_line(name)));
    let outdated = match digest.outdated {
        0 => String::new(),
        number => format!("; {number} superseded"),
    };
    page.add(usize::MAX, |_| {
        let counts = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
        format!("{of}, {}: {} memories{counts}{outdated}", day(digest.generated_at), digest.total)
    });

    let list = |only, order, after| {
        let filter = Filter { updated_after: after, ..Filter::of(query.viewer.clone()) };
        let project = query.project.clone();
        let newest_first = order == ListOrder::Updated || order == ListOrder::Saved;
        engine.list(&ListQuery { only, order, newest_first, limit: SECTION, filter, project, ..ListQuery::default() })
    };
    let newest = |kinds: &[Kind], least| {
        let mut all = Vec::new();
        for &kind in kinds {
            all.extend(engine.newest(&query, kind, least, SECTION)?);
        }
        all.sort_by_key(|record: &Record| std::cmp::Reverse((record.created_at, record.id)));
        all.truncate(SECTION);
        Ok::<_, memorist_engine::Error>(all)
    };
    let is_whole = query.feature.is_none();
    let when = |whole: Result<Vec<Record>>| if is_whole { whole } else { Ok(Vec::new()) };
    let important = [Kind::Fact, Kind::Preference, Kind::Insight, Kind::Background, Kind::Relationship];
    let sections = [
        ("Open tasks", when(list(Some(ListOnly::Open), ListOrder::Due, None))?),
        ("Contradicted", when(list(Some(ListOnly::Contradicted), ListOrder::Saved, None))?),
        ("Decisions", digest.key_decisions),
        ("Important", newest(&important, Some(IMPORTANT))?),
        ("Patterns", digest.active_patterns),
        ("Bug fixes", digest.recent_bugfixes),
        ("Events", newest(&[Kind::Event], None)?),
        ("Contacts", newest(&[Kind::Contact], None)?),
        ("Changed", when(list(None, ListOrder::Updated, Some(since)))?),
        ("Others", newest(&important, None)?),
    ];
    let mut shown = Vec::new();
    let mut left_out = 0;
    for (heading, records) in &sections {
        left_out += section(engine, &query.viewer, &mut page, heading, records, &mut shown)?;
    }
    if is_whole && digest.outdated > 0 {
        superseded(engine, &query, &mut page)?;
    }
    let more = (left_out > 0).then(|| format!("{left_out} more left out for maxTokens."));
    let unknown = unknown_project(engine, context, &params.project)?;
    Ok(page.finish(more.into_iter().chain(unknown)))
}

/// Adds the memories that were not shown before. Returns how many found no room.
fn section(
    engine: &Engine,
    viewer: &Viewer,
    page: &mut Page,
    heading: &str,
    records: &[Record],
    shown: &mut Vec<memorist_engine::types::RecordId>,
) -> Result<usize> {
    let new: Vec<&Record> = records.iter().filter(|record| !shown.contains(&record.id)).collect();
    let ids: Vec<_> = new.iter().map(|record| record.id).collect();
    let marks = engine.marks(&ids, viewer, CHARS)?;
    let mut left_out = 0;
    for (at, record) in new.iter().enumerate() {
        let marks = marks.get(&record.id).map(Vec::as_slice).unwrap_or_default();
        let line = Line { marks, scope: Some(&record.scope), changed: true, ..Line::default() };
        let title = if at == 0 { format!("\n{heading}\n") } else { String::new() };
        if page.add(CHARS, |most| format!("{title}{}", line.of(record, most))) {
            shown.push(record.id);
        } else {
            left_out += 1;
        }
    }
    Ok(left_out)
}

/// The last superseded memories, by name, each with what is current.
fn superseded(engine: &Engine, query: &DigestQuery, page: &mut Page) -> Result<()> {
    let (project, viewer) = (query.project.clone(), query.viewer.clone());
    let outdated = engine.outdated(&OutdatedQuery { project, before: None, limit: SECTION, viewer })?;
    for (at, one) in outdated.iter().enumerate() {
        let title = if at == 0 { "\nSuperseded\n" } else { "" };
        let by: Vec<String> = one.superseded_by.iter().map(|id| format!("#{id}")).collect();
        let text = beginning(&one.record.content);
        page.add(CHARS, |_| format!("{title}#{} by {}: {text}", one.record.id, by.join(", ")));
    }
    Ok(())
}

/// `memory_stats`.
pub fn stats(engine: &Engine, context: &Context, params: &StatsParams) -> Result<String> {
    let stats = ops::stats(engine, context, params)?;
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let names = engine.names(&viewer)?;
    let types: Vec<String> = stats.by_type.iter().map(|(name, number)| format!("{number} {name}")).collect();
    let mut lines = vec![match types.is_empty() {
        true => "No memories.".to_owned(),
        false => format!("{} memories: {}", stats.total_entries, types.join(", ")),
    }];
    if let (Some(oldest), Some(newest)) = (stats.oldest_entry, stats.newest_entry) {
        lines.push(format!("saved from {} to {}", day(oldest), day(newest)));
    }
    for (what, names) in [("projects", names.projects), ("agents", names.agents), ("tags of late", names.tags)] {
        if !names.is_empty() {
            let shown = names.iter().take(NAMES).map(|(name, number)| format!("{} {number}", one_line(name)));
            let more = names.len().saturating_sub(NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            lines.push(format!("{what}: {}{more}", shown.collect::<Vec<_>>().join(", ")));
        }
    }
    if stats.pending_embeddings > 0 {
        lines.push(format!(
            "{} wait for an embedding, and are found by their words until then",
            stats.pending_embeddings
        ));
    }
    let unapplied = stats.indexes.map_or(0, |indexes| indexes.unapplied);
    if unapplied > 0 {
        lines.push(format!("{unapplied} changes are not indexed yet; they are searched all the same"));
    }
    lines.extend(stats.model.map(|model| format!("model: {model}")));
    lines.extend(unknown_project(engine, context, &params.project)?);
    Ok(lines.join("\n"))
}
