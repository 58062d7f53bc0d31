//! Sources, what was read of them, and what is on this machine.

use std::collections::BTreeMap;

use memorist_engine::types::{FileChanges, Source, SourceStats};
use memorist_ingest::sources::discover::{Place, What};
use memorist_ingest::sync::{SourceReport, SyncReport};
use schemars::JsonSchema;
use serde::Serialize;

/// A source.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceEntry {
    pub id: i64,
    #[schemars(extend("enum" = ["notes", "sessions"]))]
    pub kind: &'static str,
    pub path: String,
    /// The agent whose transcripts these are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub globs: Vec<String>,
    /// The project of its memories; without one each file decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub added_at: i64,
    pub synced_at: Option<i64>,
}

impl From<Source> for SourceEntry {
    fn from(Source { id, source, added_at, synced_at, .. }: Source) -> Self {
        SourceEntry {
            id: id.get(),
            kind: source.kind.as_str(),
            path: source.path,
            format: source.format,
            globs: source.globs,
            project: source.scope.project,
            agent: source.scope.agent,
            added_at,
            synced_at,
        }
    }
}

/// The result of `source list`.
#[derive(Debug, Clone, Serialize)]
pub struct SourcesResult {
    pub sources: Vec<SourceState>,
}

/// A source with what was read of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceState {
    #[serde(flatten)]
    pub source: SourceEntry,
    pub files: u64,
    pub bytes: u64,
    /// Files that are gone, whose memories stay.
    pub gone: u64,
    /// Files that could not be read.
    pub failed: u64,
    /// When the newest file was changed.
    pub newest: Option<i64>,
    /// Files, and records within files, that were passed over, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Files of which nothing was read, and why: the first 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<FileProblem>,
    /// How many there are.
    pub all_unread: u64,
}

impl From<SourceStats> for SourceState {
    fn from(stats: SourceStats) -> Self {
        let mut skipped = stats.skipped;
        for (reason, count) in &stats.source.skipped.counts {
            *skipped.entry(reason.clone()).or_default() += count;
        }
        SourceState {
            source: stats.source.into(),
            files: stats.files,
            bytes: stats.bytes,
            gone: stats.gone,
            failed: stats.failed,
            newest: stats.newest,
            skipped,
            unread: stats.unread.into_iter().map(|(path, why)| FileProblem { path, why }).collect(),
            all_unread: stats.all_unread,
        }
    }
}

/// The result of `sync`.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncResult {
    pub sources: Vec<SyncedSource>,
    /// Texts that were embedded afterwards.
    pub embedded: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Changes that were read of a source.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncedSource {
    #[serde(flatten)]
    pub source: SourceEntry,
    pub files: u64,
    /// Files that had changed.
    pub read: u64,
    pub bytes: u64,
    pub gone: u64,
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
    pub kept: u64,
    /// Memories that somebody had deleted: they stay so.
    pub forgotten: u64,
    pub failed: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<FileProblem>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<String, u64>,
}

/// A file that could not be read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FileProblem {
    pub path: String,
    pub why: String,
}

impl From<SyncReport> for SyncResult {
    fn from(report: SyncReport) -> Self {
        let sources = report.sources.into_iter().map(SyncedSource::from).collect();
        SyncResult { sources, embedded: 0, warnings: Vec::new() }
    }
}

impl From<SourceReport> for SyncedSource {
    fn from(report: SourceReport) -> Self {
        let FileChanges { added, changed, removed, kept, forgotten, refused } = report.changes;
        let mut skipped = report.skipped;
        refused.into_iter().for_each(|(reason, count)| *skipped.entry(reason).or_default() += count);
        let problems = report.problems.into_iter().map(|(path, why)| FileProblem { path, why }).collect();
        SyncedSource {
            source: report.source.into(),
            files: report.files,
            read: report.read,
            bytes: report.bytes,
            gone: report.gone,
            added,
            changed,
            removed,
            kept,
            forgotten,
            failed: report.failed,
            problems,
            skipped,
        }
    }
}

/// The result of `source add`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceAddResult {
    pub sources: Vec<SourceEntry>,
    /// Ids of sources that existed already.
    pub known: Vec<i64>,
    /// The result of the sync.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncResult>,
}

/// The result of `source remove`.
#[derive(Debug, Clone, Serialize)]
pub struct SourceRemoveResult {
    pub removed: bool,
    /// Memories that were deleted.
    pub records: u64,
}

/// The result of `source discover`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiscoverResult {
    pub places: Vec<PlaceEntry>,
    /// The sources that were added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<SourceAddResult>,
}

/// A place that can be added as a source.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaceEntry {
    pub number: usize,
    pub path: String,
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<&'static str>,
    /// Its description.
    pub about: String,
    pub files: u64,
    pub bytes: u64,
    pub newest: Option<i64>,
    /// Whether it is a source already.
    pub is_source: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl PlaceEntry {
    /// A place with its number.
    pub fn new(number: usize, place: Place, is_source: bool) -> Self {
        let (kind, format, about) = match place.what {
            What::Sessions { format } => ("sessions", Some(format), format!("sessions of {format}")),
            What::Notes { about } => ("notes", None, about.to_owned()),
        };
        PlaceEntry {
            number,
            path: place.path.to_string_lossy().into_owned(),
            kind,
            format,
            about,
            files: place.files,
            bytes: place.bytes,
            newest: place.newest,
            is_source,
            problem: place.problem,
        }
    }
}
