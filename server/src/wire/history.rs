//! Versions, rollback and permanent removal: parameters and results.

use memorist_engine::Undone;
use memorist_engine::body::Body;
use memorist_engine::types::{Kind, LinkKind, Purged, RecordId, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::count;
use super::schema::LinkKindName;
use super::values::{Int, Patch};

/// `memory_history`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryParams {
    /// Memory id.
    pub id: Int,
    /// Only versions before this one.
    pub before: Option<Int>,
    /// Maximum versions, default 20.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<Int>,
    /// See memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// See memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

/// The result of `memory_history`: versions, or why there are none.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HistoryResult {
    /// Newest first.
    pub versions: Vec<VersionEntry>,
    /// Next `before`, if there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub next: Option<i64>,
    /// Reason why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub error: Option<String>,
}

/// The result of `memory_undo`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoResult {
    pub id: i64,
    /// Undone operation: deletion, expiry, change, link or currentAgain.
    pub undone: &'static str,
    /// Its version now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub version: Option<i64>,
    /// Its text now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content: Option<String>,
    /// Links that were removed; for currentAgain, the restored links of the memories that supersede this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<UndoneLink>,
}

/// A link, seen from the memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoneLink {
    /// Memory at the other end.
    pub id: i64,
    #[schemars(with = "LinkKindName")]
    pub link_type: LinkKind,
}

impl UndoResult {
    /// For what was done to the memory `id`.
    pub fn of(id: RecordId, undone: &[Undone]) -> Self {
        let mut result = UndoResult { id: id.get(), undone: "change", version: None, content: None, links: Vec::new() };
        for one in undone {
            let (name, outcome) = match one {
                Undone::Link(link) => {
                    result.undone = "link";
                    result.links.push(UndoneLink { id: link.other_end(id).get(), link_type: link.kind });
                    continue;
                }
                Undone::CurrentAgain(by) => {
                    result.undone = "currentAgain";
                    let by = by.iter().map(|by| UndoneLink { id: by.get(), link_type: LinkKind::Supersedes });
                    result.links.extend(by);
                    continue;
                }
                Undone::Deletion(outcome) => ("deletion", outcome),
                Undone::Expiry(outcome) => ("expiry", outcome),
                Undone::Change(outcome) => ("change", outcome),
                _ => continue,
            };
            result.undone = name;
            result.version = Some(outcome.record.version);
            result.content = Some(outcome.record.content.clone());
        }
        result
    }
}

/// A version of a memory. Times are Unix milliseconds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionEntry {
    pub version: i64,
    /// When it became the newest.
    pub since: i64,
    /// When it was replaced; null for the newest.
    pub until: Option<i64>,
    /// Why it was replaced.
    pub reason: Option<String>,
    pub content: String,
    #[schemars(schema_with = "super::results::kind_schema")]
    pub entry_type: Kind,
    pub source: String,
    pub context: Option<String>,
    pub confidence: f64,
    pub importance: i64,
    pub tags: Vec<String>,
    pub expires_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::params::object_schema")]
    pub body: Option<Value>,
}

/// A version on the wire.
pub fn version(version: Version) -> VersionEntry {
    let (until, reason) = version.replaced.map(|replaced| (replaced.at, replaced.reason)).unzip();
    VersionEntry {
        version: version.version,
        since: version.since,
        until,
        reason,
        content: version.content,
        entry_type: version.kind,
        source: version.source,
        context: version.context,
        confidence: version.confidence,
        importance: version.importance,
        tags: version.tags,
        expires_at: version.expires_at,
        body: version.body.map(Body::into_value),
    }
}

/// `memory_rollback`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RollbackParams {
    /// Memory id.
    pub id: Int,
    /// Version to restore.
    pub version: Int,
    /// Reason, kept in the history.
    pub reason: Option<String>,
    /// See memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// See memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

/// `memory_purge`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeParams {
    /// Ids of the memories to purge.
    pub ids: Option<Vec<Int>>,
    /// Or: purge everything that contains exactly this text, in any version.
    pub text: Option<String>,
    /// Must be true; cannot be undone.
    pub confirm: bool,
    /// See memory_search.
    #[serde(default)]
    pub project: Patch<String>,
    /// See memory_search.
    #[serde(default)]
    pub agent: Patch<String>,
}

/// The result of `memory_purge`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PurgeResult {
    /// Memories, with all versions.
    pub records: i64,
    /// Earlier versions of memories that stay.
    pub versions: i64,
    /// Queries removed from the access log.
    pub queries: i64,
    /// False while the cleanup of files continues in the background.
    pub complete: bool,
    /// Files that are not part of the store and may still contain it.
    pub remaining_files: Vec<String>,
    /// Names and paths in the store that still contain it, because they are in use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<String>,
}

/// The result of a purge.
pub fn purged(purged: Purged) -> PurgeResult {
    PurgeResult {
        records: count(purged.records),
        versions: count(purged.versions),
        queries: count(purged.queries),
        complete: purged.complete,
        remaining_files: purged.remaining_files.iter().map(|path| path.display().to_string()).collect(),
        stays: purged.stays.iter().map(|stays| format!("{}: {}", stays.what, stays.text)).collect(),
    }
}
