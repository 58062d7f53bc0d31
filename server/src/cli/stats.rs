//! `memorist stats`: statistics of the store.

use std::fmt::Write;

use memorist_engine::config::ModelSource;
use memorist_engine::embed::{self, CacheStats};
use memorist_engine::types::{AboutJob, BatchJob};
use serde::Serialize;

use super::app::Maintenance;
use super::{App, format, sync_with};
use crate::exit::Outcome;
use crate::machines::Standing;
use crate::ops;
use crate::wire::{StatsParams, StatsResult};

pub fn run(app: &App) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    let stats = ops::stats(&engine, &app.settings().context, StatsParams::default())?;
    let indexes = engine.index_stats()?;
    app.note_unfollowed(&engine)?;
    let machines = Standing::of(&engine)?;
    // The first page alone, which takes some 35 ms.
    let own = app.settings().context.defaults.own_viewer();
    if !app.output().json && engine.viewed_by(&own).duplicates(None, 1).is_ok_and(|page| !page.groups.is_empty()) {
        app.output().note("some memories are near-duplicates: `memorist tidy` lists them");
    }
    engine.close();
    let cache = match &app.settings().engine.model.source {
        ModelSource::Remote(provider) => provider.cache.as_ref().map(embed::cache_stats),
        _ => None,
    };
    let cache = cache.map(|CacheStats { entries, bytes, max_entries }| EmbeddingCache { entries, bytes, max_entries });
    let shown = StatsOutput {
        stats,
        refused_embeddings: indexes.refused,
        embedding_cache: cache,
        batch_jobs: indexes.batch_jobs.into_iter().map(Job::of).collect(),
        batch_jobs_failed: indexes.batch_jobs_failed,
        machines: (machines != Standing::default()).then_some(machines),
    };
    app.output().result(&shown, text)?;
    Ok(0)
}

/// The output of the command.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatsOutput {
    #[serde(flatten)]
    stats: StatsResult,
    refused_embeddings: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedding_cache: Option<EmbeddingCache>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    batch_jobs: Vec<Job>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    batch_jobs_failed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    machines: Option<Standing>,
}

/// A batch job of a provider.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Job {
    provider: String,
    submitted_at: i64,
    texts: u64,
    state: String,
}

impl Job {
    fn of(job: BatchJob) -> Self {
        let AboutJob { provider, began, texts, state, .. } = job.about;
        Job { provider, submitted_at: began, texts, state }
    }
}

/// The cache of a provider's embeddings.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EmbeddingCache {
    entries: u64,
    bytes: u64,
    max_entries: u64,
}

fn text(shown: &StatsOutput) -> String {
    let stats = &shown.stats;
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<20} {value}");
    };
    line("memories", number(stats.total_entries));
    for (kind, count) in &stats.by_type {
        line(&format!("  {kind}"), number(*count));
    }
    line("average importance", format!("{:.1}", stats.avg_importance));
    line("average confidence", format!("{:.2}", stats.avg_confidence));
    line("fetched by id", format!("{} times", number(stats.total_accesses)));
    line("oldest", format::time(stats.oldest_entry));
    line("newest", format::time(stats.newest_entry));
    line("pending embeddings", number(stats.pending_embeddings));
    if shown.refused_embeddings > 0 {
        let refused = format::thousands(shown.refused_embeddings);
        line("  rejected by the model", format!("{refused}; `memorist doctor` shows the reasons"));
    }
    for Job { provider, submitted_at, texts, state } in &shown.batch_jobs {
        let (texts, since) = (format::thousands(*texts), format::time(Some(*submitted_at)));
        line("  in a batch job", format!("{texts} at {provider} since {since}: {state}"));
    }
    if shown.batch_jobs_failed {
        line("  batch jobs", "off: two failed in a row; `memorist backfill` switches them on".to_owned());
    }
    if let Some(indexes) = &stats.indexes {
        line("vectors indexed", number(indexes.vectors));
        line("texts indexed", number(indexes.documents));
        line("changes not indexed", number(indexes.unapplied));
    }
    line("model", stats.model.clone().unwrap_or_else(|| "none".into()));
    if let Some(EmbeddingCache { entries, bytes, max_entries }) = &shown.embedding_cache {
        let [entries, most] = [*entries, *max_entries].map(format::thousands);
        line("embeddings kept", format!("{entries} of at most {most}, {}", format::bytes(*bytes)));
    }
    if let Some(unread) = &stats.unread {
        line("files not read", unread.text());
    }
    if let Some(Standing { places, conflicts }) = &shown.machines {
        for place in places {
            line("another machine", sync_with::described_place(place));
        }
        if !conflicts.is_empty() {
            let number = format::thousands(conflicts.len() as u64);
            line("changed on two", format!("{number}; `memorist sync-with --conflicts` shows the texts"));
        }
    }
    let searches = &stats.searches;
    let no_answer = format!("{} of the last {} found no answer", number(searches.no_answer), number(searches.last));
    line("searches logged", format!("{}; {no_answer}", number(searches.logged)));
    text.trim_end().to_owned()
}

fn number(number: i64) -> String {
    format::thousands(number.unsigned_abs())
}
